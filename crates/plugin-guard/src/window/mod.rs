//! Workarounds for faults of editor windows: of baseview 0.4.2 and egui-baseview 0.9.0 on Linux, and of nice-plug's threads.

#[cfg(target_os = "linux")]
mod drops;
#[cfg(target_os = "linux")]
mod focus;
#[cfg(target_os = "linux")]
mod opengl;
#[cfg(target_os = "linux")]
mod present;
mod shared;

#[cfg(target_os = "linux")]
pub use drops::{Drag, DropTarget};
#[cfg(target_os = "linux")]
pub use focus::{Focus, screen};
#[cfg(target_os = "linux")]
pub use opengl::keep_loaded;
#[cfg(target_os = "linux")]
pub use present::select_answers;
pub use shared::{Handle, Window, shared};
