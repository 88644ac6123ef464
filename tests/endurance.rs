//! A minute of the stress test that `cargo xtask soak` runs for an hour.

use tone_filter_testkit::soak::endurance::endure;

#[test]
fn the_filter_endures_any_settings_and_signals_and_comes_back() {
    for seed in 2..4 {
        endure(30.0, seed).unwrap();
    }
}
