//! Virtual X display (Xvfb) with a parent window for editors, pointer and keyboard input, and screenshots.

use anyhow::{Context, Result, bail};
use std::{
    env,
    fs::File,
    io::{BufRead, BufReader, BufWriter},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT,
    connection::Connection,
    protocol::{Event, xproto::*},
    rust_connection::RustConnection,
};

/// Connection to an X display, with a window of ours on it. Dropping it closes the window, and ends the server if
/// [`Display::start`] has started it.
pub struct Display {
    /// Server that [`Display::start`] has started.
    server: Option<Killed>,
    name: String,
    connection: RustConnection,
    root: u32,
    window: u32,
}

/// Screenshot in RGB, 8 bits per channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pixels row by row from the top left.
    pub pixels: Vec<[u8; 3]>,
}

impl Display {
    /// Starts a server whose screen has `size` (width, height) in pixels.
    pub fn start(size: [u16; 2]) -> Result<Self> {
        let mut server = Command::new("Xvfb")
            // Xvfb chooses a free display number, and prints it once the server is ready.
            .args(["-displayfd", "1", "-screen", "0", &format!("{}x{}x24", size[0], size[1])])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("Xvfb does not start: install it with `sudo apt-get install xvfb`")?;
        let mut number = String::new();
        let output = server.stdout.take().context("Xvfb has an output")?;
        BufReader::new(output).read_line(&mut number)?;
        if number.is_empty() {
            bail!("Xvfb ended with {}", server.wait()?);
        }
        let mut display = Self::of(format!(":{}", number.trim()))?;
        display.server = Some(Killed(server));
        Ok(display)
    }

    /// Connects to the running display `name`.
    pub fn of(name: String) -> Result<Self> {
        let (connection, screen) = x11rb::connect(Some(&name))?;
        let screen = &connection.setup().roots[screen];
        let (root, width, height) = (screen.root, screen.width_in_pixels, screen.height_in_pixels);
        let window = connection.generate_id()?;
        connection.create_window(
            COPY_DEPTH_FROM_PARENT,
            window,
            root,
            0,
            0,
            width,
            height,
            0,
            WindowClass::INPUT_OUTPUT,
            COPY_FROM_PARENT,
            &CreateWindowAux::new().background_pixel(0).event_mask(EventMask::KEY_PRESS),
        )?;
        connection.map_window(window)?.check()?;
        Ok(Self { server: None, name, connection, root, window })
    }

    /// Returns the value of `$DISPLAY` for programs that open their windows on this display.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the environment so that this program's editors open on this display and render on the CPU.
    ///
    /// Also switches off the support of screen readers, whose threads never end.
    ///
    /// # Safety
    /// No other thread may access the environment during the call.
    pub unsafe fn set_environment(&self) {
        // SAFETY: by this function's contract.
        unsafe {
            env::set_var("DISPLAY", &self.name);
            env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
            env::set_var("DBUS_SESSION_BUS_ADDRESS", "");
        }
    }

    /// Returns the X11 id of our window, which lies in the top left corner of the screen.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Resizes our window to `width` and `height` in pixels.
    pub fn resize(&self, [width, height]: [u32; 2]) -> Result<()> {
        let size = ConfigureWindowAux::new().width(width).height(height);
        Ok(self.connection.configure_window(self.window, &size)?.check()?)
    }

    /// Clicks at a pixel of the editor in our window. Button 1 is the primary one, 3 the secondary one.
    pub fn click(&self, pixel: [i16; 2], button: u8) -> Result<()> {
        let editor = self.editor()?;
        self.send(editor, MOTION_NOTIFY_EVENT, Motion::NORMAL.into(), pixel)?;
        self.send(editor, BUTTON_PRESS_EVENT, button, pixel)?;
        self.send(editor, BUTTON_RELEASE_EVENT, button, pixel)
    }

    /// Returns the X11 id of the open editor's window.
    pub fn editor(&self) -> Result<u32> {
        let windows = self.connection.query_tree(self.window)?.reply()?.children;
        windows.first().copied().context("no editor is open")
    }

