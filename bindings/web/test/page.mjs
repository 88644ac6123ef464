// Tests of the page: the display of the sound, and the controls.

import assert from "node:assert/strict";
import path from "node:path";
import { RESULTS, address, ask, browser, inPage, openTab, test, visit } from "./browser.mjs";

const tab = await visit();

// Settings without a control. The button for the original sets the bypass; a page has no host tempo, no sidechain and no MIDI.
const ELSEWHERE = ["bypass", "listen", "midi-out", "mpe", "sync-to"];

test("the grid lights while the tune plays", async () => {
  // Pixels in the colours of notes that sound or are held back: their green or red is far above their blue.
  const isLit = (least) => {
    const canvas = document.querySelector("#grid");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += Math.max(data[i], data[i + 1]) > data[i + 2] + 60;
    return count > least;
  };
  assert.equal(await tab.evaluate(isLit, 0), false);
  await tab.click("#play");
  await tab.waitForFunction(() => document.querySelector("#time").value >= "0:05");
  await tab.waitForFunction(isLit, 300);
  await tab.waitForFunction(() => /^Sounding: [A-G]#?[1-7]/.test(document.querySelector("#sounding").textContent));
  await tab.screenshot({ path: path.join(RESULTS, "desktop.png"), fullPage: true });
});

test("the roll moves while the tune plays", async () => {
  await tab.keyboard.press("r");
  assert.equal(await tab.isVisible("#grid"), false);
  // A note that sounds is green, and the newest columns are at the right.
  await tab.waitForFunction(() => {
    const canvas = document.querySelector("#roll");
    if (!canvas.width) return false;
    const right = Math.floor(0.75 * canvas.width);
    const { data } = canvas.getContext("2d").getImageData(right, 0, canvas.width - right, canvas.height);
    for (let i = 0; i < data.length; i += 4) if (data[i + 1] > Math.max(data[i], data[i + 2]) + 60) return true;
    return false;
  });
  const before = await tab.evaluate(() => document.querySelector("#roll").toDataURL());
  await tab.waitForFunction((before) => document.querySelector("#roll").toDataURL() !== before, before);
  await tab.waitForTimeout(5000);
  await tab.screenshot({ path: path.join(RESULTS, "roll.png"), fullPage: true });
  await tab.click("#view");
  assert.equal(await tab.isVisible("#roll"), false);
});

test("each control moves its setting on the audio thread, and no other", async () => {
  await tab.click("summary");
  const ids = await tab.$$eval(".control input, .control select", (inputs) => inputs.map(({ id }) => id));
  const all = await inPage(tab, ({ library: { numbers, choices } }) => [...numbers, ...choices].map(({ id }) => id));
  assert.deepEqual(ids.toSorted(), all.filter((id) => !ELSEWHERE.includes(id)).sort());
  assert.deepEqual(ids.slice(0, 5), ["mix", "voice", "sensitivity", "tone", "output"]);
  // With the voice Chip, all other controls have an effect.
  const needed = { drive: ["voice", "soft"], root: ["scale", "major"] };
  for (const id of ids.filter((id) => id !== "voice")) {
    const [list, entry] = needed[id] ?? ["voice", "chip"];
    if ((await tab.inputValue(`#${list}`)) !== entry) await tab.selectOption(`#${list}`, entry);
    const before = (await ask(tab)).settings;
    const control = tab.locator(`#${id}`);
    const kind = await control.evaluate((input) => input.type);
    if (kind === "checkbox") await control.click();
    else if (kind === "range") await control.press(await control.evaluate((input) => (input.value === input.max ? "ArrowLeft" : "ArrowRight")));
    else await control.selectOption({ index: await control.evaluate((list) => (list.selectedIndex + 1) % list.length) });
    const after = (await ask(tab)).settings;
    assert.deepEqual(Object.keys(after).filter((id) => after[id] !== before[id]), [id]);
    assert.deepEqual(after, await inPage(tab, ({ engine, library }) => library.check(engine.node.settings)));
  }
  await tab.selectOption("#voice", "square");
  assert.equal((await ask(tab)).settings.voice, "square");
  const [latency, rate] = await inPage(tab, async ({ engine: { node } }) => [(await node.ask()).latency, node.context.sampleRate]);
  assert.equal(latency, Math.round((2048 / 44100) * rate) / rate);
  await tab.screenshot({ path: path.join(RESULTS, "more.png"), fullPage: true });
});

test("controls without effect are disabled and say why", async () => {
  // Before the first click, no sound is processed yet.
  const other = await visit("#preset=reference&voice=square&sync=1%2F4");
  await other.click("summary");
  // Compares all controls with the audio thread's reasons, and returns the disabled ones.
  const disabled = async () => {
    const { idle } = await ask(other);
    const shown = await other.$$eval(".control", (controls) =>
      controls.map((one) => {
        const input = one.querySelector("input, select");
        return [input.id, { title: one.title, description: input.getAttribute("aria-description"), disabled: input.disabled }];
      }),
    );
    for (const [id, { title, description }] of shown) {
      assert.equal(description, idle[id] ? `No effect: ${idle[id]}.` : null, id);
      assert.equal(title.includes("No effect"), id in idle, id);
      assert(title.endsWith(description ?? ""), title);
    }
    return shown.filter(([, { disabled }]) => disabled).map(([id]) => id).sort();
  };
  const chip = ["arp", "attack", "decay", "duty"];
  const square = [...chip, "drive", "listener", "release", "ring", "root", "sensitivity"].sort();
  assert.deepEqual(await disabled(), square);
  assert.match(await other.getAttribute("#drive", "aria-description"), /^No effect: it shapes the voices Soft and Soft clean only\.$/);
  await other.selectOption("#voice", "soft");
  assert.deepEqual(await disabled(), [...chip, "glide", "listener", "octave", "release", "ring", "root", "sensitivity", "vibrato"].sort());
  // Map stays usable; otherwise neither Map nor Scale could be set back.
  await other.selectOption("#voice", "square");
  await other.selectOption("#map", "custom");
  assert.deepEqual(await disabled(), [...square, "scale"].sort());
  assert.match(await other.getAttribute("#map", "aria-description"), /every note is its own target/);
  await other.selectOption("#map", "mute");
  assert.deepEqual(await disabled(), square);
  await other.close();
});

test("every control has a label", async () => {
  const nameless = await tab.$$eval("input:not([hidden]), select, button, canvas", (controls) =>
    controls.filter((one) => !(one.labels?.[0]?.textContent.trim() || one.textContent.trim() || one.ariaLabel)).map((one) => one.outerHTML),
  );
  assert.deepEqual(nameless, []);
});

test("text stands out from its background", async () => {
  // WCAG 2: the ratio of the relative luminances is 4.5 at least.
  const faint = await tab.evaluate(() => {
    const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
    const luminance = (colour) => {
      const [r, g, b] = parse(colour).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
      for (; one; one = one.parentElement) {
        const { backgroundColor } = getComputedStyle(one);
        if ((parse(backgroundColor)[3] ?? 1) > 0) return backgroundColor;
      }
    };
    const texts = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    const ratio = (one) => {
      const [a, b] = [getComputedStyle(one).color, behind(one)].map((colour) => luminance(colour) + 0.05);
      return Math.max(a, b) / Math.min(a, b);
    };
    if (texts.length < 60) throw new Error(`only ${texts.length} texts`);
    return texts.filter((one) => !one.closest(":disabled") && ratio(one) < 4.5).map((one) => `${one.outerHTML} ${ratio(one)}`);
  });
  assert.deepEqual(faint, []);
});

test("a link carries the sound to another page", async () => {
  const sent = (await ask(tab)).settings;
  const other = await visit(new URL(tab.url()).hash);
  assert.deepEqual(await inPage(other, ({ engine }) => engine.node.settings), sent);
  await other.click("#play");
  assert.deepEqual((await ask(other)).settings, sent);
  await other.evaluate(() => (location.hash = "#preset=game-boy&mix=12.5&scale=major"));
  await other.waitForFunction(() => document.querySelector("#preset").value === "game-boy");
  const { mix, scale, voice } = (await ask(other)).settings;
  assert.deepEqual({ mix, scale, voice }, { mix: 12.5, scale: "major", voice: "square" });
  for (const [hash, reason] of [["#mix=900", "mix = 900 is out of range; use 0 to 100 %"], ["#auto=yes", "auto = \"yes\" is unknown; use true, false"]]) {
    await other.evaluate((hash) => (location.hash = hash), hash);
    await other.waitForFunction((reason) => document.querySelector("#error").textContent.includes(reason), reason);
    assert.equal(await other.inputValue("#preset"), "tone-filter");
  }
  await other.close();
});

test("presets are chosen in the list and with the arrows beside it", async () => {
  const presets = await inPage(tab, ({ library }) => library.presets.map(({ id, settings }) => ({ id, settings: library.check(settings) })));
  for (const [index, { id, settings }] of presets.entries()) {
    if (index % 2) await tab.click("#next");
    else await tab.selectOption("#preset", id);
    assert.deepEqual((await ask(tab)).settings, settings);
  }
  await tab.click("#next");
  assert.equal(await tab.inputValue("#preset"), presets[0].id);
  await tab.click("#previous");
  assert.equal(await tab.inputValue("#preset"), presets.at(-1).id);
  await tab.selectOption("#preset", presets[0].id);
});

const isDry = async (page) => (await ask(page)).settings.bypass;

test("the keyboard plays, pauses, seeks and compares", async () => {
  const paused = () => inPage(tab, ({ engine }) => engine.audio.paused);
  const time = () => inPage(tab, ({ engine }) => engine.audio.currentTime);
  await tab.locator("h1").click();
  assert.equal(await paused(), false);
  await tab.keyboard.press("Space");
  assert.equal(await paused(), true);
  await tab.locator("#seek").fill("3");
  await tab.locator("h1").click();
  await tab.evaluate(() => document.activeElement.blur());
  await tab.keyboard.press("ArrowRight");
  assert.equal(await time(), 8);
  await tab.keyboard.press("ArrowLeft");
  assert.equal(await time(), 3);
  await tab.keyboard.press("b");
  assert.equal(await isDry(tab), true);
  assert.equal(await tab.textContent("#compare"), "Back to the effect");
  await tab.keyboard.press("b");
  assert.equal(await isDry(tab), false);
  await tab.keyboard.press("Space");
  await tab.waitForFunction(() => document.querySelector("#time").value >= "0:04");
  // On a button, Space is the button's.
  await tab.focus("#play");
  await tab.keyboard.press("Space");
  assert.equal(await paused(), true);
});

test("holding the button or B plays the original, by mouse, touch and keyboard", async () => {
  const phone = await visit("", { hasTouch: true });
  await phone.click("#play");
  const box = await phone.locator("#compare").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = await phone.context().newCDPSession(phone);
  const gestures = {
    mouse: [async () => (await phone.mouse.move(x, y), phone.mouse.down()), () => phone.mouse.up()],
    touch: [
      () => touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] }),
      () => touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] }),
    ],
    key: [async () => (await phone.evaluate(() => document.activeElement.blur()), phone.keyboard.down("b")), () => phone.keyboard.up("b")],
    button: [async () => (await phone.focus("#compare"), phone.keyboard.down("Space")), () => phone.keyboard.up("Space")],
  };
  for (const [name, [press, release]] of Object.entries(gestures)) {
    await press();
    assert.equal(await isDry(phone), true, name);
    assert.equal(await phone.textContent("#compare"), "The original", name);
    await phone.waitForTimeout(400);
    await release();
    assert.equal(await isDry(phone), false, name);
    assert.equal(await phone.textContent("#compare"), "Hold for the original", name);
  }
  // A screen reader's click has no press.
  for (const expected of [true, false]) {
    await phone.locator("#compare").evaluate((button) => button.click());
    assert.equal(await isDry(phone), expected);
  }
  await phone.close();
});

