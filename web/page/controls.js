// The controls, made from the library's table of settings.

const FIRST = ["mix", "focus", "voice", "octave", "drive", "tone", "keys"];
const MORE = ["sensitivity", "ring", "release", "voices", "arp", "duty", "attack", "decay", "map", "glide", "vibrato", "transpose", "tuning", "auto-tuning", "root", "scale", "range", "morph", "output", "auto", "stereo", "listener", "lookahead", "freeze"];

// The steps of a slider, by unit.
const STEPS = { "%": 1, dB: 0.5, st: 1, Hz: 1, oct: 1, notes: 1, ticks: 1 };

// Positions of a logarithmic slider.
const POSITIONS = 200;

// As `Spec::number`: three significant digits over a range of decades, and no zeros at the end.
export function format({ decimals, unit, taper, min, max }, value) {
  const wide = taper === "logarithmic" && max >= 10 * min && value < 1000;
  const rounded = wide ? Number(value.toPrecision(3)) : value;
  return `${Number(rounded.toFixed(decimals)) || 0} ${unit}`;
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const control = ({ id, name }, ...parts) =>
  element("div", { className: "control" }, element("label", { htmlFor: id }, name), ...parts);

// A slider, and how it shows a value.
function slider(spec, change) {
  const logarithmic = spec.taper === "logarithmic";
  const ratio = Math.log(spec.max / spec.min);
  const input = element("input", { type: "range", id: spec.id, title: spec.help });
  [input.min, input.max, input.step] = logarithmic ? [0, POSITIONS, 1] : [spec.min, spec.max, STEPS[spec.unit]];
  const output = element("output", { htmlFor: spec.id });
  input.oninput = () => {
    const place = Number(input.value);
    const value = logarithmic ? spec.min * Math.exp((ratio * place) / POSITIONS) : place;
    change(spec.id, Math.min(spec.max, Math.max(spec.min, Number(value.toPrecision(5)))));
  };
  const show = (value) => {
    input.value = logarithmic ? (POSITIONS * Math.log(value / spec.min)) / ratio : value;
    output.value = format(spec, value);
    input.ariaValueText = output.value;
    input.style.setProperty("--share", (input.value - input.min) / (input.max - input.min));
  };
  return { node: control(spec, output, input), show };
}

function list(choice, change) {
  const options = choice.entries.map(([value, text]) => element("option", { value }, text));
  const select = element("select", { id: choice.id, title: choice.help }, ...options);
  select.onchange = () => change(choice.id, select.value, select.selectedIndex);
  return { node: control(choice, select), show: (value) => (select.value = value) };
}

function toggle(choice, change) {
  const input = element("input", { type: "checkbox", id: choice.id, title: choice.help });
  input.onchange = () => change(choice.id, input.checked, Number(input.checked));
  return { node: control(choice, input), show: (value) => (input.checked = value) };
}

// Fills the page's two groups. `change` gets an id, its value in JSON and its number; the result shows settings.
export function makeControls(library, groups, change) {
  const controls = new Map();
  [FIRST, MORE].forEach((ids, group) => {
    for (const id of ids) {
      const spec = library.numbers.find((row) => row.id === id);
      const choice = library.choices.find((row) => row.id === id);
      const isSwitch = choice?.entries[0][0] === "off" && choice.entries.length === 2;
      const control = spec
        ? slider(spec, (id, value) => change(id, value, value))
        : (isSwitch ? toggle : list)(choice, change);
      groups[group].append(control.node);
      controls.set(id, control);
    }
  });
  return (settings) => {
    controls.forEach(({ show }, id) => show(settings[id]));
    // The resonators themselves have no other octave.
    document.getElementById("octave").disabled = settings.voice === "soft";
  };
}
