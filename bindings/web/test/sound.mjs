// Tests of the worklet's sound against the library's.

import assert from "node:assert/strict";
import { inPage, test, visit } from "./browser.mjs";

const tab = await visit();

// A message to a worklet takes effect at an uncertain frame. So each step is a rendering of its own, with its settings from the
// first block on.
test("with the settings of a score of automation, the worklet's output is the library's", async () => {
  const results = await inPage(tab, async () => {
    const { accuracy, expected, render } = await import(new URL("test/render.js", document.baseURI));
    const { steps } = await (await fetch("expected/automation/score.json")).json();
    const input = await expected("automation/input.f32");
    const rows = [];
    for (const [index, { settings }] of steps.entries()) {
      const { output } = await render({ settings }, input, 0, [128, 64, 256][index % 3]);
      rows.push(accuracy(output, await expected(`automation/step${index}.f32`)));
    }
    return rows;
  });
  assert.equal(results.length, 13);
  // WebAssembly has a kernel of its own, so the last bits differ.
  for (const [index, snr] of results.entries()) assert(snr >= 90, `step ${index}: ${snr} dB`);
});

test("silence after sound does not become slow by denormals", async () => {
  const shares = await inPage(tab, async () => {
    const { expected, render } = await import(new URL("test/render.js", document.baseURI));
    const input = await expected("automation/input.f32");
    const rows = [];
    // Short and long rings, and oscillators.
    for (const preset of ["tone-filter", "reference", "chord-pad", "saw-choir"]) {
      rows.push((await render({ preset }, input, 30)).share);
    }
    return rows;
  });
  console.log("with 30 s of silence, fractions of the audio thread's time:", shares);
  assert(Math.min(...shares) < 0.3);
});

test("an invalid score is refused with its line", async () => {
  const errors = await inPage(tab, async ({ engine: { node } }) => {
    const error = (text) => {
      try {
        return node.setScore(text) ?? "none";
      } catch (error) {
        return error.message;
      }
    };
    const lines = ["0", "0 1 128", "nan 1 69", "2 1 69", "0 1 69 64 0 7", "# fine\n\n0 1 69"];
    return [error("notes"), ...lines.map((line) => error(`tone-filter-score 1\n${line}`)), error(null)];
  });
  assert.deepEqual(errors, [
    'the score: line 1 is not "tone-filter-score 1", as in a score of this version',
    "the score: line 2: has no end; write start, end and note",
    "the score: line 2: note = 128 is out of range; use 0 to 127",
    "the score: line 2: start = nan is out of range; use -1000000000 to 1000000000",
    "the score: line 2: ends at 1, which is not after its start",
    "the score: line 2: 7 is one number too many; write start, end, note, velocity, place",
    "none",
    "none",
  ]);
});
