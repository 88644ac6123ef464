//! Tests that take too long to run for every change. `cargo xtask soak` runs them on the release build.

mod session;
mod timing;

use crate::{display, linux::vst3_window, memory};
use std::{
    panic::catch_unwind,
    thread,
    time::{Duration, Instant},
};
use tone_filter_hosts::settings;
use tone_filter_testkit::{Draws, bundle, clap::Library, plugin::factory};

const SCREEN: [u16; 2] = [1600, 1200];

pub fn soak() {
    memory::share_one_heap();
    let display = display(SCREEN);
    let bundle = bundle::clap().unwrap_or_else(|error| panic!("{error}"));
    let started = Instant::now();
    Library::load(&bundle).unwrap().plugin().unwrap();
    println!("scan: 1 plugin in {:.1} ms", 1e3 * started.elapsed().as_secs_f64());

    [32, 64].into_iter().for_each(|block| timing::measure(block, 1_000_000));

    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    let runs: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|seed| scope.spawn(move || random(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("random settings and signals: {runs} runs within their bounds, on {cores} cores");

    assert!(session::session(&display, 7200) <= 0.01, "memory has grown by more than 1 %");
    vst3_window::open_often(&factory(), &display, [50, 20, 10_000]);
}

/// Plays random settings and signals, drawn from `seed`, for half an hour. Returns how many.
fn random(seed: u64) -> usize {
    let (draws, started, mut runs) = (&mut Draws::seeded(seed), Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(1800) {
        let bytes: Vec<_> = (0..2000).map(|_| draws.below(256) as u8).collect();
        catch_unwind(|| settings::check(&bytes)).unwrap_or_else(|_| panic!("input: {bytes:?}"));
        runs += 1;
    }
    runs
}
