// Worker that makes songs from samples, with the module `song.wasm`. Answers each message with a result or an error.

const FORMATS = ["fur", "nsf", "mid"];

let wasm;
let web;

async function load() {
  const response = await fetch("song.wasm").catch(() => undefined);
  if (!response?.ok) throw new Error("The program that makes songs cannot be loaded. Check the connection and try again.");
  ({ exports: wasm } = (await WebAssembly.instantiate(await response.arrayBuffer())).instance);
  web = wasm.song_new();
}

// Any call may move the memory, so views of it are made anew.
const bytes = (address, length) => new Uint8Array(wasm.memory.buffer, address, length);

function write(text) {
  const encoded = new TextEncoder().encode(text);
  bytes(wasm.song_write(web, encoded.length), encoded.length).set(encoded);
}

// Returns the result of a call, or throws its error.
function result(successful) {
  const result = bytes(wasm.song_bytes(web), wasm.song_length(web)).slice();
  if (successful) return result;
  throw new Error(new TextDecoder().decode(result));
}

const actions = {
  async start({ format, rate, channels, preset }) {
    await load();
    write(preset);
    result(wasm.song_start(web, FORMATS.indexOf(format), rate, channels));
  },
  push({ channels }) {
    const { length } = channels[0];
    const address = wasm.song_input(web, length * channels.length);
    const input = new Float32Array(wasm.memory.buffer, address, length * channels.length);
    channels.forEach((samples, channel) => input.set(samples, channel * length));
    wasm.song_process(web);
  },
  finish({ title }) {
    write(title);
    return result(wasm.song_finish(web));
  },
};

onmessage = async ({ data }) => {
  try {
    postMessage({ result: await actions[data.type](data) });
  } catch (error) {
    const crashed = error instanceof WebAssembly.RuntimeError;
    postMessage({ error: crashed ? "The program that makes songs has failed. Choose a shorter file, or close other tabs and try again." : error.message });
  }
};
