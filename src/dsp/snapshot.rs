//! What the bands hold at one moment: taken in no time on an audio thread, read where there is time.

use super::{
    bands::{Band, Bands},
    kernel::{Lanes, State},
};

/// The memory of a filter's bands, and what it takes to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// What the bank of all channels or of the left one hears.
    pub first: Ear,
    /// What the bank of the right channel hears, if there is one.
    pub second: Option<Ear>,
    /// What the bands are tuned to.
    pub tones: Tones,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate, as power.
    pub floor: f32,
}

/// The memory of a bank.
#[derive(Debug, Clone, PartialEq)]
pub struct Ear {
    /// That of its bands.
    pub state: State,
    /// Tracked power of the input, 1 at full scale.
    pub total_power: f32,
}

/// What a picture of the bands needs to know of their resonators.
#[derive(Debug, Clone, PartialEq)]
pub struct Tones {
    /// Angle of each tone's oscillation, radians a second.
    pub angular_frequency: Lanes,
    /// What [`State::lo`] weighs in the oscillation a quarter of a period ago.
    pub of_lo: Lanes,
    /// What [`State::bp`] weighs there.
    pub of_bp: Lanes,
}

impl Tones {
    /// Tuned to nothing.
    pub const ZERO: Self =
        Self { angular_frequency: Lanes::ZERO, of_lo: Lanes::ZERO, of_bp: Lanes::ZERO };
}

impl Default for Snapshot {
    /// A filter that has heard nothing.
    fn default() -> Self {
        Self {
            first: Ear { state: State::ZERO, total_power: 0.0 },
            second: None,
            tones: Tones::ZERO,
            drive: 0.0,
            threshold: 0.0,
            ceiling: 0.0,
            floor: 1.0,
        }
    }
}

impl Snapshot {
    /// What the bands hear. With two banks, each band of the one in which it is stronger.
    pub fn read(&self) -> Bands {
        let mut heard = self.hear(&self.first);
        if let Some(second) = &self.second {
            let second = self.hear(second);
            heard.total_power = heard.total_power.max(second.total_power);
            for (heard, other) in heard.bands.iter_mut().zip(second.bands) {
                if other.power > heard.power {
                    *heard = other;
                }
            }
        }
        heard
    }

    fn hear(&self, ear: &Ear) -> Bands {
        let total_power = ear.total_power;
        let gate = (self.threshold * total_power).max(self.floor);
        let ceiling = self.ceiling * total_power;
        let bands = std::array::from_fn(|tone| Band {
            angular_frequency: self.tones.angular_frequency.0[tone],
            drive: self.drive,
            ..Band::new(
                self.phasor(&ear.state, tone),
                ear.state.power.0[tone],
                total_power,
                gate,
                ceiling,
            )
        });
        Bands { bands, total_power }
    }

    /// The tone's oscillation now and a quarter of a period ago, from the two integrators: when
    /// `bp = A cos(p)`, the loop holds `lo = A (2 sin(w/2) / fall) sin(p - w/2)`, so
    /// `A sin(p) = lo fall / sin(w) + bp tan(w/2)`.
    fn phasor(&self, state: &State, tone: usize) -> [f32; 2] {
        let (lo, bp) = (state.lo.0[tone], state.bp.0[tone]);
        [bp, lo * self.tones.of_lo.0[tone] + bp * self.tones.of_bp.0[tone]]
    }
}
