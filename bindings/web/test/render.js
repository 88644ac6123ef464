// In the browser: the filter's output without a loudspeaker, as fast as it can be computed.

import { ToneFilterNode } from "../tone-filter/index.js";

const RATE = 44100;

// Returns the signal-to-noise ratio in dB of an output.
export function accuracy(output, expected) {
  let [signal, noise] = [0, 0];
  output.forEach((samples, channel) => samples.forEach((y, t) => {
    const right = expected[channel][t];
    const error = y - right;
    signal += right * right;
    noise += error * error;
  }));
  return 10 * Math.log10(signal / noise);
}

// Returns a file of expected samples: left and right, full scale 1.
export async function expected(name) {
  const samples = new Float32Array(await (await fetch(new URL(`../expected/${name}`, import.meta.url))).arrayBuffer());
  return [samples.subarray(0, samples.length / 2), samples.subarray(samples.length / 2)];
}

// Filters `input` and `rest` seconds of silence in the worklet, whose quanta have `quantum` samples where the browser can choose.
// Another filter of the context is closed before. Returns the output, and the time spent as a fraction of real time.
export async function render(options, input, rest = 0, quantum = 128) {
  const [{ length }] = input;
  const frames = length + rest * RATE;
  const context = new OfflineAudioContext({ numberOfChannels: 2, length: frames, sampleRate: RATE, renderSizeHint: quantum });
  const buffer = new AudioBuffer({ numberOfChannels: 2, length, sampleRate: RATE });
  input.forEach((samples, channel) => buffer.copyToChannel(samples, channel));
  const source = new AudioBufferSourceNode(context, { buffer });
  const closed = await ToneFilterNode.create(context, options);
  source.connect(closed).connect(context.destination);
  closed.close();
  const node = await ToneFilterNode.create(context, options);
  source.connect(node).connect(context.destination);
  source.start();
  const started = performance.now();
  const rendered = await context.startRendering();
  const share = (performance.now() - started) / 1000 / (frames / RATE);
  return { output: [0, 1].map((channel) => rendered.getChannelData(channel)), share };
}
