// The bands on a canvas: one cell per note with its level, its state and its wave, as in the plugin.

import { noteName } from "./tone-filter/index.js";

// MIDI notes of the grid, whose rows are octaves from A to G#: the lowest A, and the highest note.
const LOWEST_A = 21;
const HIGHEST = 104;

// Level of an empty bar, in dB relative to the whole input.
const QUIETEST = -60;

// Powers at which a wave has no height and full height, in dB relative to full scale.
const FAINTEST = -80;
const LOUDEST = -10;

// Time constants of rising and falling levels and of changes of state, in seconds.
const RISE = 0.02;
const FALL = 0.12;
const CHANGE = 0.05;

// Number of frames in which each silent cell is drawn once.
const TURNS = 5;

const BACKGROUND = [16, 18, 22];
const SURFACE = [25, 29, 35];
const LINE = [42, 48, 57];
const TEXT = [220, 223, 228];
const DIM = [132, 141, 154];
const MUTED = [79, 134, 224];
const SOUNDING = [69, 208, 131];
const SATURATED = [255, 92, 82];

// Bands until the first answer of the audio thread.
const SILENCE = Array.from({ length: 77 }, (_, index) => ({ note: 28 + index, power: -200, level: -200, state: "inactive", wave: [] }));

const between = (from, to, fraction) => from.map((x, i) => x + (to[i] - x) * fraction);
const css = (colour, opacity = 1) => `rgb(${colour.map(Math.round).join(" ")} / ${opacity.toFixed(2)})`;
const clamp = (x) => Math.min(1, Math.max(0, x));

export class Grid {
  #canvas;
  #context;
  #width = 0;
  #height = 0;
  #lowest = 28;
  #turn = 0;
  bands = SILENCE;
  // Displayed values by MIDI note, which move smoothly to the values of the bands.
  #cells = Array.from({ length: HIGHEST + 1 }, () => ({ level: 0, loudness: 0, sounding: 0, saturated: 0 }));

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    new ResizeObserver(() => this.#resize()).observe(canvas);
    this.#resize();
  }

