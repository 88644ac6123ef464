//! Long session of a host, faster than real time: many instances, automation, editors and saved states.

use super::memory::Memory;
use crate::clap::{Change, Instance, Library, Processor};
use crate::signals::noise;
use anyhow::{Context, Result, ensure};
use std::fmt;

const RATE: f64 = 48_000.0;
const BLOCK: usize = 256;

/// Results of a session.
pub struct Session {
    /// Number of instances.
    pub instances: usize,
    /// Length of the session in simulated seconds. In each one, every instance plays one buffer.
    pub seconds: usize,
    /// Number of states that were saved, loaded into another instance, and restored exactly.
    pub states: usize,
    /// Number of editors that were opened and closed; 0 on systems other than Linux.
    pub editors: usize,
    /// Memory use after a quarter of the session, and at its end.
    pub memory: [Memory; 2],
}

impl Session {
    /// Returns the relative growth of resident memory; 0 if the memory use is unknown.
    pub fn growth(&self) -> f64 {
        let [before, after] = self.memory.map(|memory| memory.resident as f64);
        (after - before) / before.max(1.0)
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { instances, seconds, states, editors, .. } = self;
        let [before, after] = self.memory.map(|memory| memory.resident as f64 / (1 << 20) as f64);
        write!(
            f,
            "session: {seconds} s of {instances} instances, {editors} editors opened, {states} states \
             restored exactly; memory {before:.1} MiB after a quarter, {after:.1} MiB at the end ({:+.2} %)",
            100.0 * self.growth()
        )
    }
}

/// Plays a session of `seconds` with `count` instances. Every `editor_every` seconds, a random instance opens its editor.
///
/// # Errors
/// If any call fails, or a state is not restored exactly.
pub fn session(
    library: &Library,
    count: usize,
    seconds: usize,
    editor_every: usize,
) -> Result<Session> {
    let plugin = library.plugins()?.into_iter().next().context("the bundle is empty")?;
    let mut noise = noise(count as u64);
    let mut any = move |count: usize| ((noise() + 1.0) / 2.0 * count as f64) as usize % count;
    let mut instances = Vec::new();
    for _ in 0..count {
        let mut instance = library.instantiate(&plugin.id)?;
        let processor = instance.activate(RATE, BLOCK)?;
        instances.push((instance, processor));
    }
    let parameters: Vec<_> = instances[0].0.parameters()?;
    let mut editors = Editors::start()?;
    let mut session = Session {
        instances: count,
        seconds,
        states: 0,
        editors: 0,
        memory: [Memory::default(); 2],
    };
    for second in 0..seconds {
        for (_, processor) in &mut instances {
            let changes = (0..4).map(|index| {
                let parameter = &parameters[any(parameters.len())];
                let value = any(parameter.max as usize * 1000 + 1) as f64 / 1000.0;
                Change { frame: index * BLOCK / 4, parameter: parameter.id, value }
            });
            play(processor, &changes.collect::<Vec<_>>(), &mut any)?;
        }
        let [from, to] = [any(count), any(count)];
        let saved = instances[from].0.save()?;
        instances[to].0.load(&saved)?;
        ensure!(instances[to].0.save()? == saved, "a state was not restored exactly");
        session.states += 1;
        if second % editor_every == 0 {
            session.editors += editors.visit(&mut instances[any(count)])?;
        }
        if second == seconds / 4 {
            session.memory[0] = Memory::now();
        }
    }
    session.memory[1] = Memory::now();
    for (mut instance, processor) in instances {
        instance.deactivate(processor);
    }
    Ok(session)
}

fn play(
    processor: &mut Processor,
    changes: &[Change],
    any: &mut impl FnMut(usize) -> usize,
) -> Result<()> {
    let mut signal: Vec<Vec<f32>> =
        (0..2).map(|_| (0..BLOCK).map(|_| any(2001) as f32 / 1000.0 - 1.0).collect()).collect();
    processor.run(&mut signal, any(2) == 0, &mut std::iter::repeat(BLOCK), changes)?;
    // The output gain is at most 12 dB; the dry signal and the resonators are at most 1 each.
    let bound = 2.0 * 3.99;
    ensure!(signal.iter().flatten().all(|sample| sample.abs() <= bound), "out of bounds");
    Ok(())
}

#[cfg(target_os = "linux")]
use x11::Editors;

#[cfg(target_os = "linux")]
mod x11 {
    use super::{BLOCK, Instance, Processor, Result};
    use crate::display::Display;
    use anyhow::ensure;
    use libloading::Library;
    use std::{
        fs, mem, thread,
        time::{Duration, Instant},
    };

    /// Display for editors, and whether its graphics driver is kept in memory yet.
    pub struct Editors(Display, bool);

    impl Editors {
        pub fn start() -> Result<Self> {
            let display = Display::start([1600, 1200])?;
            // SAFETY: no other code of this program accesses the environment now. The instances' threads do so only once an
            // editor is open.
            unsafe { display.set_environment() };
            Ok(Self(display, false))
        }

        /// Opens an editor, plays 20 buffers, and closes the editor. Returns the number of editors, 1.
        pub fn visit(
            &mut self,
            (instance, processor): &mut (Instance, Processor),
        ) -> Result<usize> {
            let before = threads()?;
            instance.open_editor(self.0.window())?;
            for _ in 0..20 {
                let mut signal = vec![vec![0.1; BLOCK]; 2];
                processor.run(&mut signal, true, &mut std::iter::repeat(BLOCK), &[])?;
                instance.idle();
                thread::sleep(Duration::from_millis(5));
            }
            if !mem::replace(&mut self.1, true) {
                keep_driver()?;
            }
            instance.close_editor()?;
            let closed = Instant::now();
            while threads()? > before {
                ensure!(closed.elapsed().as_secs() < 60, "an editor leaves threads behind");
                thread::sleep(Duration::from_millis(1));
            }
            Ok(1)
        }
    }

    /// Keeps Mesa's driver in memory. Otherwise each closed window would unload it, and Mesa 22.3 leaks each time: 10 MiB of
    /// executable memory, of which one or two pages are resident, and small allocations all over the heap. A bare window in a C
    /// program leaks as much.
    fn keep_driver() -> Result<()> {
        let maps = fs::read_to_string("/proc/self/maps")?;
        let files = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
        if let Some(driver) = files.into_iter().find(|file| file.ends_with("_dri.so")) {
            // SAFETY: the driver is loaded already, so this runs none of its code.
            mem::forget(unsafe { Library::new(driver) }?);
        }
        Ok(())
    }

    fn threads() -> Result<usize> {
        Ok(fs::read_dir("/proc/self/task")?.count())
    }
}

/// Replacement where there is no X11: opens no editors.
#[cfg(not(target_os = "linux"))]
struct Editors;

#[cfg(not(target_os = "linux"))]
impl Editors {
    fn start() -> Result<Self> {
        Ok(Self)
    }

    fn visit(&mut self, _: &mut (Instance, Processor)) -> Result<usize> {
        Ok(0)
    }
}
