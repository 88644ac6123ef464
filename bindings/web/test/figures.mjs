// Measurements of loading, waiting and drawing on a phone-sized screen with a slow CPU. Times have no bounds, as they depend on
// the machine.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { RESULTS, address, browser, inPage, openTab, test } from "./browser.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

// Seconds for which each view is measured while the page plays.
const SECONDS = 5;

async function measure(slowdown) {
  const tab = await openTab(PHONE);
  const devtools = await tab.context().newCDPSession(tab);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await devtools.send("Network.enable");
  await devtools.send("Performance.enable");
  let bytes = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  const opened = Date.now();
  await tab.goto(address());
  await tab.waitForFunction(() => document.querySelector("#play").textContent === "Play");
  const ready = Date.now() - opened;
  const loaded = bytes;

  // From the click to the first sample that is not silent behind the filter.
  await inPage(tab, ({ engine: { node } }) => {
    const analyser = new AnalyserNode(node.context, { fftSize: 2048 });
    node.connect(analyser);
    const samples = new Float32Array(2048);
    addEventListener("click", ({ timeStamp }) => {
      const listen = () => {
        analyser.getFloatTimeDomainData(samples);
        if (samples.some((sample) => sample !== 0)) window.firstSound = performance.now() - timeStamp;
        else setTimeout(listen, 1);
      };
      listen();
    }, { capture: true, once: true });
  });
  await tab.tap("#play");
  await tab.waitForFunction(() => window.firstSound);
  const sound = await tab.evaluate(() => window.firstSound);

  const busy = async () => (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  const views = {};
  for (const view of ["grid", "roll"]) {
    if (view === "roll") await tab.tap("#view");
    await tab.waitForTimeout(1000);
    const before = await busy();
    const intervals = await tab.evaluate((seconds) => new Promise((resolve) => {
      const times = [];
      requestAnimationFrame(function frame(now) {
        times.push(now);
        if (now - times[0] < 1000 * seconds) requestAnimationFrame(frame);
        else resolve(times.slice(1).map((time, index) => time - times[index]));
      });
    }), SECONDS);
    const total = intervals.reduce((a, b) => a + b);
    views[view] = {
      framesPerSecond: (1000 * intervals.length) / total,
      longestFrameMs: Math.max(...intervals),
      mainThreadShare: (1000 * ((await busy()) - before)) / total,
    };
  }
  assert.equal(await tab.textContent("#play"), "Pause");
  await tab.close();
  return { slowdown, readyMs: ready, loadedBytes: loaded, clickToSoundMs: sound, ...views };
}

test("figures of a phone-sized page", async () => {
  // Closes other tabs, whose load would be measured, too.
  await Promise.all(browser.contexts().map((context) => context.close()));
  const figures = [];
  for (const slowdown of [1, 4]) figures.push(await measure(slowdown));
  console.log(JSON.stringify(figures, undefined, 2));
  await writeFile(path.join(RESULTS, "figures.json"), JSON.stringify(figures, undefined, 2));
  // Checks that measure no time: the size of all that a page loads before the click, and that the page was heard and seen.
  for (const { loadedBytes, clickToSoundMs, grid, roll } of figures) {
    assert(loadedBytes > 500_000 && loadedBytes < 2_000_000, String(loadedBytes));
    assert(clickToSoundMs > 0 && grid.framesPerSecond > 0 && roll.framesPerSecond > 0);
  }
});