test("keys and cells play notes while Keys is on", async () => {
  // Moves the pointer to the cell of a note, counted from A3. With the published range, the row of A3 is the first.
  const cell = async (tone) => {
    const { x, y, width, height } = await tab.locator("#grid").boundingBox();
    await tab.mouse.move(x + ((tone % 12) + 0.5) * (width / 12), y + (Math.floor(tone / 12) + 0.5) * (height / 4));
  };
  // Returns the bands that may sound, counted from A3. Awaits two answers, because an earlier call may have requested the
  // first.
  const open = () =>
    inPage(tab, async ({ engine: { node } }) => {
      await node.bands();
      return (await node.bands()).filter(({ state }) => state !== "disabled").map(({ note }) => note - 57);
    });
  assert.equal((await open()).length, 77);
  await tab.selectOption("#range", "published");
  assert.equal((await open()).length, 48);
  await tab.selectOption("#keys", "hold");
  await tab.evaluate(() => document.activeElement.blur());
  const held = async (...expected) => assert.deepEqual(await open(), expected);
  await held();
  await tab.keyboard.down("a");
  await tab.keyboard.down("w");
  await held(12, 13);
  await tab.keyboard.up("a");
  await held(13);
  await tab.keyboard.up("w");
  await tab.keyboard.press("x");
  await tab.keyboard.down("k");
  await held(36);
  await tab.keyboard.up("k");
  await tab.locator("#grid").scrollIntoViewIfNeeded();
  await cell(40);
  await tab.mouse.down();
  await held(40);
  await tab.mouse.up();
  await held();
  assert.equal(await tab.textContent("#instrument button:nth-child(4)"), "C6");
  await tab.focus("#instrument button:nth-child(4)");
  await tab.keyboard.down("Enter");
  await held(27);
  await tab.keyboard.up("Enter");
  await tab.keyboard.press("Tab");
  assert.equal(await tab.evaluate(() => document.activeElement.textContent), "C#6");
  await tab.selectOption("#keys", "off");
  assert.equal((await open()).length, 48);
});

test("an unsupported browser gets a message", async () => {
  for (const [lack, message] of [
    ["delete window.AudioWorkletNode", /no AudioWorklet/],
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

test("a phone's page loads within 2 MB and fits its width, with two columns of controls", async () => {
  const phone = await openTab({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  const loads = [];
  phone.on("requestfinished", (request) => loads.push(request.sizes()));
  await phone.goto(address("#preset=chord-pad"));
  await phone.waitForFunction(() => document.querySelector("#play").textContent === "Play");
  const bytes = (await Promise.all(loads)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
  assert(bytes > 500_000 && bytes < 2_000_000, `${bytes} bytes`);
  await phone.tap("#play");
  await phone.waitForFunction(() => document.querySelector("#time").value >= "0:04");
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390);
  const lefts = await phone.$$eval("#controls .control", (controls) => controls.map((one) => one.getBoundingClientRect().left));
  assert.equal(new Set(lefts).size, 2);
  await phone.screenshot({ path: path.join(RESULTS, "phone.png"), fullPage: true });
  await phone.close();
});
