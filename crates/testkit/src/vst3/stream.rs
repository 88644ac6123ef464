//! In-memory `IBStream`.

use std::{
    cell::RefCell,
    ffi::c_void,
    io::{Cursor, Read, Seek, SeekFrom, Write},
    slice,
};
use vst3::{
    Class,
    Steinberg::{IBStream_::IStreamSeekMode_, *},
};

/// In-memory stream, for use on one thread.
#[derive(Default)]
pub(super) struct Stream(RefCell<Cursor<Vec<u8>>>);

impl Stream {
    /// Creates a stream of `bytes`, positioned at the start.
    pub fn of(bytes: &[u8]) -> Self {
        Self(RefCell::new(Cursor::new(bytes.to_vec())))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.borrow().get_ref().clone()
    }
}

impl Class for Stream {
    type Interfaces = (IBStream,);
}

impl IBStreamTrait for Stream {
    unsafe fn read(&self, to: *mut c_void, count: int32, read: *mut int32) -> tresult {
        // SAFETY: VST3 promises room for `count` bytes, and that `read` is valid or null.
        let (to, read) =
            unsafe { (slice::from_raw_parts_mut(to.cast(), count as usize), read.as_mut()) };
        let length = self.0.borrow_mut().read(to).expect("a vector is read");
        read.into_iter().for_each(|read| *read = length as int32);
        kResultOk
    }

    unsafe fn write(&self, from: *mut c_void, count: int32, written: *mut int32) -> tresult {
        // SAFETY: VST3 promises `count` bytes, and that `written` is valid or null.
        let (from, written) =
            unsafe { (slice::from_raw_parts(from.cast(), count as usize), written.as_mut()) };
        self.0.borrow_mut().write_all(from).expect("a vector is written");
        written.into_iter().for_each(|written| *written = count);
        kResultOk
    }

    unsafe fn seek(&self, by: int64, mode: int32, now: *mut int64) -> tresult {
        // The type of these constants depends on the system.
        let [set, current] =
            [IStreamSeekMode_::kIBSeekSet, IStreamSeekMode_::kIBSeekCur].map(|mode| mode as int32);
        let target = match mode {
            _ if mode == set => SeekFrom::Start(by as u64),
            _ if mode == current => SeekFrom::Current(by),
            _ => SeekFrom::End(by),
        };
        let position = self.0.borrow_mut().seek(target).expect("a position in the stream");
        // SAFETY: VST3 promises that `now` is valid or null.
        unsafe { now.as_mut() }.into_iter().for_each(|now| *now = position as int64);
        kResultOk
    }

    unsafe fn tell(&self, now: *mut int64) -> tresult {
        // SAFETY: VST3 promises that `now` is valid.
        unsafe { *now = self.0.borrow().position() as int64 };
        kResultOk
    }
}
