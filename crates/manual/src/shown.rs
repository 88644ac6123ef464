//! Additions of the manual to the tables of settings: the sound of a setting, and the values in its picture.

/// A setting as the manual shows it.
#[derive(Debug)]
pub struct Shown {
    /// The setting's id.
    pub id: &'static str,
    /// Its sound, in words.
    pub sounds: &'static str,
    /// The values of its picture, from left to right; none where it does not change the sound, or too little to see.
    pub values: &'static [&'static str],
    /// The other settings of the picture, as JSON; all else is the default with a mix of 100 %.
    pub with: &'static str,
    /// Music of the picture.
    pub scene: Scene,
}

/// Music of a picture: bars of the demo tune, the last one excluded, and a change of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scene {
    /// Bars from the beginning of the tune.
    pub bars: [f64; 2],
    /// Change of the tune or the filter.
    pub act: Act,
}

/// Change of the tune or the filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Act {
    /// Nothing.
    Play,
    /// The tune is 30 dB quieter.
    Quieter,
    /// The tune is played with a vibrato of 40 cents.
    Waver,
    /// The keys A4 and E5 are held.
    HoldKeys,
    /// The setting is changed in the middle.
    Halfway,
    /// The tune is the sidechain of strokes of noise.
    Sidechain,
}

const fn bars(from: f64, to: f64) -> Scene {
    Scene { bars: [from, to], act: Act::Play }
}

/// Two bars with melody, chords, bass, drums and arpeggio.
const TUNE: Scene = bars(2.0, 4.0);
/// The first of them.
const SHORT: Scene = bars(2.0, 3.0);

const fn act(act: Act) -> Scene {
    Scene { bars: TUNE.bars, act }
}

const CHIP: &str = r#"{ "voice": "chip", "voices": 3, "tone": 20000 }"#;
const SQUARE: &str = r#"{ "voice": "square", "tone": 20000 }"#;
const RINGING: &str = r#"{ "focus": 0, "drive": 8 }"#;

/// All settings, in groups, in the order of the window.
pub static SHOWN: [(&str, &[Shown]); 6] = [
    ("Main", &MAIN),
    ("Listening", &LISTENING),
    ("Notes", &NOTES),
    ("Resonators", &RESONATORS),
    ("Chip", &CHIP_SETTINGS),
    ("Output", &OUTPUT),
];

#[rustfmt::skip]
static MAIN: [Shown; 6] = [
    Shown { id: "mix", values: &["0", "50", "100"], with: "{}", scene: SHORT,
        sounds: "At 0 % the music as it is. Around 50 % the music with a square edge on every note. At 100 % the notes alone, and silence where none is found. With Auto level the loudness stays the same on the way." },
    Shown { id: "voice", values: &["soft", "sine", "square", "pulse25", "pulse12", "triangle", "saw", "chip", "soft-clean"], with: r#"{ "tone": 20000 }"#, scene: bars(2.0, 2.5),
        sounds: "*Soft* is NieR's: a rounded square with some grit. *Sine* is an organ or a whistle, *Triangle* a flute, *Square* hollow, the two pulses thin and nasal, *Saw* bright like strings. *Chip* is a whole console with a bass and noise for drums. *Soft clean* is Soft without the grit." },
    Shown { id: "sensitivity", values: &["0", "50", "100"], with: "{}", scene: SHORT,
        sounds: "Low: only what is plainly played, clean lines with gaps. High: fast, quiet and dense notes, too, and with them some that nobody plays." },
    Shown { id: "tone", values: &["500", "4865", "20000"], with: r#"{ "voice": "square" }"#, scene: SHORT,
        sounds: "Low: dull, as through a wall. The default takes the sharpness off. At 20000 Hz it is off: bright and hard." },
    Shown { id: "output", values: &["-24", "0"], with: "{}", scene: TUNE,
        sounds: "Louder or quieter, nothing else." },
    Shown { id: "bypass", values: &["off", "on"], with: "{}", scene: TUNE,
        sounds: "The music as it is, without a click when you switch." },
];

