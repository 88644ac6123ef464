//! The system's file dialog. The editor's window keeps running while the dialog is open.

use crate::{
    capture::Format,
    session::{PRESET, SCORE},
};
use plugin_guard::HostLink;
use rfd::AsyncFileDialog;
use std::{
    path::PathBuf,
    pin::Pin,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Import,
    Export,
    Score,
    Notes(Format),
}

/// Purpose of the latest dialog, and receiver of the chosen path. `None` before the first dialog, and once the path has been
/// taken.
#[derive(Default)]
pub struct FileDialog(Option<(Purpose, Receiver<PathBuf>)>);

impl FileDialog {
    /// Opens a dialog, which suggests `name` for a file to write. If an earlier dialog is still open, its choice will be
    /// ignored. After the choice, the window of `host` is repainted.
    pub fn open(&mut self, purpose: Purpose, name: &str, host: &HostLink) {
        let (sender, host) = (self.expect(purpose), host.clone());
        let (kind, extensions): (_, &[&str]) = match purpose {
            Purpose::Import | Purpose::Export => ("Presets", &[PRESET]),
            Purpose::Score => ("Scores", &[SCORE, "mid", "midi"]),
            Purpose::Notes(format) => ("Notes", &[format.extension()]),
        };
        let dialog = AsyncFileDialog::new().add_filter(kind, extensions);
        // On macOS, the dialog must be created on this thread.
        let file: Pin<Box<dyn Future<Output = _> + Send>> = match purpose {
            Purpose::Import | Purpose::Score => Box::pin(dialog.pick_file()),
            Purpose::Export | Purpose::Notes(_) => {
                Box::pin(dialog.set_file_name(format!("{name}.{}", extensions[0])).save_file())
            }
        };
        thread::spawn(move || {
            if let Some(file) = pollster::block_on(file) {
                // The window may have been closed meanwhile.
                let _ = sender.send(file.path().to_owned());
                host.repaint();
            }
        });
    }

    /// Records an open dialog for `purpose`. The returned sender delivers its path.
    pub fn expect(&mut self, purpose: Purpose) -> Sender<PathBuf> {
        let (sender, receiver) = channel();
        self.0 = Some((purpose, receiver));
        sender
    }

    /// Returns the purpose and the chosen path, once; `None` without a choice.
    pub fn chosen(&mut self) -> Option<(Purpose, PathBuf)> {
        let (purpose, receiver) = self.0.as_ref()?;
        let chosen = (*purpose, receiver.try_recv().ok()?);
        self.0 = None;
        Some(chosen)
    }
}
