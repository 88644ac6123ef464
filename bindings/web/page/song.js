// Songs made from sound files, to save: for the tracker Furnace, for a console, or as MIDI.

import { clock, guarded, say } from "./player.js";

const at = (id) => document.getElementById(id);

// Sample rate in Hz at which files are decoded. Most music has this rate, and so needs no resampling.
const RATE = 44100;

// Longest file in seconds: its samples need some 400 MB.
const LONGEST = 20 * 60;

async function decode({ name, sound }) {
  try {
    return await new OfflineAudioContext(1, 1, RATE).decodeAudioData(await sound.arrayBuffer());
  } catch {
    throw new Error(`This browser cannot decode “${name}”. Try WAV, MP3, FLAC, Ogg or M4A.`);
  }
}

// Sends the worker a message and returns its answer; until then, no other message may be sent. If `signal` is aborted, throws
// its reason.
function ask(worker, signal, message, transfer) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    signal.onabort = () => reject(signal.reason);
    worker.onmessage = ({ data: { result, error } }) => (error === undefined ? resolve(result) : reject(new Error(error)));
    worker.onerror = () => reject(new Error("The program that makes songs cannot be loaded. Check the connection and try again."));
    worker.postMessage(message, transfer);
  });
}

// Makes a song from a decoded sound in a worker, so that the page does not freeze. Calls `progress` with the completed fraction.
// `preset` is the sound in JSON. Throws the reason if `signal` is aborted.
export async function makeSong({ buffer, format, preset, title, signal, progress }) {
  const worker = new Worker(new URL("song-worker.js", import.meta.url));
  try {
    const { length, numberOfChannels, sampleRate } = buffer;
    await ask(worker, signal, { type: "start", format, rate: sampleRate, channels: numberOfChannels, preset });
    for (let start = 0; start < length; start += RATE) {
      const channels = Array.from({ length: numberOfChannels }, (_, channel) => buffer.getChannelData(channel).slice(start, start + RATE));
      await ask(worker, signal, { type: "push", channels }, channels.map((samples) => samples.buffer));
      progress(Math.min(1, (start + RATE) / length));
    }
    return await ask(worker, signal, { type: "finish", title });
  } finally {
    worker.terminate();
  }
}

function download(bytes, name) {
  const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

// The buttons that save the player's sound as a song. `preset` returns the page's sound as a preset in JSON.
export function makeSongButtons(player, preset) {
  let job; // AbortController of the song in progress.

  const show = () => {
    at("formats").disabled = Boolean(job) || !player.selected;
    at("making").hidden = !job;
  };

  const save = guarded(async (format) => {
    const { name, sound } = player.selected;
    if (player.duration > LONGEST) throw new Error(`“${name}” is longer than ${clock(LONGEST)}. Choose a shorter file.`);
    const title = name.replace(/\.[^.]+$/, "");
    job = new AbortController();
    const { signal } = job;
    try {
      say(`Making ${title}.${format} …`);
      at("progress").value = 0;
      show();
      const buffer = await decode({ name, sound });
      const progress = (share) => (at("progress").value = share);
      const song = await makeSong({ buffer, format, preset: preset(), title, signal, progress });
      download(song, `${title}.${format}`);
      say(`Saved ${title}.${format}: ${clock(buffer.duration)} of music, ${(song.length / 1000).toFixed(1)} kB.`);
    } catch (error) {
      say("");
      if (!signal.aborted) throw error;
    } finally {
      job = undefined;
      show();
    }
  });

  for (const button of at("formats").querySelectorAll("button")) button.onclick = () => save(button.value);
  at("cancel").onclick = () => job.abort();
  player.onchange = show;
  show();
}
