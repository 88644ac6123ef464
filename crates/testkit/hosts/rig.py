"""What hosts need to run without a person: a display with a window manager, JACK without devices, keys and pictures."""

import array
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import threading
import time

RATE, PERIOD = 44100, 8192
SCREEN = (1600, 1200)
# Colour of the editor's background, and a number of such pixels that only the editor has.
BACKGROUND, MANY = bytes([0x10, 0x12, 0x16]), 100_000


class NotRun(Exception):
    """A step that was not run, with the reason."""


def await_(what, ready, patience=60):
    """Returns the first true value of `ready`. Fails with `what` if there is none in time."""
    end = time.monotonic() + patience
    while True:
        value = ready()
        if value:
            return value
        assert time.monotonic() < end, f"{what}: not within {patience} s"
        time.sleep(0.3)


def wav(path):
    """Returns the channels of a WAV file with 32-bit floats."""
    data = pathlib.Path(path).read_bytes()
    place, channels = 12, 0
    while data[place : place + 4] != b"data":
        size = struct.unpack_from("<I", data, place + 4)[0]
        if data[place : place + 4] == b"fmt ":
            channels, bits = struct.unpack_from("<H", data, place + 10)[0], struct.unpack_from("<H", data, place + 22)[0]
            assert bits == 32, f"{path} has {bits} bits"
        place += 8 + size + size % 2
    samples = array.array("f", data[place + 8 :][: len(data[place + 8 :]) // 4 * 4])
    return [samples[channel::channels] for channel in range(channels)]


def assert_same(sound, reference, delays, bound=1e-4):
    """Checks that `sound` is `reference` behind one of the `delays` in frames."""
    def difference(delay):
        pairs = [(a[delay:], b) for a, b in zip(sound, reference)]
        return max(abs(x - y) for a, b in pairs for x, y in zip(a, b))
    loudest = max(abs(x) for channel in reference for x in channel)
    assert loudest > 0.01, f"the reference is silent: {loudest}"
    least = min(map(difference, delays))
    assert least <= bound, f"the sound differs from render's by {least:.2g}; it has peaks of {loudest:.2g}"
    return f"{least:.1g}"


class Rig:
    """Display, window manager and JACK server, in a home of their own. Ends all its programs in the end."""

    def __init__(self, home, plugins):
        self.programs, self.home = [], home
        self.env = dict(os.environ, HOME=str(home), XDG_RUNTIME_DIR=str(home), QT_QPA_PLATFORM="xcb", GTK_MODULES="",
                        NO_AT_BRIDGE="1", JACK_DEFAULT_SERVER="tone-filter-hosts", JACK_NO_START_SERVER="1",
                        JACK_NO_AUDIO_RESERVATION="1", CLAP_PATH=str(plugins), VST3_PATH=str(plugins),
                        LV2_PATH=f"{plugins}:/usr/lib/lv2")
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]:
            self.env.pop(variable, None)
        os.environ["JACK_DEFAULT_SERVER"] = self.env["JACK_DEFAULT_SERVER"]
        size = f"{SCREEN[0]}x{SCREEN[1]}x24"
        x = self.start("Xvfb", "-displayfd", "1", "-screen", "0", size, stdout=subprocess.PIPE)
        self.env["DISPLAY"] = ":" + x.stdout.readline().decode().strip()
        self.start("openbox")
        self.start("jackd", "--name", self.env["JACK_DEFAULT_SERVER"], "--no-realtime", "--timeout", "10000", "--no-mlock",
                   "-d", "dummy", "--rate", str(RATE), "--period", str(PERIOD))
        await_("JACK", lambda: "system:playback_1" in self.ports())
        self.jack = Jack()

    def start(self, *command, **options):
        """Starts a program whose output goes to a log in the home."""
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
        return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True, **options).stdout

    def close(self):
        for program in reversed(self.programs):
            self.end(program)

    def ports(self):
        return subprocess.run(["jack_lsp"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().split("\n")

    def windows(self):
        """Returns name, place and size of all visible windows: (id, name, x, y, width, height), those in front last."""
        found = []
        for line in self.run("xwininfo", "-root", "-tree").decode(errors="replace").splitlines():
            match = re.match(r'\s+(0x\w+) (.*?):? \(.*\)\s+(\d+)x(\d+)\+\S+\s+\+(-?\d+)\+(-?\d+)', line) or re.match(
                r'\s+(0x\w+) (.*?)\s+(\d+)x(\d+)\+\S+\s+\+(-?\d+)\+(-?\d+)', line)
            if match:
                window, name, width, height, x, y = match.groups()
                found.append((window, name.strip('":'), int(x), int(y), int(width), int(height)))
        return found

    def xdo(self, *words):
        return self.run("xdotool", *words).decode()

    def click(self, x, y, *more):
        self.xdo("mousemove", x, y, "sleep", "0.2", "click", *(more or ["1"]))

    def key(self, *keys):
        self.xdo("key", *keys)

    def drag(self, start, end):
        self.xdo("mousemove", *start, "sleep", "0.2", "mousedown", "1", "sleep", "0.2")
        for step in range(1, 11):
            self.xdo("mousemove", *(a + (b - a) * step // 10 for a, b in zip(start, end)), "sleep", "0.1")
        self.xdo("mouseup", "1")

    def picture(self, name):
        self.run("import", "-window", "root", name)

    def editor(self):
        """Returns place and size of the editor: of the box around its background. `None` if it is not to be seen."""
        pixels = self.run("import", "-window", "root", "-depth", "8", "rgb:-", stderr=subprocess.DEVNULL)
        width = 3 * SCREEN[0]
        rows = [pixels[start : start + width] for start in range(0, len(pixels), width)]
        own = [(y, [x for x in range(0, width, 3) if row[x : x + 3] == BACKGROUND]) for y, row in enumerate(rows) if BACKGROUND in row]
        own = [(y, row) for y, row in own if len(row) > 20]
        if sum(len(row) for _, row in own) < MANY:
            return None
        left, right = min(row[0] for _, row in own) // 3, max(row[-1] for _, row in own) // 3
        return left, own[0][0], right + 1 - left, own[-1][0] + 1 - own[0][0]


class Jack:
    """Client of the JACK server that plays a sound into a host and records its output."""

    def __init__(self):
        self.library = library = ctypes.CDLL("libjack.so.0")
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        for name, result, kinds in [
            ("client_open", pointer, [text, ctypes.c_int, pointer]), ("activate", ctypes.c_int, [pointer]),
            ("port_register", pointer, [pointer, text, text, ctypes.c_ulong, ctypes.c_ulong]),
            ("port_get_buffer", pointer, [pointer, ctypes.c_uint]), ("connect", ctypes.c_int, [pointer, text, text]),
            ("transport_query", ctypes.c_int, [pointer, pointer]), ("transport_stop", None, [pointer]),
            ("set_process_callback", ctypes.c_int, [pointer, pointer, pointer]),
        ]:
            function = getattr(library, f"jack_{name}")
            function.restype, function.argtypes = result, kinds
            setattr(self, name, function)
        self.client = self.client_open(b"rig", 1, None)
        assert self.client, "no client of JACK"
        kind = b"32 bit float mono audio"
        self.played = [self.port_register(self.client, f"play_{n}".encode(), kind, 2, 0) for n in (1, 2)]
        self.recorded = [self.port_register(self.client, f"record_{n}".encode(), kind, 1, 0) for n in (1, 2)]
        self.work = None
        self.callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, pointer)(self.process)
        self.set_process_callback(self.client, ctypes.cast(self.callback, pointer), None)
        self.activate(self.client)

    def process(self, frames, _):
        played = [self.port_get_buffer(port, frames) for port in self.played]
        for buffer in played:
            ctypes.memset(buffer, 0, 4 * frames)
        if self.work:
            sound, record, done, place = self.work
            for source, buffer in zip(sound, played):
                ctypes.memmove(buffer, source[4 * place : 4 * (place + frames)].ljust(4 * frames, b"\0"), 4 * frames)
            for target, port in zip(record, self.recorded):
                target += ctypes.string_at(self.port_get_buffer(port, frames), 4 * frames)
            self.work = (sound, record, done, place + frames)
            if 4 * place > len(sound[0]) + 4 * 4 * frames:
                self.work = None
                done.set()
        return 0

    def rolls(self):
        return self.transport_query(self.client, None) == 1

    def play(self, sound, inputs, outputs):
        """Returns what comes out of the ports `outputs` while `sound` plays into the ports `inputs`."""
        for n, (to, out) in enumerate(zip(inputs, outputs), 1):
            self.connect(self.client, f"rig:play_{n}".encode(), to.encode())
            self.connect(self.client, out.encode(), f"rig:record_{n}".encode())
        record, done = [bytearray(), bytearray()], threading.Event()
        time.sleep(0.5)
        self.work = ([channel.tobytes() for channel in sound], record, done, 0)
        assert done.wait(len(sound[0]) / RATE * 4 + 30), "JACK did not run"
        return [array.array("f", bytes(channel)) for channel in record]
