//! Interfaces whose calls all go to nice-plug unchanged.

use super::Vst3Shim;
use nice_plug::wrapper::vst3::vst3::Steinberg::{
    Vst::{
        ChannelContext::IInfoListenerTrait, IAttributeList, INoteExpressionControllerTrait,
        IProcessContextRequirementsTrait, NoteExpressionTypeID, NoteExpressionTypeInfo,
        NoteExpressionValue, String128, TChar,
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

impl IInfoListenerTrait for Vst3Shim {
    pass_on! { listener:
        fn setChannelContextInfos(list: *mut IAttributeList) -> tresult;
    }
}
