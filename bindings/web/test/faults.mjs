// Last test: errors and requests of all tabs of the other tests.

import assert from "node:assert/strict";
import { address, faults, requests, test } from "./browser.mjs";

test("there is no error, and no request to another host", () => {
  assert.deepEqual(faults, []);
  const { origin } = new URL(address());
  assert.deepEqual(requests.filter((url) => ![origin, "null"].includes(new URL(url).origin) && !url.startsWith(`blob:${origin}`)), []);
});
