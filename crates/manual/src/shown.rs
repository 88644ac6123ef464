//! The manual's table of settings: description of the sound, and content of the picture.

/// Description and picture of a setting in the manual.
#[derive(Debug)]
pub struct Shown {
    /// Id of the setting.
    pub id: &'static str,
    /// Description of the sound.
    pub sounds: &'static str,
    /// Values in the picture, from left to right. Empty if the effect is inaudible, or too small to see.
    pub values: &'static [&'static str],
    /// Further settings in the picture, as JSON. All others have their defaults, except a mix of 100 %.
    pub with: &'static str,
    /// Excerpt of the demo tune in the picture, and the act.
    pub scene: Scene,
}

/// Content of a picture: an excerpt of the demo tune, and an act.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scene {
    /// First bar and end bar (exclusive), counted from 0.
    pub bars: [f64; 2],
    /// Act during the excerpt.
    pub act: Act,
}

/// Change of the tune, the filter's main input, the keys or the settings for a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Act {
    /// Plays the tune unchanged.
    Play,
    /// Attenuates the tune by 30 dB before the filter, and amplifies the result by 30 dB.
    Quieter,
    /// Adds a vibrato of 40 cents to the tune.
    Vibrato,
    /// Holds the keys A4 and E5.
    HoldKeys,
    /// Starts with Freeze off, and sets the picture's value in the middle of the excerpt.
    Halfway,
    /// Replaces the main input by a burst of noise on every eighth. The tune comes in through the sidechain.
    Sidechain,
}

const fn bars(from: f64, to: f64) -> Scene {
    Scene { bars: [from, to], act: Act::Play }
}

/// Two bars with melody, chords, bass, drums and arpeggio.
const TUNE: Scene = bars(2.0, 4.0);
/// The first bar of [`TUNE`].
const SHORT: Scene = bars(2.0, 3.0);

const fn act(act: Act) -> Scene {
    Scene { bars: TUNE.bars, act }
}

const CHIP: &str = r#"{ "voice": "chip", "voices": 3, "tone": 20000 }"#;
const SQUARE: &str = r#"{ "voice": "square", "tone": 20000 }"#;
const RINGING: &str = r#"{ "focus": 0, "drive": 8 }"#;

