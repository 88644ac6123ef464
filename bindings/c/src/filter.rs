//! Filter: creation, settings, processing.
//!
//! The library copies samples: it filters buffers of its own, chunk by chunk, which costs little beside the resonators. So
//! channels that alternate need no second path, and buffers of the caller may overlap.
//!
//! One thread at a time uses a filter. A lock would not be real time, and a queue for settings is the engine's own matter.
//! Errors are codes; the details of the last one are per thread, in a fixed buffer, because the first error may be that no
//! filter could be made.
//!
//! Keys are a value where a game's thread plays them: a `Keyboard` is a copy of all keys, and the latest copy counts. No queue
//! can be full and no key can stay down. A key that is pressed and released between two blocks has no effect.

use crate::{
    MAX_CHANNELS, Status,
    controls::{of_json, of_preset},
    pointers::{exclusive, put, shared, text},
    status::{fail, guard},
};
use std::{
    ffi::c_char,
    ptr::{self, NonNull},
};
use tone_filter_dsp::{Controls, DEFAULT_TEMPO, Error, ToneFilter};

/// Frames that are processed at a time.
const CHUNK: usize = 256;

/// A tone filter for a sample rate and a number of channels.
pub struct Filter {
    pub(crate) inner: ToneFilter,
    /// Settings before the tempo, and routing.
    pub(crate) controls: Controls,
    /// Beats a minute.
    pub(crate) tempo: f64,
    /// Chunk of each channel. The caller's samples are only ever copied: how its buffers overlap does not matter.
    chunks: Vec<f32>,
}

/// The library's version, such as "0.2.0". Real time.
#[unsafe(no_mangle)]
pub extern "C" fn tf_version() -> *const c_char {
    const { concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast() }
}

/// Creates a filter at rest with the settings of a factory preset.
///
/// sample_rate: Hz, 1000 to 1e9.
/// channels: 1 to TF_MAX_CHANNELS. Two channels can be stereo; any other number shares one set of resonators.
/// preset: its id, as tf_preset_at() lists it; NULL for "tone-filter", the sound of a new instance of the plugin.
/// filter: receives the filter, which tf_destroy() frees; NULL after a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_create(
    sample_rate: f64,
    channels: u32,
    preset: *const c_char,
    filter: *mut *mut Filter,
) -> Status {
    let controls = || match preset.is_null() {
        true => Ok(Controls::default()),
        // SAFETY: a text by the header.
        false => of_preset(unsafe { text(preset) }?),
    };
    // SAFETY: a valid pointer by the header.
    unsafe { create(sample_rate, channels, controls, filter) }
}

/// Creates a filter at rest with the settings of a JSON, as tf_set_json() reads it; the rest is as for tf_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_create_json(
    sample_rate: f64,
    channels: u32,
    json: *const c_char,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: a text and a valid pointer by the header.
    unsafe { create(sample_rate, channels, || of_json(text(json)?), filter) }
}

/// # Safety
/// `filter` is NULL or valid for a write.
unsafe fn create(
    sample_rate: f64,
    channels: u32,
    controls: impl FnOnce() -> Result<Controls, Status>,
    filter: *mut *mut Filter,
) -> Status {
    guard(|| {
        // SAFETY: by the caller.
        unsafe { put(filter, ptr::null_mut()) }?;
        let channels = usize::try_from(channels).ok().filter(|n| (1..=MAX_CHANNELS).contains(n));
        let channels = channels.ok_or_else(|| {
            fail(Status::Channels, format_args!("use 1 to {MAX_CHANNELS} channels"))
        })?;
        let Controls { settings, routing } = controls()?;
        let inner = ToneFilter::new(sample_rate, &settings.at_tempo(DEFAULT_TEMPO));
        let mut inner = inner.map_err(|error| match error {
            Error::Setting(_) => fail(Status::Range, error),
            Error::SampleRate(_) => fail(Status::SampleRate, error),
        })?;
        inner.set_routing(routing);
        let created = Filter {
            inner: inner.with_channels(channels),
            controls: Controls { settings, routing },
            tempo: DEFAULT_TEMPO,
            chunks: vec![0.0; channels * CHUNK],
        };
        // SAFETY: by the caller.
        unsafe { put(filter, Box::into_raw(Box::new(created))) }
    })
}

/// Frees a filter. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_destroy(filter: *mut Filter) {
    if let Some(filter) = NonNull::new(filter) {
        guard(|| {
            // SAFETY: by the header it comes from `create`, and nobody uses it any more.
            drop(unsafe { Box::from_raw(filter.as_ptr()) });
            Ok(())
        });
    }
}

