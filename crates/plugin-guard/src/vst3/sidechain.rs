//! The second input of the VST3 plugin, which a host may leave out or switch off. nice-plug 0.4.2 knows no optional buses:
//! it takes a layout with all channels of both inputs only, and reads the second one whether it is there or not.

use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Vst::{
        AudioBusBuffers, BusDirection, BusDirections_, BusInfo, BusInfo_::BusFlags_, MediaType,
        MediaTypes_, ProcessData, SpeakerArrangement,
    },
    int32,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Sentinel: the arrangement of nice-plug's layout.
const OF_THE_LAYOUT: u64 = u64::MAX;

/// The host's settings of the bus.
#[derive(Debug)]
pub struct Sidechain {
    /// The speakers, a bit for each channel; 0 if the host has taken all of them away.
    arrangement: AtomicU64,
    active: AtomicBool,
}

impl Default for Sidechain {
    fn default() -> Self {
        Self { arrangement: AtomicU64::new(OF_THE_LAYOUT), active: AtomicBool::new(false) }
    }
}

/// Returns whether the bus is the sidechain.
pub fn is_sidechain(direction: BusDirection, index: int32) -> bool {
    direction == BusDirections_::kInput as BusDirection && index == 1
}

impl Sidechain {
    /// Returns the arrangements of both inputs with which to ask nice-plug, where the host asks for `main` and `own`; `None` if
    /// they cannot be.
    pub fn arrangements(
        main: SpeakerArrangement,
        own: SpeakerArrangement,
    ) -> Option<[SpeakerArrangement; 2]> {
        (own == 0 || own.count_ones() == main.count_ones()).then_some([main; 2])
    }

    /// The host has agreed on this arrangement.
    pub fn arrange(&self, own: SpeakerArrangement) {
        self.arrangement.store(own, Ordering::Relaxed);
    }

    /// Returns the arrangement that the host has asked for, if any.
    pub fn arrangement(&self) -> Option<SpeakerArrangement> {
        let own = self.arrangement.load(Ordering::Relaxed);
        (own != OF_THE_LAYOUT).then_some(own)
    }

    /// The host has switched the bus on or off.
    pub fn activate(&self, active: bool) {
        self.active.store(active, Ordering::Relaxed);
    }

    /// Completes nice-plug's description of a bus: this one is off until the host switches it on.
    pub fn describe(&self, media: MediaType, info: &mut BusInfo) {
        if media == MediaTypes_::kAudio as MediaType {
            #[allow(clippy::unnecessary_cast, reason = "its type depends on the system")]
            let default_active = BusFlags_::kDefaultActive as u32;
            info.flags &= !default_active;
            if let Some(own) = self.arrangement() {
                info.channelCount = own.count_ones() as int32;
            }
        }
    }

    /// Returns the main input also as the sidechain, if the host has switched it off or passes no channels for it.
    pub fn replaced(&self, data: &ProcessData) -> Option<[AudioBusBuffers; 2]> {
        // SAFETY: VST3 promises as many buses as the number.
        let bus = |index| unsafe {
            (index < data.numInputs && !data.inputs.is_null())
                .then(|| *data.inputs.add(index as usize))
        };
        let main = bus(0)?;
        let fits = bus(1).is_some_and(|own| {
            // SAFETY: both fields of the union are pointers, to as many pointers as there are channels.
            let complete = || unsafe {
                let channels = own.__field0.channelBuffers32;
                !channels.is_null()
                    && (0..own.numChannels as usize).all(|index| !(*channels.add(index)).is_null())
            };
            own.numChannels == main.numChannels && complete()
        });
        (!fits || !self.active.load(Ordering::Relaxed)).then_some([main; 2])
    }
}
