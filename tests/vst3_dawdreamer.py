"""Plays what vst3_host.rs asks for through the VST3 plugin, in DawDreamer, a renderer with JUCE's host.

Usage: vst3_dawdreamer.py PLUGIN FOLDER

Reads FOLDER/cases.json, a list of {name, rate, channels, block, parameters, keys,
notes, automation}, and for each case
FOLDER/NAME.in: planar 32-bit floats. Writes FOLDER/NAME.out, FOLDER/NAME.reloaded (the same from a
second instance that was given the first one's state), FOLDER/NAME.played (the same with Keys at
"keys" and the notes of "notes", each with its key, velocity, first sample and length), and
FOLDER/NAME.automated (the same with the parameters of "automation" going through their values, one a block).
"""

import json
import os
import pathlib
import sys

# There is no window to show, and without a name JUCE would try the first display that it finds.
os.environ["DISPLAY"] = ":none"

import dawdreamer
import numpy


class Host:
    """One instance in a graph of its own."""

    def __init__(self, path, case, signal):
        self.engine = dawdreamer.RenderEngine(case["rate"], case["block"])
        self.plugin = self.engine.make_plugin_processor("plugin", path)
        # DawDreamer cannot arrange plugins that have a second input. They keep their own layout.
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
            # Like JUCE's other hosts: what is sent again comes back rounded.
            if self.plugin.get_parameter(self.index[name]) != numpy.float32(value):
                self.plugin.set_parameter(self.index[name], value)
        self.check(parameters)

    def check(self, parameters):
        for name, value in parameters.items():
            actual = self.plugin.get_parameter(self.index[name])
            assert abs(actual - value) < 1e-6, f"{name}: {actual}, not {value}"

    def play(self):
        # Values reach a VST3 plugin with the next block: the first time is for them, the second for us.
        for _ in range(2):
            assert self.engine.render(self.frames / self.rate)
        return self.engine.get_audio()[:, : self.frames]


def main(path, folder):
    for case in json.loads((folder / "cases.json").read_text()):
        signal = numpy.fromfile(folder / f"{case['name']}.in", numpy.float32)
        signal = signal.reshape(case["channels"], -1)

        # Two at a time, set to different things, do not mix their settings up.
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

        # In the middle of its sample, so that rounding does not move it.
        reloaded.set({"Keys": case["keys"]})
        for key, velocity, start, length in case["notes"]:
            begin, seconds = ((n + 0.5) / case["rate"] for n in (start, length))
            assert reloaded.plugin.add_midi_note(key, velocity, begin, seconds)
        reloaded.play().tofile(folder / f"{case['name']}.played")

        # At audio rate; DawDreamer takes the value at the start of each block.
        for name, values in case["automation"].items():
            values = numpy.repeat(values, case["block"]).astype(numpy.float32)
            assert first.plugin.set_automation(first.index[name], values)
        first.play().tofile(folder / f"{case['name']}.automated")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
