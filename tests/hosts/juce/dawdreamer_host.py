"""Plays the cases of mod.rs through the VST3 plugin, in DawDreamer, a renderer with JUCE's host.

Usage: dawdreamer_host.py PLUGIN FOLDER

Reads FOLDER/cases.json, a list of {name, rate, channels, block, parameters, keys, notes, automation}, and for each case
FOLDER/NAME.in. Signals are planar 32-bit floats. Writes these outputs of each case:

* FOLDER/NAME.out
* FOLDER/NAME.reloaded: from a second instance with the state of the first
* FOLDER/NAME.played: with the parameter Keys at "keys" and the notes of "notes" (key, velocity, first sample, length)
* FOLDER/NAME.automated: with the parameters of "automation", one value per block
"""

import json
import os
import pathlib
import sys

# No window is shown. Without this name, JUCE would try the first display that it finds.
os.environ["DISPLAY"] = ":none"

import dawdreamer
import numpy


class Host:
    """One instance of the plugin, in its own graph."""

    def __init__(self, path, case, signal):
        self.engine = dawdreamer.RenderEngine(case["rate"], case["block"])
        self.plugin = self.engine.make_plugin_processor("plugin", path)
        # DawDreamer cannot change the layout of a plugin that has a second input. The plugin keeps its own layout.
        channels = case["channels"]
        assert self.plugin.get_num_input_channels() == channels
        assert self.plugin.get_num_output_channels() == channels
        playback = self.engine.make_playback_processor("music", signal)
        self.engine.load_graph([(playback, []), (self.plugin, ["music"])])
        self.frames = signal.shape[1]
        self.rate = case["rate"]
        self.index = {
            p["name"]: p["index"] for p in self.plugin.get_parameters_description()
        }

    def set(self, parameters):
        for name, value in parameters.items():
            # As in JUCE's other hosts, a value that is sent again would come back rounded.
            if self.plugin.get_parameter(self.index[name]) != numpy.float32(value):
                self.plugin.set_parameter(self.index[name], value)
        self.check(parameters)

    def check(self, parameters):
        for name, value in parameters.items():
            actual = self.plugin.get_parameter(self.index[name])
            assert abs(actual - value) < 1e-6, f"{name}: {actual}, not {value}"

    def play(self):
        # Values reach a VST3 plugin with the next block. The first rendering delivers them, the second one is the result.
        for _ in range(2):
            assert self.engine.render(self.frames / self.rate)
        return self.engine.get_audio()[:, : self.frames]


def main(path, folder):
    for case in json.loads((folder / "cases.json").read_text()):
        signal = numpy.fromfile(folder / f"{case['name']}.in", numpy.float32)
        signal = signal.reshape(case["channels"], -1)

        # Two instances at the same time, set differently, must not mix up their settings.
        first, other = (Host(path, case, signal) for _ in range(2))
        first.set(case["parameters"])
        other.set({name: 1.0 - value for name, value in case["parameters"].items()})
        first.check(case["parameters"])
        output = first.play()
        output.tofile(folder / f"{case['name']}.out")
        assert not numpy.array_equal(other.play(), output)

        state = folder / "state"
        first.plugin.save_state(str(state))
        reloaded = Host(path, case, signal)
        reloaded.plugin.load_state(str(state))
        reloaded.check(case["parameters"])
        reloaded.play().tofile(folder / f"{case['name']}.reloaded")

        # Notes are in the middle of their sample, so that rounding does not move them.
        reloaded.set({"Keys": case["keys"]})
        for key, velocity, start, length in case["notes"]:
            begin, seconds = ((n + 0.5) / case["rate"] for n in (start, length))
            assert reloaded.plugin.add_midi_note(key, velocity, begin, seconds)
        reloaded.play().tofile(folder / f"{case['name']}.played")

        # Automation is at audio rate; DawDreamer takes the value at the start of each block.
        for name, values in case["automation"].items():
            values = numpy.repeat(values, case["block"]).astype(numpy.float32)
            assert first.plugin.set_automation(first.index[name], values)
        first.play().tofile(folder / f"{case['name']}.automated")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
