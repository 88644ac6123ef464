//! The laws, a row for each setting.

use super::{Law, Outcome, notes, sound};
use tone_filter_dsp::{
    Arp, Controls, Keys, Map, NoteValue, PitchClass, PitchClasses, Scale, Settings, SyncTo,
    Targets, Voice,
};

const fn law(
    id: &'static str,
    promise: &'static str,
    stage: fn(&mut Settings),
    check: fn(&Controls) -> Outcome,
) -> Law {
    Law { id, promise, stage, check }
}

#[rustfmt::skip]
pub const LAWS: [Law; 43] = [
    law("scale", "Lets only the notes of a scale sound.", |own| own.scale = Scale::Major, notes::sounds_on_target),
    law("root", "The note that the scale starts from.", |own| own.scale = Scale::MajorPentatonic, notes::any_root),
    law("custom", "The notes of the scale", |own| (own.scale, own.custom) = (Scale::Custom, triad()), notes::sounds_on_target),
    law("map", "moves them to the nearest note of the scale",
        |own| (own.scale, own.map, own.voice, own.targets) = (Scale::MajorPentatonic, Map::Snap, Voice::Sine, targets()), notes::map),
    law("targets", "The note to which each of the twelve notes moves",
        |own| (own.map, own.voice, own.targets) = (Map::Custom, Voice::Triangle, targets()), notes::sounds_on_target),
    law("voices", "Maximum number of notes at a time", |_| (), notes::voices),
    law("arp", "take turns on the last voice", |own| (own.voice, own.voices, own.arp) = (Voice::Chip, 3.0, Arp::Fast), notes::arp),
    law("keys", "Hold allows only these notes, Hold any octave allows these in every octave", |own| own.keys = Keys::Hold, notes::keys),
    law("range", "48 from A3 to G#7, as in Arntzen's original filter, or all 77 from E1 up", |_| (), notes::range),
    law("bands", "The bands that may sound", |_| (), notes::bands),
    law("listen", "Notes are found in the sidechain input", |_| (), notes::listen),
    law("focus", "none at 0 %, 24 dB at 50 %, complete at 100 %", |own| own.auto = false, notes::focus),
    law("sensitivity", "less for clean lines, more for dense music", |_| (), notes::sensitivity),
    law("listener", "The network that finds the notes", |_| (), notes::listener),
    law("octave", "Octaves by which the notes sound higher or lower", |own| own.voice = Voice::Square, notes::octave),
    law("transpose", "Moves the range of notes that are found, in semitones; the notes keep their pitch", |_| (), notes::transpose),
    law("tuning", "The pitch of A4 that the music is tuned to.", |_| (), notes::tuning),
    law("auto-tuning", "Looks for the tuning of the music", |own| own.auto_tuning = true, notes::auto_tuning),
    law("midi-out", "Sends the detected notes as MIDI.", |_| (), notes::midi_out),
    law("mpe", "MIDI out sends each note on a channel of its own, with its pitch bends.", |_| (), notes::mpe),
    law("glide", "a new note slides from the pitch of a nearby note that has just ended", |own| (own.voice, own.glide) = (Voice::Sine, 300.0), notes::glide),
    law("vibrato", "Share of the music's vibrato and detuning that is kept", |own| own.voice = Voice::Square, notes::vibrato),
    law("mix", "the untouched sound (0 %)", |_| (), sound::mix),
    law("output", "Level of the result.", |_| (), sound::output),
    law("drive", "from a sine (low) into a square wave (high)", |own| own.ceiling = 0.0, sound::drive),
    law("threshold", "Notes below this level, relative to the input, fade away.", |_| (), sound::threshold),
    law("ceiling", "Maximum level of a note, relative to the input.", |_| (), sound::ceiling),
    law("floor", "Notes below this level in dB full scale fade away", |_| (), sound::floor),
    law("ring", "Time for which a resonator rings", |_| (), sound::ring),
    law("release", "Time that a note takes to follow the level of the music", |own| own.ring = 0.05, sound::release),
    law("tone", "Softens the top end of the square waves.", |own| own.voice = Voice::Square, sound::tone),
    law("attack", "a note of the voice Chip reaches its volume", chip, sound::attack),
    law("decay", "falls to 25 %", chip, sound::decay),
    law("morph", "From the untouched sound (0 %)", |_| (), sound::morph),
    law("stereo", "Place puts each note where it is in the input", |own| own.ceiling = 0.0, sound::stereo),
    law("bypass", "Lets the sound through untouched.", |_| (), sound::bypass),
    law("auto", "matches the output's loudness to the input's", |_| (), sound::auto),
    law("lookahead", "adds 46 ms of latency", |_| (), sound::lookahead),
    law("voice", "The waveform of the notes", |own| own.voice = Voice::Square, sound::voice),
    law("duty", "The pulse of the melody, with the voice Chip", chip, sound::duty),
    law("sync", "Ring and Release last as long as a note value at the song's tempo.", |_| (), sound::sync),
    law("sync-to", "by the tempo that is found in the music", |own| (own.sync, own.sync_to) = (NoteValue::new(8), SyncTo::Music), sound::sync_to),
    law("freeze", "Lets sounding notes ring without end; new input has no effect on the bands.", |_| (), sound::freeze),
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
