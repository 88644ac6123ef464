//! Reasons why no note sounds in a file.

use crate::level::Level;
use tone_filter_dsp::{
    BandMask, BandRange, BandState, Bands, Keys, Scale, Settings, Stereo, ToneFilter,
    notes::{TONES, by_pitch, name_at, of_listener},
};
use tone_filter_song::found::Finder;

/// Minimum difference in cents between the music's tuning and the bands' at which the music counts as out of tune.
const OFF_TUNE: f64 = 30.0;

/// Left and right count as cancelling if the power of their mean is at most this fraction of the mean of their powers: -20 dB.
const CANCELS: f64 = 0.01;

/// Reason why no note sounds, or a warning ([`Self::Cancelled`]). `Display` writes it with a remedy.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Cause {
    /// All samples are 0.
    #[error("no note sounds, as the input is silent; check the recording")]
    Silent,
    /// Left and right cancel in their mean, which the bands get as input.
    #[error(
        "left and right are of opposite polarity and cancel in their mean, which the bands hear; add --stereo stereo"
    )]
    Cancelled,
    /// The setting `freeze` holds the bands in the silence before the file.
    #[error(
        "no note sounds, as the bands are frozen in the silence before the file; add --freeze=off"
    )]
    Frozen,
    /// All detected notes are muted. The fields are the command's flag that mutes them, the lowest detected band, and the pitch
    /// shift of the output in semitones.
    #[error("no note sounds, as {0} mutes all that were detected, like {note}; {remedy}", note = name_at(*.1, *.2), remedy = remedy_for(.0))]
    Muted(&'static str, usize, f32),
    /// No detected note had its key held.
    #[error("no note was detected while its key was held; try other keys, or --key-mode hold-any")]
    Keys,
    /// The score plays no note within the file.
    #[error("no note of the score is played in the file; give the score of this music")]
    Score,
    /// The sound is too quiet. The fields are the maximum level of the sound and the setting `floor`, both in dB full scale.
    #[error(
        "no note was detected, as the sound is at {0:.0} dB and --floor at {1:.0} dB; add --auto, which adapts to any level, or lower --floor"
    )]
    Quiet(f32, f32),
    /// The music is out of tune with the bands. The fields are the frequency of A4 in the music, and that of the bands, in Hz.
    #[error(
        "no note was detected, as the music is tuned to A4 = {0:.1} Hz, between the notes of --tuning {1}; add --auto-tuning, or --tuning {0:.1}"
    )]
    OffTune(f64, f32),
    /// No pitched sound was detected by the listener.
    #[error(
        "no note was detected, as in drums, noise and speech; raise --sensitivity, or render with --focus 0, which lets all bands sound"
    )]
    Unpitched,
    /// No pitched sound was detected at a focus of 0 %.
    #[error("no note was detected, as in drums, noise and speech; lower --threshold")]
    UnpitchedWithoutFocus,
    /// All notes are below the threshold or the floor. The field is the beginning of the remedy.
    #[error("no note was strong enough; {0}lower --threshold or --floor")]
    Weak(&'static str),
}

/// Returns the remedy if `flag` mutes all detected notes.
fn remedy_for(flag: &str) -> &'static str {
    match flag {
        "--range" => "add --range whole",
        "--scale" => "choose another --scale, --root or --custom",
        _ => "switch more of them on",
    }
}

/// Observer of a filter's input, decisions and bands. Finds out why no note sounds.
#[derive(Debug, Clone)]
pub struct Unheard {
    /// Whether a band has sounded.
    has_sounded: bool,
    /// Whether the voice Chip has played noise.
    has_noise: bool,
    /// Bands whose notes were detected.
    detected: BandMask,
    /// Bands whose notes were detected while the bands were not muted.
    unmuted: BandMask,
    finder: Finder,
    frames: u64,
    /// Maximum power of the input, 1 at full scale.
    loudest: f32,
    /// Sum over all frames of a stereo input: power of the mean of left and right.
    power_of_mean: f64,
    /// Sum over all frames of a stereo input: mean of the powers of left and right.
    mean_power: f64,
}

impl Default for Unheard {
    fn default() -> Self {
        Self {
            has_sounded: false,
            has_noise: false,
            detected: BandMask::NONE,
            unmuted: BandMask::NONE,
            finder: Finder::default(),
            frames: 0,
            loudest: 0.0,
            power_of_mean: 0.0,
            mean_power: 0.0,
        }
    }
}

