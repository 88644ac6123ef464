// Tests of the page in Chromium: node test.mjs PAGE RESULTS
//
// PAGE is the folder of the page. RESULTS has the folder `expected`, with what the library makes of the demo tune with
// each preset, and gets pictures of the page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import * as runner from "node:test";
import { chromium } from "playwright-core";

const [PAGE, RESULTS] = process.argv.slice(2);

// A page must work below any path of a host.
const BASE = "/some/where/";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".wav": "audio/wav" };

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
];

let server;
let browser;
let page;
const faults = [];
const requests = [];

async function serve(request, response) {
  const name = path.normalize(new URL(request.url, "http://localhost").pathname);
  const own = name.startsWith(BASE) ? name.slice(BASE.length) || "index.html" : undefined;
  const folders = { expected: RESULTS, test: path.dirname(import.meta.dirname) };
  try {
    const file = path.join(folders[own.split("/")[0]] ?? PAGE, own);
    const content = await readFile(file);
    response.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

const address = (hash = "") => `http://localhost:${server.address().port}${BASE}${hash}`;

// A page whose console errors, exceptions and requests are recorded.
async function visit(hash = "", options = {}) {
  const visited = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  visited.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  visited.on("pageerror", (error) => faults.push(error.message));
  visited.on("request", (request) => requests.push(request.url()));
  await visited.goto(address(hash));
  await visited.waitForFunction(() => !document.querySelector("main").inert);
  return visited;
}

// Calls `action` in the page, with the page's own objects and a value.
async function inPage(visited, action, value) {
  const objects = await visited.evaluateHandle(async () => (await import(new URL("main.js", document.baseURI))).page);
  return objects.evaluate(action, value);
}

// Reports of the audio thread.
const ask = (visited = page) => inPage(visited, ({ engine }) => engine.ask());

// No test may wait for ever.
const test = (name, body) => runner.test(name, { timeout: 300_000 }, body);

runner.before(async () => {
  server = createServer(serve);
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
  page = await visit();
});

runner.after(async () => {
  await browser?.close();
  server.close();
});

const percent = (share) => `${(100 * share).toFixed(1)} % of the audio thread's time`;

test("with every preset, the worklet's output is the library's", async () => {
  const results = await inPage(page, async ({ library }) => {
    const { render, tune } = await import(new URL("test/render.js", document.baseURI));
    const input = await tune();
    const rows = [];
    for (const { id, settings } of library.presets) {
      const { output, share } = await render(settings, input);
      const expected = new Float32Array(await (await fetch(`expected/${id}.f32`)).arrayBuffer());
      let [signal, noise, worst] = [0, 0, 0];
      output.forEach((samples, channel) => samples.forEach((y, t) => {
        const right = expected[channel * samples.length + t];
        const error = y - right;
        signal += right * right;
        noise += error * error;
        worst = Math.max(worst, Math.abs(error));
      }));
      rows.push({ id, snr: 10 * Math.log10(signal / noise), worst, share });
    }
    return rows;
  });
  assert.equal(results.length, 26);
  for (const { id, snr, worst, share } of results) {
    console.log(`${id.padEnd(16)} SNR ${snr.toFixed(1)} dB, worst ${worst.toExponential(1)}, ${percent(share)}`);
  }
  // Full scale is 1. The other presets differ more where a strong drive or an oscillator magnifies rounding.
  assert(results[0].worst <= 1e-5);
  for (const { id, snr } of results) assert(snr >= 90, `${id}: ${snr} dB`);
  // Far more than it takes, as other programs may run.
  assert(Math.min(...results.map(({ share }) => share)) < 0.3);
});

test("silence after sound does not become slow by denormals", async () => {
  const shares = await inPage(page, async ({ library }) => {
    const { render, tune } = await import(new URL("test/render.js", document.baseURI));
    const input = (await tune()).map((channel) => channel.subarray(0, 3 * 44100));
    const rows = [];
    // Short and long rings, and oscillators.
    for (const id of ["tone-filter", "reference", "chord-pad", "saw-choir"]) {
      const { settings } = library.presets.find((preset) => preset.id === id);
      const { share } = await render(settings, input, 30);
      rows.push([id, share]);
    }
    return rows;
  });
  for (const [id, share] of shares) console.log(`${id.padEnd(16)} with 30 s of silence, ${percent(share)}`);
  assert(Math.min(...shares.map(([, share]) => share)) < 0.3);
});

test("the grid lights while the tune plays", async () => {
  // Pixels in the colours of notes that sound or are held back: their green or red is far above their blue.
  const isLit = (least) => {
    const canvas = document.querySelector("#grid");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += Math.max(data[i], data[i + 1]) > data[i + 2] + 60;
    return count > least;
  };
  assert.equal(await page.evaluate(isLit, 0), false);
  await page.click("#play");
  await page.waitForFunction(() => document.querySelector("#time").value >= "0:05");
  await page.waitForFunction(isLit, 300);
  await page.waitForFunction(() => /^Sounding: [A-G]#?[3-7]/.test(document.querySelector("#sounding").textContent));
  await page.screenshot({ path: path.join(RESULTS, "desktop.png"), fullPage: true });
});

test("each control moves its setting on the audio thread, and no other", async () => {
  await page.click("summary");
  let before = (await ask()).settings;
  const differing = (after) => Object.keys(after).filter((id) => after[id] !== before[id]);
  const ids = await page.$$eval(".control input, .control select", (inputs) => inputs.map(({ id }) => id));
  assert.equal(ids.length, 28);
  const order = ["voice", ...ids.filter((id) => id !== "voice")];
  for (const id of order) {
    const control = page.locator(`#${id}`);
    const kind = await control.evaluate((input) => input.type);
    if (kind === "checkbox") await control.click();
    else if (kind === "range") await control.press(await control.evaluate((input) => (input.value === input.max ? "ArrowLeft" : "ArrowRight")));
    else await control.selectOption({ index: await control.evaluate((list) => (list.selectedIndex + 1) % list.length) });
    const after = (await ask()).settings;
    assert.deepEqual(differing(after), [id]);
    assert.deepEqual(after, await inPage(page, ({ settings, library }) => library.check(settings())));
    before = after;
  }
  assert.equal((await ask()).latency, await inPage(page, () => Math.round((2048 / 44100) * new AudioContext().sampleRate)));
});

test("every control has a label", async () => {
  const nameless = await page.$$eval("input:not([hidden]), select, button, canvas", (controls) =>
    controls.filter((one) => !(one.labels?.[0]?.textContent.trim() || one.textContent.trim() || one.ariaLabel)).map((one) => one.outerHTML),
  );
  assert.deepEqual(nameless, []);
});

test("a link carries the sound to another page", async () => {
  const sent = (await ask()).settings;
  const other = await visit(new URL(page.url()).hash);
  assert.deepEqual(await inPage(other, ({ settings }) => settings()), sent);
  await other.click("#play");
  assert.deepEqual((await ask(other)).settings, sent);
  await other.evaluate(() => (location.hash = "#preset=game-boy&mix=12.5&scale=major"));
  await other.waitForFunction(() => document.querySelector("#preset").value === "game-boy");
  const { mix, scale, voice } = (await ask(other)).settings;
  assert.deepEqual({ mix, scale, voice }, { mix: 12.5, scale: "major", voice: "square" });
  await other.evaluate(() => (location.hash = "#mix=900"));
  await other.waitForSelector("#error:not([hidden])");
  assert.match(await other.textContent("#error"), /mix = 900 is out of range; use 0 to 100 %/);
  assert.equal(await other.inputValue("#preset"), "tone-filter");
  await other.close();
});

test("presets are chosen in the list and with the arrows beside it", async () => {
  const presets = await inPage(page, ({ library }) => library.presets);
  for (const [index, { id, settings }] of presets.entries()) {
    if (index % 2) await page.click("#next");
    else await page.selectOption("#preset", id);
    assert.deepEqual((await ask()).settings, settings);
  }
  await page.click("#next");
  assert.equal(await page.inputValue("#preset"), presets[0].id);
  await page.click("#previous");
  assert.equal(await page.inputValue("#preset"), presets.at(-1).id);
  await page.selectOption("#preset", presets[0].id);
});

test("the keyboard plays, pauses, seeks and compares", async () => {
  const paused = () => inPage(page, ({ engine }) => engine.audio.paused);
  const time = () => inPage(page, ({ engine }) => engine.audio.currentTime);
  await page.locator("h1").click();
  assert.equal(await paused(), false);
  await page.keyboard.press("Space");
  assert.equal(await paused(), true);
  await page.locator("#seek").fill("3");
  await page.locator("h1").click();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("ArrowRight");
  assert.equal(await time(), 8);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await time(), 3);
  await page.keyboard.press("b");
  assert.equal((await ask()).settings.bypass, true);
  assert.equal(await page.isChecked("[value=dry]"), true);
  await page.keyboard.press("b");
  assert.equal((await ask()).settings.bypass, false);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.querySelector("#time").value >= "0:04");
  // On a button, Space is the button's.
  await page.focus("#play");
  await page.keyboard.press("Space");
  assert.equal(await paused(), true);
});

test("keys and cells play notes while Keys is on", async () => {
  const cell = async (tone) => {
    const { x, y, width, height } = await page.locator("#grid").boundingBox();
    await page.mouse.move(x + ((tone % 12) + 0.5) * (width / 12), y + (Math.floor(tone / 12) + 0.5) * (height / 4));
  };
  // The bands that may sound.
  const open = () =>
    inPage(page, ({ engine, library }) =>
      new Promise((resolve) => {
        const { onpicture } = engine;
        let late = 0;
        engine.onpicture = (numbers) => {
          // The first one may have been on its way.
          if (late++ < 2) return;
          engine.onpicture = onpicture;
          resolve(Array.from({ length: 77 }, (_, tone) => tone).filter((tone) => numbers[tone * library.record + 2] !== 3));
        };
      }),
    );
  assert.equal((await open()).length, 77);
  await page.selectOption("#range", "published");
  assert.equal((await open()).length, 48);
  await page.selectOption("#keys", "hold");
  await page.evaluate(() => document.activeElement.blur());
  const held = async (...expected) => assert.deepEqual(await open(), expected);
  await held();
  await page.keyboard.down("a");
  await page.keyboard.down("w");
  await held(12, 13);
  await page.keyboard.up("a");
  await held(13);
  await page.keyboard.up("w");
  await page.keyboard.press("x");
  await page.keyboard.down("k");
  await held(36);
  await page.keyboard.up("k");
  await cell(40);
  await page.mouse.down();
  await held(40);
  await page.mouse.up();
  await held();
  assert.equal(await page.textContent("#instrument button:nth-child(4)"), "C6");
  await page.focus("#instrument button:nth-child(4)");
  await page.keyboard.down("Enter");
  await held(27);
  await page.keyboard.up("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "C#6");
  await page.selectOption("#keys", "off");
  assert.equal((await open()).length, 48);
});

test("the microphone is heard", async () => {
  await page.selectOption("#preset", "reference");
  await page.locator("[value=microphone] + span").click();
  await page.click("#play");
  await page.waitForFunction(() => document.querySelector("#play").textContent === "Stop");
  assert.equal(await page.isDisabled("#seek"), true);
  // The browser's false microphone beeps.
  await page.waitForFunction(() => /[A-G]/.test(document.querySelector("#sounding").textContent.slice(9)));
  await page.click("#play");
  assert.equal(await page.textContent("#play"), "Listen");
});

test("a file is played, and one that is none is refused", async () => {
  await page.locator("#file").setInputFiles(path.join(PAGE, "demo.wav"));
  await page.waitForFunction(() => document.querySelector("#play").textContent === "Pause");
  assert.equal(await page.textContent("#file-name"), "demo.wav");
  await page.locator("#file").setInputFiles(path.join(PAGE, "style.css"));
  await page.waitForSelector("#error:not([hidden])");
});

test("what a browser lacks is said", async () => {
  for (const [lack, message] of [
    ["delete window.AudioWorklet", /no AudioWorklet/],
    ["WebAssembly.validate = () => false", /no WebAssembly SIMD/],
    ["delete window.WebAssembly", /no WebAssembly\./],
  ]) {
    const poor = await browser.newPage();
    await poor.addInitScript(lack);
    await poor.goto(address());
    await poor.waitForSelector("#error:not([hidden])");
    assert.match(await poor.textContent("#error"), message);
    assert.equal(await poor.isVisible("main"), false);
    await poor.close();
  }
});

test("a phone's page fits its width", async () => {
  const phone = await visit("#preset=chord-pad", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await phone.tap("#play");
  await phone.waitForFunction(() => document.querySelector("#time").value >= "0:04");
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390);
  await phone.screenshot({ path: path.join(RESULTS, "phone.png"), fullPage: true });
  await phone.close();
});

test("there is no error, and no request to another host", () => {
  assert.deepEqual(faults, []);
  const { origin } = new URL(address());
  assert.deepEqual(requests.filter((url) => ![origin, "null"].includes(new URL(url).origin) && !url.startsWith(`blob:${origin}`)), []);
});
