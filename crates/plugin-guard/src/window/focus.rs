//! Keyboard focus of an embedded window, by X11.
//!
//! egui-baseview 0.9.0 takes the focus at each click, and passes no key to the host, not even Space. Here, the window takes the
//! focus only for text and gives it back afterwards, and the host gets the keys that the window does not use.

use raw_window_handle::HasWindowHandle;
use std::error::Error;
use x11rb::{
    CURRENT_TIME,
    connection::Connection,
    protocol::{
        Event,
        xproto::{
            ChangeWindowAttributesAux, ConnectionExt as _, EventMask, FOCUS_IN_EVENT, FocusInEvent,
            InputFocus, KeyPressEvent, Keysym, NotifyDetail, NotifyMode, Window,
        },
    },
    rust_connection::RustConnection,
};

/// Keyboard focus of a window that a host embeds.
pub struct Focus {
    connection: RustConnection,
    window: Window,
    /// Window that had the focus before this one took it.
    before: Option<Window>,
    /// Whether this window had the focus at the last update.
    has: bool,
    /// Whether the window wanted the focus in the last frame.
    wanted: bool,
    /// Keyboard mapping: first keycode, number of keysyms per keycode, and the keysyms of all keycodes.
    keys: (u8, u8, Vec<Keysym>),
}

impl Focus {
    /// Creates the focus of `window`, which a host embeds.
    ///
    /// # Errors
    /// If `window` is not an X11 window, or the X server of `$DISPLAY` cannot be reached.
    pub fn new(window: &impl HasWindowHandle) -> Result<Self, Box<dyn Error>> {
        let window = super::x11_id(window)?;
        // A connection of our own: baseview reads the events of its connection.
        let (connection, _) = x11rb::connect(None)?;
        let mask = EventMask::KEY_PRESS | EventMask::KEY_RELEASE;
        let events = ChangeWindowAttributesAux::new().event_mask(mask);
        connection.change_window_attributes(window, &events)?.check()?;
        let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let keys = connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        let keys = (first, keys.keysyms_per_keycode, keys.keysyms);
        Ok(Self { connection, window, before: None, has: false, wanted: false, keys })
    }

    /// Returns whether the window had the focus at the last update.
    pub fn has(&self) -> bool {
        self.has
    }

    /// Must be called in each frame. Takes the focus when `wants` becomes true, or when the window is `clicked` while `wants` is
    /// true. Gives the focus back when `wants` becomes false. `believed` is whether baseview believes that the window has the
    /// focus.
    ///
    /// Passes the keys that the window does not use to the host. `uses` returns whether the window uses a key. It gets the keysym,
    /// and whether Control, Alt or a logo key is held.
    ///
    /// # Errors
    /// If the connection to the X server has failed.
    pub fn update(
        &mut self,
        believed: bool,
        wants: bool,
        clicked: bool,
        uses: impl Fn(Keysym, bool) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        // This answer arrives after all keys that baseview has read, so the loop below gets the same keys.
        let now = self.connection.get_input_focus()?.reply()?.focus;
        self.has = now == self.window;
        self.before = self.before.filter(|_| self.has);
        while let Some(event) = self.connection.poll_for_event()? {
            if let Event::KeyPress(key) | Event::KeyRelease(key) = event
                && !self.is_used(&key, &uses)
            {
                self.pass_on(key)?;
            }
        }
        // If the user has moved the focus to the host, it stays there.
        let takes = wants && (clicked || !self.wanted);
        self.wanted = wants;
        if takes && !self.has {
            self.before = Some(now);
            self.focus(self.window)?;
        } else if !wants
            && self.has
            && let Some(before) = self.before.take()
        {
            self.focus(before)?;
        } else if !self.has && !believed {
            // Makes baseview believe that the window has the focus: egui-baseview then does not take it at the next click.
            let event = FocusInEvent {
                response_type: FOCUS_IN_EVENT,
                detail: NotifyDetail::NONLINEAR,
                sequence: 0,
                event: self.window,
                mode: NotifyMode::NORMAL,
            };
            self.connection.send_event(false, self.window, EventMask::NO_EVENT, event)?;
        }
        Ok(self.connection.flush()?)
    }

    fn focus(&self, window: Window) -> Result<(), Box<dyn Error>> {
        self.connection.set_input_focus(InputFocus::PARENT, window, CURRENT_TIME)?;
        Ok(())
    }

    fn is_used(&self, key: &KeyPressEvent, uses: impl Fn(Keysym, bool) -> bool) -> bool {
        let (first, columns, symbols) = &self.keys;
        let row = usize::from(key.detail.saturating_sub(*first)) * usize::from(*columns);
        // Control, and the modifiers that Alt and the logo key usually are.
        let held = u16::from(key.state) & 0b100_1100 != 0;
        symbols.get(row).is_some_and(|symbol| uses(*symbol, held))
    }

    /// Sends `key` to the window that had the focus before, or else to the parent.
    fn pass_on(&self, mut key: KeyPressEvent) -> Result<(), Box<dyn Error>> {
        // 0 (none) and 1 (pointer root) are not windows.
        key.event = match self.before {
            Some(before @ 2..) => before,
            _ => self.connection.query_tree(self.window)?.reply()?.parent,
        };
        key.child = 0;
        let mask = EventMask::KEY_PRESS | EventMask::KEY_RELEASE;
        self.connection.send_event(true, key.event, mask, key)?;
        Ok(())
    }
}

/// Returns width and height in pixels of the screen of `$DISPLAY`.
pub fn screen() -> Option<[u32; 2]> {
    let (connection, screen) = x11rb::connect(None).ok()?;
    let screen = connection.setup().roots.get(screen)?;
    Some([screen.width_in_pixels.into(), screen.height_in_pixels.into()])
}
