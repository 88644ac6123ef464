// The npm package, as `npm pack` packs it: its size, its page's programs, its types, and a bundle of it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createServer } from "vite";
import { RESULTS, address, browser, folders, openTab, test } from "./browser.mjs";

const TOOLS = path.join(import.meta.dirname, "node_modules/.bin");
const PACKAGE = path.join(RESULTS, "package");
const run = (tool, folder, ...parameters) => execFileSync(path.join(TOOLS, tool), parameters, { cwd: folder, encoding: "utf8", stdio: "pipe" });

const readme = await readFile(path.join(PACKAGE, "README.md"), "utf8");
const programs = (language) => [...readme.matchAll(new RegExp("```" + language + "\n(.*?)```", "gs"))].map((match) => match[1]);

// Maximum size of the archive in bytes.
const LARGEST = 450_000;

// A project with the package installed in it.
async function project(name, files) {
  const folder = path.join(RESULTS, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, "node_modules"), { recursive: true });
  await cp(PACKAGE, path.join(folder, "node_modules/tone-filter"), { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
  folders[name] = RESULTS;
  return folder;
}

// Returns the title that a page sets when its program has run.
async function titleOf(url) {
  const tab = await openTab();
  await tab.goto(url);
  await tab.waitForFunction(() => document.title);
  const title = await tab.title();
  await tab.close();
  return title;
}

test("the package has the expected files and size", async () => {
  const files = (await readdir(PACKAGE)).sort();
  assert.deepEqual(files, ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "index.d.ts", "index.js", "package.json", "score.js", "settings.d.ts", "settings.js", "tables.js", "tone_filter.wasm", "worklet.js"]);
  const [archive] = (await readdir(RESULTS)).filter((name) => name.endsWith(".tgz"));
  const packed = (await stat(path.join(RESULTS, archive))).size;
  assert(packed < LARGEST, `${packed} bytes`);
});

test("the README's quick start plays a file", async () => {
  await project("quick-start", { "index.html": programs("html")[0] });
  const tab = await openTab();
  // The page creates its own context, so an analyser is connected to everything that goes to the loudspeakers.
  await tab.addInitScript(() => {
    const { connect } = AudioNode.prototype;
    AudioNode.prototype.connect = function (to, ...rest) {
      if (to instanceof AudioDestinationNode) connect.call(this, (window.analyser = new AnalyserNode(to.context)));
      return connect.call(this, to, ...rest);
    };
  });
  await tab.goto(address("quick-start/"));
  await tab.locator("#file").setInputFiles(path.join(RESULTS, "expected/demo.wav"));
  await tab.evaluate(() => document.querySelector("audio").play());
  await tab.waitForFunction(() => {
    const samples = new Float32Array(2048);
    window.analyser?.getFloatTimeDomainData(samples);
    return samples.some((sample) => sample !== 0);
  });
  await tab.close();
});

test("the types and the README's programs work, bundled by Vite", async () => {
  const [start, tour] = programs("js");
  const page = (script) => `<!doctype html><title></title><script type="module" src="${script}"></script>`;
  const folder = await project("bundled", {
    "types.ts": await readFile(path.join(import.meta.dirname, "types.ts"), "utf8"),
    "start.js": `${start}\ndocument.title = node.settings.voice + node.settings.mix;`,
    "tour.js": `const log = [];\nconsole.log = (value) => log.push(value);\n${tour}\ndocument.title = JSON.stringify(log);`,
    "types.html": page("types.ts"),
    "start.html": page("start.js"),
    "tour.html": page("tour.js"),
    "vite.config.js": 'export default { base: "./", build: { target: "es2022", rollupOptions: { input: ["types.html", "start.html", "tour.html"] } } };',
  });
  run("tsc", folder, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom", "types.ts");
  run("vite", folder, "build");
  assert.equal(await titleOf(address("bundled/dist/types.html")), "A4 square 20 20 true it shapes the voices Soft and Soft clean only");
  assert.equal(await titleOf(address("bundled/dist/start.html")), "square70");
  const [voice, sounding, presets] = JSON.parse(await titleOf(address("bundled/dist/tour.html")));
  assert.equal(voice, "sine");
  assert.deepEqual([Array.isArray(sounding), presets.length, presets[0]], [true, 26, "tone-filter: Tone Filter"]);
});

test("Vite's development server serves it with the README's setting", async () => {
  const [setting] = readme.match(/optimizeDeps: \{.*?\}/);
  const [start] = programs("js");
  const root = await project("developed", {
    "start.js": `${start}\ndocument.title = node.settings.voice;`,
    "index.html": '<!doctype html><title></title><script type="module" src="start.js"></script>',
    "vite.config.js": `export default { ${setting} };`,
  });
  const server = await createServer({ root, logLevel: "error" });
  await server.listen();
  const tab = await browser.newPage();
  await tab.goto(server.resolvedUrls.local[0]);
  await tab.waitForFunction(() => document.title === "square");
  await tab.close();
  await server.close();
});
