//! Filter: creation, reset, processing, latency and tail.
//!
//! The library filters a copy of the samples, chunk by chunk. So interleaved channels need no second code path, and the
//! caller's output may overwrite its input. Copying costs little compared to the resonators.
//!
//! Only one thread at a time may use a filter: a lock in the library would break the promise of real time. A game that changes
//! settings from another thread needs a queue of its own.

use crate::{
    Status, TF_MAX_CHANNELS,
    pointers::{exclusive, put, shared, text},
    settings::{of_json, of_preset},
    status::{fail, guard},
};
use std::{ffi::c_char, ptr};
use tone_filter_dsp::{Controls, DEFAULT_TEMPO, Error, Routing, ToneFilter};

const CHUNK: usize = 256;

/// Tone filter with a fixed sample rate and number of channels.
pub struct Filter {
    pub(crate) inner: ToneFilter,
    /// Settings and routing as the caller set them, before the tempo is applied.
    pub(crate) controls: Controls,
    pub(crate) tempo: f64,
    /// Samples of a chunk, one channel after the other. All channels are read before any output is written, so the output
    /// arrays may be the input arrays.
    chunks: Vec<f32>,
}

/// Returns the library's version, such as "0.2.0". Real time.
#[unsafe(no_mangle)]
pub extern "C" fn tf_version() -> *const c_char {
    const { concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast() }
}

/// Creates a filter at rest with the settings of a factory preset.
///
/// sample_rate: Hz, 1000 to 1e9.
/// channels: 1 to TF_MAX_CHANNELS. Two channels can be stereo; any other number shares one set of resonators.
/// preset: preset id from tf_preset_at(); NULL for "tone-filter", the sound of a new instance of the plugin.
/// filter: receives the filter, to be freed by tf_destroy(); receives NULL after a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_create(
    sample_rate: f64,
    channels: u32,
    preset: *const c_char,
    filter: *mut *mut Filter,
) -> Status {
    let controls = || match preset.is_null() {
        true => Ok(Controls::default()),
        // SAFETY: the header requires a C string.
        false => Ok(of_preset(unsafe { text(preset) }?)?.into()),
    };
    // SAFETY: the header requires a valid `filter` pointer.
    unsafe { create(sample_rate, channels, controls, filter) }
}

/// Creates a filter at rest with the settings of a JSON text, as for tf_set_json(). The other arguments are as for tf_create().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_create_json(
    sample_rate: f64,
    channels: u32,
    json: *const c_char,
    filter: *mut *mut Filter,
) -> Status {
    // SAFETY: the header requires a C string and a valid `filter` pointer.
    unsafe { create(sample_rate, channels, || of_json(text(json)?, Routing::default()), filter) }
}

/// Creates a filter with the result of `controls`, and writes its address to `filter`; NULL after a failure.
///
/// # Safety
/// `filter` must be NULL or valid for a write.
unsafe fn create(
    sample_rate: f64,
    channels: u32,
    controls: impl FnOnce() -> Result<Controls, Status>,
    filter: *mut *mut Filter,
) -> Status {
    guard(|| {
        // SAFETY: the caller guarantees it.
        unsafe { put(filter, ptr::null_mut()) }?;
        let channels = usize::try_from(channels).ok().filter(|n| (1..=TF_MAX_CHANNELS).contains(n));
        let channels = channels.ok_or_else(|| {
            fail(Status::Channels, format_args!("use 1 to {TF_MAX_CHANNELS} channels"))
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
        // SAFETY: the caller guarantees it.
        unsafe { put(filter, Box::into_raw(Box::new(created))) }
    })
}

/// Frees a filter. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_destroy(filter: *mut Filter) {
    if !filter.is_null() {
        guard(|| {
            // SAFETY: the header requires a pointer from `create`, which is no longer used.
            drop(unsafe { Box::from_raw(filter) });
            Ok(())
        });
    }
}

/// Resets a filter to the state of a new one with the same settings, without keys. A score stays, and starts again. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_reset(filter: *mut Filter) -> Status {
    // SAFETY: the header requires a valid filter that no other thread uses.
    guard(|| unsafe { exclusive(filter) }.map(|filter| filter.inner.reset()))
}

/// Filters a block of any length whose channels lie in separate arrays. Full scale is 1; NaN and infinite samples count as 0.
/// Real time.
///
/// input, output: an array with a pointer for each channel of the filter, each to `frames` samples. An output channel may be the
/// input channel with the same index.
///
/// The length of the blocks has no effect on the sound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_process(
    filter: *mut Filter,
    input: *const *const f32,
    output: *const *mut f32,
    frames: usize,
) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        if input.is_null() || output.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: the header requires arrays with a pointer for every channel.
        let null = |c| unsafe { (*input.add(c)).is_null() || (*output.add(c)).is_null() };
        if (0..filter.channels()).any(null) {
            return Err(Status::Null);
        }
        // SAFETY: the header requires `frames` samples at each pointer.
        filter.process(
            frames,
            |c, i| unsafe { *(*input.add(c)).add(i) },
            |c, i, sample| unsafe { *(*output.add(c)).add(i) = sample },
        )
    })
}

/// Filters a block of any length with interleaved channels, as in a WAV file; otherwise as tf_process(). Real time.
///
/// input, output: `frames` samples for each channel of the filter. They may be the same array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_process_interleaved(
    filter: *mut Filter,
    input: *const f32,
    output: *mut f32,
    frames: usize,
) -> Status {
    guard(|| {
        // SAFETY: the header requires a valid filter that no other thread uses.
        let filter = unsafe { exclusive(filter) }?;
        if input.is_null() || output.is_null() {
            return Err(Status::Null);
        }
        let channels = filter.channels();
        // SAFETY: the header requires `frames * channels` samples in both arrays.
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

    /// Checks `controls` and sets them at the filter's tempo.
    pub(crate) fn set(&mut self, controls: Controls) -> Result<(), Status> {
        let settings = controls.settings.at_tempo(self.tempo);
        let checked = controls.settings.validate();
        checked
            .and_then(|()| self.inner.set_controls(&Controls { settings, ..controls }))
            .map_err(|error| fail(Status::Range, error))?;
        self.controls = controls;
        Ok(())
    }

    /// Filters `frames` samples of every channel. `read` returns the input's sample of a channel and frame, and `write` stores
    /// the output's.
    fn process(
        &mut self,
        frames: usize,
        read: impl Fn(usize, usize) -> f32,
        write: impl Fn(usize, usize, f32),
    ) -> Result<(), Status> {
        let channels = self.channels();
        if frames > isize::MAX as usize / (channels * size_of::<f32>()) {
            return Err(fail(Status::Range, "so many samples do not fit into any memory"));
        }
        for start in (0..frames).step_by(CHUNK) {
            let length = CHUNK.min(frames - start);
            let mut rest = self.chunks.chunks_exact_mut(CHUNK);
            let mut chunks: [&mut [f32]; TF_MAX_CHANNELS] =
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

/// Writes the latency in frames. It is 46 ms with the setting "lookahead", else 0. Real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_latency(filter: *const Filter, frames: *mut usize) -> Status {
    // SAFETY: the header requires valid pointers.
    guard(|| unsafe { put(frames, shared(filter)?.inner.latency()) })
}

/// Writes the decay time: seconds from the end of the input until all notes are at least 60 dB down, without the latency. Real
/// time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tf_tail(filter: *const Filter, seconds: *mut f64) -> Status {
    // SAFETY: the header requires valid pointers.
    guard(|| unsafe { put(seconds, ToneFilter::tail(shared(filter)?.inner.settings())) })
}
