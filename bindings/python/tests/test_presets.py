"""Presets and settings."""

import json

import tone_filter
from conftest import ROOT


def test_presets_are_the_factory_s():
    for preset in tone_filter.presets():
        file = json.loads((ROOT / f"crates/presets/factory/{preset.id}.json").read_text())
        assert preset == (preset.id, file["name"], file["description"], tuple(file["tags"]))
        filter = tone_filter.ToneFilter(48000, preset.id)
        for name, value in file["settings"].items():
            assert getattr(filter, name.replace("-", "_")) == value, (preset.id, name)
        assert tone_filter.ToneFilter(48000, preset.name).settings == filter.settings
    ids = [preset.id for preset in tone_filter.presets()]
    assert ids[:2] == ["tone-filter", "reference"]
    assert sorted(ids) == sorted(path.stem for path in (ROOT / "crates/presets/factory").glob("*.json"))


def test_settings_describe_what_they_take():
    for row in tone_filter.settings():
        assert row.help.endswith(".")
        if row.choices:
            assert row.default in row.choices and (row.min, row.max, row.unit) == (None, None, "")
        elif isinstance(row.default, float):
            assert row.min <= row.default <= row.max
        for value in row.choices or (row.default, *([row.min, row.max] if row.min is not None else [])):
            assert getattr(tone_filter.ToneFilter(48000, **{row.name: value}), row.name) == value
