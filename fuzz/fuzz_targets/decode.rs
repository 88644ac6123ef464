#![no_main]

use tone_filter_fuzz::decode::{Verdict, compare};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let verdict = compare(bytes);
    assert!(!matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
});
