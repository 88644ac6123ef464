"""Runs the plugin in hosts without a person, and writes their table into the page.

Usage: hosts.py BUNDLED COMMAND KIT OUT PAGE HOST...
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

from rig import PERIOD, RATE, NotRun, Rig, assert_same, await_, wav

STEPS = ["scan", "load", "window", "sound", "state", "key", "resize"]
# Steps without which others cannot be run.
NEEDS = {"window": "load", "sound": "load", "state": "sound", "key": "window", "resize": "window"}
# Frames by which a sound may come late: JACK's client plays in one cycle and records in a later one.
CYCLES = range(0, 5 * PERIOD, PERIOD)
# Parameters: name, port, value. The listener and the level work in frames of their own, so with focus and auto the output depends on
# when a host has started the plugin, and on what it has heard before.
SETTINGS = [("Mix", "mix", 100), ("Focus", "focus", 0), ("Auto level", "auto", 0)]
NO_WINDOW = "LV2 has no window"


class Host:
    """A host with the plugin in one format. Each step is a method that returns a remark or nothing, and fails or is not run."""

    program = ""

    def __init__(self, rig, paths):
        self.rig, self.paths = rig, paths

    def window(self):
        raise NotRun(NO_WINDOW)

    def start_jack(self, ports, *command, **options):
        """Starts a client of JACK, and awaits its ports."""
        self.process = self.rig.start(*command, **options)
        def ready():
            assert self.process.poll() is None, f"{command[0]} has ended by itself"
            return set(ports) <= set(self.rig.ports())
        await_(f"ports of {command[0]}", ready)

    def heard(self):
        """Compares what is heard with `render`. A host that still loads, or a busy computer, may need a second time."""
        for more in (2, 1, 0):
            try:
                return assert_same(self.rig.jack.play(self.paths.tune, self.inputs, self.outputs), self.paths.reference, CYCLES)
            except AssertionError:
                if not more:
                    raise


class Windowed(Host):
    """A host that shows the editor; `open` opens it and `rolls` tells whether the transport runs."""

    def window(self):
        self.open()
        x, y, width, height = await_("the editor", self.rig.editor, 30)
        return f"{width} x {height}"

    def key(self):
        assert not self.rolls(), "the transport runs already"
        x, y, width, height = await_("the editor", self.rig.editor, 30)
        self.rig.click(x + width // 2, y + height - 12)
        time.sleep(1)
        self.rig.key("space")
        await_("Space starts the transport", self.rolls, 10)
        self.rig.key("space")
        await_("Space stops the transport", lambda: not self.rolls(), 10)

    def resize(self):
        x, y, width, height = before = await_("the editor", self.rig.editor, 30)
        self.rig.drag((x + width - 5, y + height - 5), (x + width + 155, y + height + 98))
        def changed():
            now = self.rig.editor()
            return now and min(now[2] - width, now[3] - height) > 50 and now
        after = await_(f"the grip changes {before}", changed, 15)
        return f"{after[2]} x {after[3]}"


class Qtractor(Windowed):
    """Debian's has no VST3. A session with the plugin before the mixer is written here."""

    name, program = "Qtractor, CLAP", "qtractor"
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
        """Saves the session in another file."""
        self.file = self.file.with_name(f"{self.file.stem}-.qtr")
        self.front(r"\.qtr").xdo("key", "alt+f", "sleep", "1", "key", "a", "sleep", "2", "type", self.file)
        self.rig.key("Return")
        await_("the session is saved", self.file.exists, 15)

    def front(self, name):
        """Clicks the title of the window called `name`."""
        found = await_(f"window {name}", lambda: [own for own in self.rig.windows() if re.search(name, own[1])])
        _, _, x, y, width, _ = max(found, key=lambda own: own[4])
        self.rig.click(x + width // 3, y - 8)
        time.sleep(0.5)
        return self.rig

    def open(self):
        self.front(r"\.qtr").key("F9")
        _, _, x, y, _, _ = await_("mixer", lambda: [own for own in self.rig.windows() if own[1].startswith("Mixer")])[0]
        self.rig.click(x + 36, y + 46, "--repeat", "2", "--delay", "100", "1")

    def sound(self):
        """Sets the parameters in the plugin's state, as Qtractor drops parameters that precede it."""
        self.file.write_text(re.sub(r'(<config key="state">)(.*?)<', self.edited, self.file.read_text(), flags=re.DOTALL))
        return self.heard_again()

    def edited(self, config):
        # Qt puts the length before what is compressed, and nice-plug before its JSON.
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
        return self.rig.jack.rolls()


class Ardour(Windowed):
    """`kit daw` makes a session of Ardour's with Lua, loads it again and compares its export; here it is shown."""

    name, program = "Ardour, VST3", "ardour"
    PORT = 3819

    def scan(self):
        self.folder = self.rig.home / "ardour"
        self.folder.mkdir()
        kit = subprocess.run([self.paths.kit, "daw", self.folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500)
        self.said = kit.stdout.decode()
        return self.passed("scan")

    def passed(self, step):
        found = re.search(rf"^{step}: ?(.*)", self.said, re.MULTILINE)
        assert found, self.said[-300:]
        return found[1]

    def load(self):
        return self.passed("load")

    def sound(self):
        return self.passed("sound")

    def state(self):
        return self.passed("state")

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
        env = dict(self.rig.env, HOME=str(self.folder), LD_LIBRARY_PATH="/usr/lib/ardour7")
        session = self.folder / "session/wet.ardour"
        osc = 'name="Open Sound Control (OSC)" active='
        session.write_text(session.read_text().replace(f'{osc}"0"', f'{osc}"1" address-only="0"'))
        self.rig.start("ardour", "--no-splash", "--no-announcements", session, env=env)

    def rolls(self):
        """Asks by OSC."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            asked.settimeout(5)
            path = b"/transport_speed"
            asked.sendto(path.ljust(len(path) + 4 - len(path) % 4, b"\0") + b",\0\0\0", ("127.0.0.1", self.PORT))
            return asked.recv(1000)[-4:] != b"\0\0\0\0"


class Audacity(Host):
    """Debian's has no VST3. Its list of plugins, which it writes when it starts, is read."""

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
        # It answers when both are connected.
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
        """Awaits a line that Carla's engine prints between its own."""
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


HOSTS = [Qtractor, Ardour, Audacity, Jalv, ModHost, CarlaClap, CarlaVst3]


class Paths:
    """What the hosts need: the bundles, the tune, and what `render` makes of it."""

    def __init__(self, bundled, command, kit, home):
        self.bundled, self.kit = pathlib.Path(bundled), kit
        tune = pathlib.Path(__file__).parents[3] / "assets/demo.wav"
        self.files = {"dry": home / "dry.wav", "wet": home / "wet.wav"}
        for name, own in [("dry", ["--bypass"]), ("wet", ["--mix=100", "--focus=0", "--auto=off"])]:
            subprocess.run([command, "render", "--quiet", "--lookahead=off", "--bit-depth=32f", *own, "-o", self.files[name], tune], check=True)
        seconds = 8 * RATE
        self.tune, self.reference = [[channel[:seconds] for channel in wav(self.files[name])] for name in ("dry", "wet")]


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
                    cells.append("pass" + (f" ({remark})" if remark else ""))
                    passed.add(step)
                    rig.picture(out / f"{kind.name.replace(', ', '-').lower()}-{step}.png")
                except NotRun as reason:
                    cells.append(f"not run: {reason}")
                except Exception as error:
                    text = " ".join(str(error).split()) or type(error).__name__
                    cells.append(f"FAIL: {text[-200:]}".replace("|", "/"))
                    if rig:
                        rig.picture(out / f"{kind.name.replace(', ', '-').lower()}-{step}.png")
                print(f"{kind.name}: {step}: {cells[-1]}", flush=True)
        finally:
            if rig:
                rig.close()
    return cells


def main(bundled, command, kit, out, page, *wanted):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    kinds = [kind for kind in HOSTS if not wanted or any(word.lower() in kind.name.lower() for word in wanted)]
    assert kinds, f"unknown host: {wanted}; there are {', '.join(kind.name for kind in HOSTS)}"
    start, red = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths(bundled, command, kit, pathlib.Path(folder))
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