#[rustfmt::skip]
static LISTENING: [Shown; 8] = [
    Shown { id: "auto", values: &["off", "on"], with: "{}", scene: act(Act::Quieter),
        sounds: "Off: quiet music loses its notes, and Mix changes the loudness. On: quiet and loud music sound alike. The picture is of the tune 30 dB quieter." },
    Shown { id: "focus", values: &["0", "50", "100"], with: r#"{ "voice": "sine", "stereo": "mono" }"#, scene: bars(2.0, 2.5),
        sounds: "At 0 % every resonator sounds, with overtones and drums in it: a blurred, metallic cloud. At 100 % only the notes that are played sound. The picture has the voice Sine." },
    Shown { id: "lookahead", values: &[], with: "{}", scene: TUNE,
        sounds: "On: notes start more nearly on time, and fewer are wrong." },
    Shown { id: "listener", values: &["full", "light"], with: "{}", scene: TUNE,
        sounds: "Much alike. *Light* misses somewhat more notes." },
    Shown { id: "listen", values: &["main", "sidechain"], with: r#"{ "mix": 50 }"#, scene: act(Act::Sidechain),
        sounds: "The notes of one track over the sound of another. In the picture the main input is strokes of noise, and the tune comes in by the sidechain." },
    Shown { id: "tuning", values: &["440", "453"], with: "{}", scene: TUNE,
        sounds: "Where it fits the music: steady, clear notes. Half a semitone off, as in the second part of the picture: thin and unsure ones, and wrong neighbours." },
    Shown { id: "auto-tuning", values: &["off", "on"], with: r#"{ "tuning": 430 }"#, scene: bars(6.0, 8.0),
        sounds: "With music that is out of tune: as clear as with the right Tuning, after some seconds. In the picture Tuning is 40 cents off." },
    Shown { id: "transpose", values: &["-12", "0", "12"], with: r#"{ "range": "published" }"#, scene: SHORT,
        sounds: "To change the pitch that you hear, use Octave or Map. With Range *From A3*, -12 reaches down to A2, and +12 begins at A4." },
];

#[rustfmt::skip]
static NOTES: [Shown; 10] = [
    Shown { id: "root", values: &["A", "D"], with: r#"{ "scale": "minor-pentatonic" }"#, scene: TUNE,
        sounds: "The root of the song keeps its melody. With a wrong root, melody notes outside that scale are lost. The tune is in A minor." },
    Shown { id: "scale", values: &["chromatic", "minor-pentatonic", "whole-tone"], with: "{}", scene: SHORT,
        sounds: "Pentatonic scales sound open and never wrong, Whole tone floats. *Auto* follows the key of the music." },
    Shown { id: "range", values: &["published", "whole"], with: "{}", scene: TUNE,
        sounds: "*From A3*: melody and chords, as published. *From E1*: basses and left hands, too." },
    Shown { id: "map", values: &["mute", "snap", "custom"], with: r#"{ "voice": "square", "scale": "minor-pentatonic", "targets": "A A A A A A A A A A A A" }"#, scene: SHORT,
        sounds: "*Mute* leaves holes where notes are outside the scale, *Snap* moves them to the nearest note of it. With *Custom* each note goes where you drag it on the keyboard under the grid: major to minor or, in the picture, all notes to A." },
    Shown { id: "voices", values: &["1", "3", "48"], with: SQUARE, scene: SHORT,
        sounds: "1 is a single line that jumps to the strongest note, 3 a console, 48 everything." },
    Shown { id: "octave", values: &["-2", "0", "2"], with: SQUARE, scene: SHORT,
        sounds: "Down: a bass that follows the music. Up: bells." },
    Shown { id: "glide", values: &["0", "300"], with: r#"{ "voice": "saw", "voices": 1, "tone": 20000 }"#, scene: TUNE,
        sounds: "Notes slide into each other, as on a synthesiser with portamento." },
    Shown { id: "vibrato", values: &["0", "100"], with: r#"{ "voice": "square", "tone": 20000 }"#, scene: act(Act::Waver),
        sounds: "At 0 % a singer becomes a machine: every pitch is exact. At 100 % the vibrato of the music remains. In the picture the tune has one of 40 cents." },
    Shown { id: "keys", values: &["off", "hold", "hold-any", "add"], with: r#"{ "scale": "custom", "custom": "000000001000" }"#, scene: Scene { bars: SHORT.bars, act: Act::HoldKeys },
        sounds: "*Hold*: the music through your chord, like a vocoder. *Hold any octave*: fuller. *Add*: your notes stand out. In the picture A4 and E5 are held, and the scale is the note F alone." },
    Shown { id: "freeze", values: &["off", "on"], with: "{}", scene: act(Act::Halfway),
        sounds: "The chord of the moment stands still, like an organ with stuck keys, until you switch it off. In the second part of the picture it is switched on halfway." },
];

