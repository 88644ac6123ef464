//! Counters of heap use.

use tone_filter_testkit::heap::{Counting, counted, peak_of};

#[global_allocator]
static HEAP: Counting = Counting;

#[test]
fn calls_and_bytes_are_counted() {
    assert_eq!(counted(|| ()).1, 0);
    assert_eq!(counted(|| drop(vec![1.0])).1, 2);
    assert_eq!(peak_of(|| drop((vec![1u8; 100], vec![1u8; 200]))).1, 300);
    let grown = || {
        let mut bytes = vec![1u8; 100];
        bytes.reserve_exact(100);
    };
    assert_eq!(peak_of(grown).1, 300, "both blocks exist while one moves");
}