/// All settings except the texts, by group, in the order of the plugin's window.
#[rustfmt::skip]
pub static SHOWN: [(&str, &[Shown]); 6] = [
    ("Main", &[
        Shown { id: "mix", values: &["0", "50", "100"], with: "{}", scene: SHORT,
            sounds: "At 0 % you hear the music as it is. Around 50 % every note of the music has a square edge. At 100 % you hear the notes alone, and silence where no note is found. With Auto level, the loudness is the same at every Mix." },
        Shown { id: "voice", values: &["soft", "sine", "square", "pulse25", "pulse12", "triangle", "saw", "chip", "soft-clean"], with: r#"{ "tone": 20000 }"#, scene: bars(2.0, 2.5),
            sounds: "*Soft* is the sound of NieR: a rounded square with some grit. *Sine* sounds like an organ or a whistle, and *Triangle* sounds like a flute. *Square* is hollow, the two pulses are thin and nasal, and *Saw* is bright like strings. *Chip* is a whole console: with noise for drums, and with a bass that is on or off, without a volume of its own. *Soft clean* is Soft without the grit." },
        Shown { id: "sensitivity", values: &["0", "50", "100"], with: "{}", scene: SHORT,
            sounds: "At low values only the clearest notes play: you hear clean lines with gaps. At high values fast, quiet and dense notes play, too, and so do some notes that are not in the music." },
        Shown { id: "tone", values: &["500", "4865", "20000"], with: r#"{ "voice": "square" }"#, scene: SHORT,
            sounds: "Low values sound dull, as if through a wall. The default takes the sharpness off. At 20000 Hz hardly anything is softened: the sound is bright and hard." },
        Shown { id: "output", values: &["-24", "0"], with: "{}", scene: TUNE,
            sounds: "Output makes the result louder or quieter, and changes nothing else." },
        Shown { id: "bypass", values: &["off", "on"], with: "{}", scene: TUNE,
            sounds: "You hear the music as it is. There is no click when you switch." },
    ]),
    ("Listening", &[
        Shown { id: "auto", values: &["off", "on"], with: "{}", scene: act(Act::Quieter),
            sounds: "When Auto level is off, quiet music loses its notes, and Mix changes the loudness. When Auto level is on, quiet and loud music sound alike. For the picture, the tune was played 30 dB quieter." },
        Shown { id: "focus", values: &["0", "50", "100"], with: r#"{ "voice": "sine", "stereo": "mono" }"#, scene: bars(2.0, 2.5),
            sounds: "At 0 % every resonator sounds, and overtones and drums make resonators sound, too: you hear a blurred, metallic cloud. At 100 % only the notes that are played sound. The picture shows the voice Sine." },
        Shown { id: "lookahead", values: &[], with: "{}", scene: TUNE,
            sounds: "With Lookahead, notes start closer to the right moment, and fewer notes are wrong." },
        Shown { id: "listener", values: &["full", "light"], with: "{}", scene: TUNE,
            sounds: "Both sound much alike. *Light* misses somewhat more notes." },
        Shown { id: "listen", values: &["main", "sidechain"], with: r#"{ "mix": 50 }"#, scene: act(Act::Sidechain),
            sounds: "You hear the notes of one track over the sound of another track. In the picture the main input is a series of noise bursts, and the tune comes in through the sidechain." },
        Shown { id: "tuning", values: &["440", "453"], with: "{}", scene: TUNE,
            sounds: "When Tuning fits the music, the notes are steady and clear. In the second part of the picture, Tuning is half a semitone off: the notes are thin and unsteady, and wrong neighbours sound." },
        Shown { id: "auto-tuning", values: &["off", "on"], with: r#"{ "tuning": 430 }"#, scene: bars(6.0, 8.0),
            sounds: "After some seconds, music that is out of tune sounds as clear as with the right Tuning. In the picture, Tuning is 40 cents off." },
        Shown { id: "transpose", values: &["-12", "0", "12"], with: r#"{ "range": "published" }"#, scene: SHORT,
            sounds: "Use Transpose if the music has notes below or above the range. With Range at *From E1*, the lowest note is E0 at -12 st and E2 at 12 st. In the picture, Range is at *From A3*: the lowest note is A2, then A3, then A4. Whole octaves are best, because Scale and the names in the grid do not move along. To change the pitch that you hear, use Octave or Map." },
    ]),
    ("Note", &[
        Shown { id: "root", values: &["A", "D"], with: r#"{ "scale": "minor-pentatonic" }"#, scene: TUNE,
            sounds: "With the right root the melody stays complete. With a wrong root, the melody loses the notes outside the scale. The tune is in A minor." },
        Shown { id: "scale", values: &["chromatic", "minor-pentatonic", "whole-tone"], with: "{}", scene: SHORT,
            sounds: "Pentatonic scales sound open and never wrong. Whole tone seems to float. *Auto* follows the key of the music." },
        Shown { id: "range", values: &["published", "whole"], with: "{}", scene: TUNE,
            sounds: "*From A3* finds melody and chords. *From E1* finds basses and left hands, too. Hans-Kristian Arntzen published the filter from which this project started." },
        Shown { id: "map", values: &["mute", "snap", "custom"], with: r#"{ "voice": "square", "scale": "minor-pentatonic", "targets": "A A A A A A A A A A A A" }"#, scene: SHORT,
            sounds: "*Mute* leaves holes where notes are outside the scale. *Snap* moves these notes into the scale. With *Custom*, drag each key of the keyboard under the grid to the key at which it should sound: so major becomes minor. The picture has the scale A minor pentatonic. In its last part, all notes are dragged to A." },
        Shown { id: "voices", values: &["1", "3", "48"], with: SQUARE, scene: SHORT,
            sounds: "At 1 you hear a single line that jumps to the strongest note. At 3 you hear as many notes as an old console plays. At 48 all notes sound." },
        Shown { id: "octave", values: &["-2", "0", "2"], with: SQUARE, scene: SHORT,
            sounds: "Lower octaves make a bass that follows the music. Higher octaves sound like bells." },
        Shown { id: "glide", values: &["0", "300"], with: r#"{ "voice": "saw", "voices": 1, "tone": 20000 }"#, scene: TUNE,
            sounds: "Notes slide into each other, as on a synthesiser with portamento." },
        Shown { id: "vibrato", values: &["0", "100"], with: r#"{ "voice": "square", "tone": 20000 }"#, scene: act(Act::Vibrato),
            sounds: "At 0 % a singer sounds like a machine, because every pitch is exact. At 100 % the vibrato of the music remains. In the picture the tune has a vibrato of 40 cents." },
        Shown { id: "keys", values: &["off", "hold", "hold-any", "add"], with: r#"{ "scale": "custom", "custom": "000000001000" }"#, scene: Scene { bars: SHORT.bars, act: Act::HoldKeys },
            sounds: "With *Hold* you hear the music through your chord, like a vocoder. *Hold any octave* sounds fuller. With *Add* your notes stand out. In the picture the keys A4 and E5 are held. Its scale has only the note F, so that you can tell the held keys from the notes that play anyway." },
        Shown { id: "freeze", values: &["off", "on"], with: "{}", scene: act(Act::Halfway),
            sounds: "The chord of the moment stands still, like an organ with stuck keys, until you switch Freeze off. In the second part of the picture, Freeze is switched on halfway." },
    ]),
    ("Resonator", &[
        Shown { id: "ring", values: &["0.05", "0.2", "2"], with: RINGING, scene: SHORT,
            sounds: "A short Ring follows fast notes. It sounds dry, and drums come through. A long Ring keeps neighbouring notes separate. It smears the notes, like a cymbal or a room. At a Focus of 100 %, Ring changes little, because each note ends when the music's note ends. In the pictures of Ring, Release, Sync and Threshold, Focus is at 0 %, so that notes ring and all bands play." },
        Shown { id: "release", values: &["10", "1000"], with: RINGING, scene: TUNE,
            sounds: "With a short Release, levels follow every attack. With a long Release, notes swell and stay. At a Focus of 100 %, each note ends when the music's note ends. With Focus above 0 % and any voice but *Soft*, notes follow the music within 5 ms: Release then only sets how fast Threshold and Ceiling follow the level of the whole sound." },
        Shown { id: "sync", values: &["1/16", "1/2"], with: RINGING, scene: TUNE,
            sounds: "With Focus at 0 %, notes fade within a note value of the song, whatever its tempo. 1/16 sounds tight. With 1/2 the notes blur into each other." },
        Shown { id: "threshold", values: &["-60", "-37", "-10"], with: RINGING, scene: SHORT,
            sounds: "At high values only the loudest notes of a chord are left, and they pump. At low values you hear the inner voices, too. Threshold compares a note with the whole sound of this moment. Floor compares it with the level of the last seconds (with Auto level). The higher of the two limits counts." },
        Shown { id: "ceiling", values: &["-30", "-14", "0"], with: "{}", scene: SHORT,
            sounds: "A low Ceiling makes all notes equally loud, flat as on a console. With a high Ceiling, loud notes stand out as in the music." },
        Shown { id: "floor", values: &["-90", "-46", "-20"], with: "{}", scene: SHORT,
            sounds: "A high Floor cuts off quiet notes and the ends of notes. A low Floor keeps them. Without Auto level, the Floor is a fixed level: lower it for quiet music." },
        Shown { id: "stereo", values: &["mono", "place"], with: "{}", scene: SHORT,
            sounds: "*Mono* is the narrowest. *Place* keeps much of the width of the mix. *Stereo* is the widest. A picture of *Stereo* would look like the picture of *Place*." },
        Shown { id: "drive", values: &["1", "40", "400"], with: r#"{ "tone": 20000 }"#, scene: SHORT,
            sounds: "1 is a soft sine, 40 is a rounded square, and 400 is a hard square that buzzes." },
    ]),
    ("Chip", &[
        Shown { id: "arp", values: &["off", "up", "fast"], with: CHIP, scene: SHORT,
            sounds: "*Up* is an arpeggio that you can follow. *Fast* is the bubbling chord of old games. Set Voice to *Chip* and Voices to a low number such as 3: at 48, no note is left to take turns. In the picture, Voices is at 3." },
        Shown { id: "duty", values: &["12.5", "25", "50"], with: CHIP, scene: SHORT,
            sounds: "12.5 % is thin and reedy, 25 % is the usual lead, and 50 % is hollow and round." },
        Shown { id: "attack", values: &["0", "30"], with: CHIP, scene: TUNE,
            sounds: "At 0 a note starts at once, like a plucked string. At 30 (half a second) it swells like a bowed string. Attack and Decay do not change the bass." },
        Shown { id: "decay", values: &["0", "10", "120"], with: CHIP, scene: SHORT,
            sounds: "At 0 notes hold like an organ. At 10 they are plucked like pizzicato. At 120 they fade over two seconds." },
    ]),
    ("Output", &[
        Shown { id: "morph", values: &["0", "50", "100"], with: r#"{ "mix": 95, "drive": 120, "tone": 5000 }"#, scene: SHORT,
            sounds: "In one sweep, an orchestra turns into a console and back. Morph moves Mix, Output, Drive and Tone together. It is made for automation and for games, where it can follow the state of the game." },
        Shown { id: "midi-out", values: &[], with: "{}", scene: TUNE,
            sounds: "MIDI out does not change the sound of the plugin. You hear the notes only through the instrument that receives them." },
        Shown { id: "mpe", values: &[], with: "{}", scene: TUNE,
            sounds: "The receiving instrument must be set to MPE, with a bend range of 48 semitones. Then it plays vibrato, slides and the exact tuning of each note." },
        Shown { id: "sync-to", values: &[], with: "{}", scene: TUNE,
            sounds: "Host needs nothing but a tempo in the project. Music finds the tempo of a recording whose tempo nobody knows, within some seconds, and follows it when it changes. It may take half or twice the tempo: then choose the note value above or below." },
    ]),
];
