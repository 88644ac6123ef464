// Tests of the songs that the page saves.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { RESULTS, faults, requests, test, visit } from "./browser.mjs";

const tune = path.join(RESULTS, "expected/demo.wav");

// A page with a sound and a file, which is paused.
async function open(hash, file) {
  const tab = await visit(hash);
  await tab.locator("#file").setInputFiles(file);
  await tab.waitForFunction(() => document.querySelector("#play").textContent === "Pause");
  await tab.click("#play");
  return tab;
}

const button = (tab, format) => tab.locator(`#formats [value=${format}]`);

async function saved(tab, format) {
  const [download] = await Promise.all([tab.waitForEvent("download"), button(tab, format).click()]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
}

async function error(tab, format) {
  await button(tab, format).click();
  await tab.waitForSelector("#error:not([hidden])");
  assert.equal(await tab.isVisible("#making"), false);
  assert.equal(await tab.textContent("#status"), "");
  return tab.textContent("#error");
}

// A WAV file of mono samples with 8 bits at 8 kHz.
async function wav(name, seconds, content) {
  const samples = Buffer.alloc(8000 * seconds, content);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  for (const [at, value] of [[20, 1], [22, 1], [32, 1], [34, 8]]) header.writeUInt16LE(value, at);
  for (const at of [24, 28]) header.writeUInt32LE(8000, at);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  const file = path.join(RESULTS, name);
  await writeFile(file, Buffer.concat([header, samples]));
  return file;
}

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
  const original = await readFile(tune);
  const repeats = 12;
  const samples = Buffer.concat(Array.from({ length: repeats }, () => original.subarray(44)));
  const header = Buffer.from(original.subarray(0, 44));
  header.writeUInt32LE(36 + samples.length, 4);
  header.writeUInt32LE(samples.length, 40);
  const file = path.join(RESULTS, "minutes.wav");
  await writeFile(file, Buffer.concat([header, samples]));
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
  console.log(`${(samples.length / 4 / 44100).toFixed(0)} s of music as .fur: ${content.length} bytes`);
  await tab.close();
});

test("a file without notes, a long one and a module that cannot be loaded are said in words", async () => {
  const silent = await open("", await wav("silence.wav", 3, 128));
  assert.equal(await error(silent, "fur"), "No notes were found. Raise Sensitivity, or choose another file.");
  await silent.route("**/song.wasm", (route) => route.abort());
  assert.equal(await error(silent, "mid"), "The program that makes songs cannot be loaded. Check the connection and try again.");
  assert.deepEqual(faults.splice(0), ["Failed to load resource: net::ERR_FAILED"]);
  await silent.close();
  const long = await open("", await wav("long.wav", 1201, 128));
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
