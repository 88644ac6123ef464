// Instrument that plays the filter's keys: the computer's keyboard, touch on the cells, and the buttons below them.

import { noteName } from "./tone-filter/index.js";

// Codes of the computer's keys that play a piano's keys from A up. A code is a position on the keyboard, in any layout.
const CODES = ["KeyA", "KeyW", "KeyS", "KeyD", "KeyR", "KeyF", "KeyT", "KeyG", "KeyH", "KeyU", "KeyJ", "KeyI", "KeyK", "KeyO", "KeyL", "Semicolon"];

// MIDI notes: the highest with a band, G#7, and the lowest A, from which octaves are counted.
const HIGHEST = 104;
const A = 21;
const HIGHEST_OCTAVE = 6;

const VELOCITY = 0.9;

export class Keys {
  #node;
  #bar;
  #octave = 4;
  #lowestOctave = 3;
  #held = new Map(); // For each held key code, pointer or button: the note that it holds.
  enabled = false;

  constructor(node, bar, canvas, grid) {
    this.#node = node;
    this.#bar = bar;
    for (let tone = 0; tone < 12; tone++) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = noteName(A + tone).includes("#") ? "sharp" : "natural";
      const hold = (by) => this.#press(by, A + 12 * this.#octave + tone);
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
      const note = grid.noteAt(event.offsetX, event.offsetY);
      if (!this.enabled || note === undefined) return;
      canvas.setPointerCapture(event.pointerId);
      this.#press(event.pointerId, note);
    });
    for (const type of ["pointerup", "pointercancel"]) addEventListener(type, ({ pointerId }) => this.#release(pointerId));
    addEventListener("blur", () => [...this.#held.keys()].forEach((by) => this.#release(by)));
    addEventListener("keyup", ({ code }) => this.#release(code));
    this.#label();
  }

  // Returns whether the event was a key of the instrument.
  keydown({ code, repeat }) {
    if (!this.enabled) return false;
    const semitone = CODES.indexOf(code);
    const step = { KeyZ: -1, KeyX: 1 }[code];
    if (step) {
      this.#octave = Math.min(HIGHEST_OCTAVE, Math.max(this.#lowestOctave, this.#octave + step));
      this.#label();
    } else if (semitone >= 0 && !repeat) {
      this.#press(code, A + 12 * this.#octave + semitone);
    }
    return semitone >= 0 || step !== undefined;
  }

  // Sets the lowest octave by the setting "range".
  set range(range) {
    this.#lowestOctave = range === "whole" ? 0 : 3;
    this.#octave = Math.max(this.#lowestOctave, this.#octave);
    this.#label();
  }

  enable(enabled) {
    this.enabled = enabled;
    this.#bar.hidden = !enabled;
    if (!enabled) {
      this.#held.clear();
      this.#node.releaseKeys();
    }
  }

  #press(by, note) {
    this.#release(by);
    if (note > HIGHEST) return;
    this.#held.set(by, note);
    this.#node.key(note, VELOCITY);
  }

  #release(by) {
    const note = this.#held.get(by);
    if (note === undefined) return;
    this.#held.delete(by);
    // Another finger may hold the note, too.
    if (![...this.#held.values()].includes(note)) this.#node.key(note, 0);
  }

  #label() {
    [...this.#bar.children].forEach((button, tone) => (button.textContent = noteName(A + 12 * this.#octave + tone)));
  }
}
