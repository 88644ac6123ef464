//! Stand-in for the editor without the feature `editor`: the plugin has no window.

use crate::{meters::Meters, session::Session};

pub type ToneFilterEditor = ();

/// Returns `None`: hosts show their own controls.
pub fn create(_: Session, _: Meters, _: RepaintNotifier) -> Option<ToneFilterEditor> {
    None
}

/// Stand-in for nice-plug's notifier; ignores all requests.
#[derive(Clone)]
pub struct RepaintNotifier;

impl RepaintNotifier {
    pub fn new() -> Self {
        Self
    }

    pub fn request_repaint(&self) {}
}
