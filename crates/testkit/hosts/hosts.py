"""Runs the plugin in hosts without a person, and writes their table into the page.

Usage: hosts.py BUNDLED COMMAND OUT PAGE HOST...
"""

import base64
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import numpy
import pedalboard
from pedalboard.io import AudioFile
from rig import PERIOD, RATE, SCREEN, NotRun, Rig, assert_same, await_

STEPS = ["scan", "load", "window", "key", "resize", "sound", "state"]
# Step that must pass before a step can run.
NEEDS = {"window": "load", "sound": "load", "state": "sound", "key": "window", "resize": "window"}
# Delays of a sound in frames: JACK's client plays in one cycle and records in a later one.
CYCLES = range(0, 5 * PERIOD, PERIOD)
# Parameters: name, port, value. Focus and Auto level are off, as their output depends on when the host has started the plugin, and on
# earlier input.
SETTINGS = [("Mix", "mix", 100), ("Focus", "focus", 0), ("Auto level", "auto", 0)]
NO_WINDOW = "LV2 has no window"
DEMO = pathlib.Path(__file__).parents[3] / "assets/demo.wav"


class Host:
    """Host with the plugin in one format. Each step is a method: it returns a remark or `None`, fails, or raises `NotRun`."""

    program = ""

    def __init__(self, rig, paths):
        self.rig, self.paths = rig, paths

    def window(self):
        raise NotRun(NO_WINDOW)

    def start_jack(self, ports, *command, **options):
        """Starts a client of JACK and awaits its ports, once the ports of an earlier client are gone."""
        await_("the earlier ports go", lambda: not set(ports) & self.rig.ports())
        self.process = self.rig.start(*command, **options)
        def ready():
            assert self.process.poll() is None, f"{command[0]} has ended by itself"
            return set(ports) <= self.rig.ports()
        await_(f"ports of {command[0]}", ready)

    def heard(self):
        """Compares the output with that of `render`, up to three times: the host may still load, and the computer may be busy."""
        for more in (2, 1, 0):
            try:
                return assert_same(self.rig.play(self.paths.tune, self.inputs, self.outputs), self.paths.reference, CYCLES)
            except AssertionError:
                if not more:
                    raise


