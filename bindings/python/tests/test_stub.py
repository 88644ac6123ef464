"""Tests of the stub: it has all settings and everything else in the module, and mypy accepts it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import tone_filter

STUB = Path(__file__).parent.parent / "tone_filter/__init__.pyi"


def written(region: str) -> str:
    """Returns the lines of a generated region of the stub, from the tables of settings."""
    rows = tone_filter.settings()
    alias = {row.name: "_" + row.name.title().replace("_", "") for row in rows if row.choices}
    types = {row.name: alias.get(row.name, type(row.default).__name__) for row in rows}
    if region == "attributes":
        docs = {name: getattr(tone_filter.ToneFilter, name).__doc__.replace("\n\n", " ") for name in types}
        return "".join(f'    {name}: {own}\n    """{docs[name]}."""\n' for name, own in types.items())
    entries = {row.name: ", ".join(f'"{choice}"' for choice in row.choices) for row in rows}
    aliases = "".join(f"{name} = Literal[{entries[row]}]\n" for row, name in alias.items())
    keys = "".join(f"    {name}: {own}\n" for name, own in types.items())
    return f"{aliases}\nclass _Settings(TypedDict, total=False):\n{keys}"


def test_settings_match_the_tables():
    before = STUB.read_text()
    pattern = r"(?m)^( *# begin (\w+)\n)[\s\S]*?^( *# end \2\n)"
    after = re.sub(pattern, lambda mark: mark[1] + written(mark[2]) + mark[3], before)
    if os.environ.get("UPDATE_STUB"):
        STUB.write_text(after)
    assert after.count("# begin") == 2
    assert after == before, "run `UPDATE_STUB=1 cargo xtask test-python` to write the stub"


def test_everything_else_matches_the_module(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "tone_filter"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


GOOD = """
import numpy as np
import tone_filter

filter = tone_filter.ToneFilter(48000, preset="organ", mix=70, voice="square", auto=True)
sound = filter.process(np.zeros((2, 512), dtype=np.float32))
level: float = sound[0, 0] + filter.mix
filter.set("hacking", auto_tuning=False)
pitch: int = tone_filter.notes(sound, 48000, listener="light")[0].pitch
"""

BAD = [
    "tone_filter.ToneFilter(48000, mixx=70)",
    'tone_filter.ToneFilter(48000, mix="70")',
    'tone_filter.render(sound, 48000, voice="bagpipe")',
    'filter.voice = "bagpipe"',
    "filter.latency = 3",
    "tone_filter.notes([0.0], 48000)",
]


def test_mypy_accepts_valid_code_and_refuses_invalid_code(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(GOOD + "\n".join(BAD) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", program]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    first = GOOD.count("\n") + 1
    lines = {int(line) for line in re.findall(r"program\.py:(\d+): error", result.stdout)}
    assert lines == set(range(first, first + len(BAD))), result.stdout + result.stderr
