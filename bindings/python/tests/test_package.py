"""Tests of the installed package: files of the distributions, examples of the page and of the docstrings."""

import doctest
import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy
import pytest
import tone_filter
from conftest import ROOT

DIST = Path(os.environ["TONE_FILTER_DIST"])
README = ROOT / "bindings/python/README.md"


def test_the_module_comes_from_the_wheel():
    assert "site-packages" in tone_filter.__file__
    assert set(tone_filter.__all__) <= set(dir(tone_filter))


def test_the_wheel_has_the_expected_files_only():
    (path,) = DIST.glob("*.whl")
    name, version, python, abi, platform = path.stem.split("-")
    assert (name, version, python, abi) == ("tone_filter", tone_filter.__version__, "cp311", "abi3")
    assert ("manylinux" in platform) == (sys.platform == "linux")
    wheel, info = zipfile.ZipFile(path), f"tone_filter-{version}.dist-info"
    files = {re.sub(r"_native\.\S+$", "_native", file) for file in wheel.namelist()}
    package = [f"tone_filter/{file}" for file in ["__init__.py", "__init__.pyi", "py.typed", "_native"]]
    data = ["METADATA", "RECORD", "WHEEL", "licenses/LICENSE-APACHE", "licenses/LICENSE-MIT",
            "sboms/tone-filter-python.cyclonedx.json"]
    assert files == {*package, *(f"{info}/{file}" for file in data)}
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"]:
        text = (ROOT / licence).read_bytes()
        assert wheel.read(f"{info}/licenses/{licence}") == text
    # Maximum size of the wheel, which every installation downloads; 1.2 MB in 2026.
    assert path.stat().st_size < 2_000_000
    metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
    assert metadata["Requires-Dist"].startswith("numpy>=") and len(metadata.get_all("Requires-Dist")) == 1
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_payload().strip() == README.read_text().strip()


def test_the_source_distribution_has_the_licences_and_the_page():
    (path,) = DIST.glob("*.tar.gz")
    names = tarfile.open(path).getnames()
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "pyproject.toml", "Cargo.lock"]:
        assert f"tone_filter-{tone_filter.__version__}/{file}" in names


def test_examples_of_the_page_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert len(blocks) >= 5
    for index, block in enumerate(blocks):
        folder = tmp_path / str(index)
        folder.mkdir()
        (folder / "song.wav").write_bytes((ROOT / "assets/demo.wav").read_bytes())
        result = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
        assert result.returncode == 0, f"{block}\n{result.stderr}"


@pytest.mark.parametrize("name", [name for name in tone_filter.__all__ if name != "__version__"])
def test_docstrings_are_complete_and_their_examples_pass(name):
    thing = getattr(tone_filter, name)
    assert thing.__doc__
    names = {"numpy": numpy, **vars(tone_filter)}
    example = doctest.DocTestParser().get_doctest(thing.__doc__, names, name, None, None)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    if isinstance(thing, type) and not issubclass(thing, tuple):
        for own, member in vars(thing).items():
            assert own.startswith("__") or member.__doc__, f"{name}.{own}"
