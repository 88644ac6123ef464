//! The plugin in hosts that call it in random orders. The environment variable `TONE_FILTER_ORDERS` is their number, or a range of
//! seeds, such as 17..18.
#![cfg(target_os = "linux")]

use tone_filter_testkit::{
    clap::Library,
    display::Display,
    heap::Counting,
    orders::{hold_in_clap, hold_in_vst3},
    vst3::Factory,
};

#[global_allocator]
static HEAP: Counting = Counting;

#[test]
fn any_order_of_calls_keeps_the_plugin_s_promises() {
    let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
    // SAFETY: this is the only test in its process. No other thread uses the environment: the test harness only waits for this
    // test.
    unsafe { display.set_environment() };
    let library = Library::linked(&tone_filter::clap_entry).unwrap();
    hold_in_clap(&library, &display);
    // SAFETY: `GetPluginFactory` returns an owned reference to a factory.
    let factory = unsafe { Factory::linked(tone_filter::GetPluginFactory) };
    hold_in_vst3(&factory, &library, &display);
}