#[rustfmt::skip]
static RESONATORS: [Shown; 8] = [
    Shown { id: "ring", values: &["0.05", "0.2", "2"], with: RINGING, scene: SHORT,
        sounds: "Short: dry and fast, drums come through. Long: smeared, like a cymbal or a room. In the pictures of Ring, Release, Sync and Threshold, Focus is at 0 %, so that notes ring and all bands play." },
    Shown { id: "release", values: &["10", "1000"], with: RINGING, scene: TUNE,
        sounds: "Short: levels follow every attack. Long: notes swell and stay." },
    Shown { id: "sync", values: &["1/16", "1/2"], with: RINGING, scene: TUNE,
        sounds: "With Focus at 0 %, notes fade within a note value of the song, whatever its tempo: 1/16 is tight, 1/2 a wash." },
    Shown { id: "threshold", values: &["-60", "-37", "-10"], with: RINGING, scene: SHORT,
        sounds: "High: only the loudest notes of a chord are left, and they pump. Low: inner voices, too." },
    Shown { id: "ceiling", values: &["-30", "-14", "0"], with: "{}", scene: SHORT,
        sounds: "Low: all notes equally loud, flat as on a console. High: loud notes stand out, as in the music." },
    Shown { id: "floor", values: &["-90", "-46", "-20"], with: "{}", scene: SHORT,
        sounds: "High: quiet notes and the ends of notes are cut off. Low: they stay." },
    Shown { id: "stereo", values: &["mono", "place"], with: "{}", scene: SHORT,
        sounds: "*Mono* plays in the middle. *Place* puts each note where it is in the mix. *Stereo* is the widest, and looks like *Place*. Orange is left, blue right, white the middle." },
    Shown { id: "drive", values: &["1", "40", "400"], with: r#"{ "tone": 20000 }"#, scene: SHORT,
        sounds: "1 is a soft sine, 40 a rounded square, 400 a hard one that buzzes." },
];

#[rustfmt::skip]
static CHIP_SETTINGS: [Shown; 4] = [
    Shown { id: "arp", values: &["off", "up", "fast"], with: CHIP, scene: SHORT,
        sounds: "*Up* is an arpeggio that you can follow, *Fast* the bubbling chord of old games." },
    Shown { id: "duty", values: &["12.5", "25", "50"], with: CHIP, scene: SHORT,
        sounds: "12.5 % is thin and reedy, 25 % the usual lead, 50 % hollow and round." },
    Shown { id: "attack", values: &["0", "30"], with: CHIP, scene: TUNE,
        sounds: "0 starts like a plucked note, 30 (half a second) swells like a bowed one." },
    Shown { id: "decay", values: &["0", "10", "120"], with: CHIP, scene: SHORT,
        sounds: "0 holds like an organ, 10 plucks like pizzicato, 120 fades over two seconds." },
];

#[rustfmt::skip]
static OUTPUT: [Shown; 2] = [
    Shown { id: "morph", values: &["0", "50", "100"], with: r#"{ "mix": 95, "drive": 120, "tone": 5000 }"#, scene: SHORT,
        sounds: "The orchestra turns into a console in one sweep, and back. Made for automation and for the state of a game." },
    Shown { id: "midi-out", values: &[], with: "{}", scene: TUNE,
        sounds: "It changes no sound of the plugin. What an instrument behind it plays is up to you." },
];
