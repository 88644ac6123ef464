// The filter in WebAssembly, and the processor of the audio thread. One file without imports, because bundlers copy it unchanged.

const QUANTUM = 128;

// Bands: one for each MIDI note from E1 (28) to G#7 (104).
export const BANDS = 77;

// Length of a band's record: power, level, state and 96 points of its wave.
export const RECORD = 99;

// An instance of the module. Texts are bytes here, as an AudioWorklet can neither encode nor decode them.
class Filter {
  #wasm;
  #web;

  constructor(module, sampleRate) {
    this.#wasm = new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
    this.#web = this.#wasm.tone_filter_new(sampleRate);
    if (!this.#web) throw new Error(`${sampleRate} Hz is no sample rate for the filter`);
  }

  // Returns a new view of the samples: any call may move the memory.
  #samples(address, channel) {
    return new Float32Array(this.#wasm.memory.buffer, address + 4 * QUANTUM * channel, QUANTUM);
  }

  #write(text) {
    const address = this.#wasm.tone_filter_write(this.#web, text.length);
    new Uint8Array(this.#wasm.memory.buffer, address, text.length).set(text);
  }

  #read(length) {
    return new Uint8Array(this.#wasm.memory.buffer, this.#wasm.tone_filter_text(this.#web), length).slice();
  }

  // Sets all settings: the values of numbers and choices, and texts, in the order of the tables. The page has checked them.
  set({ values, texts }) {
    values.forEach((value, index) => this.#wasm.tone_filter_set_value(this.#web, index, value));
    texts.forEach((text, index) => {
      this.#write(text);
      this.#wasm.tone_filter_set_text(this.#web, index);
    });
    this.#wasm.tone_filter_apply(this.#web);
  }

  // Returns all settings, in arrays of the given lengths.
  settings({ values, texts }) {
    return {
      values: Array.from({ length: values }, (_, index) => this.#wasm.tone_filter_value(this.#web, index)),
      texts: Array.from({ length: texts }, (_, index) => this.#read(this.#wasm.tone_filter_setting_text(this.#web, index))),
    };
  }

  // Returns the reasons why settings have no effect, in the same order. A reason is empty for a setting that has an effect.
  idle({ values, texts }) {
    const read = (_, index) => this.#read(this.#wasm.tone_filter_idle(this.#web, index));
    return Array.from({ length: values + texts }, read);
  }

  key(note, velocity) {
    this.#wasm.tone_filter_key(this.#web, note, velocity);
  }

  releaseKeys() {
    this.#wasm.tone_filter_release_keys(this.#web);
  }

  // Sets the score of these notes; no notes remove the score.
  setScore(notes) {
    for (const { start, end, note, velocity, place } of notes) {
      this.#wasm.tone_filter_add_note(this.#web, start, end, note, velocity, place);
    }
    this.#wasm.tone_filter_set_score(this.#web);
  }

  seek(seconds) {
    this.#wasm.tone_filter_seek(this.#web, seconds);
  }

  // Copies the bands' records into `numbers`.
  picture(numbers) {
    const address = this.#wasm.tone_filter_picture(this.#web);
    numbers.set(new Float32Array(this.#wasm.memory.buffer, address, BANDS * RECORD));
  }

  latency() {
    return this.#wasm.tone_filter_latency(this.#web);
  }

  tail() {
    return this.#wasm.tone_filter_tail(this.#web);
  }

  reset() {
    this.#wasm.tone_filter_reset(this.#web);
  }

  // Processes a quantum; without `input`, silence.
  process(input, output) {
    const to = this.#wasm.tone_filter_input(this.#web);
    for (const channel of [0, 1]) {
      const samples = this.#samples(to, channel);
      if (input.length) samples.set(input[Math.min(channel, input.length - 1)]);
      else samples.fill(0);
    }
    this.#wasm.tone_filter_process(this.#web);
    const from = this.#wasm.tone_filter_output(this.#web);
    output.forEach((samples, channel) => samples.set(this.#samples(from, channel)));
  }
}

// On the audio thread only.
if (globalThis.AudioWorkletProcessor) {
  class Processor extends AudioWorkletProcessor {
    #filter;
    #closed = false;

    constructor({ processorOptions: { module, settings, notes } }) {
      super();
      this.#filter = new Filter(module, sampleRate);
      this.#filter.set(settings);
      this.#filter.reset();
      this.#filter.setScore(notes);
      this.port.onmessage = ({ data }) => this.#receive(data);
    }

    #receive({ type, ...data }) {
      const filter = this.#filter;
      switch (type) {
        case "settings": filter.set(data.settings); break;
        case "key": filter.key(data.note, data.velocity); break;
        case "release": filter.releaseKeys(); break;
        case "score": filter.setScore(data.notes); break;
        case "seek": filter.seek(data.seconds); break;
        case "reset": filter.reset(); break;
        case "close": this.#closed = true; break;
        // The page sends the memory for a picture, so the audio thread allocates none.
        case "bands":
          filter.picture(data.numbers);
          this.port.postMessage({ type, numbers: data.numbers }, [data.numbers.buffer]);
          break;
        case "ask":
          this.port.postMessage({
            type, settings: filter.settings(data.lengths), idle: filter.idle(data.lengths), latency: filter.latency(), tail: filter.tail(),
          });
          break;
      }
    }

    process([input], [output]) {
      this.#filter.process(input, output);
      return !this.#closed;
    }
  }

  registerProcessor("tone-filter", Processor);
}
