//! D-Bus daemons of a desktop, and a screen reader that uses them.

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};
use tempfile::TempDir;
use tone_filter_testkit::display::Killed;

/// Session bus, which starts the accessibility bus on demand. Dropping it ends both.
pub struct Bus {
    _daemon: Killed,
    pub address: String,
    _folder: TempDir,
}

impl Bus {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--print-address=1"])
            // The accessibility bus has its socket in this folder.
            .env("XDG_RUNTIME_DIR", folder.path())
            // Keeps the setting for an active screen reader out of the user's desktop settings.
            .env("GSETTINGS_BACKEND", "memory")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("install dbus-daemon, at-spi2-core and python3-pyatspi");
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(!address.is_empty(), "no session bus");
        Self { _daemon: Killed(daemon), address, _folder: folder }
    }
}

/// Screen reader: a process that runs `client.py`.
pub struct Client {
    _process: Killed,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Client {
    pub fn start(bus: &Bus) -> Self {
        let program = std::env::current_exe().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("alone/screen_reader/client.py");
        // Debian's own interpreter finds the Python packages of Debian.
        let mut process = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(program.file_name().unwrap())
            .env("DBUS_SESSION_BUS_ADDRESS", &bus.address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { _process: Killed(process), input, answers }
    }

    /// Sends `command` and returns its answer. Calls `host` repeatedly while waiting.
    pub fn ask(&mut self, command: &Value, mut host: impl FnMut()) -> Value {
        writeln!(self.input, "{command}").unwrap();
        loop {
            match self.answers.recv_timeout(Duration::from_millis(10)) {
                Ok(line) => return serde_json::from_str(&line).unwrap(),
                Err(RecvTimeoutError::Timeout) => host(),
                Err(RecvTimeoutError::Disconnected) => panic!("no answer to {command}"),
            }
        }
    }
}
