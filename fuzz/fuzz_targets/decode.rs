#![no_main]

use std::panic::{set_hook, take_hook};
use tone_filter_fuzz::decode::{Verdict, compare};
use tone_filter_offline::is_decoding;

/// Lets the reader catch panics of decoders, which are no faults of ours: libFuzzer's hook would abort.
fn spare_decoders() {
    let abort = take_hook();
    set_hook(Box::new(move |panic| {
        if !is_decoding() {
            abort(panic);
        }
    }));
}

libfuzzer_sys::fuzz_target!(init: spare_decoders(), |bytes: &[u8]| {
    let verdict = compare(bytes);
    assert!(!matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
});
