// The processor of the audio thread, around the filter in WebAssembly. One file without imports, because bundlers copy it unchanged.

// Samples that the filter takes at a time. A context may have longer or shorter quanta.
const QUANTUM = 128;

// Bands: one for each MIDI note from E1 (28) to G#7 (104).
export const BANDS = 77;

// Length of a band's record: power, level, state and 96 points of its wave.
export const RECORD = 99;

// On the audio thread only.
if (globalThis.AudioWorkletProcessor) {
  // One instance for all filters of the context: its tables take a tenth of a second, in which a context that plays would be silent.
  let exports;

  class Processor extends AudioWorkletProcessor {
    #wasm;
    #web; // Address of the filter; 0 once it is closed.

    constructor({ processorOptions: { module, settings, notes } }) {
      super();
      exports ??= new WebAssembly.Instance(new WebAssembly.Module(module)).exports;
      this.#wasm = exports;
      this.#web = this.#wasm.tone_filter_new(sampleRate);
      if (!this.#web) throw new Error(`${sampleRate} Hz is no sample rate for the filter`);
      this.#set(settings);
      this.#wasm.tone_filter_reset(this.#web);
      this.#setScore(notes);
      this.port.onmessage = ({ data }) => this.#receive(data);
    }

    #receive({ type, ...data }) {
      const [wasm, web] = [this.#wasm, this.#web];
      if (!web) return;
      switch (type) {
        case "settings": this.#set(data.settings); break;
        case "key": wasm.tone_filter_key(web, data.note, data.velocity); break;
        case "release": wasm.tone_filter_release_keys(web); break;
        case "score": this.#setScore(data.notes); break;
        case "seek": wasm.tone_filter_seek(web, data.seconds); break;
        case "reset": wasm.tone_filter_reset(web); break;
        case "close": wasm.tone_filter_free(web); this.#web = 0; break;
        // The page sends the memory for a picture, so the audio thread allocates none.
        case "bands": {
          const address = wasm.tone_filter_picture(web);
          data.numbers.set(new Float32Array(wasm.memory.buffer, address, BANDS * RECORD));
          this.port.postMessage({ type, numbers: data.numbers }, [data.numbers.buffer]);
          break;
        }
        case "ask": {
          const [latency, tail] = [wasm.tone_filter_latency(web), wasm.tone_filter_tail(web)];
          this.port.postMessage({ type, ...this.#settings(data.lengths), latency, tail });
          break;
        }
      }
    }

    // Sets all settings: the values of numbers and choices, and texts, in the order of the tables. The page has checked them. Texts
    // are bytes, as an AudioWorklet can neither encode nor decode them.
    #set({ values, texts }) {
      const [wasm, web] = [this.#wasm, this.#web];
      values.forEach((value, index) => wasm.tone_filter_set_value(web, index, value));
      texts.forEach((text, index) => {
        const address = wasm.tone_filter_write(web, text.length);
        new Uint8Array(wasm.memory.buffer, address, text.length).set(text);
        wasm.tone_filter_set_text(web, index);
      });
      wasm.tone_filter_apply(web);
    }

    // Returns all settings, and the reasons why settings have no effect (empty for a setting that has an effect), in arrays of the
    // given lengths.
    #settings({ values, texts }) {
      const [wasm, web] = [this.#wasm, this.#web];
      const list = (length, read) => Array.from({ length }, (_, index) => read(index));
      const text = (length) => new Uint8Array(wasm.memory.buffer, wasm.tone_filter_text(web), length).slice();
      return {
        settings: {
          values: list(values, (index) => wasm.tone_filter_value(web, index)),
          texts: list(texts, (index) => text(wasm.tone_filter_setting_text(web, index))),
        },
        idle: list(values + texts, (index) => text(wasm.tone_filter_idle(web, index))),
      };
    }

    // Sets the score of these notes; no notes remove the score.
    #setScore(notes) {
      for (const { start, end, note, velocity, place } of notes) {
        this.#wasm.tone_filter_add_note(this.#web, start, end, note, velocity, place);
      }
      this.#wasm.tone_filter_set_score(this.#web);
    }

    // Returns a new view of a channel's samples: any call may move the memory.
    #samples(channel) {
      const address = this.#wasm.tone_filter_samples(this.#web);
      return new Float32Array(this.#wasm.memory.buffer, address + 4 * QUANTUM * channel, QUANTUM);
    }

    // Processes a quantum. An input without channels is silence.
    process([input], [output]) {
      if (!this.#web) return false;
      for (let start = 0; start < output[0].length; start += QUANTUM) {
        const frames = Math.min(QUANTUM, output[0].length - start);
        for (const channel of [0, 1]) {
          const samples = this.#samples(channel);
          if (input.length) samples.set(input[Math.min(channel, input.length - 1)].subarray(start, start + frames));
          else samples.fill(0);
        }
        this.#wasm.tone_filter_process(this.#web, frames);
        output.forEach((samples, channel) => samples.set(this.#samples(channel).subarray(0, frames), start));
      }
      return true;
    }
  }

  registerProcessor("tone-filter", Processor);
}
