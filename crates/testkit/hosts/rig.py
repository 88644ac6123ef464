"""Environment for hosts without a user: a display with a window manager, JACK without devices, keys and screenshots."""

import os
import pathlib
import re
import subprocess
import time

import jack
import numpy

RATE, PERIOD = 44100, 8192
SCREEN = (1600, 1200)
# Colour of the editor's background, and a number of pixels of this colour that only the editor has.
BACKGROUND, MANY = [0x10, 0x12, 0x16], 100_000
# JACK would print a line for each attempt to reach a server that is still starting.
jack.set_error_function(lambda _: None)


class NotRun(Exception):
    """Reason why a step was not run."""


def await_(what, ready, patience=60):
    """Returns the first true value of `ready`. Fails with `what` if there is none in time."""
    end = time.monotonic() + patience
    while True:
        value = ready()
        if value:
            return value
        assert time.monotonic() < end, f"{what}: not within {patience} s"
        time.sleep(0.3)


def assert_same(sound, reference, delays, bound=1e-4):
    """Asserts that `sound` equals `reference` after one of the `delays` in frames. Returns the maximum difference."""
    loudest, frames = abs(reference).max(), reference.shape[1]
    assert loudest > 0.01, f"the reference is silent: {loudest}"
    least = min(abs(sound[:, delay : delay + frames] - reference).max() for delay in delays)
    assert least <= bound, f"the sound differs by {least:.2g}; it has peaks of {loudest:.2g}"
    return f"{least:.1g}"


