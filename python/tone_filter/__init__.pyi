# The types of the module. What stands between the marks comes from the tables of settings: after a change there,
# `UPDATE_STUB=1 cargo xtask test-python` writes it.

from os import PathLike
from typing import Any, Literal, NamedTuple, TypedDict, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Unpack

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
# end keywords

@final
class ToneFilter:
    # begin attributes
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
