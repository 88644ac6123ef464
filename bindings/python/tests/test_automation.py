"""Settings that change during music, against the library in Rust."""

import json
import os
from pathlib import Path

import numpy as np
from conftest import same
from tone_filter import ToneFilter

FOLDER = Path(os.environ["TONE_FILTER_AUTOMATION"])


def signal(name):
    return np.fromfile(FOLDER / name, "<f4").reshape(2, -1)


def test_automation_has_the_bits_of_the_library():
    score, audio = json.loads((FOLDER / "score.json").read_text()), signal("input.f32")
    filter = ToneFilter(score["rate"])
    names = filter.settings.keys()
    parts = np.split(audio, [step["frame"] for step in score["steps"]], axis=1)
    output = [filter.process(parts[0])]
    for step, part in zip(score["steps"], parts[1:], strict=True):
        settings = {name.replace("-", "_"): value for name, value in step["settings"].items()}
        filter.set(**{name: value for name, value in settings.items() if name in names})
        output.append(filter.process(part))
    assert same(np.concatenate(output, axis=1), signal("expected.f32"))
