"""Judges the command's notes on public sets of recordings, and compares basic-pitch if it is installed.

usage: judge.py [--seconds S] [--every N] TONE-FILTER LAYOUT=FOLDER ..

Layouts: bach-violin, ssvd, vocadito, bach10, maestro, guitarset (layouts.py says what each folder has). Nothing is fetched. Prints for each set a
table by latency: means over its recordings of frame F1 (10 ms) and of onset F1 (100 ms, and 50 ms as in mir_eval), and notes found by notes there.
"""
import argparse
import contextlib
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import soundfile

from layouts import LAYOUTS, LayoutError, midi_notes, recordings
from score import scores

# Flags of `bands` for each latency. With --live, a note is reported at once; otherwise, only when it has lasted 70 ms.
RUNS = {
    "live, no lookahead": ["--live", "--lookahead=off"],
    "live, 46 ms": ["--live"],
    "file, no lookahead": ["--lookahead=off"],
    "file, 46 ms": [],
}


def basic_pitch():
    """Returns a function that detects notes in a WAV by basic-pitch; None if it is not installed."""
    try:
        from basic_pitch import ICASSP_2022_MODEL_PATH
        from basic_pitch.inference import Model, predict
    except ImportError:
        return None
    model = Model(ICASSP_2022_MODEL_PATH)

    def find(wav):
        with contextlib.redirect_stdout(None):             # it prints the name of each file
            notes = predict(wav, model)[2]
        return [tuple(map(float, note[:3])) for note in notes]

    return find


def finders(command):
    """Returns the ways to detect notes, by name. Each is a function of the path of a WAV."""
    def by_command(flags):
        def find(wav):
            midi = wav.with_suffix(".mid")
            subprocess.run([command, "bands", wav, "--midi", midi, "--force", "--quiet", *flags], check=True)
            return midi_notes(midi)
        return find

    ways = {name: by_command(flags) for name, flags in RUNS.items()}
    other = basic_pitch()
    return ways | {"basic-pitch, the whole file": other} if other else ways


def judged(ways, recording, limit):
    """Returns the scores of each way for the first `limit` seconds of a recording."""
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "sound.wav"
        info = soundfile.info(recording.sound)
        start, seconds = recording.start, min(recording.seconds, limit, info.duration - recording.start)
        sound, rate = soundfile.read(recording.sound, start=int(start * info.samplerate), frames=int(seconds * info.samplerate), always_2d=True)
        soundfile.write(wav, sound, rate, subtype="FLOAT")
        return [scores(find(wav), recording.notes, len(sound) / rate) for find in ways.values()]


def table(name, ways, results):
    """Returns a set's table in Markdown. `results`: what `judged` returns for each recording, recordings x ways x numbers of `scores`."""
    results = np.array(results)
    means, sums = results[..., :3].mean(0), results[..., 3:].sum(0)
    lines = [f"| {name}, {len(results)} recordings, {sums[0, 1]:.0f} notes | frame F1 | onset F1, 100 ms | onset F1, 50 ms | notes found |", "|---|---|---|---|---|"]
    for way, mean, (found, real) in zip(ways, means, sums):
        lines.append(f"| {way} | " + " | ".join(f"{x:.3f}" for x in mean) + f" | {found / max(real, 1):.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", help="the program tone-filter")
    parser.add_argument("sets", nargs="+", metavar="LAYOUT=FOLDER", help="layouts: " + ", ".join(LAYOUTS))
    parser.add_argument("--seconds", type=float, default=math.inf, help="judge so much of each recording from its start; default all")
    parser.add_argument("--every", type=int, default=1, help="judge every Nth recording; default 1")
    arguments = parser.parse_args()
    sets = []
    for item in arguments.sets:
        layout, is_set, folder = item.partition("=")
        if layout not in LAYOUTS or not is_set:
            parser.error(f"{item}: give LAYOUT=FOLDER with a layout of {', '.join(LAYOUTS)}")
        try:
            sets.append((layout, recordings(layout, folder)[::arguments.every]))
        except LayoutError as error:
            sys.exit(f"judge.py: {error}")
    ways = finders(arguments.command)
    for layout, found in sets:
        print(table(layout, ways, [judged(ways, recording, arguments.seconds) for recording in found]), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
