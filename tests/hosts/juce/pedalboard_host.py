"""Plays the cases of mod.rs through the VST3 plugin, in pedalboard, which has JUCE's host.

Usage: pedalboard_host.py PLUGIN FOLDER

Reads FOLDER/cases.json, a list of {name, rate, channels, block, parameters, latency}, and for each case
FOLDER/NAME.in. Signals are planar 32-bit floats. Writes FOLDER/NAME.out, and FOLDER/NAME.reloaded (from a second instance with
the state of the first).
"""

import json
import pathlib
import sys

import numpy
import pedalboard


def parameter(plugin, name):
    return next(p for p in plugin.parameters.values() if p.name == name)


def play(plugin, signal, case):
    # Values reach a VST3 plugin with the next block. They arrive before the music does.
    silence = numpy.zeros((case["channels"], 64), numpy.float32)
    plugin.process(silence, case["rate"], buffer_size=64)
    return plugin.process(signal, case["rate"], buffer_size=case["block"], reset=True)


def main(path, folder):
    plugin = pedalboard.load_plugin(path)
    assert plugin.name == "Tone Filter" and plugin.is_effect and not plugin.is_instrument

    for case in json.loads((folder / "cases.json").read_text()):
        signal = numpy.fromfile(folder / f"{case['name']}.in", numpy.float32)
        signal = signal.reshape(case["channels"], -1)

        plugin = pedalboard.load_plugin(path)
        for name, value in case["parameters"].items():
            parameter(plugin, name).raw_value = value
        # The host compensates the latency.
        output = play(plugin, signal, case)
        assert plugin.reported_latency_samples == case["latency"]
        output.tofile(folder / f"{case['name']}.out")

        reloaded = pedalboard.load_plugin(path)
        reloaded.raw_state = plugin.raw_state
        for name, value in case["parameters"].items():
            loaded = parameter(reloaded, name).raw_value
            assert abs(loaded - value) < 1e-6, f"{name}: {loaded}, not {value}, after a reload"
        play(reloaded, signal, case).tofile(folder / f"{case['name']}.reloaded")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
