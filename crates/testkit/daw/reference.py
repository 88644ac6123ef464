"""Plays a file through the VST3 plugin in pedalboard as Ardour does in the session of session.lua.

Usage: reference.py PLUGIN DRY OUTPUT AT VALUE NAME=VALUE...

All values are those of VST3, 0 to 1. The first parameter jumps to VALUE at the frame AT. Writes OUTPUT: planar 32-bit
floats, as long as DRY.
"""

import sys

import numpy
import pedalboard


def main(path, dry, output, at, jump, *settings):
    with pedalboard.io.AudioFile(dry) as file:
        rate, signal = file.samplerate, file.read(file.frames)
    plugin = pedalboard.load_plugin(path)
    parameters = {p.name: p for p in plugin.parameters.values()}
    settings = [setting.split("=") for setting in settings]
    for name, value in settings:
        parameters[name].raw_value = float(value)

    # Values reach a VST3 plugin with the next block, and a new latency reaches pedalboard when it starts the plugin anew, which
    # is at the next block after a reset. Let both arrive before the music does.
    for _ in range(2):
        plugin.process(numpy.zeros((2, 1024), numpy.float32), rate, buffer_size=1024)
        plugin.reset()

    # Ardour shifts automation by the latency, so that it is heard in time.
    at = int(at) + plugin.reported_latency_samples

    def play(part):
        return plugin.process(part, rate, buffer_size=1024, reset=False)

    first = play(signal[:, :at])
    parameters[settings[0][0]].raw_value = float(jump)
    rest = play(signal[:, at:])
    # pedalboard takes back the latency at the beginning, so the end is still to come.
    missing = signal.shape[1] - first.shape[1] - rest.shape[1]
    end = play(numpy.zeros((2, missing), numpy.float32)) if missing else rest[:, :0]
    numpy.concatenate([first, rest, end], axis=1).tofile(output)


main(*sys.argv[1:])
