import type { PresetId, Settings } from "./settings.js";

export type { PresetId, Settings };

/** Preset, settings and score of a new node. */
export interface ToneFilterOptions {
  /** The id of a factory preset; `tone-filter` by default. */
  preset?: PresetId;
  /** Settings that replace settings of the preset. */
  settings?: Partial<Settings>;
  /** The text of a score, a list of notes that replaces the filter's detection of notes. It starts at 0 s. */
  score?: string;
}

/** A note that the filter can play. */
export interface Band {
  /** MIDI number, 28 (E1) to 104 (G#7). */
  note: number;
  /** Power in dB relative to full scale, after the gain of Auto level; -200 or more. */
  power: number;
  /** Level in dB relative to the whole input; -200 or more. */
  level: number;
  /**
   * `inactive`: not played; `sounding`; `saturated`: sounding at the maximum level (the ceiling); `disabled`: excluded by
   * range, scale or keys.
   */
  state: "inactive" | "sounding" | "saturated" | "disabled";
  /** The last periods of the note's waveform, oldest sample first, with a peak of 1; zeros for a `power` of -80 dB or less. */
  wave: Float32Array;
}

/** Report of the audio thread. */
export interface Report {
  /** Settings of the filter on the audio thread. */
  settings: Settings;
  /**
   * Settings that have no effect because of other settings. Each has the reason, as the end of a sentence: `drive` has "it shapes
   * the voices Soft and Soft clean only" while the voice is `square`.
   */
  idle: Partial<Record<keyof Settings, string>>;
  /** Latency in seconds: 0 without lookahead. */
  latency: number;
  /** Seconds after the end of a sound until the effect is at least 60 dB down. */
  tail: number;
}

/** A node that filters stereo. Mono goes to both channels; more channels are mixed to two. */
export class ToneFilterNode extends AudioWorkletNode {
  /**
   * Creates a node with the filter.
   * @throws {RangeError} An unknown preset or setting, or a value out of range; the message names the valid ids or values.
   * @throws {SyntaxError} An invalid line in the score.
   * @throws {Error} The browser lacks something, see {@link unsupported}, or cannot load a file of the package.
   */
  static create(context: BaseAudioContext, options?: ToneFilterOptions): Promise<ToneFilterNode>;

  private constructor();

  /** A copy of all settings. */
  get settings(): Settings;

  /**
   * Changes some settings. The filter smooths the change.
   * @throws {RangeError} An unknown setting or a value out of range. Then nothing changes.
   */
  set(changes: Partial<Settings>): void;

  /**
   * Loads a factory preset, which changes all settings of the sound.
   * @throws {RangeError} There is no such preset.
   */
  load(preset: PresetId): void;

  /** Requests the current bands, the lowest first. Calls before the answer get the same answer. */
  bands(): Promise<Band[]>;

  /**
   * Presses a key, for the setting `keys`, or releases it.
   * @param note MIDI number, 0 to 127.
   * @param velocity 0 to 1; 0 releases the key.
   */
  key(note: number, velocity: number): void;

  /** Releases all keys. */
  releaseKeys(): void;

  /**
   * Sets a score, a list of notes that replaces the filter's detection of notes, and starts it now. `null` removes the score.
   * @param text Text of a file that `tone-filter bands song.wav --score song.tfs` writes.
   * @throws {SyntaxError} An invalid line. Then nothing changes.
   */
  setScore(text: string | null): void;

  /** Sets the position in the score, in seconds. */
  seek(seconds: number): void;

  /** Resets the filter to silence, with the same settings. */
  reset(): void;

  /** Requests a report of the audio thread: settings, reasons why some have no effect, latency and tail. */
  ask(): Promise<Report>;

  /** Disconnects the node and frees its processor. The node cannot be used again. */
  close(): void;
}

/** A numeric setting. */
export interface NumberSpec {
  id: keyof Settings;
  name: string;
  min: number;
  max: number;
  unit: string;
  /** Digits after the point. */
  decimals: number;
  /** Scale of a slider; `whole`: whole numbers only. */
  taper: "linear" | "logarithmic" | "whole";
  help: string;
}

/** A setting that is a choice; off and on are `false` and `true` in {@link Settings}. */
export interface ChoiceSpec {
  id: keyof Settings;
  name: string;
  /** The value and the name of each entry. */
  entries: [value: string, name: string][];
  help: string;
}

/** A factory preset. */
export interface Preset {
  id: PresetId;
  name: string;
  description: string;
  /** Words to find it by. */
  tags: string[];
  /** All settings of its sound. */
  settings: Partial<Settings>;
}

/** All numeric settings. */
export const numbers: readonly NumberSpec[];
/** All choices. */
export const choices: readonly ChoiceSpec[];
/** Groups of numbers and choices, in the order of the plugin's window. */
export const groups: readonly { name: string; ids: readonly string[] }[];
/** All factory presets. */
export const presets: readonly Preset[];

/**
 * Checks settings and returns all settings; a missing setting gets its value in the preset `reference`.
 * @throws {RangeError} An unknown setting or a value out of range; the message names the valid ids or values.
 */
export function check(settings: Partial<Settings>): Settings;

/**
 * Returns a factory preset.
 * @throws {RangeError} No factory preset has this id.
 */
export function findPreset(id: PresetId): Preset;

/** Returns a sentence about a feature that the filter needs and this browser lacks; `undefined` if it has all. */
export function unsupported(): string | undefined;

/** Returns the name of a MIDI note, such as `A4` for 69. */
export function noteName(note: number): string;
