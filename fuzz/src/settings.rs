//! Bytes as a sequence of operations on a filter.

use arbitrary::{Arbitrary, Unstructured};
use tone_filter_dsp::{
    BandMask, Controls, Kernel, KeyEvent, Keys, Map, PitchClass, PitchClasses, SPECS, Scale,
    Settings, Stereo, Targets, ToneFilter, Voice,
};

/// The most samples in all blocks together, which bounds the time of an input.
const LONGEST: usize = 1 << 12;

#[derive(Debug, Arbitrary)]
struct Session {
    rate: Rate,
    kernel: u8,
    steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
enum Rate {
    Usual(u8),
    Any(f64),
}

#[derive(Debug, Arbitrary)]
enum Step {
    /// A normalised value for a numeric setting.
    Place(u8, u16),
    /// Any value for a numeric setting.
    Any(u8, f32),
    Choices {
        /// One bit each for stereo, auto and lookahead; the bits above are the voice.
        switches: u8,
        bypass: bool,
        /// Two bits for the keys, one each for freeze and auto tuning.
        play: u8,
        root: u8,
        scale: u8,
    },
    /// The bits of the bands are those of the targets, too, and the bits above the custom scale are the map.
    Bands {
        bands: u64,
        custom: u16,
    },
    Reset,
    Block(Block),
    Key(u8, f32),
    KeyGain(u8, f32),
    Sustain(bool),
    Bend(f32),
    ReleaseKeys,
}

#[derive(Debug, Arbitrary)]
struct Block {
    channels: u8,
    frames: u16,
    /// Where the block is divided into two for a second filter.
    cut: u16,
    /// Repeated until the block is full.
    samples: Vec<f32>,
}

/// The output is always finite and at most the sum of the dry and the bounded wet signal, values out of range change
/// nothing, and the output does not depend on how the signal is divided into blocks.
pub fn check(bytes: &[u8]) {
    let Ok(session) = Session::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let mut controls = Controls::from(Settings::REFERENCE);
    let rate = match session.rate {
        Rate::Usual(index) => {
            const USUAL: [f64; 7] = [1000.0, 8000.0, 44_100.0, 48_000.0, 192_000.0, 768_000.0, 1e9];
            USUAL[usize::from(index) % USUAL.len()]
        }
        Rate::Any(rate) => rate,
    };
    let Ok(filter) = ToneFilter::new(rate, &controls.settings) else {
        assert!(!(1000.0..=1e9).contains(&rate), "{rate} Hz is a rate");
        return;
    };
    let kernels: Vec<Kernel> = Kernel::available().collect();
    let filter = filter.with_kernel(kernels[usize::from(session.kernel) % kernels.len()]);
    let mut filters = [filter.clone(), filter];
    let mut bounds = Bounds::new(&controls);
    let mut left = LONGEST;
    for step in session.steps {
        let settings = &mut controls.settings;
        match step {
            Step::Place(index, place) => {
                let spec = &SPECS[usize::from(index) % SPECS.len()];
                let share = f32::from(place) / f32::from(u16::MAX);
                let value = spec.min + share * (spec.max - spec.min);
                spec.set(settings, value.clamp(spec.min, spec.max));
            }
            Step::Any(index, value) => {
                let spec = &SPECS[usize::from(index) % SPECS.len()];
                let mut odd = *settings;
                spec.set(&mut odd, value);
                if spec.check(value).is_err() {
                    for filter in &mut filters {
                        filter.set_settings(&odd).unwrap_err();
                        assert_eq!(filter.settings(), settings);
                    }
                    continue;
                }
                *settings = odd;
            }
            Step::Choices { switches, bypass, play, root, scale } => {
                let on = |bit: u8| switches >> bit & 1 == 1;
                settings.stereo = if on(0) { Stereo::Stereo } else { Stereo::Mono };
                (settings.auto, settings.lookahead) = (on(1), on(2));
                settings.voice = Voice::ALL[usize::from(switches >> 3) % Voice::ALL.len()];
                controls.routing.bypass = bypass;
                settings.keys = Keys::ALL[usize::from(play & 3)];
                (settings.freeze, settings.auto_tuning) = (play & 4 != 0, play & 8 != 0);
                settings.root = PitchClass::new(root.into());
                settings.scale = Scale::ALL[usize::from(scale) % Scale::ALL.len()];
            }
            Step::Bands { bands, custom } => {
                settings.bands = BandMask::from_bits([bands, bands.reverse_bits()]);
                settings.custom = (0..12).fold(PitchClasses::NONE, |classes, class| {
                    classes.with(class, custom >> class & 1 == 1)
                });
                settings.map = Map::ALL[usize::from(custom >> 12) % Map::ALL.len()];
                settings.targets = (0..12).fold(Targets::IDENTITY, |targets, class| {
                    targets.with(class, PitchClass::new((bands >> (5 * class) & 31) as usize))
                });
            }
            Step::Reset => {
                filters.iter_mut().for_each(ToneFilter::reset);
                bounds = Bounds::new(&controls);
            }
            Step::Block(block) => play(&mut filters, &mut bounds, &block, &mut left),
            Step::Key(note, velocity) => {
                filters.iter_mut().for_each(|f| f.play(KeyEvent::Key(note, velocity)))
            }
            Step::KeyGain(note, gain) => {
                filters.iter_mut().for_each(|f| f.play(KeyEvent::Gain(note, gain)))
            }
            Step::Sustain(down) => filters.iter_mut().for_each(|f| f.play(KeyEvent::Sustain(down))),
            Step::Bend(semitones) => {
                filters.iter_mut().for_each(|f| f.play(KeyEvent::Bend(semitones)))
            }
            Step::ReleaseKeys => filters.iter_mut().for_each(|f| f.play(KeyEvent::ReleaseAll)),
        }
        for filter in &mut filters {
            filter.set_settings(&controls.settings).unwrap();
            filter.set_routing(controls.routing);
        }
        bounds.include(&controls);
    }
}

fn play(filters: &mut [ToneFilter; 2], bounds: &mut Bounds, block: &Block, left: &mut usize) {
    let frames = usize::from(block.frames).min(*left);
    *left -= frames;
    let mut samples = block.samples.iter().copied().chain([0.0]).cycle();
    let input: Vec<Vec<f32>> =
        (0..block.channels % 4).map(|_| samples.by_ref().take(frames).collect()).collect();

    let [mut whole, mut cut] = [input.clone(), input.clone()];
    filters[0].process(&mut whole.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
    let at = usize::from(block.cut).min(frames);
    let (mut before, mut after): (Vec<_>, Vec<_>) =
        cut.iter_mut().map(|channel| channel.split_at_mut(at)).unzip();
    filters[1].process(&mut before);
    filters[1].process(&mut after);
    assert_eq!(whole, cut);

    let magnitude = |x: &f32| if x.is_finite() { f64::from(x.abs()) } else { 0.0 };
    bounds.peak = input.iter().flatten().map(magnitude).fold(bounds.peak, f64::max);
    for (input, output) in input.iter().flatten().zip(whole.iter().flatten()) {
        let dry = magnitude(input);
        assert!(f64::from(output.abs()) <= bounds.of(dry), "{output} of {input}, {bounds:?}");
    }
    let bands = filters[0].bands();
    assert_eq!(bands, filters[1].bands());
    assert!(bands.total_power.is_finite());
    for band in bands.bands {
        let [sine, cosine] = band.phasor;
        let finite =
            [band.power, band.ratio, band.angular_frequency, sine, cosine, band.wave(1e-3)];
        assert!(finite.iter().all(|number| number.is_finite()), "{band:?}");
    }
}

/// The most of the dry and of the wet signal in the output, with all the settings since the last reset: on
/// its way from one to the next, a level is between the two.
#[derive(Debug)]
struct Bounds {
    dry_share: f64,
    wet_share: f64,
    gain: f64,
    bypass: f64,
    /// Whether there was a level to follow, or a delay.
    remembers: bool,
    /// The largest input.
    peak: f64,
}

impl Bounds {
    fn new(controls: &Controls) -> Self {
        let mut bounds = Self {
            dry_share: 0.0,
            wet_share: 0.0,
            gain: 0.0,
            bypass: 0.0,
            remembers: false,
            peak: 0.0,
        };
        bounds.include(controls);
        bounds
    }

    fn include(&mut self, Controls { settings, routing }: &Controls) {
        let morph = f64::from(settings.morph) / 100.0;
        let mix = morph * f64::from(settings.mix) / 100.0;
        self.dry_share = self.dry_share.max(1.0 - mix);
        self.wet_share = self.wet_share.max(mix);
        self.gain = self.gain.max(10f64.powf(morph * f64::from(settings.output) / 20.0));
        self.bypass = self.bypass.max(f64::from(u8::from(routing.bypass)));
        self.remembers |= settings.auto || settings.lookahead;
    }

    /// The bound of the output for that input: the wet signal is at most 1, and with auto level the mix is at most full
    /// scale or the largest input.
    fn of(&self, dry: f64) -> f64 {
        let bound = match self.remembers {
            true => self.gain.max(self.bypass) * (self.peak + 1.0),
            false => {
                (self.gain * self.dry_share).max(self.bypass) * dry + self.gain * self.wet_share
            }
        };
        // As good as single precision is.
        bound * (1.0 + 1e-5)
    }
}
