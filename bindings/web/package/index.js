// The tone filter as a node of the Web Audio API.

import { readScore } from "./score.js";
import { check, decode, decodeIdle, encode, findPreset, LENGTHS } from "./settings.js";
import { BANDS, RECORD } from "./worklet.js";

export { choices, groups, numbers, presets } from "./tables.js";
export { check, findPreset };

// The MIDI note of the lowest band.
const LOWEST = 28;
const STATES = ["inactive", "sounding", "saturated", "disabled"];
const NAMES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"];

// Bytes of a minimal WebAssembly module with a SIMD instruction.
const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

export const noteName = (note) => `${NAMES[note % 12]}${Math.floor(note / 12) - 1}`;

export function unsupported() {
  const use = "Use a current Firefox, Chrome, Edge or Safari.";
  if (typeof WebAssembly !== "object") return `This browser has no WebAssembly. ${use}`;
  if (!WebAssembly.validate(VECTORS)) return `This browser has no WebAssembly SIMD. ${use}`;
  if (!globalThis.isSecureContext) return "Browsers allow sound processing only on pages from https:// or localhost.";
  if (!globalThis.AudioWorkletNode) return `This browser has no AudioWorklet. ${use}`;
}

// Returns the result of `load`, which is called once for each key. After a failure, the next call tries again.
function once(results, key, load) {
  if (!results.has(key)) {
    const result = load();
    results.set(key, result);
    result.catch(() => results.delete(key));
  }
  return results.get(key);
}

const modules = new Map();
const contexts = new WeakMap();

async function fetchModule() {
  const response = await fetch(new URL("./tone_filter.wasm", import.meta.url));
  if (!response.ok) throw new Error(`${response.url} cannot be loaded (${response.status})`);
  return response.arrayBuffer();
}

// This file can be imported without Web Audio, as by a server that renders pages.
export class ToneFilterNode extends (globalThis.AudioWorkletNode ?? Object) {
  #settings;
  #numbers; // Buffer for the bands' records, used for every request.
  #bands; // Promise of the requested bands, until the answer.
  #resolve;
  #answers = [];

  static async create(context, { preset = "tone-filter", settings, score } = {}) {
    const all = check({ ...findPreset(preset).settings, ...settings });
    const notes = score ? readScore(score) : [];
    const lack = unsupported();
    if (lack) throw new Error(lack);
    const addProcessor = () => context.audioWorklet.addModule(new URL("./worklet.js", import.meta.url));
    const [module] = await Promise.all([once(modules, "module", fetchModule), once(contexts, context, addProcessor)]);
    return new ToneFilterNode(context, module, all, notes);
  }

  // Called by `create` alone.
  constructor(context, module, settings, notes) {
    super(context, "tone-filter", {
      channelCount: 2,
      channelCountMode: "explicit",
      outputChannelCount: [2],
      processorOptions: { module, settings: encode(settings), notes },
    });
    this.#settings = settings;
    this.port.onmessage = ({ data }) => this.#receive(data);
  }

  get settings() {
    return { ...this.#settings };
  }

  set(changes) {
    this.#settings = check({ ...this.#settings, ...changes });
    this.port.postMessage({ type: "settings", settings: encode(this.#settings) });
  }

  load(preset) {
    this.set(findPreset(preset).settings);
  }

  bands() {
    this.#bands ??= new Promise((resolve) => {
      this.#resolve = resolve;
      const numbers = this.#numbers ?? new Float32Array(BANDS * RECORD);
      this.port.postMessage({ type: "bands", numbers }, [numbers.buffer]);
    });
    return this.#bands;
  }

  key(note, velocity) {
    this.port.postMessage({ type: "key", note, velocity });
  }

  releaseKeys() {
    this.port.postMessage({ type: "release" });
  }

  setScore(text) {
    this.port.postMessage({ type: "score", notes: text ? readScore(text) : [] });
  }

  seek(seconds) {
    this.port.postMessage({ type: "seek", seconds });
  }

  reset() {
    this.port.postMessage({ type: "reset" });
  }

  ask() {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      this.port.postMessage({ type: "ask", lengths: LENGTHS });
    });
  }

  close() {
    this.disconnect();
    this.port.postMessage({ type: "close" });
  }

  #receive({ type, numbers, settings, idle, latency, tail }) {
    if (type === "bands") {
      this.#numbers = numbers;
      this.#bands = undefined;
      this.#resolve(read(numbers.slice()));
    } else {
      const seconds = latency / this.context.sampleRate;
      this.#answers.shift()({ settings: decode(settings), idle: decodeIdle(idle), latency: seconds, tail });
    }
  }
}

// Converts the bands' records to objects.
function read(numbers) {
  return Array.from({ length: BANDS }, (_, index) => {
    const start = index * RECORD;
    const wave = numbers.subarray(start + 3, start + RECORD);
    return { note: LOWEST + index, power: numbers[start], level: numbers[start + 1], state: STATES[numbers[start + 2]], wave };
  });
}
