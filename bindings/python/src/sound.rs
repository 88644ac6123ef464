//! Sound as numpy arrays.

use crate::settings::value_error;
use numpy::{
    PyArray, PyArrayDescrMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
    ndarray::{Array2, Axis, Ix2, s},
};
use pyo3::{exceptions::PyTypeError, prelude::*};
use tone_filter_dsp::ToneFilter;

/// Frames between two checks for Ctrl-C: 1.5 s of sound at 44.1 kHz.
const CHUNK: usize = 1 << 16;

/// Maximum number of channels. An array with more probably has the shape (frames, channels).
pub const MOST_CHANNELS: usize = 64;

/// Copy of the samples of a numpy array, which the filter overwrites with its output.
pub struct Sound {
    /// Samples of shape (channels, frames), contiguous in this order.
    pub samples: Array2<f32>,
    /// Whether the array had one axis only, the frames of one channel. The output then gets the same shape.
    flat: bool,
}

impl Sound {
    /// Copies `audio`, which must be an array of floats of shape (frames,) or (channels, frames).
    pub fn read(audio: &Bound<PyAny>) -> PyResult<Self> {
        let py = audio.py();
        let Ok(array) = audio.cast::<PyUntypedArray>() else {
            let class = audio.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "audio is of type {class}; give a numpy array"
            )));
        };
        let dtype = array.dtype();
        if dtype.kind() != b'f' {
            return Err(PyTypeError::new_err(format!(
                "audio has the dtype {dtype}; give floats, with full scale at 1: of 16-bit integers, \
                 audio.astype(\"float32\") / 32768"
            )));
        }
        let (flat, channels) = match *array.shape() {
            [_] => (true, 1),
            [channels, _] => (false, channels),
            _ => {
                return Err(value_error(format_args!(
                    "audio has {} axes; give the shape (frames,) or (channels, frames)",
                    array.ndim()
                )));
            }
        };
        if !(1..=MOST_CHANNELS).contains(&channels) {
            return Err(value_error(format_args!(
                "audio has {channels} channels; give 1 to {MOST_CHANNELS}, of shape (channels, frames): with \
                 (frames, channels), as soundfile reads, pass audio.T"
            )));
        }
        let require = py.import("numpy")?.getattr("require")?;
        let native = require.call1((array, "float32", ["C", "A"]))?;
        let native: PyReadonlyArrayDyn<f32> = native.extract()?;
        let view = native.as_array();
        let rows = if flat { view.insert_axis(Axis(0)) } else { view };
        let samples = rows.into_dimensionality::<Ix2>();
        Ok(Self { samples: samples.map_err(value_error)?.to_owned(), flat })
    }

    pub fn channels(&self) -> usize {
        self.samples.nrows()
    }

    pub fn frames(&self) -> usize {
        self.samples.ncols()
    }

    pub fn process(&mut self, filter: &mut ToneFilter) {
        filter.process(&mut rows(&mut self.samples.view_mut()));
    }

    /// Filters the sound and removes the filter's latency: filters silence after the end, and drops as many frames at the
    /// start. Calls `each` after each block of the filter. Ctrl-C interrupts the filtering.
    pub fn process_whole(
        &mut self,
        py: Python,
        filter: &mut ToneFilter,
        mut each: impl FnMut(&ToneFilter) + Send,
    ) -> PyResult<()> {
        let (latency, frames) = (filter.latency(), self.frames());
        let mut samples = Array2::zeros((self.channels(), frames + latency));
        samples.slice_mut(s![.., ..frames]).assign(&self.samples);
        for mut chunk in samples.axis_chunks_iter_mut(Axis(1), CHUNK) {
            py.check_signals()?;
            py.detach(|| filter.process_with(&mut rows(&mut chunk), |_, filter| each(filter)));
        }
        self.samples = samples.slice(s![.., latency..]).to_owned();
        Ok(())
    }

    /// Returns the samples as an array with as many axes as the array that was read.
    pub fn into_array(self, py: Python) -> Bound<PyAny> {
        if self.flat {
            PyArray::from_owned_array(py, self.samples.index_axis_move(Axis(0), 0)).into_any()
        } else {
            PyArray::from_owned_array(py, self.samples).into_any()
        }
    }
}

/// Returns the rows of `samples`, each of which must be contiguous.
fn rows<'a>(samples: &'a mut numpy::ndarray::ArrayViewMut2<f32>) -> Vec<&'a mut [f32]> {
    let rows = samples.axis_iter_mut(Axis(0));
    rows.map(|row| row.into_slice().expect("rows are contiguous in this layout")).collect()
}
