// What all tests share: a server, Chromium, and functions that open a page in it.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import * as runner from "node:test";
import { chromium } from "playwright-core";

// Folder of the page, and folder of the results. The latter has the folder `expected`, with the demo tune and the library's
// output, and gets pictures of the page.
export const [PAGE, RESULTS] = process.argv.slice(2).map((folder) => path.resolve(folder));

// A page must work below any path of a host.
const BASE = "/some/where/";
const TYPES = {
  ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm",
  ".wav": "audio/wav", ".mp3": "audio/mpeg",
};

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
];

export const faults = [];
export const requests = [];

// Folders that are served below the page's folder.
export const folders = { expected: RESULTS, test: path.dirname(import.meta.dirname) };

async function serve(request, response) {
  // Browsers request this icon for a page that names no icon.
  if (request.url === "/favicon.ico") return response.writeHead(204).end();
  const name = path.normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
  const own = name.startsWith(BASE) ? name.slice(BASE.length) : undefined;
  try {
    const [first] = own.split("/");
    const file = path.join(folders[first] ?? PAGE, own.endsWith("/") || !own ? `${own}index.html` : own);
    const content = await readFile(file);
    response.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

export const server = createServer(serve);
await new Promise((resolve) => server.listen(0, "localhost", resolve));
export const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });

export const address = (rest = "") => `http://localhost:${server.address().port}${BASE}${rest}`;

// Opens a tab. Console errors and exceptions in it are added to `faults`, requests to `requests`.
export async function openTab(options = {}) {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  tab.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  tab.on("pageerror", (error) => faults.push(error.message));
  tab.on("request", (request) => requests.push(request.url()));
  return tab;
}

// Opens a tab with the page, and waits until the page is ready.
export async function visit(hash = "", options = {}) {
  const tab = await openTab(options);
  await tab.goto(address(hash));
  await tab.waitForFunction(() => document.querySelector("#play").textContent === "Play");
  return tab;
}

// Calls `action` in the page, with the page's own objects and a value.
export async function inPage(tab, action, value) {
  const objects = await tab.evaluateHandle(async () => (await import(new URL("main.js", document.baseURI))).page);
  return objects.evaluate(action, value);
}

// Reports of the audio thread.
export const ask = (tab) => inPage(tab, ({ engine }) => engine.node.ask());

// No test may wait for ever.
export const test = (name, body) => runner.test(name, { timeout: 300_000 }, body);
