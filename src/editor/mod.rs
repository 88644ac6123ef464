//! The plugin's window.

/// Logical width and height of a window that nobody has resized yet.
pub const DEFAULT_SIZE: [u32; 2] = [1000, 640];

/// Logical width and height below which the window is no longer legible.
pub const MIN_SIZE: [u32; 2] = [480, 300];

/// Logical width and height that no screen exceeds; keeps a damaged session from asking for more.
const MAX_SIZE: [u32; 2] = [8192, 8192];

/// `size`, or the nearest one that the window can have.
pub fn allowed_size(size: [u32; 2]) -> [u32; 2] {
    std::array::from_fn(|axis| size[axis].clamp(MIN_SIZE[axis], MAX_SIZE[axis]))
}
