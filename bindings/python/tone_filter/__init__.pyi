# The types of the module. The lines between `begin` and `end` are generated from the tables of settings: after a change there,
# run `UPDATE_STUB=1 cargo xtask test-python`.

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
_SyncTo = Literal["host", "music"]

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
    sync_to: _SyncTo
    bands: str
    custom: str
    targets: str
# end keywords

@final
class ToneFilter:
    # begin attributes
    mix: float
    """Blend of the untouched sound (0 %) and the resonators (100 %). 0 to 100 %; default 50.0."""
    output: float
    """Level of the result. -24 to 12 dB; default 0.0."""
    drive: float
    """Turns each note from a sine (low) into a square wave (high), with the voices Soft and Soft clean. 1 to 400 x; default 40.0."""
    threshold: float
    """Notes below this level, relative to the input, fade away. -60 to -10 dB; default -36.9897."""
    ceiling: float
    """Maximum level of a note, relative to the input. -30 to 0 dB; default -14.0."""
    floor: float
    """Notes below this level in dB full scale fade away. With Auto level, the average level of the music counts as -14 dB full scale. -90 to -20 dB; default -46.0."""
    ring: float
    """Time for which a resonator rings: longer separates neighbouring notes better, shorter follows faster. 0.05 to 10 s; default 0.2."""
    release: float
    """Time that a note takes to follow the level of the music, when it gets louder and when it gets quieter. 10 to 1000 ms; default 20.0."""
    tone: float
    """Softens the top end of the square waves. 500 to 20000 Hz; default 4865.015."""
    tuning: float
    """The pitch of A4 that the music is tuned to. 400 to 480 Hz; default 440.0."""
    transpose: float
    """Moves the range of notes that are found, in semitones; the notes keep their pitch. -24 to 24 st; default 0.0."""
    focus: float
    """Attenuation of notes that the music does not play: none at 0 %, 24 dB at 50 %, complete at 100 %. 0 to 100 %; default 100.0."""
    sensitivity: float
    """Readiness to count a sound as a played note: less for clean lines, more for dense music. 0 to 100 %; default 50.0."""
    octave: float
    """Octaves by which the notes sound higher or lower. The voice Soft always plays at the detected pitch. -2 to 2 oct; default 0.0."""
    voices: float
    """Maximum number of notes at a time. Weaker notes are silent, and only the strongest sound. 1 to 48 notes; default 48.0."""
    attack: float
    """Time in which a note of the voice Chip reaches its volume, in ticks of 1/60 s. 0 to 30 ticks; default 0.0."""
    decay: float
    """Time in which the volume of a note of the voice Chip falls to 25 %, in ticks of 1/60 s. At 0 the volume stays. 0 to 120 ticks; default 0.0."""
    morph: float
    """From the untouched sound (0 %) to the full effect of all other settings (100 %), with one control. 0 to 100 %; default 100.0."""
    glide: float
    """Portamento time: a new note slides from the pitch of a nearby note that has just ended. The voice Soft does not glide. 0 to 500 ms; default 0.0."""
    vibrato: float
    """Share of the music's vibrato and detuning that is kept; at 0 % every pitch is exact. The voice Soft always keeps all of it. 0 to 100 %; default 100.0."""
    stereo: _Stereo
    """Mono plays all notes in the middle, Stereo processes left and right separately, Place puts each note where it is in the input. mono, stereo, place; default 'place'."""
    bypass: bool
    """Lets the sound through untouched. True or False; default False."""
    root: _Root
    """The note that the scale starts from. A, A#, B, C, C#, D, D#, E, F, F#, G, G#; default 'A'."""
    scale: _Scale
    """Lets only the notes of a scale sound. chromatic, major, natural-minor, harmonic-minor, dorian, phrygian, lydian, mixolydian, locrian, major-pentatonic, minor-pentatonic, blues, whole-tone, custom, auto; default 'chromatic'."""
    auto: bool
    """Adapts the bands to the level of the input, and matches the output's loudness to the input's. True or False; default True."""
    lookahead: bool
    """Finds the notes more accurately, and adds 46 ms of latency. True or False; default False."""
    listener: _Listener
    """The network that finds the notes: Full is more accurate, Light needs less than half of the CPU time. full, light; default 'full'."""
    range: _Range
    """The notes that can be found: 48 from A3 to G#7, as in Arntzen's original filter, or all 77 from E1 up. published, whole; default 'whole'."""
    voice: _Voice
    """The waveform of the notes: the filtered music itself (Soft), an oscillator that follows it, or a console's sound chip (Chip). soft, sine, square, pulse25, pulse12, triangle, saw, chip, soft-clean; default 'soft'."""
    arp: _Arp
    """With the voice Chip, notes beyond the number of Voices are silent (Off) or take turns on the last voice: 15 a second (Up) or 60 a second (Fast). off, up, fast; default 'off'."""
    duty: _Duty
    """The pulse of the melody, with the voice Chip: thin (12.5 %), normal (25 %) or hollow (50 %). 12.5, 25, 50; default '25'."""
    keys: _Keys
    """Held keys choose the notes. Hold allows only these notes, Hold any octave allows these in every octave, Add adds them to the notes that sound anyway. off, hold, hold-any, add; default 'off'."""
    sync: _Sync
    """Ring and Release last as long as a note value at the song's tempo. off, 1/1d, 1/1, 1/2d, 1/1t, 1/2, 1/4d, 1/2t, 1/4, 1/8d, 1/4t, 1/8, 1/16d, 1/8t, 1/16, 1/32d, 1/16t, 1/32, 1/32t; default 'off'."""
    freeze: bool
    """Lets sounding notes ring without end; new input has no effect on the bands. True or False; default False."""
    auto_tuning: bool
    """Looks for the tuning of the music, up to 60 cents above or below Tuning, and follows it. True or False; default False."""
    map: _Map
    """Mute silences notes outside the scale. Snap moves them to the nearest note of the scale. With Keys at Hold or Hold any octave, Snap moves all notes to the nearest note that the keys allow. Custom moves each note to a target of its own. The voice Soft only mutes. mute, snap, custom; default 'mute'."""
    sync_to: _SyncTo
    """Sync counts by the tempo of the song in the host, or by the tempo that is found in the music. Without a host's tempo, it is that of the music. host, music; default 'host'."""
    bands: str
    """The bands that may sound: first the 48 from A3 to G#7, then the 29 from E1 to G#3. The last 29 may be left out if all of them are on. 48 or 77 digits, 1 for on and 0 for off; default '111111111111 111111111111 111111111111 111111111111'."""
    custom: str
    """The notes of the scale "custom", beginning with A. 12 digits, 1 for on and 0 for off; default '111111111111'."""
    targets: str
    """The note to which each of the twelve notes moves with the map "custom", beginning with A. the names of 12 notes, like A A# B C; default 'A A# B C C# D D# E F F# G G#'."""
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
