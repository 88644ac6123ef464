# The types of the module. What stands between the marks comes from the tables of settings: after a change there,
# `UPDATE_STUB=1 cargo xtask test-python` writes it.

from os import PathLike
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "__version__",
    "Key",
    "Note",
    "Preset",
    "Setting",
    "ToneFilter",
    "Transcription",
    "notes",
    "presets",
    "render",
    "settings",
    "transcribe",
]

__version__: str

class Key(NamedTuple):
    root: str
    scale: Literal["major", "natural-minor", "harmonic-minor"]
    certainty: float

class Note(NamedTuple):
    start: float
    end: float
    pitch: int
    velocity: int

class Preset(NamedTuple):
    id: str
    name: str
    description: str
    tags: tuple[str, ...]

class Setting(NamedTuple):
    name: str
    default: float | bool | str
    min: float | None
    max: float | None
    unit: str
    choices: tuple[str, ...]
    help: str

# begin keywords
_Stereo = Literal["mono", "stereo", "place"]
_Root = Literal["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"]
_Scale = Literal["chromatic", "major", "natural-minor", "harmonic-minor", "dorian", "phrygian", "lydian", "mixolydian", "locrian", "major-pentatonic", "minor-pentatonic", "blues", "whole-tone", "custom", "auto"]
_Listener = Literal["full", "light"]
_Range = Literal["published", "whole"]
_Voice = Literal["soft", "sine", "square", "pulse25", "pulse12", "triangle", "saw", "chip", "soft-clean"]
_Arp = Literal["off", "up", "fast"]
_Duty = Literal["12.5", "25", "50"]
_Keys = Literal["off", "hold", "hold-any", "add"]
_Sync = Literal["off", "1/1d", "1/1", "1/2d", "1/1t", "1/2", "1/4d", "1/2t", "1/4", "1/8d", "1/4t", "1/8", "1/16d", "1/8t", "1/16", "1/32d", "1/16t", "1/32", "1/32t"]
_Map = Literal["mute", "snap", "custom"]

class _Settings(TypedDict, total=False):
    mix: float
    output: float
    drive: float
    threshold: float
    ceiling: float
    floor: float
    ring: float
    release: float
    tone: float
    tuning: float
    transpose: float
    focus: float
    sensitivity: float
    octave: float
    voices: float
    attack: float
    decay: float
    morph: float
    glide: float
    vibrato: float
    stereo: _Stereo
    bypass: bool
    root: _Root
    scale: _Scale
    auto: bool
    lookahead: bool
    listener: _Listener
    range: _Range
    voice: _Voice
    arp: _Arp
    duty: _Duty
    keys: _Keys
    sync: _Sync
    freeze: bool
    auto_tuning: bool
    map: _Map
    bands: str
    custom: str
    targets: str
# end keywords

@final
class ToneFilter:
    # begin attributes
    mix: float
    output: float
    drive: float
    threshold: float
    ceiling: float
    floor: float
    ring: float
    release: float
    tone: float
    tuning: float
    transpose: float
    focus: float
    sensitivity: float
    octave: float
    voices: float
    attack: float
    decay: float
    morph: float
    glide: float
    vibrato: float
    stereo: _Stereo
    bypass: bool
    root: _Root
    scale: _Scale
    auto: bool
    lookahead: bool
    listener: _Listener
    range: _Range
    voice: _Voice
    arp: _Arp
    duty: _Duty
    keys: _Keys
    sync: _Sync
    freeze: bool
    auto_tuning: bool
    map: _Map
    bands: str
    custom: str
    targets: str
    # end attributes
    tempo: float
    @property
    def settings(self) -> _Settings: ...
    @property
    def sample_rate(self) -> float: ...
    @property
    def channels(self) -> int: ...
    @property
    def latency(self) -> int: ...
    def __new__(
        cls,
        sample_rate: float,
        preset: str | PathLike[str] = "tone-filter",
        *,
        channels: int = 2,
        tempo: float = 120.0,
        **settings: Unpack[_Settings],
    ) -> ToneFilter: ...
    def process(self, audio: NDArray[np.floating[Any]]) -> NDArray[np.float32]: ...
    def reset(self) -> None: ...
    def set(self, preset: str | PathLike[str] | None = None, **settings: Unpack[_Settings]) -> None: ...
    def set_score(self, score: str | None) -> None: ...
    def seek(self, seconds: float) -> None: ...
    def key_on(self, pitch: int, velocity: float = 1.0) -> None: ...
    def key_off(self, pitch: int) -> None: ...
    def all_keys_off(self) -> None: ...
    def sustain(self, down: bool) -> None: ...
    def bend(self, semitones: float) -> None: ...

@final
class Transcription:
    @property
    def notes(self) -> list[Note]: ...
    @property
    def key(self) -> Key | None: ...
    @property
    def tuning(self) -> float | None: ...
    @property
    def times(self) -> NDArray[np.float64]: ...
    @property
    def played(self) -> NDArray[np.bool_]: ...
    @property
    def log_odds(self) -> NDArray[np.float32]: ...
    @property
    def score(self) -> str: ...
    @property
    def midi(self) -> bytes: ...

def notes(
    audio: NDArray[np.floating[Any]],
    sample_rate: float,
    preset: str | PathLike[str] = "tone-filter",
    *,
    live: bool = False,
    **settings: Unpack[_Settings],
) -> list[Note]: ...
def presets() -> list[Preset]: ...
def render(
    audio: NDArray[np.floating[Any]],
    sample_rate: float,
    preset: str | PathLike[str] = "tone-filter",
    *,
    tempo: float = 120.0,
    score: str | None = None,
    **settings: Unpack[_Settings],
) -> NDArray[np.float32]: ...
def settings() -> list[Setting]: ...
def transcribe(
    audio: NDArray[np.floating[Any]],
    sample_rate: float,
    preset: str | PathLike[str] = "tone-filter",
    *,
    live: bool = False,
    **settings: Unpack[_Settings],
) -> Transcription: ...
