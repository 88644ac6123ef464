//! Tests that take too long to run for every change. `cargo xtask soak` runs them on the release build.

mod session;
mod timing;

use crate::{display, linux::vst3_window, memory};
use std::time::{Duration, Instant};
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

    let (draws, started, mut runs) = (&mut Draws::seeded(1), Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(3600) {
        settings::check(&(0..2000).map(|_| draws.below(256) as u8).collect::<Vec<_>>());
        runs += 1;
    }
    println!("random settings and signals: {runs} runs within their bounds");

    assert!(session::session(&display, 7200) <= 0.01, "memory has grown by more than 1 %");
    vst3_window::open_often(&factory(), &display, [50, 20, 10_000]);
}
