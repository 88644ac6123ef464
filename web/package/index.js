// The tone filter as a node of the Web Audio API.

import { BANDS, Filter } from "./worklet.js";

// The MIDI note of the lowest band.
const LOWEST = 28;
const STATES = ["inactive", "sounding", "saturated", "disabled"];
const NAMES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"];

// The smallest module with a vector in it.
const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const encode = (value) => encoder.encode(JSON.stringify(value));
const decode = (json) => JSON.parse(decoder.decode(json));

export const noteName = (note) => `${NAMES[note % 12]}${Math.floor(note / 12) - 1}`;

export function unsupported() {
  const use = "Use a current Firefox, Chrome, Edge or Safari.";
  if (typeof WebAssembly !== "object") return `This browser has no WebAssembly. ${use}`;
  if (!WebAssembly.validate(VECTORS)) return `This browser has no WebAssembly SIMD. ${use}`;
  if (!globalThis.isSecureContext) return "Browsers allow sound processing only on pages from https:// or localhost.";
  if (!globalThis.AudioWorkletNode) return `This browser has no AudioWorklet. ${use}`;
}

// The filter on the thread of the page. It has the tables of settings and presets, and checks what the audio thread gets.
class Library {
  #filter;

  constructor(module) {
    this.module = module;
    this.#filter = new Filter(module, 48000);
    this.record = this.#filter.record;
    Object.assign(this, decode(this.#filter.table()));
  }

  check(settings) {
    const error = this.#filter.setJson(encode(settings));
    if (error.length) throw new RangeError(decoder.decode(error));
    return decode(this.#filter.json());
  }

  preset(id) {
    const preset = this.presets.find((preset) => preset.id === id);
    if (!preset) throw new RangeError(`there is no preset ${id}; use ${this.presets.map(({ id }) => id).join(", ")}`);
    return preset;
  }

  // The bytes of a score for the audio thread.
  score(text) {
    const bytes = encoder.encode(text);
    const error = this.#filter.setScore(bytes);
    this.#filter.setScore(new Uint8Array());
    if (error.length) throw new SyntaxError(`the score: ${decoder.decode(error)}`);
    return bytes;
  }
}

// The result of `load`, once for each key. A failure is tried again by the next call.
function once(results, key, load) {
  if (!results.has(key)) {
    const result = load();
    results.set(key, result);
    result.catch(() => results.delete(key));
  }
  return results.get(key);
}

const libraries = new Map();
const contexts = new WeakMap();

async function fetchLibrary() {
  const lack = unsupported();
  if (lack) throw new Error(lack);
  const response = await fetch(new URL("./tone_filter.wasm", import.meta.url));
  if (!response.ok) throw new Error(`${response.url} cannot be loaded (${response.status})`);
  return new Library(await response.arrayBuffer());
}

export const loadLibrary = () => once(libraries, "library", fetchLibrary);

const addProcessor = (context) =>
  once(contexts, context, () => context.audioWorklet.addModule(new URL("./worklet.js", import.meta.url)));

// Where there is no Web Audio, as on a server that renders pages, the import of this file must not fail.
export class ToneFilterNode extends (globalThis.AudioWorkletNode ?? Object) {
  #library;
  #settings;
  #numbers;
  #bands; // Those that are on their way.
  #resolve;
  #answers = [];

  static async create(context, { preset = "tone-filter", settings, score } = {}) {
    const library = await loadLibrary();
    const all = library.check({ ...library.preset(preset).settings, ...settings });
    const bytes = score && library.score(score);
    await addProcessor(context);
    return new ToneFilterNode(context, library, all, bytes);
  }

  // `create` calls it.
  constructor(context, library, settings, score) {
    super(context, "tone-filter", {
      channelCount: 2,
      channelCountMode: "explicit",
      outputChannelCount: [2],
      processorOptions: { module: library.module, settings: encode(settings), score },
    });
    this.#library = library;
    this.#settings = settings;
    this.#numbers = new Float32Array(BANDS * library.record);
    this.port.onmessage = ({ data }) => this.#receive(data);
  }

  get settings() {
    return { ...this.#settings };
  }

  set(changes) {
    this.#settings = this.#library.check({ ...this.#settings, ...changes });
    this.#send({ type: "settings", json: encode(this.#settings) });
  }

  load(preset) {
    this.set(this.#library.preset(preset).settings);
  }

  bands() {
    this.#bands ??= new Promise((resolve) => {
      this.#resolve = resolve;
      this.#send({ type: "bands", numbers: this.#numbers }, [this.#numbers.buffer]);
    });
    return this.#bands;
  }

  key(note, velocity) {
    this.#send({ type: "key", note, velocity });
  }

  releaseKeys() {
    this.#send({ type: "release" });
  }

  setScore(text) {
    this.#send({ type: "score", text: text ? this.#library.score(text) : new Uint8Array() });
  }

  seek(seconds) {
    this.#send({ type: "seek", seconds });
  }

  reset() {
    this.#send({ type: "reset" });
  }

  ask() {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      this.#send({ type: "ask" });
    });
  }

  close() {
    this.disconnect();
    this.#send({ type: "close" });
  }

  #send(message, transfer = []) {
    this.port.postMessage(message, transfer);
  }

  #receive({ type, numbers, json, latency, tail }) {
    if (type === "bands") {
      this.#numbers = numbers;
      this.#bands = undefined;
      this.#resolve(read(numbers.slice(), this.#library.record));
    } else {
      this.#answers.shift()({ settings: decode(json), latency: latency / this.context.sampleRate, tail });
    }
  }
}

// The records of the bands as objects.
function read(numbers, record) {
  return Array.from({ length: BANDS }, (_, index) => {
    const [power, level, state] = numbers.subarray(index * record, index * record + 3);
    const wave = numbers.subarray(index * record + 3, (index + 1) * record);
    return { note: LOWEST + index, power, level, state: STATES[state], wave };
  });
}