    /// Returns width and height of the open editor in pixels.
    pub fn editor_size(&self) -> Result<[u32; 2]> {
        let geometry = self.connection.get_geometry(self.editor()?)?.reply()?;
        Ok([geometry.width.into(), geometry.height.into()])
    }

    /// Presses and releases the key with the keysym `symbol` in the focused window.
    pub fn key(&self, symbol: u32) -> Result<()> {
        let (first, last) =
            (self.connection.setup().min_keycode, self.connection.setup().max_keycode);
        let keys = self.connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        let mut rows = keys.keysyms.chunks(keys.keysyms_per_keycode.into());
        let row = rows.position(|row| row.first() == Some(&symbol)).context("no such key")?;
        let (focused, code) = (self.focused()?, first + row as u8);
        self.send(focused, KEY_PRESS_EVENT, code, [0; 2])?;
        self.send(focused, KEY_RELEASE_EVENT, code, [0; 2])
    }

    /// Returns the number of key presses that our window has received since the last call.
    pub fn keys(&self) -> Result<usize> {
        let events = std::iter::from_fn(|| self.connection.poll_for_event().transpose());
        let keys = events.map(|event| Ok(usize::from(matches!(event?, Event::KeyPress(_)))));
        keys.sum()
    }

    /// Sets the keyboard focus to `window`, as a host does.
    pub fn focus(&self, window: u32) -> Result<()> {
        Ok(self.connection.set_input_focus(InputFocus::PARENT, window, 0u32)?.check()?)
    }

    /// Returns the X11 id of the window with the keyboard focus.
    pub fn focused(&self) -> Result<u32> {
        Ok(self.connection.get_input_focus()?.reply()?.focus)
    }

    /// Sends a pointer or keyboard event to `window`. Only the type differs: the events of X11 for both have the same layout.
    fn send(&self, window: u32, response_type: u8, detail: u8, [x, y]: [i16; 2]) -> Result<()> {
        let event = ButtonPressEvent {
            response_type,
            detail,
            sequence: 0,
            time: 0,
            root: self.root,
            event: window,
            child: 0,
            root_x: x,
            root_y: y,
            event_x: x,
            event_y: y,
            state: KeyButMask::default(),
            same_screen: true,
        };
        let keys = [KEY_PRESS_EVENT, KEY_RELEASE_EVENT].contains(&response_type);
        // As from a keyboard, key events go to all clients that have selected them.
        let mask =
            if keys { EventMask::KEY_PRESS | EventMask::KEY_RELEASE } else { EventMask::NO_EVENT };
        self.connection.send_event(false, window, mask, event)?.check()?;
        // Pauses as a user would, so that the editor handles the events separately.
        thread::sleep(Duration::from_millis(100));
        Ok(())
    }

    /// Takes a screenshot of the top left `width` x `height` pixels of the screen.
    pub fn picture(&self, [width, height]: [u32; 2]) -> Result<Picture> {
        let (w, h) = (width as u16, height as u16);
        // Takes it from the root window, which shows all that a user would see, whatever windows the editor creates.
        let image = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, w, h, u32::MAX)?
            .reply()?;
        // A screen of 24 bits stores blue, green, red and a padding byte.
        let pixels = image.data.as_chunks().0.iter().map(|&[b, g, r, _]| [r, g, b]).collect();
        Ok(Picture { width: width as usize, height: height as usize, pixels })
    }
}

/// Process that is killed when dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Picture {
    /// Returns the pixel in column `x` of row `y`.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        assert!(x < self.width, "column {x} of {}", self.width);
        self.pixels[y * self.width + x]
    }

    /// Writes the picture as a PNG file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let (width, height) = (self.width as u32, self.height as u32);
        let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
        encoder.set_color(png::ColorType::Rgb);
        Ok(encoder.write_header()?.write_image_data(self.pixels.as_flattened())?)
    }
}
