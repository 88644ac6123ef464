// An instance of the WebAssembly module. Texts are bytes here, as an AudioWorklet cannot encode or decode them.

export const QUANTUM = 128;
export const TONES = 77;

export class Filter {
  #wasm;
  #web;

  constructor(module, sampleRate) {
    this.#wasm = new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
    this.#web = this.#wasm.tone_filter_new(sampleRate);
    if (!this.#web) throw new Error(`${sampleRate} Hz is no sample rate for the filter`);
    this.record = this.#wasm.tone_filter_record();
  }

  // All calls may move the memory, so views of it are made anew.
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

  // Both return the text of an error, which is empty if there is none.
  setJson(json) {
    this.#write(json);
    return this.#read(this.#wasm.tone_filter_set_json(this.#web));
  }

  set(id, value) {
    this.#write(id);
    return this.#read(this.#wasm.tone_filter_set(this.#web, value));
  }

  json() {
    return this.#read(this.#wasm.tone_filter_json(this.#web));
  }

  table() {
    return this.#read(this.#wasm.tone_filter_table(this.#web));
  }

  key(note, velocity) {
    this.#wasm.tone_filter_key(this.#web, note, velocity);
  }

  releaseKeys() {
    this.#wasm.tone_filter_release_keys(this.#web);
  }

  // The text of a score, or an empty one for none. Returns the text of an error, which is empty if there is none.
  setScore(text) {
    this.#write(text);
    return this.#read(this.#wasm.tone_filter_set_score(this.#web));
  }

  seek(seconds) {
    this.#wasm.tone_filter_seek(this.#web, seconds);
  }

  // Copies the bands' records.
  picture(numbers) {
    const address = this.#wasm.tone_filter_picture(this.#web);
    numbers.set(new Float32Array(this.#wasm.memory.buffer, address, TONES * this.record));
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
