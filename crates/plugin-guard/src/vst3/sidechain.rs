//! Sidechain of the VST3 plugin: the second input, which a host may leave out or switch off. nice-plug 0.4.2 does not support
//! optional buses: it accepts only layouts with all channels of both inputs, and reads the second input even if it is missing.

use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Vst::{
        AudioBusBuffers, BusDirection, BusDirections_, BusInfo, BusInfo_::BusFlags_, ProcessData,
        SpeakerArrangement,
    },
    int32,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Sentinel: the host has set no arrangement, so the arrangement of nice-plug's layout applies.
const NOT_ARRANGED: u64 = u64::MAX;

/// The host's settings of the sidechain bus.
#[derive(Debug)]
pub struct Sidechain {
    /// Speakers, one bit per channel; 0 if the host has removed all of them, or [`NOT_ARRANGED`].
    pub arrangement: AtomicU64,
    /// Whether the host has switched the bus on.
    pub active: AtomicBool,
}

impl Default for Sidechain {
    fn default() -> Self {
        Self { arrangement: AtomicU64::new(NOT_ARRANGED), active: AtomicBool::new(false) }
    }
}

/// Returns whether a bus is the sidechain: the second input. The media type needs no check, as the only event bus has index 0.
pub fn is_sidechain(direction: BusDirection, index: int32) -> bool {
    direction == BusDirections_::kInput as BusDirection && index == 1
}

impl Sidechain {
    /// Returns the arrangement that the host has set, if any.
    pub fn arrangement(&self) -> Option<SpeakerArrangement> {
        let arrangement = self.arrangement.load(Ordering::Relaxed);
        (arrangement != NOT_ARRANGED).then_some(arrangement)
    }

    /// Corrects nice-plug's description of the sidechain: it is off by default, and has the channels that the host has set.
    pub fn describe(&self, info: &mut BusInfo) {
        let default_active = BusFlags_::kDefaultActive as u32;
        info.flags &= !default_active;
        if let Some(arrangement) = self.arrangement() {
            info.channelCount = arrangement.count_ones() as int32;
        }
    }

    /// Returns the main input twice, as input and as sidechain, if the sidechain is off or incomplete. `None` if it is on and
    /// complete, or there is no main input.
    pub fn replaced(&self, data: &ProcessData) -> Option<[AudioBusBuffers; 2]> {
        // SAFETY: VST3 promises as many buses as the number.
        let bus = |index| unsafe {
            (index < data.numInputs && !data.inputs.is_null())
                .then(|| *data.inputs.add(index as usize))
        };
        let main = bus(0)?;
        let fits = bus(1).is_some_and(|sidechain| {
            // SAFETY: both fields of the union are pointers to one pointer per channel.
            let complete = || unsafe {
                let channels = sidechain.__field0.channelBuffers32;
                !channels.is_null()
                    && (0..sidechain.numChannels as usize)
                        .all(|index| !(*channels.add(index)).is_null())
            };
            sidechain.numChannels == main.numChannels && complete()
        });
        (!fits || !self.active.load(Ordering::Relaxed)).then_some([main; 2])
    }
}
