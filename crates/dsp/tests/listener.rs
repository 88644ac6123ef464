//! The listener does not allocate after construction.

#[path = "../../../tests/common/mod.rs"]
mod common;
#[path = "../../offline/tests/readers/heap.rs"]
mod heap;

use common::noisy_chord;
use tone_filter_dsp::{Kernel, listener::Listener};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

#[test]
fn nothing_is_allocated_while_it_listens() {
    for rate in [8000.0, 44_100.0, 192_000.0] {
        let signal = noisy_chord(1.0, rate);
        let mut listener = Listener::new(rate, false);
        let (heard, bytes) = heap::peak_of(|| {
            let mut heard = 0;
            for (index, block) in signal.as_chunks().0.iter().enumerate() {
                match index % 50 {
                    10 => listener.set_tuning(432.0, f64::from(index as u32 % 7)),
                    20 => listener.set_lookahead(index % 100 < 50),
                    30 => listener.set_sensitivity(1.0),
                    40 => listener.reset(),
                    _ => {}
                }
                heard += usize::from(listener.push(Kernel::best(), block).is_some());
            }
            heard
        });
        assert!(heard > 10);
        assert_eq!(bytes, 0, "{rate} Hz");
    }
}
