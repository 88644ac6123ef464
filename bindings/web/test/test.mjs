// Tests of the page and of the npm package in Chromium: node test.mjs PAGE RESULTS

import * as runner from "node:test";
import { browser, server } from "./browser.mjs";

runner.after(async () => {
  await browser.close();
  server.close();
});

await import("./sound.mjs");
await import("./page.mjs");
await import("./sources.mjs");
await import("./song.mjs");
await import("./package.mjs");
await import("./figures.mjs");
await import("./faults.mjs");
