//! Traps for allocations and system calls while a block is processed.
//!
//! The kernel redirects a watched thread's system calls to a handler (Linux' "syscall user dispatch"). This program replaces
//! `malloc` and its relatives. The replacements also serve the loaded plugin, as the dynamic linker searches the program first. A
//! system call ends the process with a backtrace; an allocation does so in [`watched`], and is counted elsewhere.

use std::{
    backtrace::Backtrace,
    cell::Cell,
    ffi::{c_int, c_void},
    process::abort,
    sync::atomic::{AtomicUsize, Ordering},
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static IN_BLOCK: Cell<bool> = const { Cell::new(false) };
    /// Selector of syscall user dispatch: [`ALLOW`] or [`BLOCK`]. The kernel reads it before each system call of the thread.
    static DISPATCH: Cell<u8> = const { Cell::new(ALLOW) };
}

const ALLOW: u8 = 0;
const BLOCK: u8 = 1;

static BLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Ends the process with a backtrace. `what` names the forbidden call.
fn offence(what: impl std::fmt::Display) -> ! {
    IN_BLOCK.set(false);
    DISPATCH.set(ALLOW);
    eprintln!("{what} in a block\n{}", Backtrace::force_capture());
    abort();
}

fn allocation(what: &str) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    if IN_BLOCK.get() {
        offence(what);
    }
}

/// Runs `call`, which processes a block. Returns the number of allocations and frees. System calls end the process.
pub fn counted(call: &mut dyn FnMut()) -> usize {
    DISPATCH.set(BLOCK);
    let count = allocations(call);
    DISPATCH.set(ALLOW);
    count
}

/// Runs `call`, which processes a block. Returns the number of allocations and frees. System calls are allowed.
pub fn allocations(call: &mut dyn FnMut()) -> usize {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

/// Runs `call`, which processes a block. Allocations and system calls end the process.
pub fn watched(call: &mut dyn FnMut()) {
    IN_BLOCK.set(true);
    counted(call);
    IN_BLOCK.set(false);
    BLOCKS.fetch_add(1, Ordering::Relaxed);
}

pub fn watched_blocks() -> usize {
    BLOCKS.load(Ordering::Relaxed)
}

/// Signal handler that the kernel calls instead of the system call.
extern "C" fn on_system_call(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes a complete `siginfo_t` of 128 bytes. In it, the system call's number is an `int` that follows the
    // signal's three numbers and a pointer.
    let number = unsafe { *info.cast::<c_int>().add(6) };
    offence(format_args!("system call {number}"));
}

/// Installs the trap for system calls on this thread. The trap is active within [`counted`] and [`watched`].
pub fn watch() {
    const PR_SET_SYSCALL_USER_DISPATCH: c_int = 59;
    const PR_SYS_DISPATCH_ON: c_int = 1;
    // SAFETY: the action is complete, and its handler has the signature that SA_SIGINFO requires. The selector is thread-local
    // and lives as long as the thread.
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

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(old: *mut c_void);
}

// SAFETY, for all: each function has the signature and the behaviour of the C library's function of the same name.

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    allocation("malloc");
    // SAFETY: see above.
    unsafe { __libc_malloc(size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    allocation("calloc");
    // SAFETY: see above.
    unsafe { __libc_calloc(count, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    allocation("realloc");
    // SAFETY: see above.
    unsafe { __libc_realloc(old, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    allocation("aligned_alloc");
    // SAFETY: see above.
    unsafe { __libc_memalign(alignment, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> i32 {
    allocation("posix_memalign");
    // SAFETY: see above; the caller promises that `result` can be written to.
    unsafe { *result = __libc_memalign(alignment, size) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(old: *mut c_void) {
    allocation("free");
    // SAFETY: see above.
    unsafe { __libc_free(old) }
}
