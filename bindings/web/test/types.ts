// A program that uses all of the package's interface; `tsc` checks its types, and Vite bundles it.

import { ToneFilterNode, check, choices, findPreset, noteName, numbers, presets, unsupported, type Band, type PresetId, type Report, type Settings } from "tone-filter";

async function main(): Promise<string> {
  const lack: string | undefined = unsupported();
  if (lack) throw new Error(lack);

  const context = new OfflineAudioContext(2, 44100, 44100);
  const preset: PresetId = "game-boy";
  const node = await ToneFilterNode.create(context, { preset, settings: { mix: 100, focus: 0 } });
  const source = new OscillatorNode(context, { frequency: 440 });
  source.connect(node).connect(context.destination);
  source.start();

  node.set({ voice: "square", "auto-tuning": false });
  const settings: Settings = node.settings;
  node.key(69, 1);
  node.releaseKeys();
  node.setScore("tone-filter-score 1\n0 1 69");
  node.seek(0);
  node.setScore(null);
  node.load(presets[0]?.id ?? "tone-filter");
  node.set(check(findPreset("organ").settings));

  const rendered = await context.startRendering();
  const bands: Band[] = await node.bands();
  const loudest = bands.reduce((a, b) => (b.power > a.power ? b : a));
  const sounds = rendered.getChannelData(0).some((sample) => sample !== 0);
  const { idle }: Report = await node.ask();
  const reason: string | undefined = idle.drive;
  node.close();
  return `${noteName(loudest.note)} ${settings.voice} ${numbers.length} ${choices.length} ${sounds} ${reason}`;
}

// @ts-expect-error: there is no such preset.
const wrong: PresetId = "game-boi";
// @ts-expect-error: Mix is a number.
const mistaken: Partial<Settings> = { mix: "much" };
void [wrong, mistaken];

main().then(
  (text) => (document.title = text),
  (error: Error) => (document.title = `failed: ${error.message}`),
);
