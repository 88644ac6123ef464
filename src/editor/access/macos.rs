//! Screen readers on macOS, through NSAccessibility.

use super::Link;
use accesskit_macos::SubclassingAdapter;
use egui::accesskit::TreeUpdate;
use fragile::Fragile;
use raw_window_handle::{RawWindowHandle, WindowHandle};
use std::cell::RefCell;

/// AccessKit's adapter, which subclasses the window's view to answer the system's requests. Must stay on the main thread, like
/// egui's context.
pub struct Adapter(Fragile<RefCell<SubclassingAdapter>>);

impl Adapter {
    /// Creates the adapter of a new window; `None` for a handle that is not AppKit's.
    pub fn new(window: WindowHandle, link: &Link) -> Option<Self> {
        let RawWindowHandle::AppKit(window) = window.as_raw() else { return None };
        let view = window.ns_view.as_ptr();
        // SAFETY: the view exists while its handle is borrowed, and the adapter retains it.
        let adapter = unsafe { SubclassingAdapter::new(view, link.clone(), link.clone()) };
        Some(Self(Fragile::new(RefCell::new(adapter))))
    }

    /// Sends a frame's accessibility tree, and whether the view has the keyboard focus.
    pub fn update(&mut self, tree: TreeUpdate, focused: bool) {
        let mut adapter = self.0.get().borrow_mut();
        let events = [adapter.update_if_active(|| tree), adapter.update_view_focus_state(focused)];
        // The borrow must end first: raising the events may call the view again.
        drop(adapter);
        events.into_iter().flatten().for_each(accesskit_macos::QueuedEvents::raise);
    }
}
