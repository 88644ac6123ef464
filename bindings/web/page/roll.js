// Piano roll of the last seconds of the bands on a canvas: the lowest note at the bottom, the present at the right.

import { noteName } from "./tone-filter/index.js";

const SECONDS = 8;
const RATE = 60;
const COLUMNS = SECONDS * RATE;

// Levels of the darkest and the brightest note, in dB relative to the whole input.
const DARKEST = -60;
const BRIGHTEST = -5;

// Colours from DARKEST to BRIGHTEST, given by lightness, chroma and hue in OKLCH.
const SHADES = 32;
const shades = (from, to) =>
  Array.from({ length: SHADES }, (_, shade) => `oklch(${from.map((x, i) => x + ((to[i] - x) * shade) / (SHADES - 1)).join(" ")})`);

// For each state: the colours of a note, and its height as a fraction of its row. Each state is brighter and thicker than the
// state before it, so that states can be told apart without colours, too.
const STATES = {
  inactive: { colours: shades([0.23, 0.02, 258], [0.43, 0.14, 258]), share: 0.25 },
  sounding: { colours: shades([0.4, 0.09, 150], [0.68, 0.19, 150]), share: 0.65 },
  saturated: { colours: shades([0.55, 0.17, 27], [0.74, 0.2, 27]), share: 0.9 },
};

const LINE = "oklch(0.31 0.012 265)";
const isBlack = (note) => [1, 3, 6, 8, 10].includes(note % 12);

export class Roll {
  #canvas;
  #context;
  #ring = document.createElement("canvas"); // Ring of columns: a new column replaces the oldest.
  #column; // Context of `#ring`.
  #empty = document.createElement("canvas"); // A column without notes.
  #count = 0;
  #due = 0; // Number of columns to append, with a fraction.
  #notes = []; // MIDI notes of the rows, the lowest first.

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    this.#column = this.#ring.getContext("2d", { alpha: false });
    new ResizeObserver(() => this.#clear()).observe(canvas);
  }

  set lowest(note) {
    if (note === this.#notes[0]) return;
    this.#notes = Array.from({ length: 105 - note }, (_, index) => note + index);
    this.#clear();
  }

  #clear() {
    const { clientWidth, clientHeight } = this.#canvas;
    this.#canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.#canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.#empty.width = 1;
    this.#ring.width = COLUMNS;
    this.#ring.height = this.#empty.height = this.#canvas.height || 1;
    this.#paintEmpty();
    this.#column.drawImage(this.#empty, 0, 0, COLUMNS, this.#ring.height);
    this.draw();
  }

  // Returns top and height of a row in pixels.
  #row(index) {
    const edge = (below) => this.#ring.height - Math.floor((this.#ring.height * below) / this.#notes.length);
    return [edge(index + 1), edge(index) - edge(index + 1)];
  }

  #paintEmpty() {
    const context = this.#empty.getContext("2d");
    this.#notes.forEach((note, index) => {
      const [top, height] = this.#row(index);
      context.fillStyle = `oklch(${isBlack(note) ? 0.185 : 0.22} 0.012 265)`;
      context.fillRect(0, top, 1, height);
      if (note % 12) return;
      context.fillStyle = LINE;
      context.fillRect(0, top + height - 1, 1, 1);
    });
  }

  // Appends `bands`, `seconds` after the last call.
  push(bands, seconds) {
    this.#due = Math.min(RATE / 4, this.#due + seconds * RATE);
    for (; this.#due >= 1; this.#due--) this.#append(bands);
  }

  #append(bands) {
    const x = this.#count++ % COLUMNS;
    this.#column.drawImage(this.#empty, x, 0);
    this.#notes.forEach((note, index) => {
      const { state, level } = bands[note - bands[0].note];
      if (level <= DARKEST || !(state in STATES)) return;
      const { colours, share } = STATES[state];
      const strength = Math.min(1, (level - DARKEST) / (BRIGHTEST - DARKEST));
      const [top, height] = this.#row(index);
      const thickness = Math.round(share * height);
      this.#column.fillStyle = colours[Math.round(strength * (SHADES - 1))];
      this.#column.fillRect(x, top + (height - thickness) / 2, 1, thickness);
    });
  }

  draw() {
    const { width, height } = this.#canvas;
    if (!width || !height) return;
    const context = this.#context;
    const size = 11 * devicePixelRatio;
    const left = Math.round(2.6 * size);
    const share = (width - left) / COLUMNS;
    const oldest = this.#count % COLUMNS;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#ring, oldest, 0, COLUMNS - oldest, height, left, 0, (COLUMNS - oldest) * share, height);
    if (oldest) context.drawImage(this.#ring, 0, 0, oldest, height, left + (COLUMNS - oldest) * share, 0, oldest * share, height);
    context.clearRect(0, 0, left, height);
    context.fillStyle = "#9aa2ae";
    context.font = `${size}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    this.#notes.forEach((note, index) => {
      const [top, rowHeight] = this.#row(index);
      if (note % 12 === 0) context.fillText(noteName(note), left - 0.4 * size, top + rowHeight / 2);
    });
  }
}
