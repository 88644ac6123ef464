//! The system's file dialog. It is open beside the window, which goes on.

use crate::session::{PRESET, SCORE};
use plugin_guard::HostLink;
use rfd::AsyncFileDialog;
use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

/// Purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be read.
    Import,
    /// To be written.
    Export,
}

/// The dialog that is open, if there is one.
#[derive(Default)]
pub struct FileDialog(Option<(Purpose, Receiver<PathBuf>)>);

impl FileDialog {
    /// Opens it, in place of the one that is open. For an export, it suggests `name`. Repaints the window of `host` when the
    /// user has decided.
    pub fn open(&mut self, purpose: Purpose, name: &str, host: &HostLink) {
        let (sender, host) = (self.expect(purpose), host.clone());
        let dialog = AsyncFileDialog::new();
        // On macOS, it must be made on this thread.
        let file = match purpose {
            Purpose::Import => {
                let dialog =
                    dialog.add_filter("Presets and scores", &[PRESET, SCORE, "mid", "midi"]);
                Box::pin(dialog.pick_file()) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
            }
            Purpose::Export => {
                let dialog = dialog.add_filter("Presets", &[PRESET]);
                Box::pin(dialog.set_file_name(format!("{name}.{PRESET}")).save_file())
            }
        };
        thread::spawn(move || {
            if let Some(file) = pollster::block_on(file) {
                // A window that was closed meanwhile has no use for it.
                let _ = sender.send(file.path().to_owned());
                host.repaint();
            }
        });
    }

    /// Receiver of the path of a file for `purpose`.
    pub fn expect(&mut self, purpose: Purpose) -> Sender<PathBuf> {
        let (sender, receiver) = channel();
        self.0 = Some((purpose, receiver));
        sender
    }

    /// The file that the user has chosen, once.
    pub fn chosen(&mut self) -> Option<(Purpose, PathBuf)> {
        let (purpose, receiver) = self.0.as_ref()?;
        let chosen = (*purpose, receiver.try_recv().ok()?);
        self.0 = None;
        Some(chosen)
    }
}