  #resize() {
    this.#width = this.#canvas.clientWidth;
    this.#height = this.#canvas.clientHeight;
    this.#canvas.width = Math.round(this.#width * devicePixelRatio);
    this.#canvas.height = Math.round(this.#height * devicePixelRatio);
    this.draw(1);
  }

  // The MIDI note of the lowest band that is shown.
  set lowest(note) {
    if (note === this.#lowest) return;
    this.#lowest = note;
    this.#resize();
  }

  #rectangle(note) {
    const gap = Math.min(10, Math.max(3, 0.005 * this.#width));
    const width = (this.#width + gap) / 12;
    const first = LOWEST_A + 12 * Math.floor((this.#lowest - LOWEST_A) / 12);
    const height = (this.#height + gap) / ((HIGHEST + 1 - first) / 12);
    const index = note - first;
    return [(index % 12) * width, Math.floor(index / 12) * height, width - gap, height - gap];
  }

  // Returns the note whose cell is at a place of the canvas; `undefined` between the cells.
  noteAt(x, y) {
    return this.bands.map(({ note }) => note).find((note) => {
      const [left, top, width, height] = this.#rectangle(note);
      return note >= this.#lowest && x >= left && x < left + width && y >= top && y < top + height;
    });
  }

  // Draws the grid, `seconds` after the last call: all cells that sound or fade, and a fifth of the silent cells in turn.
  draw(seconds) {
    this.#turn = (this.#turn + 1) % TURNS;
    const all = seconds > 0.1;
    this.#context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    for (const band of this.bands.slice(this.#lowest - this.bands[0].note)) {
      const cell = this.#cells[band.note];
      const approach = (key, target, time) => (cell[key] = target + (cell[key] - target) * Math.exp(-seconds / time));
      const follow = (key, target) => approach(key, target, target > cell[key] ? RISE : FALL);
      const loudness = clamp((band.power - FAINTEST) / (LOUDEST - FAINTEST));
      const saturated = band.state === "saturated";
      follow("loudness", loudness);
      follow("level", loudness === 0 ? 0 : clamp(1 - band.level / QUIETEST));
      approach("sounding", saturated || band.state === "sounding" ? 1 : 0, CHANGE);
      approach("saturated", saturated ? 1 : 0, CHANGE);
      if (all || cell.sounding > 0.01 || band.note % TURNS === this.#turn) this.#paint(cell, band);
    }
  }

  #paint(cell, band) {
    const context = this.#context;
    const [left, top, width, height] = this.#rectangle(band.note);
    // On a phone, a cell has no room for the level as a number, and shows the mark there.
    const narrow = width < 50;
    const size = Math.min(1.6, Math.max(0.75, Math.min(width / 76, height / 70)));
    const colour = between(between(MUTED, SOUNDING, cell.sounding), SATURATED, cell.saturated);
    const open = band.state !== "disabled";
    const glow = cell.sounding * (0.1 + 0.12 * cell.level);

    // Clears the cell, and the soft edges of its border.
    context.clearRect(left - 1, top - 1, width + 2, height + 2);
    context.fillStyle = css(between(open ? SURFACE : BACKGROUND, colour, glow));
    context.strokeStyle = css(between(LINE, colour, 0.7 * cell.sounding));
    context.lineWidth = 1 + cell.saturated;
    context.beginPath();
    context.roundRect(left + 1, top + 1, width - 2, height - 2, 4 * size);
    context.fill();
    context.stroke();

    const margin = (narrow ? 4 : 7) * size;
    const [right, bottom] = [left + width - margin, top + height - margin];
    const text = css(between(DIM, TEXT, cell.sounding), open ? 1 : 0.5);
    context.fillStyle = text;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.font = `${13 * size}px system-ui, sans-serif`;
    context.fillText(noteName(band.note), left + margin, top + margin);
    const presence = Math.max(Math.min(1, 12 * cell.level), cell.sounding);
    const number = 11 * size;
    const middle = bottom - 0.4 * number;
    const markAt = narrow ? [right - 3 * size, middle] : [right - 4 * size, top + margin + 5 * size];
    if (open) this.#mark(...markAt, 4 * size, band.state, css(colour, presence));
    if (!open && cell.loudness < 0.01) return;

    const bar = width - 2 * margin - (narrow ? 10 * size : 1.9 * number);
    context.fillStyle = css(LINE);
    context.fillRect(left + margin, middle - 2 * size, bar, 4 * size);
    context.fillStyle = css(colour);
    context.fillRect(left + margin, middle - 2 * size, bar * cell.level, 4 * size);
    if (presence > 0.02 && !narrow) {
      context.globalAlpha = presence;
      context.fillStyle = text;
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.font = `${number}px system-ui, sans-serif`;
      context.fillText(Math.round((1 - cell.level) * QUIETEST) || 0, right, middle);
      context.globalAlpha = 1;
    }

    const ceiling = top + margin + 17 * size;
    const floor = middle - 6 * size;
    const [half, centre] = [0.5 * (floor - ceiling) * cell.loudness, 0.5 * (floor + ceiling)];
    context.strokeStyle = css(colour, 0.3 + 0.4 * cell.loudness + 0.3 * cell.sounding);
    context.lineWidth = 1 + 0.6 * size * cell.sounding;
    context.lineJoin = "round";
    context.beginPath();
    // Skips points where the wave has more points than the cell has pixels.
    const step = Math.max(1, Math.floor(band.wave.length / (width * devicePixelRatio)));
    const share = (width - 2 * margin) / (band.wave.length - 1);
    for (let point = 0; point < band.wave.length; point += step) {
      context.lineTo(left + margin + share * point, centre - half * band.wave[point]);
    }
    context.stroke();
  }

  // Draws a ring for a note that is not played, a disc for a note that sounds, a triangle for a note at the ceiling.
  #mark(x, y, radius, state, colour) {
    const context = this.#context;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    if (state === "saturated") {
      context.moveTo(x, y - 1.3 * radius);
      context.lineTo(x + 1.3 * radius, y + radius);
      context.lineTo(x - 1.3 * radius, y + radius);
    } else {
      context.arc(x, y, state === "sounding" ? radius : radius - 0.5, 0, 2 * Math.PI);
    }
    if (state !== "inactive") context.fill();
    else context.stroke();
  }
}
