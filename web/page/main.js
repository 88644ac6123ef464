// The page: what a listener does, and what is shown.

import { makeControls } from "./controls.js";
import { Engine, Library, load, loadModule, missing } from "./engine.js";
import { Grid, name } from "./grid.js";
import { Keys } from "./keys.js";
import * as link from "./link.js";

const at = (id) => document.getElementById(id);
const say = (text) => (at("status").textContent = text);

function fail(text) {
  at("error").textContent = text;
  at("error").hidden = !text;
}

// Shows the error of what a listener has asked for.
const guarded = (action) => async (...parameters) => {
  fail("");
  try {
    await action(...parameters);
  } catch (error) {
    const denied = error.name === "NotAllowedError";
    fail(denied ? "The browser does not allow it. Allow the microphone or the sound for this page, and try again." : error.message);
  }
};

async function open() {
  const lack = missing();
  if (lack) throw new Error(lack);
  const module = await loadModule();
  const library = new Library(module);
  library.presets.forEach((preset) => (preset.settings = library.check(preset.settings)));
  return { library, engine: new Engine(module, library.record), tune: await (await load("demo.wav")).blob() };
}

function run({ library, engine, tune }) {
  const { audio } = engine;
  const grid = new Grid(at("grid"), library.record);
  const keys = new Keys(engine, at("instrument"), at("grid"), grid);
  let preset;
  let settings;
  let source = "tune";
  let listening = false;

  const playing = () => listening || !audio.paused;

  // Settings.

  const showControls = makeControls(library, [at("controls"), at("more")], (id, value, number) => {
    settings = { ...settings, [id]: value };
    engine.set(id, number);
    show();
  });

  function show() {
    showControls(settings);
    grid.range = keys.range = settings.range;
    at("preset").value = preset.id;
    at("description").textContent = preset.description;
    document.querySelector(`[name=compare][value=${settings.bypass ? "dry" : "filtered"}]`).checked = true;
    if (keys.enabled !== (settings.keys !== "off")) keys.enable(settings.keys !== "off");
    history.replaceState(null, "", link.write(preset, settings));
  }

  function choose(sound) {
    ({ preset } = sound);
    settings = { ...sound.settings, bypass: settings?.bypass ?? false };
    engine.settings(settings);
    show();
  }

  function compare(dry) {
    settings = { ...settings, bypass: dry };
    engine.set("bypass", Number(dry));
    show();
  }

  const follow = guarded(async () => {
    try {
      choose(link.read(location.hash, library));
    } catch (error) {
      choose(link.read("", library));
      throw new Error(`The link is not understood: ${error.message}`);
    }
  });

  at("preset").append(...library.presets.map(({ id, name }) => new Option(name, id)));
  const select = (index) => {
    const preset = library.presets.at(index % library.presets.length);
    choose({ preset, settings: preset.settings });
  };
  at("preset").onchange = () => select(at("preset").selectedIndex);
  at("previous").onclick = () => select(at("preset").selectedIndex - 1);
  at("next").onclick = () => select(at("preset").selectedIndex + 1);
  at("link").onclick = guarded(async () => {
    await navigator.clipboard.writeText(location.href);
    say("The link with this sound is on the clipboard.");
  });
  addEventListener("hashchange", follow);

  // What is played.

  const toggle = guarded(async () => {
    if (playing()) {
      engine.pause();
      listening = false;
    } else {
      await engine.start(settings);
      engine.settings(settings);
      if (source === "microphone") {
        await engine.listen();
        listening = true;
        say("Listening. Use headphones, or loudspeaker and microphone will howl.");
      } else {
        await engine.play();
        say("");
      }
    }
    showPlaying();
  });

  function showPlaying() {
    const start = source === "microphone" ? "Listen" : "Play";
    at("play").textContent = playing() ? (listening ? "Stop" : "Pause") : start;
    at("seek").disabled = source === "microphone";
  }

  async function use(wanted, file) {
    if (playing()) await toggle();
    source = wanted;
    document.querySelector(`[name=source][value=${wanted}]`).checked = true;
    if (file) {
      URL.revokeObjectURL(audio.src);
      audio.src = URL.createObjectURL(file);
      at("file-name").textContent = file === tune ? "Your file" : file.name;
    }
    showPlaying();
  }

  const useFile = async (file) => {
    if (!file) return;
    await use("file", file);
    await toggle();
  };
  document.querySelectorAll("[name=source]").forEach((radio) => {
    radio.onchange = async () => {
      if (radio.value === "tune") await use("tune", tune);
      else if (radio.value === "microphone") await use("microphone");
      else at("file").click();
    };
    // Another file, when there is one already.
    radio.onclick = () => {
      if (radio.value === "file" && source === "file") at("file").click();
    };
  });
  at("file").onchange = () => useFile(at("file").files[0]);
  at("file").oncancel = () => (document.querySelector(`[name=source][value=${source}]`).checked = true);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    useFile(event.dataTransfer.files[0]);
  });
  audio.onerror = () => fail("This browser cannot play this file. Try WAV, MP3, FLAC, Ogg or M4A.");

  const seek = (seconds) => (audio.currentTime = Math.min(audio.duration || 0, Math.max(0, seconds)));
  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  at("seek").oninput = () => seek(Number(at("seek").value));
  audio.ontimeupdate = audio.onloadedmetadata = () => {
    const { currentTime, duration } = audio;
    const length = Number.isFinite(duration) ? duration : 0;
    at("seek").max = length || 1;
    at("seek").value = currentTime;
    at("seek").style.setProperty("--share", length ? currentTime / length : 0);
    at("time").value = `${clock(currentTime)} / ${clock(length)}`;
    at("seek").ariaValueText = at("time").value;
  };
  audio.onplay = audio.onpause = showPlaying;
  at("play").onclick = toggle;
  document.querySelectorAll("[name=compare]").forEach((radio) => (radio.onchange = () => compare(radio.value === "dry")));

  // The computer's keyboard, except where a control has its own use for a key.

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return;
    const own = event.target.matches("button, input, summary");
    if (event.code === "Space" && (!own || event.target.matches("[type=range]"))) toggle();
    else if (event.code === "ArrowLeft" && !own) seek(audio.currentTime - 5);
    else if (event.code === "ArrowRight" && !own) seek(audio.currentTime + 5);
    else if (event.key === "b") compare(!settings.bypass);
    else if (!keys.keydown(event)) return;
    event.preventDefault();
  });

  // The picture: up to 60 times a second, or four for those who want less motion.

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let last = 0;
  engine.onpicture = (numbers) => grid.update(numbers);
  requestAnimationFrame(function frame(now) {
    requestAnimationFrame(frame);
    const seconds = (now - last) / 1000;
    if (seconds < (calm.matches ? 0.25 : 0.016)) return;
    last = now;
    engine.requestPicture();
    grid.draw(seconds);
    const text = `Sounding: ${grid.sounding().map(name).join(" ") || "none"}`;
    if (at("sounding").textContent !== text) at("sounding").textContent = text;
  });

  follow();
  use("tune", tune);
  document.querySelector("main").inert = false;
  return { engine, library, settings: () => settings };
}

export const page = open().then(run);
page.catch((error) => {
  document.querySelector("main").hidden = true;
  fail(error.message);
});
