// The sound: where it comes from, the filter on its thread, and the way to the loudspeakers.

import { Filter, TONES } from "./filter.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// The smallest module with a vector in it.
const VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

// What this browser lacks, as a sentence, or nothing.
export function missing() {
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly. Use a current Firefox, Chrome, Edge or Safari.";
  if (!WebAssembly.validate(VECTORS)) return "This browser has no WebAssembly SIMD. Use a current Firefox, Chrome, Edge or Safari.";
  if (!window.isSecureContext) return "Browsers allow sound processing only on pages from https:// or localhost.";
  if (!("AudioWorklet" in window)) return "This browser has no AudioWorklet. Use a current Firefox, Chrome, Edge or Safari.";
}

export async function load(name) {
  const response = await fetch(new URL(name, import.meta.url));
  if (!response.ok) throw new Error(`${name} cannot be loaded (${response.status})`);
  return response;
}

export const loadModule = async () => (await load("tone_filter.wasm")).arrayBuffer();

// The library on the page's own thread: it knows all settings and presets, and checks settings.
export class Library {
  #filter;

  constructor(module) {
    this.#filter = new Filter(module, 48000);
    this.record = this.#filter.record;
    Object.assign(this, JSON.parse(decoder.decode(this.#filter.table())));
  }

  // All settings from those that are given, the rest as in the preset Reference.
  check(settings) {
    const error = this.#filter.setJson(encoder.encode(JSON.stringify(settings)));
    if (error.length) throw new Error(decoder.decode(error));
    return JSON.parse(decoder.decode(this.#filter.json()));
  }
}

// A node with the filter.
export async function createNode(context, module, settings) {
  await context.audioWorklet.addModule(new URL("worklet.js", import.meta.url));
  return new AudioWorkletNode(context, "tone-filter", {
    channelCount: 2,
    channelCountMode: "explicit",
    outputChannelCount: [2],
    processorOptions: { module, settings: encoder.encode(JSON.stringify(settings)) },
  });
}

export class Engine {
  #module;
  #context;
  #made;
  #node;
  #source; // What is connected to the filter.
  #element; // The node of the audio element.
  #stream; // That of the microphone.
  #picture;
  #answers = [];
  audio = new Audio();
  onpicture = () => {};

  constructor(module, record) {
    this.#module = module;
    this.#picture = new Float32Array(TONES * record);
    this.audio.loop = true;
  }

  // Browsers start sound only on a click or a key, so everything is made by then.
  async start(settings) {
    this.#context ??= new AudioContext();
    const resumed = this.#context.resume();
    await (this.#made ??= this.#make(settings));
    await resumed;
  }

  async #make(settings) {
    this.#element = this.#context.createMediaElementSource(this.audio);
    this.#node = await createNode(this.#context, this.#module, settings);
    this.#node.connect(this.#context.destination);
    this.#node.port.onmessage = ({ data }) => this.#receive(data);
  }

  #connect(source) {
    this.#source?.disconnect();
    this.#source = source;
    source.connect(this.#node);
  }

  async play() {
    this.#connect(this.#element);
    await this.audio.play();
  }

  async listen() {
    if (!navigator.mediaDevices?.getUserMedia) throw new Error("This browser has no access to a microphone.");
    const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    const stream = await navigator.mediaDevices.getUserMedia({ audio });
    this.#stream = this.#context.createMediaStreamSource(stream);
    this.#connect(this.#stream);
  }

  // Ends both sources.
  pause() {
    this.audio.pause();
    this.#stream?.mediaStream.getTracks().forEach((track) => track.stop());
    this.#stream?.disconnect();
    this.#stream = undefined;
  }

  #send(message, transfer = []) {
    this.#node?.port.postMessage(message, transfer);
  }

  settings(settings) {
    this.#send({ type: "settings", json: encoder.encode(JSON.stringify(settings)) });
  }

  set(id, value) {
    this.#send({ type: "set", id: encoder.encode(id), value });
  }

  key(note, velocity) {
    this.#send({ type: "key", note, velocity });
  }

  releaseKeys() {
    this.#send({ type: "release" });
  }

  // Asks for a picture, unless the last one is still on its way.
  requestPicture() {
    if (!this.#node || !this.#picture) return;
    this.#send({ type: "picture", numbers: this.#picture }, [this.#picture.buffer]);
    this.#picture = undefined;
  }

  // The settings that the audio thread has, its latency in samples and its tail in seconds, once it has been started.
  async ask() {
    await this.#made;
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      this.#send({ type: "ask" });
    });
  }

  #receive({ type, numbers, json, ...rest }) {
    if (type === "picture") {
      this.#picture = numbers;
      this.onpicture(numbers);
    } else {
      this.#answers.shift()({ settings: JSON.parse(decoder.decode(json)), ...rest });
    }
  }
}