impl Unheard {
    /// Records the power of a stereo input, and of the mean of its channels. Ignores other inputs.
    pub fn add_input(&mut self, channels: &[Vec<f32>]) {
        let [left, right] = channels else { return };
        for (left, right) in left.iter().zip(right).map(|(l, r)| (f64::from(*l), f64::from(*r))) {
            self.power_of_mean += (0.5 * (left + right)).powi(2);
            self.mean_power += 0.5 * (left * left + right * right);
        }
    }

    /// Records the filter's decisions. Must be called after each of the filter's blocks. Does nothing once a note has sounded.
    pub fn push(&mut self, filter: &ToneFilter) {
        let decisions = filter.decisions();
        if self.has_sounded || decisions.frames == self.frames {
            return;
        }
        self.frames = decisions.frames;
        self.has_noise |= filter.chip().is_some_and(|tick| tick.noise.amplitude > 0.0);
        self.finder.push(filter);
        let sounding = filter.sounding_bands();
        for (note, on) in decisions.on.iter().enumerate() {
            if let Some(tone) = of_listener(note).filter(|_| *on) {
                self.detected = self.detected.with(tone, true);
                if sounding.contains(tone) {
                    self.unmuted = self.unmuted.with(tone, true);
                }
            }
        }
    }

    /// Records which bands sound, and the power of the input. Must be called several times a second.
    pub fn observe_bands(&mut self, bands: &Bands) {
        self.has_sounded |= bands.bands.iter().any(|band| band.state != BandState::Inactive);
        self.loudest = self.loudest.max(bands.total_power);
    }

    /// Returns the reason why no note has sounded; `None` if one has. If the bands get the mean of left and right, and
    /// these cancel in it, returns [`Cause::Cancelled`], even if notes have sounded. `settings` are the filter's, `has_score`
    /// says whether it plays a score, and `input` is the level of the whole input.
    pub fn cause(&self, settings: &Settings, has_score: bool, input: &Level) -> Option<Cause> {
        let cancels = self.mean_power > 0.0 && self.power_of_mean <= CANCELS * self.mean_power;
        if cancels && settings.stereo != Stereo::Stereo {
            return Some(Cause::Cancelled);
        }
        if self.has_sounded {
            return None;
        }
        let Settings { auto, floor, focus, tuning, .. } = *settings;
        let level = 10.0 * libm::log10f(self.loudest);
        let tuned = self.finder.found(settings).tuning;
        let cents = |a4: f64| 1200.0 * libm::log2(a4 / f64::from(tuning));
        let off = tuned.filter(|a4| cents(*a4).abs() >= OFF_TUNE);
        Some(if input.peak == 0.0 {
            Cause::Silent
        } else if settings.freeze {
            Cause::Frozen
        } else if self.detected != BandMask::NONE && self.unmuted == BandMask::NONE {
            self.muted(settings)
        } else if !auto && level < floor {
            Cause::Quiet(level, floor)
        } else if let Some(a4) = off {
            Cause::OffTune(a4, tuning)
        } else if self.frames == 0 || self.detected != BandMask::NONE {
            Cause::Weak(match (auto, focus > 0.0) {
                (false, _) => "add --auto, which adapts to any level, or ",
                (true, true) => "render with --focus 0, which lets all bands sound, or ",
                (true, false) => "",
            })
        } else if has_score {
            Cause::Score
        } else if self.has_noise {
            // Drums need no notes.
            return None;
        } else if focus == 0.0 {
            Cause::UnpitchedWithoutFocus
        } else {
            Cause::Unpitched
        })
    }

    /// Returns why all detected notes are muted: [`Cause::Keys`], or [`Cause::Muted`] with the flag that mutes them.
    fn muted(&self, settings: &Settings) -> Cause {
        let sounds = |settings: Settings| {
            settings.sounding_bands().intersection(self.detected) != BandMask::NONE
        };
        let in_range = settings.range.bands().intersection(self.detected) != BandMask::NONE;
        if matches!(settings.keys, Keys::Hold | Keys::HoldAny) && in_range {
            return Cause::Keys;
        }
        let flag = if sounds(Settings { range: BandRange::Whole, ..*settings }) {
            "--range"
        } else if sounds(Settings { scale: Scale::Chromatic, ..*settings }) {
            "--scale"
        } else {
            "--bands"
        };
        let lowest = by_pitch().find(|tone| self.detected.contains(*tone));
        Cause::Muted(flag, lowest.unwrap_or(TONES - 1), settings.pitch_shift())
    }
}
