//! Conflicts between settings, each with the words of a help text that explain it.

use super::help;

/// Laws that need not hold with certain other settings.
struct Exception {
    laws: &'static [&'static str],
    /// Other settings, as id and value. An entry that ends in a blank is a prefix, which matches any value.
    others: &'static [&'static str],
    /// Id of the setting whose help text explains the conflict, and the words.
    quote: (&'static str, &'static str),
}

/// Ids of the laws that judge only the notes in the output.
#[rustfmt::skip]
const NOTES: &[&str] = &[
    "scale", "root", "custom", "map", "targets", "voices", "arp", "keys", "range", "bands", "listen", "focus", "listener",
    "octave", "transpose", "tuning", "glide", "vibrato", "drive", "threshold", "ceiling", "floor", "tone", "attack", "decay",
    "stereo", "voice", "duty", "freeze", "mix", "morph", "output", "auto",
];

/// Ids of the laws that measure the bands or the listener.
const BANDS: &[&str] = &["ring", "release", "sync", "sync-to", "auto-tuning", "midi-out", "mpe"];

/// Ids of the laws in [`NOTES`] for which the band of a note that is not played must be silent.
#[rustfmt::skip]
const ALONE: &[&str] = &[
    "scale", "root", "custom", "map", "targets", "octave", "listener", "voice", "duty", "range", "glide",
    "vibrato", "bands", "arp", "ceiling", "decay", "drive", "freeze",
];

#[rustfmt::skip]
const EXCEPTIONS: &[Exception] = &[
    Exception { laws: NOTES, others: &["mix 0 %", "mix 50 %"], quote: ("mix", "Blend of the untouched sound (0 %)") },
    Exception { laws: NOTES, others: &["morph 0 %"], quote: ("morph", "From the untouched sound (0 %)") },
    Exception { laws: NOTES, others: &["bypass on"], quote: ("bypass", "Lets the sound through untouched.") },
    Exception { laws: NOTES, others: &["freeze on"], quote: ("freeze", "new input has no effect on the bands") },
    Exception { laws: BANDS, others: &["freeze on"], quote: ("freeze", "ring without end; new input has no effect") },
    Exception { laws: NOTES, others: &["bands 000000000000 "], quote: ("bands", "The bands that may sound") },
    // Bands of notes that are not played pass some of their neighbours.
    Exception { laws: ALONE, others: &["focus 0 %"], quote: ("focus", "none at 0 %") },
    Exception { laws: &["arp", "decay", "duty", "freeze", "voice", "bands"], others: &["keys hold-any"], quote: ("keys", "these in every octave") },
    Exception { laws: &["bands", "focus"], others: &["keys "], quote: ("keys", "Held keys choose the notes") },
    Exception { laws: &["focus", "decay"], others: &["auto on"], quote: ("auto", "matches the output's loudness to the input's") },
    Exception { laws: &["scale", "root", "custom", "map", "targets", "listener", "octave", "tuning", "arp"], others: &["sensitivity 0 %"], quote: ("sensitivity", "less for clean lines") },
    Exception { laws: &["midi-out", "mpe", "voice", "glide"], others: &["sensitivity 100 %"], quote: ("sensitivity", "more for dense music") },
    Exception { laws: &["arp", "map", "midi-out", "mpe", "voice", "voices", "glide"], others: &["transpose 24 st"], quote: ("transpose", "Moves the range of notes that are found") },
    Exception { laws: &["keys", "voices"], others: &["ring 0.05 s", "sync 1/32", "sync 1/16t", "sync 1/32d", "sync 1/32t"], quote: ("ring", "longer separates neighbouring notes better, shorter follows faster") },
    Exception { laws: &["vibrato", "release"], others: &["ring 10 s"], quote: ("ring", "longer separates neighbouring notes better, shorter follows faster") },
    Exception { laws: &["threshold", "stereo", "drive"], others: &["release 1000 ms"], quote: ("release", "Time that a note takes to follow the level of the music") },
    Exception { laws: &["threshold", "drive", "stereo", "keys", "auto"], others: &["ceiling -30 dB", "ceiling -14 dB"], quote: ("ceiling", "Maximum level of a note, relative to the input.") },
    Exception { laws: &["threshold"], others: &["floor -20 dB"], quote: ("floor", "Notes below this level in dB full scale fade away") },
    Exception { laws: &["ceiling", "floor", "threshold", "stereo"], others: &["voices 1 note"], quote: ("voices", "the strongest sound") },
    // The chip's triangle has no volume, and the chip is mono.
    Exception { laws: &["ceiling", "threshold", "stereo", "focus"], others: &["voice chip"], quote: ("voice", "or a console's sound chip") },
    Exception { laws: &["tone"], others: &["voice sine"], quote: ("tone", "of the square waves") },
    Exception { laws: &["vibrato"], others: &["auto-tuning on"], quote: ("auto-tuning", "Looks for the tuning of the music") },
];

/// Returns the quote that excuses the law `id` with the setting `other`; `None` if the law must hold.
pub fn exception(id: &str, other: &str) -> Option<&'static str> {
    let matches = |text: &str| text == other || text.ends_with(' ') && other.starts_with(text);
    let found = EXCEPTIONS
        .iter()
        .find(|entry| entry.laws.contains(&id) && entry.others.iter().any(|text| matches(text)));
    found.map(|entry| entry.quote.1)
}

/// Checks that the help texts contain the quoted words.
pub fn assert_quoted() {
    for Exception { quote: (id, words), .. } in EXCEPTIONS {
        assert!(help(id).contains(words), "{id} does not say: {words}");
    }
}
