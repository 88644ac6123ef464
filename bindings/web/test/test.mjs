// Tests of the page and of the npm package in Chromium: node test.mjs PAGE RESULTS

import assert from "node:assert/strict";
import * as runner from "node:test";
import { address, browser, faults, requests, server, test } from "./browser.mjs";

runner.after(async () => {
  await browser.close();
  server.close();
});

await import("./sound.mjs");
await import("./page.mjs");
await import("./sources.mjs");
await import("./song.mjs");
await import("./package.mjs");

// Runs last, because it checks the tabs of all other tests.
test("there is no error, and no request to another host", () => {
  assert.deepEqual(faults, []);
  const { origin } = new URL(address());
  assert.deepEqual(requests.filter((url) => ![origin, "null"].includes(new URL(url).origin) && !url.startsWith(`blob:${origin}`)), []);
});
