// The controls, made from the tables of settings, in the groups of the plugin's window.

import { choices, groups, numbers } from "./tone-filter/index.js";

// Settings without a control. The bypass has a button instead; a page has no host tempo, no sidechain and no MIDI output.
const LEFT_OUT = ["bypass", "listen", "midi-out", "mpe", "sync-to"];

// Controls that stay enabled while they have no effect. Map at Custom can leave both Map and Scale without effect, and then a
// visitor can still set Map back. Lookahead still delays the sound.
const UNLOCKED = ["lookahead", "map"];

// Step of a linear slider, by the unit of its setting.
const STEPS = { "%": 1, dB: 0.5, st: 1, Hz: 1, oct: 1, notes: 1, ticks: 1, ms: 1 };

// Number of steps of a logarithmic slider.
const POSITIONS = 200;

// Formats a value as `Spec::format` does: three significant digits over a range of decades, no zeros at the end, and `1 note`.
export function format({ decimals, unit, taper, min, max }, value) {
  const wide = taper === "logarithmic" && max >= 10 * min && value < 1000;
  const rounded = wide ? Number(value.toPrecision(3)) : value;
  const number = Number(rounded.toFixed(decimals)) || 0;
  return `${number} ${number === 1 && taper === "whole" ? unit.replace(/s$/, "") : unit}`;
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const control = ({ id, name, help }, ...parts) =>
  element("div", { className: "control", title: help }, element("label", { htmlFor: id }, name), ...parts);

// Returns a slider that calls `change` with a new value, and a function that shows a value on it.
function slider(spec, change) {
  const logarithmic = spec.taper === "logarithmic";
  const ratio = Math.log(spec.max / spec.min);
  const input = element("input", { type: "range", id: spec.id });
  [input.min, input.max, input.step] = logarithmic ? [0, POSITIONS, 1] : [spec.min, spec.max, STEPS[spec.unit]];
  const output = element("output", { htmlFor: spec.id });
  input.oninput = () => {
    const position = Number(input.value);
    const value = logarithmic ? spec.min * Math.exp((ratio * position) / POSITIONS) : position;
    change(spec.id, Math.min(spec.max, Math.max(spec.min, Number(value.toPrecision(5)))));
  };
  const show = (value) => {
    input.value = logarithmic ? (POSITIONS * Math.log(value / spec.min)) / ratio : value;
    output.value = format(spec, value);
    input.ariaValueText = output.value;
    input.style.setProperty("--share", (input.value - input.min) / (input.max - input.min));
  };
  return { node: control(spec, output, input), input, show };
}

function list(choice, change) {
  const options = choice.entries.map(([value, text]) => element("option", { value }, text));
  const input = element("select", { id: choice.id }, ...options);
  input.onchange = () => change(choice.id, input.value);
  return { node: control(choice, input), input, show: (value) => (input.value = value) };
}

function toggle(choice, change) {
  const input = element("input", { type: "checkbox", id: choice.id });
  input.onchange = () => change(choice.id, input.checked);
  return { node: control(choice, input), input, show: (value) => (input.checked = value) };
}

// Fills the elements `first` and `more` with controls, which call `change` with the id and the new value of a setting. Returns
// functions that show the settings, and the reasons why some have no effect.
export function makeControls(first, more, change) {
  const controls = new Map();
  const make = (id) => {
    const spec = numbers.find((row) => row.id === id);
    const choice = choices.find((row) => row.id === id);
    const isSwitch = choice?.entries[0][0] === "off" && choice.entries.length === 2;
    const made = spec ? slider(spec, change) : (isSwitch ? toggle : list)(choice, change);
    controls.set(id, { ...made, help: made.node.title });
    return made.node;
  };
  const [main, ...others] = groups.map(({ name, ids }) => ({ name, nodes: ids.filter((id) => !LEFT_OUT.includes(id)).map(make) }));
  first.append(...main.nodes);
  for (const { name, nodes } of others) {
    const group = element("div", { className: "controls" }, ...nodes);
    more.append(element("fieldset", {}, element("legend", {}, name), group));
  }
  const show = (settings) => controls.forEach(({ show }, id) => show(settings[id]));
  const showIdle = (idle) =>
    controls.forEach(({ node, input, help }, id) => {
      const remark = idle[id] ? `No effect: ${idle[id]}.` : null;
      node.title = remark ? `${help} ${remark}` : help;
      input.ariaDescription = remark;
      input.disabled = remark !== null && !UNLOCKED.includes(id);
    });
  return { show, showIdle };
}
