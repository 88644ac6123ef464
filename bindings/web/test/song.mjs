// Tests of the songs that the page saves.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { RESULTS, requests, test, visit } from "./browser.mjs";

// Opens a page with the sound of `hash`, and with `file` as the paused source.
async function open(hash, file) {
  const tab = await visit(hash);
  await tab.locator("#file").setInputFiles(file);
  await tab.waitForFunction(() => document.querySelector("#play").textContent === "Pause");
  await tab.click("#play");
  return tab;
}

const button = (tab, format) => tab.locator(`#formats [value=${format}]`);

async function saved(tab, format) {
  const [download] = await Promise.all([tab.waitForEvent("download", { timeout: 240_000 }), button(tab, format).click()]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}

async function error(tab, format) {
  await button(tab, format).click();
  await tab.waitForSelector("#error:not([hidden])");
  assert.equal(await tab.isVisible("#making"), false);
  assert.equal(await tab.textContent("#status"), "");
  return tab.textContent("#error");
}

// Writes a WAV file: the samples' coding (1 for integers, 3 for floats), their bytes, channels and rate in Hz.
async function wav(name, [coding, bytes, channels, rate], samples) {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  for (const [at, value] of [[20, coding], [22, channels], [32, channels * bytes], [34, 8 * bytes]]) header.writeUInt16LE(value, at);
  for (const [at, value] of [[24, rate], [28, rate * channels * bytes]]) header.writeUInt32LE(value, at);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  const file = path.join(RESULTS, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, Buffer.concat([header, samples]));
  return file;
}

// The demo tune's samples as floats, with the values that the command reads. From 16 bits, Chromium would divide positive
// samples by 32767, not 32768.
const original = (await readFile(path.join(RESULTS, "expected/demo.wav"))).subarray(44);
const floats = Buffer.alloc(2 * original.length);
for (let at = 0; at < original.length; at += 2) floats.writeFloatLE(original.readInt16LE(at) / 32768, 2 * at);
const FLOATS = [3, 4, 2, 44100];
const tune = await wav("song/demo.wav", FLOATS, floats);

for (const [hash, format, expected] of [
  ["#preset=sound-chip", "fur", "demo.fur"],
  ["#preset=sound-chip", "nsf", "demo.nsf"],
  ["#preset=tone-filter", "mid", "demo.mid"],
  ["#preset=game-boy&arp=up&scale=major", "fur", "link.fur"],
]) {
  test(`with the sound ${hash}, .${format} is the command's byte for byte`, async () => {
    const tab = await open(hash, tune);
    const { name, content } = await saved(tab, format);
    assert.equal(name, `demo.${format}`);
    const command = await readFile(path.join(RESULTS, "expected", expected));
    assert(content.equals(command), `${content.length} bytes in place of ${command.length}`);
    const kilobytes = (content.length / 1000).toFixed(1);
    assert.match(await tab.textContent("#status"), new RegExp(`^Saved demo\\.${format}: 0:\\d\\d of music, ${kilobytes} kB\\.$`));
    assert.equal(await tab.isVisible("#making"), false);
    await tab.close();
  });
}

test("a song of the page is saved under its name, and the module is loaded when it is needed", async () => {
  const before = requests.length;
  const tab = await visit();
  const loaded = () => requests.slice(before).filter((url) => url.endsWith("song.wasm")).length;
  assert.equal(loaded(), 0);
  const { name, content } = await saved(tab, "mid");
  assert.equal(name, "Demo tune.mid");
  assert.equal(content.subarray(0, 4).toString(), "MThd");
  assert.equal(loaded(), 1);
  await tab.close();
});

test("minutes of music show their progress while the page goes on, and can be cancelled", async () => {
  const samples = Buffer.concat(Array.from({ length: 12 }, () => floats));
  const file = await wav("song/minutes.wav", FLOATS, samples);
  const tab = await open("#preset=sound-chip", file);
  let downloads = 0;
  tab.on("download", () => downloads++);
  const above = (share) => tab.waitForFunction((share) => document.querySelector("#progress").value > share, share);

  await button(tab, "nsf").click();
  await above(0.1);
  assert.equal(await button(tab, "fur").isDisabled(), true);
  await tab.screenshot({ path: path.join(RESULTS, "song.png"), fullPage: true });
  await tab.click("#cancel");
  await tab.waitForFunction(() => !document.querySelector("#formats").disabled);
  assert.equal(await tab.isVisible("#making"), false);
  assert.equal(await tab.textContent("#status"), "");
  assert.equal(await tab.isVisible("#error"), false);

  // Between two seconds of music, the page draws.
  const frames = tab.evaluate(() => new Promise((resolve) => {
    const values = new Set();
    const count = () => {
      const making = document.querySelector("#making");
      if (!making.hidden) values.add(document.querySelector("#progress").value);
      if (making.hidden && values.size) resolve(values.size);
      else requestAnimationFrame(count);
    };
    count();
  }));
  const { content } = await saved(tab, "fur");
  assert((await frames) > 20, `${await frames} frames`);
  assert.equal(downloads, 1);
  assert(content.length < 60_000, `${content.length} bytes`);
  await tab.close();
});

// One byte a sample, mono, at 8 kHz.
const SMALL = [1, 1, 1, 8000];

test("silence, long files and a missing module get messages", async () => {
  const silent = await open("", await wav("song/silence.wav", SMALL, Buffer.alloc(3 * 8000, 128)));
  assert.equal(await error(silent, "fur"), "No notes were found. Raise Sensitivity, or choose another file.");
  await silent.route("**/song.wasm", (route) => route.abort());
  assert.equal(await error(silent, "mid"), "The program that makes songs cannot be loaded. Check the connection and try again.");
  await silent.close();
  const long = await open("", await wav("song/long.wav", SMALL, Buffer.alloc(1201 * 8000, 128)));
  assert.equal(await error(long, "nsf"), "“long.wav” is longer than 20:00. Choose a shorter file.");
  await long.close();
});

test("the microphone cannot be saved", async () => {
  const tab = await visit();
  assert.equal(await button(tab, "fur").isDisabled(), false);
  await tab.click("#microphone");
  await tab.waitForFunction(() => document.querySelector("#play").textContent === "Stop");
  assert.equal(await button(tab, "fur").isDisabled(), true);
  await tab.close();
});