class Rig:
    """Display, window manager and JACK server with a home folder of their own. `close` ends all programs."""

    def __init__(self, home, plugins):
        self.programs, self.home = [], home
        self.env = dict(os.environ, HOME=str(home), XDG_RUNTIME_DIR=str(home), QT_QPA_PLATFORM="xcb", GTK_MODULES="",
                        NO_AT_BRIDGE="1", JACK_DEFAULT_SERVER="tone-filter-hosts", JACK_NO_START_SERVER="1",
                        JACK_NO_AUDIO_RESERVATION="1", CLAP_PATH=str(plugins), VST3_PATH=str(plugins),
                        LV2_PATH=f"{plugins}:/usr/lib/lv2")
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]:
            self.env.pop(variable, None)
        size = f"{SCREEN[0]}x{SCREEN[1]}x24"
        x = self.start("Xvfb", "-displayfd", "1", "-screen", "0", size, stdout=subprocess.PIPE)
        self.env["DISPLAY"] = ":" + x.stdout.readline().decode().strip()
        self.start("openbox")
        server = self.env["JACK_DEFAULT_SERVER"]
        self.start("jackd", "--name", server, "--no-realtime", "--timeout", "10000", "--no-mlock",
                   "-d", "dummy", "--rate", RATE, "--period", PERIOD)
        self.jack = await_("JACK", lambda: client(server))
        self.jack.set_process_callback(self.process)
        self.played = self.recorded = numpy.zeros((2, 0), numpy.float32)
        self.at = 0
        for n in (1, 2):
            self.jack.outports.register(f"play_{n}")
            self.jack.inports.register(f"record_{n}")
        self.jack.activate()

    def start(self, *command, **options):
        """Starts a program and logs its output in the home folder."""
        log = open(self.home / f"{pathlib.Path(command[0]).name}.log", "a")
        options = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL, "env": self.env, "cwd": self.home} | options
        self.programs.append(subprocess.Popen([str(word) for word in command], **options))
        return self.programs[-1]

    def end(self, program):
        program.terminate()
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()

    def run(self, *command, **options):
        """Runs a program and returns its output."""
        options = {"env": self.env, "cwd": self.home, "timeout": 120, "stderr": subprocess.STDOUT} | options
        ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, **options)
        assert ran.returncode == 0, f"{command[0]} has failed: {ran.stdout[-200:].decode(errors='replace')}"
        return ran.stdout

    def close(self):
        self.jack.close()
        for program in reversed(self.programs):
            self.end(program)

    def process(self, frames):
        """Callback of JACK: plays and records a cycle."""
        span = slice(self.at, self.at + frames)
        plays = self.at < self.played.shape[1]
        for n, (out, heard) in enumerate(zip(self.jack.outports, self.jack.inports)):
            out.get_array()[:] = self.played[n, span] if plays else 0
            if plays:
                self.recorded[n, span] = heard.get_array()
        self.at += frames if plays else 0

    def play(self, sound, inputs, outputs):
        """Plays `sound` into the ports `inputs`. Returns the output of the ports `outputs`."""
        for own, port in [*zip(self.jack.outports, inputs), *zip(self.jack.inports, outputs)]:
            await_(f"connection to {port}", lambda: connected(own, port))
        time.sleep(0.5)
        # A whole number of cycles, including some for delays.
        played = numpy.pad(sound, ((0, 0), (0, 6 * PERIOD - sound.shape[1] % PERIOD)))
        self.recorded = numpy.zeros_like(played)
        self.at, self.played = 0, played
        await_("JACK plays", lambda: self.at >= played.shape[1], 4 * played.shape[1] / RATE + 30)
        return self.recorded

    def rolls(self):
        return self.jack.transport_state == jack.ROLLING

    def ports(self):
        return {port.name for port in self.jack.get_ports()}

    def xdo(self, *words):
        return self.run("xdotool", *words).decode()

    def find(self, name):
        """Returns the visible windows whose names match `name`."""
        search = ["xdotool", "search", "--onlyvisible", "--name", name]
        return [int(found) for found in subprocess.run(search, env=self.env, stdout=subprocess.PIPE).stdout.split()]

    def front(self, name):
        """Brings the window to the front whose name matches `name`. Returns its place."""
        window = await_(f"window {name}", lambda: self.find(name))[0]
        self.xdo("windowactivate", "--sync", window)
        time.sleep(0.5)
        place = self.run("xwininfo", "-id", window).decode()
        return [int(re.search(f"upper-left {axis}: *(-?[0-9]+)", place)[1]) for axis in "XY"]

    def click(self, x, y, *more):
        self.xdo("mousemove", x, y, "sleep", "0.2", "click", *(more or ["1"]))

    def key(self, *keys):
        self.xdo("key", *keys)

    def drag(self, start, end):
        self.xdo("mousemove", *start, "sleep", "0.2", "mousedown", "1", "sleep", "0.2")
        for step in range(1, 11):
            self.xdo("mousemove", *(a + (b - a) * step // 10 for a, b in zip(start, end)), "sleep", "0.1")
        # Hosts follow a slow hand only.
        self.xdo("sleep", "2", "mouseup", "1")

    def picture(self, name):
        self.run("import", "-window", "root", name)

    def editor(self):
        """Returns place and size of the editor: of the box around its background. `None` if it is not to be seen."""
        pixels = self.run("import", "-window", "root", "-depth", "8", "rgb:-", stderr=subprocess.DEVNULL)
        own = (numpy.frombuffer(pixels, numpy.uint8).reshape(*SCREEN[::-1], 3) == BACKGROUND).all(2)
        if own.sum() < MANY:
            return None
        (left, right), (top, bottom) = (numpy.flatnonzero(own.sum(axis) > 20)[[0, -1]] for axis in (0, 1))
        return tuple(int(length) for length in (left, top, right + 1 - left, bottom + 1 - top))

    def size(self):
        """Returns width and height of the editor's window."""
        found = self.run("xwininfo", "-name", "Tone Filter").decode()
        return tuple(int(re.search(f"{length}: ([0-9]+)", found)[1]) for length in ("Width", "Height"))


def client(server):
    """Returns a client of JACK, or `None` without the server."""
    try:
        return jack.Client("rig", no_start_server=True, servername=server)
    except jack.JackOpenError:
        return None


def connected(own, port):
    """Connects two ports. The client may have registered its port before it is active."""
    try:
        return own.is_connected_to(port) or own.connect(port) or True
    except jack.JackError:
        return False
