// Notes that are played to the filter: by the computer's keyboard, by touch on the cells, by the buttons below them.

import { PUBLISHED, name, semitone } from "./grid.js";

// The places of a piano's keys from A on, on any layout of letters.
const PLACES = ["KeyA", "KeyW", "KeyS", "KeyD", "KeyR", "KeyF", "KeyT", "KeyG", "KeyH", "KeyU", "KeyJ", "KeyI", "KeyK", "KeyO", "KeyL", "Semicolon"];

// The MIDI note of A3, from which semitones and octaves are counted.
const A3 = 57;
const HIGHEST_OCTAVE = PUBLISHED / 12 - 1;

const VELOCITY = 0.9;

export class Keys {
  #engine;
  #bar;
  #octave = 1;
  #lowestOctave = 0;
  #held = new Map(); // What holds a note, in semitones from A3: a place or a pointer.
  enabled = false;

  constructor(engine, bar, canvas, grid) {
    this.#engine = engine;
    this.#bar = bar;
    for (let tone = 0; tone < 12; tone++) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = name(tone).includes("#") ? "sharp" : "natural";
      const hold = (by) => this.#press(by, 12 * this.#octave + tone);
      button.onpointerdown = ({ pointerId }) => {
        button.setPointerCapture(pointerId);
        hold(pointerId);
      };
      button.onkeydown = ({ key, repeat }) => {
        if (key === "Enter" && !repeat) hold(button);
      };
      button.onkeyup = button.onblur = () => this.#release(button);
      bar.append(button);
    }
    canvas.addEventListener("pointerdown", (event) => {
      const tone = grid.toneAt(event.offsetX, event.offsetY);
      if (!this.enabled || tone < 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#press(event.pointerId, semitone(tone));
    });
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, ({ pointerId }) => this.#release(pointerId));
    addEventListener("blur", () => [...this.#held.keys()].forEach((by) => this.#release(by)));
    addEventListener("keyup", ({ code }) => this.#release(code));
    this.#label();
  }

  // Whether the event was a key of the instrument.
  keydown({ code, repeat }) {
    if (!this.enabled) return false;
    const place = PLACES.indexOf(code);
    const step = { KeyZ: -1, KeyX: 1 }[code];
    if (step) {
      this.#octave = Math.min(HIGHEST_OCTAVE, Math.max(this.#lowestOctave, this.#octave + step));
      this.#label();
    } else if (place >= 0 && !repeat) {
      this.#press(code, 12 * this.#octave + place);
    }
    return place >= 0 || step !== undefined;
  }

  // The setting "range".
  set range(range) {
    this.#lowestOctave = range === "whole" ? -3 : 0;
    this.#octave = Math.max(this.#lowestOctave, this.#octave);
    this.#label();
  }

  enable(enabled) {
    this.enabled = enabled;
    this.#bar.hidden = !enabled;
    if (!enabled) {
      this.#held.clear();
      this.#engine.releaseKeys();
    }
  }

  #press(by, note) {
    this.#release(by);
    if (note >= PUBLISHED) return;
    this.#held.set(by, note);
    this.#engine.key(A3 + note, VELOCITY);
  }

  #release(by) {
    const note = this.#held.get(by);
    if (note === undefined) return;
    this.#held.delete(by);
    // Another finger may hold it, too.
    if (![...this.#held.values()].includes(note)) this.#engine.key(A3 + note, 0);
  }

  #label() {
    [...this.#bar.children].forEach((button, tone) => (button.textContent = name(12 * this.#octave + tone)));
  }
}
