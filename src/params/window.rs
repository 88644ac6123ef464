//! Allowed sizes and zoom factors of the editor's window.

use crossbeam::atomic::AtomicCell;

/// Logical width and height, aligned so that the processor stores both in one atomic operation. Without the alignment,
/// [`AtomicCell`] would take one of the locks that crossbeam shares among all cells of a process. nice-plug keeps the audio
/// thread's status in such a cell, so the audio thread could wait for that lock.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(8))]
pub struct Size(pub [f32; 2]);

const _: () = assert!(AtomicCell::<Size>::is_lock_free());

/// Default logical width and height of the window.
pub const DEFAULT_SIZE: [f32; 2] = [1000.0, 640.0];

/// Minimum logical width and height at which the window is legible.
pub const MIN_SIZE: [f32; 2] = [480.0, 300.0];

/// Maximum logical width and height, in case a session is damaged.
const MAX_SIZE: [f32; 2] = [8192.0, 8192.0];

/// Returns the allowed size nearest to `size`.
pub fn allowed_size(size: [f32; 2]) -> [f32; 2] {
    std::array::from_fn(|axis| size[axis].clamp(MIN_SIZE[axis], MAX_SIZE[axis]))
}

/// Returns the allowed zoom factor nearest to `zoom`.
pub fn allowed_zoom(zoom: f32) -> f32 {
    zoom.clamp(0.75, 2.0)
}