class Windowed(Host):
    """Host that shows the editor. `open` opens it, `rolls` returns whether the transport runs, `main` is the host's window title."""

    def shown(self):
        """Returns position and size of the editor. Opens it if it is closed."""
        if not self.rig.editor():
            self.open()
        return await_("the editor", self.rig.editor, 30)

    def window(self):
        return "%d x %d" % self.shown()[2:]

    def key(self):
        x, y, width, height = self.shown()
        self.rig.front(self.main)
        self.space("the host's window")
        # The host decides what a key does in the frame around the editor.
        self.rig.front("Tone Filter")
        self.rig.xdo("mousemove", *(length - 1 for length in SCREEN))
        try:
            self.space("the frame")
        except AssertionError:
            raise NotRun("the host ignores Space in the frame around an editor")
        self.rig.click(x + width // 2, y + height - 12)
        self.space("the editor")

    def space(self, place):
        """Starts and stops the transport."""
        assert not self.rolls(), "the transport runs already"
        for way, wanted in ("starts", True), ("stops", False):
            # Hosts ignore the key while they start or stop.
            time.sleep(1)
            self.rig.key("space")
            await_(f"Space in {place} {way} the transport", lambda: self.rolls() == wanted)

    def resize(self):
        """Drags the grip out and back, and picks 200 % in the zoom menu, for which the screen has no room."""
        x, y, width, height = self.shown()
        small, large = (width, height), (width + 160, height + 100)
        for start, end in (small, large), (large, small):
            self.rig.drag(*((x + length - 5, y + other - 5) for length, other in (start, end)))
            await_(f"the grip changes {start} to {end}", lambda: self.rig.size() == end, 30)
            # A slow frame must not see the end of the drag and the next click together.
            time.sleep(2)
        # 200 % is the lowest entry, wherever the font puts it.
        for entry in range(174, 60, -6):
            self.rig.click(x + 565, y + 29, "1", "sleep", "1")
            self.rig.click(x + 565, y + entry)
            time.sleep(2)
            if self.rig.size() != small:
                break
        zoomed = self.rig.size()
        assert zoomed == (1600, 1024), f"200 % of {small} is {zoomed} on {SCREEN}"
        return "%d x %d, %d x %d" % (*large, *zoomed)


class Qtractor(Windowed):
    """Debian's Qtractor has no VST3. Writes a session with the plugin on the mixer's input."""

    name, program, main = "Qtractor, CLAP", "qtractor", r"\.qtr"
    inputs, outputs = [[f"Qtractor:Master/{way}_{n}" for n in (1, 2)] for way in ("in", "out")]

    def __init__(self, rig, paths):
        super().__init__(rig, paths)
        self.file = rig.home / "hosts.qtr"
        self.plugin = paths.bundled / "Tone Filter.clap"

    def scan(self):
        scanner = "/usr/lib/x86_64-linux-gnu/qtractor/qtractor_plugin_scan"
        found = self.rig.run(scanner, input=f"CLAP:{self.plugin}\n".encode()).decode()
        lines = [line for line in found.splitlines() if line.startswith("CLAP|Tone Filter|")]
        assert lines, f"not found: {found}"
        assert "GUI" in lines[0], f"found without a window: {lines[0]}"

    def begin(self):
        env = dict(self.rig.env)
        if not os.path.exists("/dev/snd/seq"):
            sequencer = self.rig.home / "sequencer.so"
            source = pathlib.Path(__file__).with_name("sequencer.c")
            self.rig.run("cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", sequencer, source)
            env["LD_PRELOAD"] = str(sequencer)
        self.start_jack(self.inputs + self.outputs, "qtractor", self.file, env=env)

    def load(self):
        self.file.write_text(f"""<!DOCTYPE qtractorSession>
<session name="hosts" version="Qtractor"><properties><directory>{self.rig.home}</directory><sample-rate>{RATE}</sample-rate>
</properties><devices><audio-engine><audio-control><transport-mode>duplex</transport-mode></audio-control>
<audio-bus name="Master" mode="duplex"><monitor>1</monitor><channels>2</channels><auto-connect>0</auto-connect>
<input-plugins><plugin type="CLAP"><filename>{self.plugin}</filename><index>0</index><label>Tone Filter</label>
<activated>1</activated></plugin></input-plugins></audio-bus></audio-engine></devices></session>""")
        self.begin()
        self.save()
        assert "<param " in self.file.read_text(), "the plugin is not in the session"

    def save(self):
        """Saves the session as a new file."""
        self.file = self.file.with_name(f"{self.file.stem}-.qtr")
        self.rig.front(self.main)
        self.rig.xdo("key", "alt+f", "sleep", "1", "key", "a", "sleep", "2", "type", self.file)
        self.rig.key("Return")
        await_("the session is saved", self.file.exists, 15)

    def open(self):
        # F9 would hide a visible mixer.
        if not self.rig.find("^Mixer"):
            self.rig.front(self.main)
            self.rig.key("F9")
        x, y = self.rig.front("^Mixer")
        self.rig.click(x + 36, y + 46, "--repeat", "2", "--delay", "100", "1")

    def sound(self):
        """Sets the parameters in the plugin's saved state: Qtractor drops parameters that come before the state."""
        self.file.write_text(re.sub(r'(<config key="state">)(.*?)<', self.edited, self.file.read_text(), flags=re.DOTALL))
        return self.heard_again()

    def edited(self, config):
        # Qt puts a length before the compressed data, nice-plug before its JSON.
        state = json.loads(zlib.decompress(base64.b64decode(config[2])[4:])[8:])
        for _, port, value in SETTINGS:
            kind, old = next(iter(state["params"][port].items()))
            state["params"][port] = {kind: type(old)(value)}
        text = json.dumps(state).encode()
        text = struct.pack("<Q", len(text)) + text
        return config[1] + base64.b64encode(struct.pack(">I", len(text)) + zlib.compress(text)).decode() + "<"

    def state(self):
        self.save()
        return self.heard_again()

    def heard_again(self):
        self.rig.end(self.process)
        self.begin()
        return self.heard()

    def rolls(self):
        return self.rig.rolls()

    def resize(self):
        raise NotRun("it ignores `request_callback`")


class Ardour(Windowed):
    """Creates a session with the plugin in a track by Lua, reloads it, and compares its export with pedalboard's output."""

    name, program, main = "Ardour, VST3", "ardour", "^wet - Ardour"
    LIBRARIES = pathlib.Path("/usr/lib/ardour7")
    # Parameters: name, value in its unit for Ardour, and from 0 to 1 for VST3. Lookahead has a latency, which both hosts compensate.
    SETTINGS = [("Mix", 80, 0.8), ("Focus", 0, 0), ("Drive", 20, 0.5), ("Release", 100, 0.5), ("Output", -6, 0.5), ("Stereo", 1, 0.5),
                ("Lookahead", 1, 1)]
    # Mix jumps to these values inside one of Ardour's buffers. A jump one frame late would be heard 64 frames late.
    JUMP, AT = (20, 0.2), 4689 * 64
    # Frames of silence before and after the tune: Ardour's exports lack the first frames of a track with a latency.
    SILENCE = 22050
    PORT = 3819

    def __init__(self, rig, paths):
        super().__init__(rig, paths)
        self.folder = rig.home / "ardour"
        self.folder.mkdir()
        self.plugin = paths.bundled / "Tone Filter.vst3"
        self.env = dict(rig.env, HOME=str(self.folder), LD_LIBRARY_PATH=str(self.LIBRARIES))
        self.dry = numpy.pad(read(DEMO), ((0, 0), (self.SILENCE, self.SILENCE)))

    def scan(self):
        self.rig.run(self.LIBRARIES / "ardour-vst3-scanner", "--quiet", self.plugin, env=self.env)

    def load(self):
        script = pathlib.Path(__file__).with_name("session.lua")
        settings = [f"{name}={value}" for name, value, _ in self.SETTINGS]
        tune = shutil.copy(DEMO, self.folder)
        self.restored = self.rig.run("ardour7-lua", script, self.folder / "session", tune, self.dry.shape[1], self.AT, self.JUMP[0],
                                     *settings, env=self.env).decode()

    def sound(self):
        wet = self.folder / "wet.wav"
        self.rig.run("ardour7-export", "--bitdepth", "float", "--output", wet, self.folder / "session", "wet", env=self.env)
        wet = read(wet)
        assert wet.shape == self.dry.shape, f"Ardour has exported {wet.shape}"
        assert abs(wet - self.dry).max() > 0.1, "the plugin does nothing"
        return assert_same(wet, self.reference(), [0])

    def reference(self):
        """Returns pedalboard's output."""
        plugin = pedalboard.load_plugin(str(self.plugin))
        parameters = {p.name: p for p in plugin.parameters.values()}
        for name, _, value in self.SETTINGS:
            parameters[name].raw_value = value
        play = lambda part: plugin.process(part, RATE, buffer_size=1024, reset=False)
        # Values arrive with the next block, and a new latency with the next block after a reset. Both come before the music.
        for _ in range(2):
            play(numpy.zeros((2, 1024), numpy.float32))
            plugin.reset()
        # Ardour delays automation by the latency.
        at = self.AT + plugin.reported_latency_samples
        parts = [play(self.dry[:, :at])]
        parameters["Mix"].raw_value = self.JUMP[1]
        # pedalboard removes the latency at the start, so the last samples are still in the plugin.
        parts += [play(self.dry[:, at:]), play(numpy.zeros((2, plugin.reported_latency_samples), numpy.float32))]
        return numpy.concatenate(parts, 1)

    def state(self):
        assert "restored" in self.restored, self.restored[-300:]

    def open(self):
        config = self.folder / ".config/ardour7"
        (config / "config").write_text(f"""<?xml version="1.0" encoding="UTF-8"?>
<Ardour><Config><Option name="try-autostart-engine" value="1"/><Option name="hide-dummy-backend" value="0"/></Config>
<Extra><AudioMIDISetup><EngineStates><State backend="None (Dummy)" driver="Normal Speed" device="Silence" input-device=""
output-device="" sample-rate="{RATE}" buffer-size="1024" n-periods="0" input-latency="0" output-latency="0" lm-input=""
lm-output="" active="1" use-buffered-io="0" midi-option="No MIDI I/O" lru="1"><MIDIDevices/></State></EngineStates>
</AudioMIDISetup></Extra></Ardour>""")
        # Without this file, Ardour shows its welcome window.
        (config / ".a7").write_text("")
        session = self.folder / "session/wet.ardour"
        osc = 'name="Open Sound Control (OSC)" active='
        session.write_text(session.read_text().replace(f'{osc}"0"', f'{osc}"1" address-only="0"'))
        self.rig.start("ardour", "--no-splash", "--no-announcements", session, env=self.env)

    def rolls(self):
        """Queries the transport speed by OSC."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.settimeout(5)
            path = b"/transport_speed"
            asked.sendto(path.ljust(len(path) + 4 - len(path) % 4, b"\0") + b",\0\0\0", ("127.0.0.1", self.PORT))
            # The answer ends with 64 bits of a float.
            return any(asked.recv(1000)[-8:])


class Audacity(Host):
    """Debian's Audacity has no VST3. Reads the list of plugins that it writes at its start."""

    name, program = "Audacity, LV2", "audacity"

    def scan(self):
        registry = self.rig.home / ".audacity-data/pluginregistry.cfg"
        registry.parent.mkdir()
        self.rig.start("audacity")
        found = await_("the plugin in Audacity's list", lambda: registry.exists() and re.search(
            r"^Name=Tone Filter$.*?^Vendor=(.*?)$", registry.read_text(), re.MULTILINE | re.DOTALL))
        assert found[1] == "Tone Filter", f"its vendor is {found[1]}"

    def load(self):
        raise NotRun("not driven yet: its effects want its script pipe and menus")


class Jalv(Host):
    name, program = "jalv, LV2", "jalv"
    inputs, outputs = [[f"tone-filter:{way}_{n}" for n in (1, 2)] for way in ("in", "out")]
    URI = "urn:tone-filter:stereo"

    def scan(self):
        listed = self.rig.run("lv2ls", stderr=subprocess.DEVNULL).decode().split()
        assert self.URI in listed, listed

    def begin(self, *words):
        self.start_jack(self.inputs + self.outputs, "jalv", "-x", "-n", "tone-filter", *words, self.URI, stdin=subprocess.PIPE)

    def load(self):
        self.begin(*(word for _, port, value in SETTINGS for word in ("-c", f"{port}={value}")))

    def sound(self):
        return self.heard()

    def state(self):
        raise NotRun("its prompt cannot save")


class ModHost(Jalv):
    name, program = "mod-host, LV2", "mod-host"
    inputs, outputs = [[f"effect_0:{way}_{n}" for n in (1, 2)] for way in ("in", "out")]
    PORT = 5599

    def begin(self):
        self.start_jack([], "mod-host", "-n", "-p", self.PORT, "-f", self.PORT + 1)
        def connected():
            try:
                return [socket.create_connection(("127.0.0.1", port), 20) for port in (self.PORT, self.PORT + 1)]
            except ConnectionRefusedError:
                return None
        # mod-host answers once both are connected.
        self.socket, self.feedback = await_("mod-host's socket", connected, 20)

    def say(self, *lines):
        for line in lines:
            self.socket.sendall(line.encode() + b"\0")
            answer = self.socket.recv(1000)
            assert answer.startswith(b"resp 0"), f"{line}: {answer}"

    def load(self):
        self.begin()
        self.say(f"add {self.URI} 0", *(f"param_set 0 {port} {value}" for _, port, value in SETTINGS))

    def state(self):
        kept = self.rig.home / "kept.lv2"
        self.say(f'preset_save 0 "Kept" {kept} kept.ttl', "remove 0", f"bundle_add {kept}", f"add {self.URI} 0",
                 f"preset_load 0 file://{kept}/kept.ttl")
        return self.heard()


class Carla(Windowed):
    """Carla's engine without its main window; `carla.py` drives it."""

    program = "carla-discovery-native"
    inputs, outputs = [[f"carla:audio-{way}{n}" for n in (1, 2)] for way in ("in", "out")]

    def scan(self):
        self.plugin = self.paths.bundled / f"Tone Filter.{self.kind}"
        found = self.rig.run(self.program, self.kind, self.plugin).decode()
        hints = re.search("carla-discovery::hints::(.*)", found)
        assert hints and "::name::Tone Filter" in found, f"not found: {found[-200:]}"
        assert int(hints[1]) & 8, "found without a window"

    def load(self):
        folder = pathlib.Path(shutil.which(self.program)).resolve().parent
        script = pathlib.Path(__file__).with_name("carla.py")
        self.start_jack(self.inputs + self.outputs, sys.executable, script, folder / "libcarla_standalone2.so", self.number,
                        self.plugin, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("loaded")

    def answer(self, wanted="done"):
        """Awaits the line `wanted`. Carla's engine prints lines of its own in between."""
        for line in self.process.stdout:
            if line.strip() == wanted:
                return
        raise AssertionError(f"Carla has ended: {self.process.wait()}")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.answer()

    def open(self):
        self.say('call("show_custom_ui", 0, True)')

    def set(self, settings):
        self.say(";".join(f"set_parameter({name!r}, {value / self.scale})" for name, value in settings))

    def sound(self):
        self.set((name, value) for name, _, value in SETTINGS)
        return self.heard()

    def state(self):
        kept = os.fsencode(self.rig.home / "kept.carxs")
        self.say(f'call("save_plugin_state", 0, {kept})')
        self.set([("Mix", 10), ("Focus", 100)])
        self.say(f'call("load_plugin_state", 0, {kept})')
        return self.heard()

    def key(self):
        raise NotRun("the engine alone has no keys")


class CarlaClap(Carla):
    name, kind, number, scale = "Carla, CLAP", "clap", 14, 100


class CarlaVst3(Carla):
    name, kind, number, scale = "Carla, VST3", "vst3", 6, 1

    def resize(self):
        raise NotRun("it calls its run loop on another thread than the window's")


HOSTS = [Qtractor, Ardour, Audacity, Jalv, ModHost, CarlaClap, CarlaVst3]


def read(path):
    """Returns the channels of a sound file at the hosts' rate."""
    with AudioFile(str(path)) as file:
        assert file.samplerate == RATE, f"{path} has {file.samplerate} Hz"
        return file.read(file.frames)


class Paths:
    """Inputs of the hosts: the bundles, the tune, and its output from `render`."""

    def __init__(self, bundled, command, home):
        self.bundled = pathlib.Path(bundled).resolve()
        def render(*flags):
            file = home / "out.wav"
            subprocess.run([command, "render", "--quiet", "--lookahead=off", "--bit-depth=32f", "--force", *flags, "-o", file, DEMO], check=True)
            return read(file)[:, : 8 * RATE]
        self.tune, self.reference = render("--bypass"), render("--mix=100", "--focus=0", "--auto=off")


def run(kind, paths, out):
    """Runs all steps in one host. Returns its row of the table: a cell for each step."""
    cells, passed, rig = [], set(), None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            for step in STEPS:
                try:
                    if not shutil.which(kind.program):
                        raise NotRun(f"no `{kind.program}` on the PATH")
                    if NEEDS.get(step, "scan") not in passed | {"scan"}:
                        raise NotRun(f"no {NEEDS[step]}")
                    if not rig:
                        rig = Rig(pathlib.Path(folder), paths.bundled)
                        host = kind(rig, paths)
                    remark = getattr(host, step)()
                    cell = "pass" + (f" ({remark})" if remark else "")
                    passed.add(step)
                except NotRun as reason:
                    cell = f"not run: {reason}"
                except Exception as error:
                    text = " ".join(str(error).split()) or type(error).__name__
                    cell = f"FAIL: {text[-200:]}".replace("|", "/")
                if rig and not cell.startswith("not run"):
                    rig.picture(out / f"{kind.name.replace(', ', '-').lower()}-{step}.png")
                print(f"{kind.name}: {step}: {cell}", flush=True)
                cells.append(cell)
        finally:
            if rig:
                rig.close()
    return cells


def main(bundled, command, out, page, *wanted):
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in HOSTS if not wanted or any(word.lower() in kind.name.lower() for word in wanted)]
    assert kinds, f"unknown host: {wanted}; there are {', '.join(kind.name for kind in HOSTS)}"
    start, red = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths(bundled, command, pathlib.Path(folder))
        for kind in kinds:
            begun = time.monotonic()
            cells = run(kind, paths, out)
            print(f"{kind.name}: {time.monotonic() - begun:.0f} s", flush=True)
            red += [f"{kind.name}: {step}: {cell}" for step, cell in zip(STEPS, cells) if not cell.startswith("pass")]
            text = pathlib.Path(page).read_text()
            row = f"| {kind.name} | {' | '.join(cells)} |"
            text, count = re.subn(rf"^\| {kind.name} \|.*$", lambda _: row, text, flags=re.MULTILINE)
            assert count == 1, f"{page} has {count} rows of {kind.name}"
            pathlib.Path(page).write_text(text)
    print(f"\n{len(kinds)} hosts in {time.monotonic() - start:.0f} s; pictures in {out}")
    print("\n".join(["NOT PASSED:", *red]) if red else "all steps passed")
    return any(": FAIL" in line for line in red)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main(*sys.argv[1:]))
