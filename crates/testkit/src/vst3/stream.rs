//! In-memory `IBStream`.

use std::{
    ffi::c_void,
    sync::{Mutex, PoisonError},
};
use vst3::{
    Class,
    Steinberg::{
        IBStream, IBStream_::IStreamSeekMode_, IBStreamTrait, int32, int64, kResultOk, tresult,
    },
};

/// In-memory stream: its bytes, and the current position in bytes.
#[derive(Default)]
pub(super) struct Stream(Mutex<(Vec<u8>, usize)>);

impl Stream {
    /// Creates a stream of `bytes`, positioned at the start.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Mutex::new((bytes.to_vec(), 0)))
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

impl Class for Stream {
    type Interfaces = (IBStream,);
}

impl IBStreamTrait for Stream {
    unsafe fn read(&self, to: *mut c_void, count: int32, read: *mut int32) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let part = &bytes[*at..bytes.len().min(*at + count as usize)];
        *at += part.len();
        // SAFETY: VST3 promises room for `count` bytes. `read` is valid or null.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(part.as_ptr(), part.len());
            if let Some(read) = read.as_mut() {
                *read = part.len() as int32;
            }
        }
        kResultOk
    }

    unsafe fn write(&self, from: *mut c_void, count: int32, written: *mut int32) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: VST3 promises `count` bytes. `written` is valid or null.
        unsafe {
            bytes.extend(std::slice::from_raw_parts(from.cast::<u8>(), count as usize));
            if let Some(written) = written.as_mut() {
                *written = count;
            }
        }
        *at = bytes.len();
        kResultOk
    }

    unsafe fn seek(&self, by: int64, mode: int32, now: *mut int64) -> tresult {
        let (bytes, at) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The type of these constants depends on the system.
        let [set, current] =
            [IStreamSeekMode_::kIBSeekSet, IStreamSeekMode_::kIBSeekCur].map(|mode| mode as int32);
        let from = match mode {
            _ if mode == set => 0,
            _ if mode == current => *at as i64,
            _ => bytes.len() as i64,
        };
        *at = (from + by) as usize;
        // SAFETY: VST3 promises that `now` is valid or null.
        if let Some(now) = unsafe { now.as_mut() } {
            *now = *at as i64;
        }
        kResultOk
    }

    unsafe fn tell(&self, now: *mut int64) -> tresult {
        // SAFETY: VST3 promises that `now` is valid.
        unsafe { *now = self.0.lock().unwrap_or_else(PoisonError::into_inner).1 as i64 };
        kResultOk
    }
}
