#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tone_filter_fuzz::settings::check(bytes));
