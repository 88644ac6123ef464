"""Plays the cases of mod.rs through the VST3 plugin in a host based on JUCE: pedalboard, or the renderer DawDreamer.

Usage: host.py HOST PLUGIN FOLDER

Reads FOLDER/cases.json, a list of {name, rate, channels, block, parameters, latency, keys, notes, automation}, and for each case
FOLDER/NAME.in. Signals are planar 32-bit floats. Writes these outputs of each case:

* FOLDER/NAME.out
* FOLDER/NAME.reloaded: from a second instance with the state of the first

DawDreamer also writes:

* FOLDER/NAME.played: with the parameter Keys at "keys" and the notes of "notes" (key, velocity, first sample, length)
* FOLDER/NAME.automated: with the parameters of "automation", one value per block
"""

import json
import os
import pathlib
import sys

import numpy

if sys.argv[1] == "pedalboard":
    import pedalboard
else:
    # No window is shown. Without this name, JUCE would try the first display that it finds.
    os.environ["DISPLAY"] = ":none"
    import dawdreamer


class Pedalboard:
    """One instance of the plugin. The host compensates its latency."""

    def __init__(self, path, case, signal):
        self.plugin = pedalboard.load_plugin(path)
        assert self.plugin.name == "Tone Filter" and self.plugin.is_effect and not self.plugin.is_instrument
        self.case, self.signal = case, signal
        self.parameters = {p.name: p for p in self.plugin.parameters.values()}

    def get(self, name):
        return self.parameters[name].raw_value

    def set(self, name, value):
        self.parameters[name].raw_value = value

    def play(self):
        # Values reach a VST3 plugin with the next block. They arrive before the music does.
        silence = numpy.zeros((self.case["channels"], 64), numpy.float32)
        self.plugin.process(silence, self.case["rate"], buffer_size=64)
        return self.plugin.process(self.signal, self.case["rate"], buffer_size=self.case["block"], reset=True)

    def load_from(self, other, _):
        self.plugin.raw_state = other.plugin.raw_state


class DawDreamer:
    """One instance of the plugin, in its own graph."""

    def __init__(self, path, case, signal):
        self.engine = dawdreamer.RenderEngine(case["rate"], case["block"])
        self.plugin = self.engine.make_plugin_processor("plugin", path)
        # DawDreamer cannot change the layout of a plugin that has a second input. The plugin keeps its own layout.
        assert self.plugin.get_num_input_channels() == self.plugin.get_num_output_channels() == case["channels"]
        playback = self.engine.make_playback_processor("music", signal)
        self.engine.load_graph([(playback, []), (self.plugin, ["music"])])
        self.frames, self.rate = signal.shape[1], case["rate"]
        self.index = {p["name"]: p["index"] for p in self.plugin.get_parameters_description()}

    def get(self, name):
        return self.plugin.get_parameter(self.index[name])

    def set(self, name, value):
        # As in JUCE's other hosts, a value that is sent again would come back rounded.
        if self.get(name) != numpy.float32(value):
            self.plugin.set_parameter(self.index[name], value)

    def play(self):
        # Values reach a VST3 plugin with the next block. The first rendering delivers them, the second one is the result.
        for _ in range(2):
            assert self.engine.render(self.frames / self.rate)
        return self.engine.get_audio()[:, : self.frames]

    def load_from(self, other, folder):
        other.plugin.save_state(str(folder / "state"))
        self.plugin.load_state(str(folder / "state"))


def check(host, parameters):
    for name, value in parameters.items():
        assert abs(host.get(name) - value) < 1e-6, f"{name}: {host.get(name)}, not {value}"


def play_more(first, reloaded, case, write):
    """Plays notes and automation, which only DawDreamer does."""
    # Notes are in the middle of their sample, so that rounding does not move them.
    reloaded.set("Keys", case["keys"])
    for key, velocity, start, length in case["notes"]:
        begin, seconds = ((n + 0.5) / case["rate"] for n in (start, length))
        assert reloaded.plugin.add_midi_note(key, velocity, begin, seconds)
    write("played", reloaded.play())

    # Automation is at audio rate; DawDreamer takes the value at the start of each block.
    for name, values in case["automation"].items():
        values = numpy.repeat(values, case["block"]).astype(numpy.float32)
        assert first.plugin.set_automation(first.index[name], values)
    write("automated", first.play())


def main(host, path, folder):
    kind = {"pedalboard": Pedalboard, "dawdreamer": DawDreamer}[host]
    folder = pathlib.Path(folder)
    for case in json.loads((folder / "cases.json").read_text()):
        file = folder / case["name"]
        signal = numpy.fromfile(f"{file}.in", numpy.float32).reshape(case["channels"], -1)
        write = lambda output, samples: samples.tofile(f"{file}.{output}")
        # Instances at the same time, set differently, must not mix up their settings.
        first, reloaded, other = (kind(path, case, signal) for _ in range(3))
        for parameter, value in case["parameters"].items():
            first.set(parameter, value)
            other.set(parameter, 1.0 - value)
        check(first, case["parameters"])
        output = first.play()
        write("out", output)
        assert not numpy.array_equal(other.play(), output)
        reloaded.load_from(first, folder)
        check(reloaded, case["parameters"])
        write("reloaded", reloaded.play())
        if kind is DawDreamer:
            play_more(first, reloaded, case, write)
        else:
            assert first.plugin.reported_latency_samples == case["latency"]


main(*sys.argv[1:])
