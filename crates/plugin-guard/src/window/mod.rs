//! Workarounds for faults of editor windows: of baseview 0.4.2 and egui-baseview 0.9.0 on Linux, and of nice-plug's threads.

#[cfg(target_os = "linux")]
mod drawing;
#[cfg(target_os = "linux")]
mod drops;
#[cfg(target_os = "linux")]
mod focus;
mod shared;

#[cfg(target_os = "linux")]
pub use drawing::{keep_loaded, select_answers};
#[cfg(target_os = "linux")]
pub use drops::{Drag, DropTarget};
#[cfg(target_os = "linux")]
pub use focus::{Focus, screen};
pub use shared::{Handle, Window, shared};
