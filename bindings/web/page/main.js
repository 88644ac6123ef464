// The page: connects the player, the filter, the controls and the displays.

import * as library from "./tone-filter/index.js";
import { Compare } from "./compare.js";
import { makeControls } from "./controls.js";
import { Engine } from "./engine.js";
import { Keys } from "./keys.js";
import * as link from "./link.js";
import { Player, fail, guarded } from "./player.js";
import { makeSongButtons } from "./song.js";
import { View } from "./view.js";

const at = (id) => document.getElementById(id);

async function open() {
  const lack = library.unsupported();
  if (lack) throw new Error(lack);
  const about = fetch("page.json").then((response) => response.json());
  return { engine: await Engine.create(), about: await about };
}

function run({ engine, about }) {
  const { node } = engine;
  const view = new View(engine);
  const keys = new Keys(node, at("instrument"), at("grid"), view.grid);
  const player = new Player(engine, about.songs, suggest);
  const compare = new Compare(at("compare"), (bypass) => node.set({ bypass }));
  let preset;
  let own = link.isSound(location.hash); // Whether the visitor has chosen the sound, which then stays with every song.

  makeSongButtons(player, () => link.toPreset(preset, node.settings));

  // The sound.

  const controls = makeControls(at("controls"), at("more"), (id, value) => {
    own = true;
    node.set({ [id]: value });
    show();
  });

  function show() {
    const { settings } = node;
    controls.show(settings);
    node.ask().then(({ idle }) => controls.showIdle(idle));
    view.show(settings);
    keys.range = settings.range;
    if (keys.enabled !== (settings.keys !== "off")) keys.enable(settings.keys !== "off");
    at("preset").value = preset.id;
    at("description").textContent = preset.description;
    if (own) history.replaceState(null, "", link.write(preset, settings));
  }

  function choose(sound) {
    ({ preset } = sound);
    node.set({ ...sound.settings, bypass: compare.dry });
    show();
  }

  const choosePreset = (preset) => choose({ preset, settings: preset.settings });

  function suggest(song) {
    if (!own) choosePreset(library.findPreset(song.preset));
  }

  const follow = guarded(async () => {
    try {
      choose(link.read(location.hash));
    } catch (error) {
      choose(link.read(""));
      throw new Error(`The link is not understood: ${error.message}`);
    }
  });

  at("preset").append(...library.presets.map(({ id, name }) => new Option(name, id)));
  const select = (index) => {
    own = true;
    choosePreset(library.presets.at(index % library.presets.length));
  };
  at("preset").onchange = () => select(at("preset").selectedIndex);
  at("previous").onclick = () => select(at("preset").selectedIndex - 1);
  at("next").onclick = () => select(at("preset").selectedIndex + 1);
  at("link").onclick = guarded(async () => {
    await navigator.clipboard.writeText(new URL(link.write(preset, node.settings), location));
    at("status").textContent = "The link with this sound is on the clipboard.";
  });
  addEventListener("hashchange", () => {
    if (!link.isSound(location.hash)) return;
    own = true;
    follow();
  });

  // The computer's keyboard, except where a control has its own use for a key.

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return;
    const own = event.target.matches("button, input, summary, a");
    if (event.code === "Space" && (!own || event.target.matches("[type=range]"))) player.toggle();
    else if (event.code === "ArrowLeft" && !own) player.seek(engine.audio.currentTime - 5);
    else if (event.code === "ArrowRight" && !own) player.seek(engine.audio.currentTime + 5);
    else if (event.code === "KeyB") compare.press();
    else if (event.code === "KeyR" && !keys.enabled && !event.repeat) view.toggle();
    else if (!keys.keydown(event)) return;
    event.preventDefault();
  });
  addEventListener("keyup", ({ code }) => code === "KeyB" && compare.release());

  // Parts of the page beside the sound.

  const anchor = (href, textContent) => Object.assign(document.createElement("a"), { href, textContent });
  for (const { name, credit, score } of about.songs) {
    at("credits").append(`${name}: ${credit} `, ...(score ? [anchor(score, "Notes"), ". "] : []));
  }
  at("manual").hidden = !about.manual;
  if (about.source) {
    at("releases").replaceChildren(anchor(`${about.source}/releases`, "Downloads"), " · ", anchor(about.source, "Source"));
  }

  follow();
  document.querySelector("main").inert = false;
  guarded(() => player.select(about.songs[0]))();
  return { engine, library };
}

export const page = open().then(run);
page.catch((error) => {
  document.querySelector("main").hidden = true;
  fail(error.message);
});
