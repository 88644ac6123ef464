//! Configuration of criterion that the benchmarks share.

use criterion::Criterion;
use std::time::Duration;

/// Returns a configuration for short measurements: a second each, in 20 samples.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
}
