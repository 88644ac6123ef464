// Links to a sound. After `#`, a link has a preset and the settings that differ from it, as in `#preset=game-boy&mix=70`.

import { check, findPreset, presets } from "./tone-filter/index.js";

// Settings that links leave out. Bypass belongs to the comparison with the original; the others are connections that a page
// lacks.
const OWN = ["bypass", "midi-out", "mpe", "listen"];

// Returns whether the part after `#` is a sound; otherwise, it is an anchor in the page.
export const isSound = (hash) => hash.includes("=");

export function write(preset, settings) {
  const changed = Object.entries(settings).filter(([id, value]) => !OWN.includes(id) && value !== preset.settings[id]);
  return `#${new URLSearchParams([["preset", preset.id], ...changed])}`;
}

// Returns the sound as a preset in JSON. It has values from `settings`, for the settings that `preset` has.
export function toPreset(preset, settings) {
  const own = Object.keys(preset.settings).map((id) => [id, settings[id]]);
  return JSON.stringify({ version: 1, name: preset.name, settings: Object.fromEntries(own) });
}

// Returns what `text` stands for in a setting of `type`; the text itself, an invalid value, if that is nothing.
function valueOf(text, type) {
  if (type === "number" && text.trim()) return Number(text);
  if (type === "boolean") return { true: true, false: false }[text] ?? text;
  return text;
}

// Returns the preset and the settings of a link. Throws an error that names an invalid part.
export function read(hash) {
  const given = new URLSearchParams(isSound(hash) ? hash.slice(1) : "");
  const wanted = given.get("preset") ?? presets[0].id;
  const preset = findPreset(wanted);
  given.delete("preset");
  const settings = { ...preset.settings };
  for (const [id, text] of given) {
    if (OWN.includes(id)) continue;
    settings[id] = valueOf(text, typeof settings[id]);
  }
  return { preset, settings: check(settings) };
}
