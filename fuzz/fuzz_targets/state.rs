#![no_main]

use tone_filter_testkit::clap::Library;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let linked = || Library::linked(&tone_filter::clap_entry).unwrap();
    tone_filter_fuzz::state::check(bytes, linked);
});
