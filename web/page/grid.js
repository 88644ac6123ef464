// The bands on a canvas: one cell per note with its level, its state and its wave, as in the plugin.

import { TONES } from "./filter.js";

const NAMES = ["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"];

// The published bands come first, A3 to G#7, then those from E1 to G#3.
export const PUBLISHED = 48;

// Semitones from A3.
export const semitone = (tone) => (tone < PUBLISHED ? tone : tone - TONES);
export const name = (semitone) => `${NAMES[(semitone + 36) % 12]}${3 + Math.floor((semitone + 9) / 12)}`;

// Levels in dB: an empty bar; a wave without height and with its full height.
const QUIETEST = -60;
const FAINTEST = -80;
const LOUDEST = -10;

// Time constants of rising and falling levels and of changes of state, in seconds.
const RISE = 0.02;
const FALL = 0.12;
const CHANGE = 0.05;

const BACKGROUND = [16, 18, 22];
const SURFACE = [25, 29, 35];
const LINE = [42, 48, 57];
const TEXT = [220, 223, 228];
const DIM = [132, 141, 154];
const MUTED = [79, 134, 224];
const SOUNDING = [69, 208, 131];
const SATURATED = [255, 92, 82];

const between = (from, to, share) => from.map((x, i) => x + (to[i] - x) * share);
const css = (colour, opacity = 1) => `rgb(${colour.map(Math.round).join(" ")} / ${opacity})`;
const clamp = (x) => Math.min(1, Math.max(0, x));

export class Grid {
  #canvas;
  #context;
  #record;
  #numbers;
  #whole = false;
  // What is shown, which follows the numbers.
  #cells = Array.from({ length: TONES }, () => ({ level: 0, loudness: 0, sounding: 0, saturated: 0 }));

  constructor(canvas, record) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d");
    this.#record = record;
    this.#numbers = new Float32Array(TONES * record).fill(-200);
    for (let tone = 0; tone < TONES; tone++) this.#numbers[tone * record + 2] = 0;
    new ResizeObserver(() => this.#resize()).observe(canvas);
    this.#resize();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.#canvas;
    this.#canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.#canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.draw(0);
  }

  // The setting "range".
  set range(range) {
    this.#whole = range === "whole";
  }

