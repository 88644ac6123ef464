//! Keyboard focus of the window, and the keys that the window uses. The host gets all other keys.

use egui::{Context, LayerId};
use nice_plug_egui::{Frame, Key, KeyCapture};

/// Keys that operate the focused control or close a menu: name and X11 keysym.
const CONTROLLING: [(&str, u32); 9] = [
    ("Enter", 0xFF0D),
    ("Enter", 0xFF8D),
    ("Escape", 0xFF1B),
    ("ArrowLeft", 0xFF51),
    ("ArrowUp", 0xFF52),
    ("ArrowRight", 0xFF53),
    ("ArrowDown", 0xFF54),
    ("PageUp", 0xFF55),
    ("PageDown", 0xFF56),
];

/// Keys that the window uses even without a focused control: Tab for the next control, R for the piano roll.
const ALWAYS: [(&str, u32); 2] = [("Tab", 0xFF09), ("r", 'r' as u32)];

/// Keys that change the zoom while Control (on macOS Command) is held; the last two are those of the numeric keypad.
const ZOOMING: [(&str, u32); 5] =
    [("+", '+' as u32), ("=", '=' as u32), ("-", '-' as u32), ("+", 0xFFAB), ("-", 0xFFAD)];

/// Returns whether a dialog is open, which gets all keys.
pub fn in_dialog(ctx: &Context) -> bool {
    ctx.memory(|memory| !memory.is_above_modal_layer(LayerId::background()))
}

#[derive(Default)]
pub struct Focus {
    #[cfg(target_os = "linux")]
    embedded: Option<plugin_guard::window::Focus>,
}

impl Focus {
    pub fn new(_frame: &Frame, _embedded: bool) -> Self {
        Self {
            #[cfg(target_os = "linux")]
            embedded: _embedded
                .then(|| plugin_guard::window::Focus::new(_frame.baseview_window()).ok())
                .flatten(),
        }
    }

    /// Takes the focus from the host for a text field. Gives it back once no control has egui's focus and no menu is open. Leaves
    /// unused keys to the host. Returns whether the window has the focus.
    pub fn update(&mut self, ctx: &Context, frame: &mut Frame) -> bool {
        let typing = ctx.text_edit_focused() || in_dialog(ctx);
        let held = ctx.input(|input| input.modifiers.command);
        let zooming = ZOOMING.iter().filter(|_| held);
        let used = CONTROLLING.iter().chain(&ALWAYS).chain(zooming);
        let used = used.filter_map(|(name, _)| name.parse::<Key>().ok());
        frame.set_key_capture(match typing {
            true => KeyCapture::CaptureAll,
            false => KeyCapture::CaptureKeys(used.collect()),
        });
        let has = frame.baseview_window().has_focus();
        #[cfg(target_os = "linux")]
        if let Some(focus) = &mut self.embedded {
            let controlling =
                ctx.memory(|memory| memory.focused().is_some()) || egui::Popup::is_any_open(ctx);
            let uses = |symbol: u32, held: bool| {
                let is = |keys: &[(&str, u32)]| keys.iter().any(|(_, keysym)| *keysym == symbol);
                let plain = is(&ALWAYS) || controlling && is(&CONTROLLING);
                typing || if held { is(&ZOOMING) } else { plain }
            };
            let wants = typing || focus.has() && controlling;
            // An error of the update is ignored: without the X server, nothing is shown either.
            let clicked = ctx.input(|input| input.pointer.any_pressed());
            let _ = focus.update(has, wants, clicked, uses);
            return focus.has();
        }
        has
    }
}
