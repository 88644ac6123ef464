//! All settings. Each one is declared once: its field with its type, its values in the published sound and in a new instance, and the
//! texts and ranges that all interfaces use. Add a new setting behind the others of its kind, because interfaces have their parameters
//! and lists in this order. LV2 has its ports in the order of the groups.

use super::{
    Arp, BadText, BandMask, BandRange, Choice, Duty, Group, Keys, Listen, Map, NoteValue,
    PitchClass, PitchClasses, Scale, Spec, Stereo, SyncTo, Taper, Targets, Text, Voice,
    listed::Listed, text::TextValue,
};
use tone_filter_listener::Model;

settings! {
    numbers {
        /// Balance of dry (0 %) and wet (100 %).
        mix { name: "Mix", range: 0.0..=100.0, unit: "%", decimals: 0, taper: Linear, group: Main 0,
            reference: 50.0,
            help: "Blend of the untouched sound (0 %) and the resonators (100 %)." }
        /// Gain after the mix.
        output { name: "Output", range: -24.0..=12.0, unit: "dB", decimals: 1, taper: Linear, group: Main 4,
            reference: 0.0,
            help: "Level of the result." }
        /// Gain of each resonator into its soft clip.
        drive { name: "Drive", range: 1.0..=400.0, unit: "x", decimals: 2, taper: Logarithmic, group: Resonators 7, random: true,
            reference: 40.0,
            help: "Turns each note from a sine (low) into a square wave (high), with the voices Soft and Soft clean." }
        /// Relative gate: a band below this power, in dB relative to the total power, fades away.
        threshold { name: "Threshold", range: -60.0..=-10.0, unit: "dB", decimals: 1, taper: Linear, group: Resonators 3,
            reference: -36.989_7,
            help: "Notes below this level, relative to the input, fade away." }
        /// Relative limit: the maximum power of a band, in dB relative to the total power.
        ceiling { name: "Ceiling", range: -30.0..=0.0, unit: "dB", decimals: 1, taper: Linear, group: Resonators 4,
            reference: -10.0, default: -14.0,
            help: "Maximum level of a note, relative to the input." }
        /// Absolute gate: a band below this power, in dB full scale, fades away. With `auto`, the input counts as -14 dB.
        // The default is lower than the reference: focus mutes notes that are not played, so faint notes need less of a gate.
        floor { name: "Floor", range: -90.0..=-20.0, unit: "dB", decimals: 1, taper: Linear, group: Resonators 5,
            reference: -36.666_668, default: -46.0,
            help: "Notes below this level in dB full scale fade away. With Auto level, the average level of the music counts as -14 dB full scale." }
        /// T60 of the resonators from A3 up; below, it is longer.
        ring { name: "Ring", range: 0.05..=10.0, unit: "s", decimals: 3, taper: Logarithmic, group: Resonators 0, random: true,
            reference: 1.566_306, default: 0.2,
            help: "Time for which a resonator rings: longer separates neighbouring notes better, shorter follows faster." }
        /// Time constant of the band power trackers.
        release { name: "Release", range: 10.0..=1000.0, unit: "ms", decimals: 1, taper: Logarithmic, group: Resonators 1, random: true,
            reference: 188.952_5, default: 20.0,
            help: "Time that a note takes to follow the level of the music, when it gets louder and when it gets quieter." }
        /// Cutoff of the low-pass after the bands.
        tone { name: "Tone", range: 500.0..=20_000.0, unit: "Hz", decimals: 0, taper: Logarithmic, group: Main 3, random: true,
            reference: 4_865.015,
            help: "Softens the top end of the square waves." }
        /// Frequency of A4.
        tuning { name: "Tuning", range: 400.0..=480.0, unit: "Hz", decimals: 1, taper: Logarithmic, group: Listening 5,
            reference: 440.0,
            help: "The pitch of A4 that the music is tuned to." }
        /// Shift of all bands in semitones.
        transpose { name: "Transpose", range: -24.0..=24.0, unit: "st", decimals: 2, taper: Linear, group: Listening 7,
            reference: 0.0,
            help: "Moves the range of notes that are found, in semitones; the notes keep their pitch." }
        /// Attenuation of notes that are not played: none at 0 %, 24 dB at 50 %, muted at 100 %.
        focus { name: "Focus", range: 0.0..=100.0, unit: "%", decimals: 0, taper: Linear, group: Listening 1,
            reference: 0.0, default: 100.0,
            help: "Attenuation of notes that the music does not play: none at 0 %, 24 dB at 50 %, complete at 100 %." }
        /// Readiness to count a note as played; 50 % is the fitted decision threshold.
        sensitivity { name: "Sensitivity", range: 0.0..=100.0, unit: "%", decimals: 0, taper: Linear, group: Main 2,
            reference: 50.0,
            help: "Readiness to count a sound as a played note: less for clean lines, more for dense music." }
        /// Octaves from the detected to the sounding note, a whole number. No effect on [`Voice::Soft`].
        octave { name: "Octave", range: -2.0..=2.0, unit: "oct", decimals: 0, taper: Whole, group: Notes 1, random: true,
            reference: 0.0,
            help: "Octaves by which the notes sound higher or lower. The voice Soft always plays at the detected pitch." }
        /// Maximum number of notes at a time, a whole number; 48: no limit.
        voices { name: "Voices", range: 1.0..=48.0, unit: "notes", decimals: 0, taper: Whole, group: Notes 0, random: true,
            reference: 48.0,
            help: "Maximum number of notes at a time. Weaker notes are silent, and only the strongest sound." }
        /// Ticks of 60 Hz in which a note of [`Voice::Chip`] reaches its volume, a whole number.
        attack { name: "Attack", range: 0.0..=30.0, unit: "ticks", decimals: 0, taper: Whole, group: Chip 2, random: true,
            reference: 0.0,
            help: "Time in which a note of the voice Chip reaches its volume, in ticks of 1/60 s." }
        /// Ticks of 60 Hz in which the volume of a note of [`Voice::Chip`] falls to a quarter, a whole number; 0: no fall.
        decay { name: "Decay", range: 0.0..=120.0, unit: "ticks", decimals: 0, taper: Whole, group: Chip 3, random: true,
            reference: 0.0,
            help: "Time in which the volume of a note of the voice Chip falls to 25 %, in ticks of 1/60 s. At 0 the volume stays." }
        /// Amount of the effect: the untouched sound at 0 %, the full effect of the other settings at 100 %.
        morph { name: "Morph", range: 0.0..=100.0, unit: "%", decimals: 0, taper: Linear, group: Output 0,
            reference: 100.0,
            help: "From the untouched sound (0 %) to the full effect of all other settings (100 %), with one control." }
        /// Duration of the slide from the pitch of a nearby note that ends to the pitch of a new note. No effect on [`Voice::Soft`].
        glide { name: "Glide", range: 0.0..=500.0, unit: "ms", decimals: 0, taper: Linear, group: Notes 2, random: true,
            reference: 0.0,
            help: "Portamento time: a new note slides from the pitch of a nearby note that has just ended. The voice Soft does not glide." }
        /// Fraction of the vibrato and the detuning of the music that the notes keep. No effect on [`Voice::Soft`].
        vibrato { name: "Vibrato", range: 0.0..=100.0, unit: "%", decimals: 0, taper: Linear, group: Notes 3, random: true,
            reference: 100.0,
            help: "Share of the music's vibrato and detuning that is kept; at 0 % every pitch is exact. The voice Soft always keeps all of it." }
    }
    choices {
        /// Banks of resonators: one for the mean of the channels, one for each of two channels, or one whose notes have stereo positions.
        settings stereo: Stereo { id: "stereo", name: "Stereo", group: Resonators 6, reference: Stereo::Mono, default: Stereo::Place,
            help: "Mono plays all notes in the middle, Stereo processes left and right separately, Place puts each note where it is in the input." }
        /// Passes the input through unchanged.
        routing bypass: bool { id: "bypass", name: "Bypass", group: Header 0, reference: false,
            help: "Lets the sound through untouched." }
        /// Root of `scale`.
        settings root: PitchClass { id: "root", name: "Root", group: Scale 0, random: true, reference: PitchClass::new(0),
            help: "The note that the scale starts from." }
        /// Scale of the notes that may sound. A band counts as the note of its name, before `tuning` and `transpose`.
        settings scale: Scale { id: "scale", name: "Scale", group: Scale 1, random: true, reference: Scale::Chromatic,
            help: "Lets only the notes of a scale sound." }
        /// Adapts the bank to the level of the input, and makes the output as loud as the input.
        settings auto: bool { id: "auto", name: "Auto level", group: Listening 0, reference: false, default: true,
            help: "Adapts the bands to the level of the input, and matches the output's loudness to the input's." }
        /// Delays the sound by [`ToneFilter::latency`](crate::ToneFilter::latency), which makes `focus` more accurate.
        settings lookahead: bool { id: "lookahead", name: "Lookahead", group: Listening 2, reference: false,
            help: "Finds the notes more accurately, and adds 46 ms of latency." }
        /// The network that finds the notes.
        settings listener: Model { id: "listener", name: "Listener", group: Listening 3, reference: Model::Full,
            help: "The network that finds the notes: Full is more accurate, Light needs less than half of the CPU time." }
        /// Bands that exist: those of the published filter, from A3 up, or all, from E1 up.
        settings range: BandRange { id: "range", name: "Range", group: Scale 2, reference: BandRange::Published, default: BandRange::Whole,
            help: "The notes that can be found: 48 from A3 to G#7, as in Arntzen's original filter, or all 77 from E1 up." }
        /// The waveform of the notes.
        settings voice: Voice { id: "voice", name: "Voice", group: Main 1, random: true, reference: Voice::Soft,
            help: "The waveform of the notes: the filtered music itself (Soft), an oscillator that follows it, or a console's sound chip (Chip)." }
        /// Treatment of notes beyond `voices`, with [`Voice::Chip`]: silent, or taking turns.
        settings arp: Arp { id: "arp", name: "Arpeggio", group: Chip 0, random: true, reference: Arp::Off,
            help: "With the voice Chip, notes beyond the number of Voices are silent (Off) or take turns on the last voice: 15 a second (Up) or 60 a second (Fast)." }
        /// Waveform of the lead, with [`Voice::Chip`].
        settings duty: Duty { id: "duty", name: "Duty", group: Chip 1, random: true, reference: Duty::Quarter,
            help: "The pulse of the melody, with the voice Chip: thin (12.5 %), normal (25 %) or hollow (50 %)." }
        /// Effect of held keys on the bands; see [`KeyEvent`](crate::KeyEvent).
        settings keys: Keys { id: "keys", name: "Keys", group: Notes 4, reference: Keys::Off,
            help: "Held keys choose the notes. Hold allows only these notes, Hold any octave allows these in every octave, Add adds them to the notes that sound anyway." }
        /// Note value that sets the times `ring` and `release`. The filter uses the tempo that it finds in the music;
        /// [`Settings::at_tempo`] uses another one.
        settings sync: NoteValue { id: "sync", name: "Sync", group: Resonators 2, reference: NoteValue::OFF,
            help: "Ring and Release last as long as a note value at the song's tempo." }
        /// Lets the resonators ring without loss and without input.
        settings freeze: bool { id: "freeze", name: "Freeze", group: Notes 5, reference: false,
            help: "Lets sounding notes ring without end; new input has no effect on the bands." }
        /// Whether the owner of the filter sends the detected notes as MIDI.
        routing midi_out: bool { id: "midi-out", name: "MIDI out", group: Output 1, reference: false,
            help: "Sends the detected notes as MIDI." }
        /// Input of the bands and of the listener.
        routing listen: Listen { id: "listen", name: "Sidechain", group: Listening 4, reference: Listen::Main,
            help: "Notes are found in the sidechain input, and their sound is mixed with the main input." }
        /// Follows the tuning of the music, within 60 cents of `tuning`.
        settings auto_tuning: bool { id: "auto-tuning", name: "Auto tuning", group: Listening 6, reference: false,
            help: "Looks for the tuning of the music, up to 60 cents above or below Tuning, and follows it." }
        /// Effect of the scale, the held keys or the custom targets on the notes.
        settings map: Map { id: "map", name: "Map", group: Scale 3, random: true, reference: Map::Mute,
            help: "Mute silences notes outside the scale. Snap moves them to the nearest note of the scale. With Keys at Hold or Hold any octave, Snap moves all notes to the nearest note that the keys allow. Custom moves each note to a target of its own. The voice Soft only mutes." }
        /// Whether the detected notes are sent as MPE, with their pitches.
        routing mpe: bool { id: "mpe", name: "MPE", group: Output 2, reference: false,
            help: "MIDI out sends each note on a channel of its own, with its pitch bends." }
        /// Tempo that `sync` counts by; see [`Settings::at_tempo`].
        settings sync_to: SyncTo { id: "sync-to", name: "Sync to", group: Output 3, reference: SyncTo::Host,
            help: "Sync counts by the tempo of the song in the host, or by the tempo that is found in the music. Without a host's tempo, it is that of the music." }
    }
    texts {
        /// The bands that may sound.
        bands: BandMask { name: "Bands", before: "root", reference: BandMask::ALL,
            help: "The bands that may sound: first the 48 from A3 to G#7, then the 29 from E1 to G#3. The last 29 may be left out if all of them are on." }
        /// The notes of [`Scale::Custom`].
        custom: PitchClasses { name: "Custom scale", before: "auto", reference: PitchClasses::ALL,
            help: "The notes of the scale \"custom\", beginning with A." }
        /// Targets of the pitch classes with [`Map::Custom`].
        targets: Targets { name: "Targets", before: "map", reference: Targets::IDENTITY,
            help: "The note to which each of the twelve notes moves with the map \"custom\", beginning with A." }
    }
}
