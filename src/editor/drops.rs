//! Drag and drop of presets and scores on the window.

use super::theme::{self, Scale};
use crate::session::Edits;
use egui::{Align2, Id, LayerId, Order, Stroke, StrokeKind, Ui};

#[cfg(target_os = "linux")]
pub use x11::receive;

const HINT: &str = "Drop a preset (.json) or a score (.tfs, .mid)";

/// Imports dropped files one after the other. While files are dragged over the window, shows [`HINT`].
pub fn show(ui: &Ui, scale: Scale, edits: &mut Edits) {
    let (files, over) = ui.input(|input| {
        let files = input.raw.dropped_files.iter().map(|file| file.path().to_owned());
        (files.collect::<Vec<_>>(), !input.raw.hovered_files.is_empty())
    });
    for file in files {
        edits.import_dropped(&file);
    }
    if over {
        let window = ui.ctx().content_rect();
        let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::unique("drops")));
        painter.rect_filled(window, 0.0, theme::BACKGROUND.gamma_multiply(0.85));
        let frame = window.shrink(scale.length(10.0));
        let line = Stroke::new(scale.length(2.0), theme::ACCENT);
        painter.rect_stroke(frame, scale.length(6.0), line, StrokeKind::Inside);
        let (centre, font) = (window.center(), scale.font(18.0));
        theme::text(&painter, centre, Align2::CENTER_CENTER, HINT, font, theme::TEXT);
    }
}

/// Passes dropped files from the X server to egui, because egui-baseview 0.9.0 discards baseview's reports. For the same
/// reason, files cannot be dropped on Windows and macOS.
#[cfg(target_os = "linux")]
mod x11 {
    use crossbeam::queue::SegQueue;
    use egui::{Context, DroppedFile, Event, HoveredFile, Plugin, RawInput};
    use nice_plug_egui::RepaintNotifier;
    use plugin_guard::window::{Drag, DropTarget};
    use raw_window_handle::HasWindowHandle;
    use std::{
        fs,
        path::{Path, PathBuf},
        sync::Arc,
    };

    /// Makes `window` accept dropped files, and adds these to the input of `ctx`, its egui context. Does nothing without X11.
    pub fn receive(ctx: &Context, window: &impl HasWindowHandle, repaint: RepaintNotifier) {
        let reported = Arc::new(SegQueue::new());
        let queue = reported.clone();
        let target = DropTarget::new(window, move |drag| {
            queue.push(drag);
            repaint.request_repaint();
        });
        if let Ok(target) = target {
            ctx.add_plugin(Drops { _target: target, reported, over: false });
        }
    }

    /// Plugin of an egui context that adds dragged and dropped files to a frame's input.
    struct Drops {
        _target: DropTarget,
        reported: Arc<SegQueue<Drag>>,
        over: bool,
    }

    impl Plugin for Drops {
        fn debug_name(&self) -> &'static str {
            "dropped files"
        }

        fn input_hook(&mut self, _ctx: &Context, input: &mut RawInput) {
            // The dragging program owns the pointer. If the pointer moves in our window, that program has ended.
            self.over &= !input.events.iter().any(|event| matches!(event, Event::PointerMoved(_)));
            while let Some(drag) = self.reported.pop() {
                self.over = drag == Drag::Over;
                if let Drag::Dropped(files) = drag {
                    let files = files.into_iter().map(|path| Arc::new(File(path)) as _);
                    input.dropped_files.extend(files);
                }
            }
            if self.over {
                input.hovered_files.push(HoveredFile::default());
            }
        }
    }

    #[derive(Debug)]
    struct File(PathBuf);

    impl DroppedFile for File {
        fn path(&self) -> &Path {
            &self.0
        }

        fn bytes(&self) -> Result<Vec<u8>, String> {
            fs::read(&self.0).map_err(|error| error.to_string())
        }
    }
}