/// Resets a filter to the state of a new one with its settings, without keys. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_reset(filter: *mut Filter) -> Status {
    // SAFETY: used by this thread only, by the header.
    guard(|| unsafe { exclusive(filter) }.map(|filter| filter.inner.reset()))
}

/// Filters a block of any length whose channels lie in arrays of their own. Full scale is 1; NaN and infinite samples
/// count as 0. Real time.
///
/// input, output: an array of as many pointers as the filter has channels, each to `frames` samples. An output may be
/// its own input.
///
/// The sound does not depend on the lengths of the blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_process(
    filter: *mut Filter,
    input: *const *const f32,
    output: *const *mut f32,
    frames: usize,
) -> Status {
    guard(|| {
        // SAFETY: used by this thread only, by the header.
        let filter = unsafe { exclusive(filter) }?;
        if input.is_null() || output.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: the arrays have a pointer for every channel, by the header.
        let null = |c| unsafe { (*input.add(c)).is_null() || (*output.add(c)).is_null() };
        if (0..filter.channels()).any(null) {
            return Err(Status::Null);
        }
        // SAFETY: each pointer of the arrays leads to `frames` samples, by the header.
        filter.process(
            frames,
            |c, i| unsafe { *(*input.add(c)).add(i) },
            |c, i, sample| unsafe { *(*output.add(c)).add(i) = sample },
        )
    })
}

/// Filters a block of any length whose samples alternate between the channels, as in a WAV file; otherwise as
/// tf_process(). Real time.
///
/// input, output: `frames` times as many samples as the filter has channels. They may be the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_process_interleaved(
    filter: *mut Filter,
    input: *const f32,
    output: *mut f32,
    frames: usize,
) -> Status {
    guard(|| {
        // SAFETY: used by this thread only, by the header.
        let filter = unsafe { exclusive(filter) }?;
        if input.is_null() || output.is_null() {
            return Err(Status::Null);
        }
        let channels = filter.channels();
        // SAFETY: both have `frames * channels` samples, by the header.
        filter.process(
            frames,
            |c, i| unsafe { *input.add(i * channels + c) },
            |c, i, sample| unsafe { *output.add(i * channels + c) = sample },
        )
    })
}

impl Filter {
    fn channels(&self) -> usize {
        self.chunks.len() / CHUNK
    }

    /// Sets `controls` at the filter's tempo.
    pub(crate) fn set(&mut self, controls: Controls) -> Result<(), Status> {
        let Controls { settings, routing } = controls;
        let checked = settings.validate();
        checked
            .and_then(|()| self.inner.set_settings(&settings.at_tempo(self.tempo)))
            .map_err(|error| fail(Status::Range, error))?;
        self.inner.set_routing(routing);
        self.controls = controls;
        Ok(())
    }

    /// Filters `frames` samples of every channel, which `read` gets by channel and frame, and `write` puts.
    fn process(
        &mut self,
        frames: usize,
        read: impl Fn(usize, usize) -> f32,
        write: impl Fn(usize, usize, f32),
    ) -> Result<(), Status> {
        let channels = self.channels();
        if frames > isize::MAX as usize / (channels * size_of::<f32>()) {
            // No memory holds so many.
            return Err(Status::Range);
        }
        for start in (0..frames).step_by(CHUNK) {
            let length = CHUNK.min(frames - start);
            let mut rest = self.chunks.chunks_exact_mut(CHUNK);
            let mut chunks: [&mut [f32]; MAX_CHANNELS] =
                std::array::from_fn(|_| rest.next().map_or(&mut [][..], |c| &mut c[..length]));
            let chunks = &mut chunks[..channels];
            for (channel, chunk) in chunks.iter_mut().enumerate() {
                for (index, sample) in chunk.iter_mut().enumerate() {
                    *sample = read(channel, start + index);
                }
            }
            self.inner.process(chunks);
            for (channel, chunk) in chunks.iter().enumerate() {
                for (index, sample) in chunk.iter().enumerate() {
                    write(channel, start + index, *sample);
                }
            }
        }
        Ok(())
    }
}

/// Writes the latency in frames: 46 ms with the setting "lookahead", else 0. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_latency(filter: *const Filter, frames: *mut usize) -> Status {
    // SAFETY: valid by the header.
    guard(|| unsafe { put(frames, shared(filter)?.inner.latency()) })
}

/// Writes the seconds after the end of a sound until the filter's notes are at least 60 dB down, without the latency.
/// Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_tail(filter: *const Filter, seconds: *mut f64) -> Status {
    // SAFETY: valid by the header.
    guard(|| unsafe { put(seconds, ToneFilter::tail(shared(filter)?.inner.settings())) })
}
