//! Factory presets as VST3's program list, and the parameter that chooses one. Both exist in the shim only: they are not part of a
//! state, and do not affect other parameters' ids and indices.
//!
//! Hosts also set the parameter to the value that they have just read, for instance after loading a state. Therefore a program is
//! not loaded if the sound started from it.

use super::{Vst3Shim, fill};
use crate::{GuardedPlugin, Instance, Job, Location, Request};
use nice_plug::wrapper::vst3::vst3::{
    ComRef,
    Steinberg::{
        Vst::{ParameterInfo_::ParameterFlags_, *},
        *,
    },
};
use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Id of the parameter that chooses the program. nice-plug's ids are hashes; a test checks that none has this value.
pub const PROGRAM: ParamID = 0x7072_6F67;

const LIST: ProgramListID = 1;

pub struct Programs {
    instance: Arc<dyn Instance>,
    /// Key and name of each factory preset.
    list: Vec<(&'static str, String)>,
    /// Index of the current program: the last one that the host chose, or that the sound is known to have started from.
    current: AtomicUsize,
}

impl Programs {
    pub fn new<P: GuardedPlugin>(instance: Arc<dyn Instance>) -> Arc<Self> {
        let list = P::factory_presets().into_iter().map(|(key, info)| (key, info.name)).collect();
        Arc::new(Self { instance, list, current: AtomicUsize::new(0) })
    }

    /// Returns the number of program parameters: 1, or 0 without factory presets.
    pub fn parameters(&self) -> int32 {
        int32::from(!self.list.is_empty())
    }

    fn last_index(&self) -> f64 {
        self.list.len().saturating_sub(1) as f64
    }

    /// Returns the index of the program at `value` (0..1).
    pub fn index(&self, value: ParamValue) -> usize {
        (value.clamp(0.0, 1.0) * self.last_index()).round() as usize
    }

    /// Returns the value (0..1) of the program that the sound started from, or else of the last chosen program. Allocates.
    pub fn current(&self) -> ParamValue {
        let name = self.instance.preset();
        if let Some(index) = self.list.iter().position(|(_, title)| Some(title) == name.as_ref()) {
            self.current.store(index, Ordering::Relaxed);
        }
        self.current.load(Ordering::Relaxed) as f64 / self.last_index().max(1.0)
    }

    /// Marks the program at `value` (0..1) for [`Programs::run`], which loads it. Returns false if it is the current one.
    fn choose(&self, value: ParamValue) -> bool {
        let index = self.index(value);
        self.current.swap(index, Ordering::Relaxed) != index
    }

    /// Loads the program at `value` (0..1), unless it is the current one. Not for the audio thread.
    pub fn set(&self, value: ParamValue) {
        self.current();
        if self.choose(value) {
            self.run();
        }
    }

    /// Marks the program that a buffer of the host chooses. Returns whether it differs from the current one. For the audio thread.
    pub fn chosen_in(&self, block: &ProcessData) -> bool {
        // SAFETY: VST3 promises changes or null, and queues for each index below the count.
        unsafe {
            let Some(changes) = ComRef::from_raw(block.inputParameterChanges) else { return false };
            let queues = (0..changes.getParameterCount())
                .filter_map(|index| ComRef::from_raw(changes.getParameterData(index)));
            let mut chosen = queues.filter(|queue| queue.getParameterId() == PROGRAM);
            let (mut offset, mut value) = (0, 0.0);
            chosen.any(|queue| {
                let last = queue.getPointCount() - 1;
                queue.getPoint(last, &mut offset, &mut value) == kResultOk && self.choose(value)
            })
        }
    }

    pub fn describe(&self, info: &mut ParameterInfo) -> tresult {
        // SAFETY: zeros are valid numbers and empty texts.
        *info = unsafe { mem::zeroed() };
        (info.id, info.unitId, info.stepCount) = (PROGRAM, kRootUnitId, self.last_index() as int32);
        let flags = (ParameterFlags_::kIsProgramChange | ParameterFlags_::kIsList) as int32;
        info.flags = flags;
        fill(&mut info.title, "Program");
        fill(&mut info.shortTitle, "Program");
        kResultOk
    }

    /// Writes the name of the program at `index` to `name`.
    ///
    /// # Safety
    /// `name` must be null or have room.
    pub unsafe fn name(&self, index: usize, name: *mut String128) -> tresult {
        // SAFETY: guaranteed by the caller.
        let (Some((_, text)), Some(name)) = (self.list.get(index), unsafe { name.as_mut() }) else {
            return kInvalidArgument;
        };
        fill(name, text);
        kResultOk
    }
}

impl Job for Programs {
    /// Loads the chosen program, and asks the host to read all parameters.
    fn run(&self) {
        if let Some((key, _)) = self.list.get(self.current.load(Ordering::Relaxed)) {
            // A factory preset is always valid.
            let _ = self.instance.load_preset(Location::Factory(key));
            self.instance.link().request(Request::ReadValues);
        }
    }
}

impl IUnitInfoTrait for Vst3Shim {
    pass_on! { units:
        fn getProgramInfo(
            list: ProgramListID, index: int32, attribute: Vst::CString, value: *mut String128
        ) -> tresult;
        fn hasProgramPitchNames(list: ProgramListID, index: int32) -> tresult;
        fn getProgramPitchName(
            list: ProgramListID, index: int32, pitch: int16, name: *mut String128
        ) -> tresult;
        fn getSelectedUnit() -> UnitID;
        fn selectUnit(unit: UnitID) -> tresult;
        fn getUnitByBus(
            media: MediaType, direction: BusDirection, bus: int32, channel: int32,
            unit: *mut UnitID
        ) -> tresult;
        fn setUnitProgramData(list: int32, index: int32, data: *mut IBStream) -> tresult;
    }

    unsafe fn getUnitCount(&self) -> int32 {
        // nice-plug leaves out the root.
        // SAFETY: there are no arguments.
        1 + unsafe { self.units.getUnitCount() }
    }

    unsafe fn getUnitInfo(&self, index: int32, info: *mut UnitInfo) -> tresult {
        if index != 0 {
            // SAFETY: the host guarantees this call's contract, which is nice-plug's, too.
            return unsafe { self.units.getUnitInfo(index - 1, info) };
        }
        // SAFETY: VST3 promises room.
        let Some(info) = (unsafe { info.as_mut() }) else { return kInvalidArgument };
        // SAFETY: zeros are valid numbers and empty texts.
        *info = unsafe { mem::zeroed() };
        (info.id, info.parentUnitId) = (kRootUnitId, kNoParentUnitId);
        info.programListId = LIST;
        fill(&mut info.name, "Root");
        kResultOk
    }

    unsafe fn getProgramListCount(&self) -> int32 {
        self.programs.parameters()
    }

    unsafe fn getProgramListInfo(&self, index: int32, info: *mut ProgramListInfo) -> tresult {
        // SAFETY: VST3 promises room.
        let Some(info) = (unsafe { info.as_mut() }).filter(|_| index == 0) else {
            return kInvalidArgument;
        };
        // SAFETY: as above.
        *info = unsafe { mem::zeroed() };
        (info.id, info.programCount) = (LIST, self.programs.list.len() as int32);
        fill(&mut info.name, "Factory presets");
        kResultOk
    }

    unsafe fn getProgramName(
        &self,
        list: ProgramListID,
        index: int32,
        name: *mut String128,
    ) -> tresult {
        match usize::try_from(index) {
            // SAFETY: VST3 promises room or null.
            Ok(index) if list == LIST => unsafe { self.programs.name(index, name) },
            _ => kInvalidArgument,
        }
    }
}
