//! The laws, a row for each setting.

use super::{Law, notes, sound};
use tone_filter_dsp::{
    Arp, Keys, Map, NoteValue, PitchClass, PitchClasses, Scale, Settings, SyncTo, Targets, Voice,
};

#[rustfmt::skip]
pub const LAWS: [Law; 43] = [
    Law { id: "scale", promise: "Lets only the notes of a scale sound.",
        stage: |own| own.scale = Scale::Major, check: notes::sounds_on_target },
    Law { id: "root", promise: "The note that the scale starts from.",
        stage: |own| own.scale = Scale::MajorPentatonic, check: notes::any_root },
    Law { id: "custom", promise: "The notes of the scale",
        stage: |own| (own.scale, own.custom) = (Scale::Custom, triad()), check: notes::sounds_on_target },
    Law { id: "map", promise: "moves them to the nearest note of the scale",
        stage: |own| (own.scale, own.map, own.voice, own.targets) = (Scale::MajorPentatonic, Map::Snap, Voice::Sine, targets()), check: notes::map },
    Law { id: "targets", promise: "The note to which each of the twelve notes moves",
        stage: |own| (own.map, own.voice, own.targets) = (Map::Custom, Voice::Triangle, targets()), check: notes::sounds_on_target },
    Law { id: "voices", promise: "Maximum number of notes at a time",
        stage: |_| (), check: notes::voices },
    Law { id: "arp", promise: "take turns on the last voice",
        stage: |own| (own.voice, own.voices, own.arp) = (Voice::Chip, 3.0, Arp::Fast), check: notes::arp },
    Law { id: "keys", promise: "Hold allows only these notes, Hold any octave allows these in every octave",
        stage: |own| own.keys = Keys::Hold, check: notes::keys },
    Law { id: "range", promise: "48 from A3 to G#7, as in Arntzen's original filter, or all 77 from E1 up",
        stage: |_| (), check: notes::range },
    Law { id: "bands", promise: "The bands that may sound",
        stage: |_| (), check: notes::bands },
    Law { id: "listen", promise: "Notes are found in the sidechain input",
        stage: |_| (), check: notes::listen },
    Law { id: "focus", promise: "none at 0 %, 24 dB at 50 %, complete at 100 %",
        stage: |own| own.auto = false, check: notes::focus },
    Law { id: "sensitivity", promise: "less for clean lines, more for dense music",
        stage: |_| (), check: notes::sensitivity },
    Law { id: "listener", promise: "The network that finds the notes",
        stage: |_| (), check: notes::listener },
    Law { id: "octave", promise: "Octaves by which the notes sound higher or lower",
        stage: |own| own.voice = Voice::Square, check: notes::octave },
    Law { id: "transpose", promise: "Moves the range of notes that are found, in semitones; the notes keep their pitch",
        stage: |_| (), check: notes::transpose },
    Law { id: "tuning", promise: "The pitch of A4 that the music is tuned to.",
        stage: |_| (), check: notes::tuning },
    Law { id: "auto-tuning", promise: "Looks for the tuning of the music",
        stage: |own| own.auto_tuning = true, check: notes::auto_tuning },
    Law { id: "midi-out", promise: "Sends the detected notes as MIDI.",
        stage: |_| (), check: notes::midi_out },
    Law { id: "mpe", promise: "MIDI out sends each note on a channel of its own, with its pitch bends.",
        stage: |_| (), check: notes::mpe },
    Law { id: "glide", promise: "a new note slides from the pitch of a nearby note that has just ended",
        stage: |own| (own.voice, own.glide) = (Voice::Sine, 300.0), check: notes::glide },
    Law { id: "vibrato", promise: "Share of the music's vibrato and detuning that is kept",
        stage: |own| own.voice = Voice::Square, check: notes::vibrato },
    Law { id: "mix", promise: "the untouched sound (0 %)",
        stage: |_| (), check: sound::mix },
    Law { id: "output", promise: "Level of the result.",
        stage: |_| (), check: sound::output },
    Law { id: "drive", promise: "from a sine (low) into a square wave (high)",
        stage: |own| own.ceiling = 0.0, check: sound::drive },
    Law { id: "threshold", promise: "Notes below this level, relative to the input, fade away.",
        stage: |_| (), check: sound::threshold },
    Law { id: "ceiling", promise: "Maximum level of a note, relative to the input.",
        stage: |_| (), check: sound::ceiling },
    Law { id: "floor", promise: "Notes below this level in dB full scale fade away",
        stage: |_| (), check: sound::floor },
    Law { id: "ring", promise: "Time for which a resonator rings",
        stage: |_| (), check: sound::ring },
    Law { id: "release", promise: "Time that a note takes to follow the level of the music",
        stage: |own| own.ring = 0.05, check: sound::release },
    Law { id: "tone", promise: "Softens the top end of the square waves.",
        stage: |own| own.voice = Voice::Square, check: sound::tone },
    Law { id: "attack", promise: "a note of the voice Chip reaches its volume",
        stage: chip, check: sound::attack },
    Law { id: "decay", promise: "falls to 25 %",
        stage: chip, check: sound::decay },
    Law { id: "morph", promise: "From the untouched sound (0 %)",
        stage: |_| (), check: sound::morph },
    Law { id: "stereo", promise: "Place puts each note where it is in the input",
        stage: |own| own.ceiling = 0.0, check: sound::stereo },
    Law { id: "bypass", promise: "Lets the sound through untouched.",
        stage: |_| (), check: sound::bypass },
    Law { id: "auto", promise: "matches the output's loudness to the input's",
        stage: |_| (), check: sound::auto },
    Law { id: "lookahead", promise: "adds 46 ms of latency",
        stage: |_| (), check: sound::lookahead },
    Law { id: "voice", promise: "The waveform of the notes",
        stage: |own| own.voice = Voice::Square, check: sound::voice },
    Law { id: "duty", promise: "The pulse of the melody, with the voice Chip",
        stage: chip, check: sound::duty },
    Law { id: "sync", promise: "Ring and Release last as long as a note value at the song's tempo.",
        stage: |_| (), check: sound::sync },
    Law { id: "sync-to", promise: "by the tempo that is found in the music",
        stage: |own| (own.sync, own.sync_to) = (NoteValue::new(8), SyncTo::Music), check: sound::sync_to },
    Law { id: "freeze", promise: "Lets sounding notes ring without end; new input has no effect on the bands.",
        stage: |_| (), check: sound::freeze },
];

/// A, C# and E.
fn triad() -> PitchClasses {
    [0, 4, 7].into_iter().fold(PitchClasses::NONE, |all, class| all.with(class, true))
}

fn targets() -> Targets {
    (0..12).fold(Targets::IDENTITY, |all, class| all.with(class, PitchClass::new(class / 2 * 2)))
}

/// Chip without auto level, which would compensate for quieter notes.
fn chip(own: &mut Settings) {
    (own.voice, own.auto) = (Voice::Chip, false);
}
