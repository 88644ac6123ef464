//! The audio thread of the plugin neither allocates nor makes system calls, through CLAP and VST3, linked into
//! the test and in the bundle that was built last. This program replaces the C library's `malloc` for all code, and the kernel redirects system
//! calls to a handler while a block is processed (Linux' "syscall user dispatch").
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

#[path = "../hosting/builds.rs"]
mod builds;
#[path = "../hosting/mod.rs"]
mod hosting;
mod vst3;

use builds::builds;
use hosting::{any_change, music, new, settle, states, threads};
use std::{
    backtrace::Backtrace,
    cell::Cell,
    env,
    ffi::{c_int, c_void},
    io::{Write, stderr},
    process::{Command, abort},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};
use tone_filter_testkit::signals::noise;
use tone_filter_testkit::{Draws, rate};
use xtask::{
    display::Display,
    host::{Instance, Midi, Parameter, Processor, random_transport},
};

const RATE: f64 = 48_000.0;
const MAX_BLOCK: usize = 16_384;

thread_local! {
    /// Whether this thread is processing a block.
    static IN_BLOCK: Cell<bool> = const { Cell::new(false) };
    /// The selector that the kernel reads before every system call of a thread for [`watch_system_calls`].
    static DISPATCH: Cell<u8> = const { Cell::new(ALLOW) };
}

const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

/// Aborts the program if this thread is processing a block.
fn offence(what: impl std::fmt::Display) {
    if IN_BLOCK.replace(false) {
        DISPATCH.set(ALLOW);
        // Not `eprintln`, whose output the harness would hold back until the end of the test.
        let _ = writeln!(stderr(), "{what} in a block\n{}", Backtrace::force_capture());
        abort();
    }
}

mod allocator {
    use super::{c_void, offence};

    unsafe extern "C" {
        fn __libc_malloc(size: usize) -> *mut c_void;
        fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
        fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
        fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
        fn __libc_free(old: *mut c_void);
    }

