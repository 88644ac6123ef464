//! Interfaces whose calls all go to nice-plug unchanged.

use super::Vst3Shim;
use nice_plug::wrapper::vst3::vst3::Steinberg::{
    IBStream,
    Vst::{
        self, BusDirection, ChannelContext::IInfoListenerTrait, IAttributeList,
        INoteExpressionControllerTrait, IProcessContextRequirementsTrait, IUnitInfoTrait,
        MediaType, NoteExpressionTypeID, NoteExpressionTypeInfo, NoteExpressionValue,
        ProgramListID, ProgramListInfo, String128, TChar, UnitID, UnitInfo,
    },
    int16, int32, tresult, uint32,
};

impl INoteExpressionControllerTrait for Vst3Shim {
    pass_on! { expressions:
        fn getNoteExpressionCount(bus: int32, channel: int16) -> int32;
        fn getNoteExpressionInfo(
            bus: int32, channel: int16, index: int32, info: *mut NoteExpressionTypeInfo
        ) -> tresult;
        fn getNoteExpressionStringByValue(
            bus: int32, channel: int16, id: NoteExpressionTypeID, value: NoteExpressionValue,
            string: *mut String128
        ) -> tresult;
        fn getNoteExpressionValueByString(
            bus: int32, channel: int16, id: NoteExpressionTypeID, string: *const TChar,
            value: *mut NoteExpressionValue
        ) -> tresult;
    }
}

impl IProcessContextRequirementsTrait for Vst3Shim {
    pass_on! { requirements:
        fn getProcessContextRequirements() -> uint32;
    }
}

impl IUnitInfoTrait for Vst3Shim {
    pass_on! { units:
        fn getUnitCount() -> int32;
        fn getUnitInfo(index: int32, info: *mut UnitInfo) -> tresult;
        fn getProgramListCount() -> int32;
        fn getProgramListInfo(index: int32, info: *mut ProgramListInfo) -> tresult;
        fn getProgramName(list: ProgramListID, index: int32, name: *mut String128) -> tresult;
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
}

impl IInfoListenerTrait for Vst3Shim {
    pass_on! { listener:
        fn setChannelContextInfos(list: *mut IAttributeList) -> tresult;
    }
}
