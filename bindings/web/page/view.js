// View of the bands, as a grid or as a roll. It is drawn at most 60 times a second, or 4 times for visitors who want less
// motion.

import { noteName } from "./tone-filter/index.js";
import { Grid } from "./grid.js";
import { Roll } from "./roll.js";

// Seconds for which the picture keeps moving after the last sound or edit.
const AFTERGLOW = 3;

// Minimum seconds between updates of the notes' names.
const READING = 0.1;

const at = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  #engine;
  grid = new Grid(at("grid"));
  #roll = new Roll(at("roll"));
  // Times are in milliseconds, as of performance.now().
  #awake = 0; // Time until which the picture moves.
  #last = 0; // Time of the last frame that was drawn.
  #waiting = false; // Whether a request for bands is under way.
  #pushed = 0; // Time of the last request for bands.
  #said = 0; // Time at which the notes were last named.

  constructor(engine) {
    this.#engine = engine;
    at("view").onclick = () => this.toggle();
    requestAnimationFrame((now) => this.#frame(now));
  }

  toggle() {
    const roll = at("roll").hidden;
    at("roll").hidden = !roll;
    at("grid").hidden = roll;
    at("view").ariaPressed = roll;
    this.wake();
  }

  show(settings) {
    this.grid.lowest = this.#roll.lowest = settings.range === "whole" ? 28 : 57;
    this.wake();
  }

  // Keeps the picture moving for AFTERGLOW.
  wake() {
    this.#awake = performance.now() + 1000 * AFTERGLOW;
  }

  #frame(now) {
    requestAnimationFrame((now) => this.#frame(now));
    const seconds = (now - this.#last) / 1000;
    if (seconds < (calm.matches ? 0.25 : 0.016)) return;
    const moving = ["playing", "listening"].includes(this.#engine.state);
    if (moving) this.wake();
    if (now > this.#awake) return;
    this.#last = now;
    if (!this.#waiting) this.#ask();
    if (at("roll").hidden) this.grid.draw(Math.min(seconds, 1));
    else this.#roll.draw();
  }

  // Requests the bands, and shows them when they arrive.
  async #ask() {
    this.#waiting = true;
    const asked = performance.now();
    const bands = await this.#engine.node.bands();
    this.#waiting = false;
    this.grid.bands = bands;
    if (this.#engine.state !== "paused") this.#roll.push(bands, Math.max(0, (asked - this.#pushed) / 1000));
    this.#pushed = asked;
    if (asked - this.#said < 1000 * READING) return;
    this.#said = asked;
    const names = bands.filter(({ state }) => state === "sounding" || state === "saturated").map(({ note }) => noteName(note));
    const text = `Sounding: ${names.join(" ") || "none"}`;
    if (at("sounding").textContent !== text) at("sounding").textContent = text;
  }
}
