// Checks settings, and converts them between objects and the arrays of the audio thread.

import { choices, numbers, presets, texts } from "./tables.js";

const IDS = [...numbers, ...choices, ...texts].map(({ id }) => id);

export const LENGTHS = { values: numbers.length + choices.length, texts: texts.length };

const isSwitch = ({ entries }) => entries.length === 2 && entries[0][0] === "off" && entries[1][0] === "on";

// Values of the settings that presets lack.
const ROUTING = { bypass: false, listen: "main", "midi-out": false, mpe: false };
const lacking = () => ({ ...ROUTING, ...findPreset("reference").settings });

// Rounds a number as the filter does, which computes with 32 bits.
const rounded = (value) => Number(Math.fround(value).toPrecision(7));

export function findPreset(id) {
  const preset = presets.find((preset) => preset.id === id);
  if (!preset) throw new RangeError(`there is no preset ${id}; use ${presets.map(({ id }) => id).join(", ")}`);
  return preset;
}

export function check(settings) {
  const all = lacking();
  for (const [id, value] of Object.entries(settings)) if (value !== undefined) all[id] = valid(id, value);
  return all;
}

function valid(id, value) {
  const wrong = (reason) => new RangeError(`${id} = ${JSON.stringify(value)} is ${reason}`);
  const spec = numbers.find((row) => row.id === id);
  if (spec) {
    const { min, max, unit, taper } = spec;
    if (typeof value !== "number") throw wrong(`not a number; use ${min} to ${max} ${unit}`);
    if (!(value >= min && value <= max)) throw wrong(`out of range; use ${min} to ${max} ${unit}`);
    return taper === "whole" ? Math.round(value) : rounded(value);
  }
  const choice = choices.find((row) => row.id === id);
  if (choice) {
    const known = isSwitch(choice) ? [true, false] : choice.entries.map(([entry]) => entry);
    if (!known.includes(value)) throw wrong(`unknown; use ${known.join(", ")}`);
    return value;
  }
  const text = texts.find((row) => row.id === id);
  if (!text) throw new RangeError(`"${id}" is unknown; use ${IDS.join(", ")}`);
  if (typeof value !== "string" || !new RegExp(text.form).test(value)) throw wrong(`unknown; use ${text.of}`);
  return value;
}

const entryOf = (choice, value) => (isSwitch(choice) ? Number(value) : choice.entries.findIndex(([entry]) => entry === value));

export const encode = (settings) => ({
  values: [...numbers.map(({ id }) => settings[id]), ...choices.map((choice) => entryOf(choice, settings[choice.id]))],
  texts: texts.map(({ id }) => new TextEncoder().encode(settings[id])),
});

export function decode(arrays) {
  const pairs = [
    ...numbers.map(({ id }, index) => [id, rounded(arrays.values[index])]),
    ...choices.map((choice, index) => {
      const entry = arrays.values[numbers.length + index];
      return [choice.id, isSwitch(choice) ? entry === 1 : choice.entries[entry][0]];
    }),
    ...texts.map(({ id }, index) => [id, new TextDecoder().decode(arrays.texts[index])]),
  ];
  return Object.fromEntries(pairs);
}

// Returns the reasons by setting id, without empty ones.
export function decodeIdle(reasons) {
  const pairs = reasons.map((reason, index) => [IDS[index], new TextDecoder().decode(reason)]);
  return Object.fromEntries(pairs.filter(([, reason]) => reason));
}
