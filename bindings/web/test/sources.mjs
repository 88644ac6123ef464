// Tests of the sources (songs, files and the microphone), and of the button's label.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { PAGE, RESULTS, ask, faults, inPage, test, visit } from "./browser.mjs";

const tab = await visit();
const button = (text) => tab.waitForFunction((text) => document.querySelector("#play").textContent === text, text);
const pressed = () => tab.$$eval(".source", (sources) => sources.filter(({ ariaPressed }) => ariaPressed === "true").map((one) => one.querySelector("b").textContent));

test("three songs play at one click, each with its preset until the sound is the visitor's", async () => {
  const songs = await tab.$$eval("#songs button b", (names) => names.map((name) => name.textContent));
  assert.equal(songs.length, 3);
  const heard = [];
  for (const [index, song] of songs.entries()) {
    await tab.locator("#songs button").nth(index).click();
    await button("Pause");
    assert.deepEqual(await pressed(), [song]);
    await tab.waitForFunction(() => /[A-G]/.test(document.querySelector("#sounding").textContent.slice(9)));
    heard.push(await tab.inputValue("#preset"));
  }
  assert.deepEqual(heard, ["tone-filter", "hacking", "sound-chip"]);
  await tab.selectOption("#preset", "organ");
  await tab.locator("#songs button").first().click();
  await button("Pause");
  assert.equal(await tab.inputValue("#preset"), "organ");
  await tab.click("#play");
  await button("Play");
});

test("a song that cannot be loaded is named, and can be tried again", async () => {
  const other = await visit();
  await other.route("**/songs/midnight*", (route) => route.abort());
  await other.locator("#songs button").nth(2).click();
  await other.waitForSelector("#error:not([hidden])");
  assert.equal(await other.textContent("#error"), "“Midnight snow run” cannot be loaded. Check the connection and try again.");
  assert.deepEqual(faults.splice(0), ["Failed to load resource: net::ERR_FAILED"]);
  await other.unroute("**/songs/midnight*");
  await other.locator("#songs button").nth(2).click();
  await other.waitForFunction(() => document.querySelector("#play").textContent === "Pause");
  assert.equal(await other.isVisible("#error"), false);
  await other.close();
});

test("the microphone is heard", async () => {
  await tab.selectOption("#preset", "reference");
  await tab.click("#microphone");
  await button("Stop");
  assert.equal(await tab.isDisabled("#seek"), true);
  // The browser's simulated microphone beeps.
  await tab.waitForFunction(() => /[A-G]/.test(document.querySelector("#sounding").textContent.slice(9)));
  await tab.click("#play");
  await button("Listen");
  assert.deepEqual(await pressed(), ["Microphone"]);
});

test("a refused microphone gets a message", async () => {
  const other = await visit();
  await other.evaluate(() => (navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"))));
  await other.click("#microphone");
  await other.waitForSelector("#error:not([hidden])");
  assert.match(await other.textContent("#error"), /does not allow the microphone/);
  assert.equal(await other.textContent("#play"), "Listen");
  await other.close();
});

test("a file is played, and an invalid one is refused with its name", async () => {
  const tune = path.join(RESULTS, "expected/demo.wav");
  await tab.locator("#file").setInputFiles(tune);
  await button("Pause");
  assert.equal(await tab.textContent("#file-name"), "demo.wav");
  assert.deepEqual(await pressed(), ["demo.wav"]);
  const empty = path.join(RESULTS, "empty.mp3");
  await writeFile(empty, "");
  for (const file of [path.join(PAGE, "style.css"), empty]) {
    await tab.locator("#file").setInputFiles(file);
    await tab.waitForSelector("#error:not([hidden])");
    assert.equal(await tab.textContent("#error"), `This browser cannot play “${path.basename(file)}”. Try WAV, MP3, FLAC, Ogg or M4A.`);
    // The source before the failed file is selected again.
    await button("Play");
    assert.deepEqual(await pressed(), ["demo.wav"]);
    await tab.click("#play");
    await button("Pause");
    assert.equal(await tab.isVisible("#error"), false);
  }
  assert(faults.splice(0).every((fault) => fault.startsWith("Failed to load resource")));
});

test("sound that the system stops counts as paused", async () => {
  await button("Pause");
  await inPage(tab, ({ engine }) => engine.node.context.suspend());
  await button("Play");
  await tab.click("#play");
  await button("Pause");
  assert.equal(await inPage(tab, ({ engine }) => engine.node.context.state), "running");
  assert.equal((await ask(tab)).settings.bypass, false);
});
