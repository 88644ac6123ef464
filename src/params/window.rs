//! The allowed sizes and zoom factors of the editor's window.

use crossbeam::atomic::AtomicCell;

/// Logical width and height, aligned so that the processor stores both at once. Otherwise an [`AtomicCell`] takes one
/// of the locks that crossbeam shares among all cells of a process, and the audio thread, whose status nice-plug keeps
/// in such a cell, can wait for it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(8))]
pub struct Size(pub [f32; 2]);

const _: () = assert!(AtomicCell::<Size>::is_lock_free());

/// Default logical width and height of the window.
pub const DEFAULT_SIZE: [f32; 2] = [1000.0, 640.0];

/// Least logical width and height at which the window is legible.
pub const MIN_SIZE: [f32; 2] = [480.0, 300.0];

/// Greatest logical width and height, a bound for damaged sessions.
const MAX_SIZE: [f32; 2] = [8192.0, 8192.0];

/// The allowed size nearest to `size`.
pub fn allowed_size(size: [f32; 2]) -> [f32; 2] {
    std::array::from_fn(|axis| size[axis].clamp(MIN_SIZE[axis], MAX_SIZE[axis]))
}

/// Returns the allowed zoom factor nearest to `zoom`.
pub fn allowed_zoom(zoom: f32) -> f32 {
    zoom.clamp(0.75, 2.0)
}