    // SAFETY, for all: these functions have the names and the arguments of the C library's, and behave like them.

    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
        offence("malloc");
        // SAFETY: see above.
        unsafe { __libc_malloc(size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
        offence("calloc");
        // SAFETY: see above.
        unsafe { __libc_calloc(count, size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
        offence("realloc");
        // SAFETY: see above.
        unsafe { __libc_realloc(old, size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
        offence("aligned_alloc");
        // SAFETY: see above.
        unsafe { __libc_memalign(alignment, size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn posix_memalign(
        result: *mut *mut c_void,
        alignment: usize,
        size: usize,
    ) -> i32 {
        offence("posix_memalign");
        // SAFETY: see above; the caller's `result` is there to be written to.
        unsafe { *result = __libc_memalign(alignment, size) };
        0
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn free(old: *mut c_void) {
        offence("free");
        // SAFETY: see above.
        unsafe { __libc_free(old) }
    }
}

/// Called by the kernel in place of the system call.
extern "C" fn on_system_call(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // First, because the following system calls would be redirected, too.
    DISPATCH.set(ALLOW);
    // The system call's number is an `int` after the signal's three numbers and a pointer.
    // SAFETY: the kernel passes a complete `siginfo_t` of 128 bytes.
    let number = unsafe { *info.cast::<c_int>().add(6) };
    offence(format_args!("system call {number}"));
}

/// From now on, system calls of this thread are redirected to [`on_system_call`] while `DISPATCH` is [`BLOCK`].
fn watch_system_calls() {
    const PR_SET_SYSCALL_USER_DISPATCH: c_int = 59;
    const PR_SYS_DISPATCH_ON: c_int = 1;
    // SAFETY: the action is complete, and its handler has the signature that SA_SIGINFO requires. The selector is a
    // thread-local and lives as long as the thread.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_system_call as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()), 0);
        DISPATCH.with(|selector| {
            libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, selector.as_ptr())
        })
    };
    assert_eq!(result, 0, "this kernel cannot watch system calls; Linux 5.11 or later can");
}

/// The number of watched blocks.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);

fn watched(call: &mut dyn FnMut()) {
    IN_BLOCK.set(true);
    DISPATCH.set(BLOCK);
    call();
    DISPATCH.set(ALLOW);
    IN_BLOCK.set(false);
    BLOCKS.fetch_add(1, Ordering::Relaxed);
}

/// Plays in blocks of `size` while all parameters change; alternately in place and not, half of the latter with a sidechain.
fn play(
    processor: &mut Processor,
    draws: &mut Draws,
    parameters: &[Parameter],
    size: usize,
    channels: usize,
) {
    let mut signal = music(0.25, RATE);
    signal.truncate(channels);
    let frames = signal[0].len();
    for channel in &mut signal {
        channel[..100].fill(f32::NAN);
        channel[200..300].fill(f32::MAX);
        channel[500..1000].fill(0.0);
    }
    let at = (0..frames / 20).map(|_| draws.below(frames)).collect::<Vec<_>>();
    let mut changes: Vec<_> =
        at.into_iter().map(|frame| any_change(draws, parameters, frame)).collect();
    changes.sort_by_key(|change| change.frame);
    // Ten thousand events a second.
    processor.notes = (0..frames * 10_000 / RATE as usize)
        .map(|_| {
            let status = draws.pick(&[0x80, 0x90, 0x90, 0xA0, 0xB0, 0xC0, 0xE0]);
            let data = match status {
                0xB0 => draws.pick(&[1, 64, 120, 123]),
                _ => draws.below(128) as u8,
            };
            Midi { frame: draws.below(frames), message: [status, data, draws.below(128) as u8] }
        })
        .collect();
    processor.sidechain = draws.chance(0.5).then(|| signal.iter().rev().cloned().collect());
    for in_place in [true, false] {
        processor.run(&mut signal, in_place, &mut std::iter::repeat(size), &changes).unwrap();
    }
}

/// Plays on an audio thread in blocks of all sizes, at any sample rate, while the main thread repeats `meanwhile`.
fn session(
    instance: &mut Instance,
    draws: &mut Draws,
    channels: usize,
    mut meanwhile: impl FnMut(&mut Instance),
) {
    instance.select(channels).unwrap();
    let parameters = instance.parameters().unwrap();
    // From now on, the plugin tells the host of changed names.
    instance.note_names().unwrap();
    let mut processor = instance.activate(rate(draws), MAX_BLOCK).unwrap();
    let playing = AtomicBool::new(true);
    thread::scope(|scope| {
        let audio = scope.spawn(|| {
            watch_system_calls();
            processor.reset();
            processor.surroundings.call = watched;
            let mut noise = noise(1);
            for size in [1, 2, 16, 63, 64, 65, 512, 4096, MAX_BLOCK] {
                let transport = (size % 2 == 0).then(|| random_transport(&mut noise));
                processor.surroundings.transport = transport;
                play(&mut processor, draws, &parameters, size, channels);
            }
            playing.store(false, Ordering::Relaxed);
        });
        while playing.load(Ordering::Relaxed) && !audio.is_finished() {
            meanwhile(instance);
            instance.idle();
        }
    });
    assert!(instance.reports_tail(), "in a block");
    instance.deactivate(processor);
}

#[test]
fn a_block_neither_allocates_nor_calls_the_system() {
    if let Ok(offence) = env::var(OFFENCE) {
        return offend(&offence);
    }
    for offence in ["malloc", "system call"] {
        let (passed, said) = child(offence);
        assert!(!passed && said.contains(offence), "{offence} goes unnoticed: {said}");
    }
    assert!(child("nothing").0);

    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process, and no other thread of it reads or writes the
    // environment meanwhile: the test harness only waits for this test.
    unsafe {
        env::set_var("DISPLAY", display.name());
        env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
        // Without screen readers, whose threads stay.
        env::set_var("DBUS_SESSION_BUS_ADDRESS", "");
    }
    let draws = &mut Draws::seeded(1);
    for (build, library) in builds() {
        let states = states(&library);
        let before = BLOCKS.load(Ordering::Relaxed);
        let mut instance = new(&library);
        session(&mut instance, draws, 1, |_| thread::yield_now());

        // States change sounds and masks.
        let mut next = states.iter().cycle();
        let mut load = |instance: &mut Instance| instance.load(next.next().unwrap()).unwrap();
        session(&mut instance, draws, 2, &mut load);
        // The editor reads the meters.
        let threads = threads();
        instance.open_editor(display.window()).unwrap();
        session(&mut instance, draws, 2, &mut load);
        instance.close_editor().unwrap();
        settle(threads);
        let blocks = BLOCKS.load(Ordering::Relaxed) - before;
        assert!(blocks > 3 * 2 * 12_000, "{build}: {blocks} blocks");
    }
    vst3::neither_allocates_nor_calls_the_system();
}

/// Set for the child processes that must be aborted.
const OFFENCE: &str = "TONE_FILTER_OFFENCE";

fn offend(how: &str) {
    watch_system_calls();
    watched(&mut || match how {
        "malloc" => drop(std::hint::black_box(vec![1u8; 100])),
        // SAFETY: it only asks.
        "system call" => _ = unsafe { libc::getppid() },
        _ => {}
    });
}

/// Whether a process that breaks the rule survives, and its error output.
fn child(offence: &str) -> (bool, String) {
    let mut test = Command::new(env::current_exe().unwrap());
    let output = test.env(OFFENCE, offence).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}