  // The bands that are shown.
  get #tones() {
    return this.#whole ? TONES : PUBLISHED;
  }

  update(numbers) {
    this.#numbers.set(numbers);
  }

  #band(tone) {
    const [power, level, state] = this.#numbers.subarray(tone * this.#record);
    const wave = this.#numbers.subarray(tone * this.#record + 3, (tone + 1) * this.#record);
    return { power, level, state, wave };
  }

  // The notes that sound, as semitones from A3, the lowest first.
  sounding() {
    const tones = Array.from({ length: this.#tones }, (_, tone) => tone).filter((tone) => [1, 2].includes(this.#band(tone).state));
    return tones.map(semitone).sort((a, b) => a - b);
  }

  // On a narrow page, six columns.
  get #columns() {
    return this.#canvas.clientWidth < 560 ? 6 : 12;
  }

  #rectangle(tone) {
    const { clientWidth, clientHeight } = this.#canvas;
    const columns = this.#columns;
    const gap = Math.min(10, Math.max(3, 0.005 * clientWidth));
    const width = (clientWidth + gap) / columns;
    // Rows of octaves from A, the first of which lacks its lowest notes.
    const below = this.#whole ? 36 : 0;
    const height = (clientHeight + gap) / ((below + PUBLISHED) / columns);
    const place = semitone(tone) + below;
    return [(place % columns) * width, Math.floor(place / columns) * height, width - gap, height - gap];
  }

  // The band whose cell is at a place of the canvas.
  toneAt(x, y) {
    return this.#cells.slice(0, this.#tones).findIndex((_, tone) => {
      const [left, top, width, height] = this.#rectangle(tone);
      return x >= left && x < left + width && y >= top && y < top + height;
    });
  }

  // Draws the grid `seconds` after the last time.
  draw(seconds) {
    this.#context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.#context.clearRect(0, 0, this.#canvas.clientWidth, this.#canvas.clientHeight);
    this.#cells.slice(0, this.#tones).forEach((cell, tone) => {
      const band = this.#band(tone);
      const approach = (key, target, time) => (cell[key] = target + (cell[key] - target) * Math.exp(-seconds / time));
      const follow = (key, target) => approach(key, target, target > cell[key] ? RISE : FALL);
      const loudness = clamp((band.power - FAINTEST) / (LOUDEST - FAINTEST));
      follow("loudness", loudness);
      follow("level", loudness === 0 ? 0 : clamp(1 - band.level / QUIETEST));
      approach("sounding", [1, 2].includes(band.state) ? 1 : 0, CHANGE);
      approach("saturated", band.state === 2 ? 1 : 0, CHANGE);
      this.#paint(cell, tone, band);
    });
  }

  #paint(cell, tone, band) {
    const context = this.#context;
    const [left, top, width, height] = this.#rectangle(tone);
    const size = Math.min(1.6, Math.max(0.75, Math.min(width / 76, height / 70)));
    const colour = between(between(MUTED, SOUNDING, cell.sounding), SATURATED, cell.saturated);
    const open = band.state !== 3;
    const glow = cell.sounding * (0.1 + 0.12 * cell.level);

    context.fillStyle = css(between(open ? SURFACE : BACKGROUND, colour, glow));
    context.strokeStyle = css(between(LINE, colour, 0.7 * cell.sounding));
    context.lineWidth = 1 + cell.saturated;
    context.beginPath();
    context.roundRect(left + 1, top + 1, width - 2, height - 2, 4 * size);
    context.fill();
    context.stroke();

    const margin = 7 * size;
    const [right, bottom] = [left + width - margin, top + height - margin];
    const text = css(between(DIM, TEXT, cell.sounding), open ? 1 : 0.5);
    context.fillStyle = text;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.font = `${13 * size}px system-ui, sans-serif`;
    context.fillText(name(semitone(tone)), left + margin, top + margin);
    const presence = Math.max(Math.min(1, 12 * cell.level), cell.sounding);
    if (open) this.#mark(right - 4 * size, top + margin + 5 * size, 4 * size, band.state, css(colour, presence));
    if (!open && cell.loudness < 0.01) return;

    const number = 11 * size;
    const bar = width - 2 * margin - 1.9 * number;
    const middle = bottom - 0.4 * number;
    context.fillStyle = css(LINE);
    context.fillRect(left + margin, middle - 2 * size, bar, 4 * size);
    context.fillStyle = css(colour);
    context.fillRect(left + margin, middle - 2 * size, bar * cell.level, 4 * size);
    if (presence > 0.02) {
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
    band.wave.forEach((y, point) => {
      const x = left + margin + ((width - 2 * margin) * point) / (band.wave.length - 1);
      // Before the first picture, there is no wave.
      context.lineTo(x, centre - half * (Math.abs(y) <= 1 ? y : 0));
    });
    context.stroke();
  }

  // A ring for a note that is not played, a disc for one that sounds, a triangle for one at the ceiling.
  #mark(x, y, radius, state, colour) {
    const context = this.#context;
    context.fillStyle = context.strokeStyle = colour;
    context.lineWidth = 1;
    context.beginPath();
    if (state === 2) {
      context.moveTo(x, y - 1.3 * radius);
      context.lineTo(x + 1.3 * radius, y + radius);
      context.lineTo(x - 1.3 * radius, y + radius);
    } else {
      context.arc(x, y, radius - 0.5 * (1 - state), 0, 2 * Math.PI);
    }
    if (state > 0) context.fill();
    else context.stroke();
  }
}
