//! Decoding does not replace a program's panic hook. The test has its own process, as a hook applies to all threads.

use std::{panic, path::Path};
use tone_filter_offline::{Input, Source};

#[test]
fn decoding_leaves_the_panic_hook_alone() {
    // Only a closure that captures a value has an address of its own.
    let message = String::from("the program's own hook");
    let hook: Box<dyn Fn(&panic::PanicHookInfo) + Sync + Send> =
        Box::new(move |_| eprintln!("{message}"));
    let address = std::ptr::from_ref(&*hook).addr();
    panic::set_hook(hook);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/cli/corpus");
    let mut source = Source::open(&Input::new(&corpus.join("tone.flac")).unwrap()).unwrap();
    let mut channels = vec![Vec::new(); usize::from(source.format().channels)];
    source.read(&mut channels, 100).unwrap();
    assert_eq!(channels[0].len(), 100);
    assert_eq!(std::ptr::from_ref(&*panic::take_hook()).addr(), address);
}
