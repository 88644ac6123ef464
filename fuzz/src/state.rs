//! Fuzz target: bytes as a saved state that a host loads into the plugin.

use serde_json::Value;
use std::{cell::RefCell, mem::ManuallyDrop};
use tone_filter_testkit::{
    clap::{Instance, Library},
    plugin::{busy, controls_in, state},
};

type Instances = (ManuallyDrop<[Instance; 2]>, [Vec<u8>; 2]);

thread_local! {
    /// Two instances of the plugin, and the state that each had at first. Created once per thread, as creation is slow.
    ///
    /// The states differ in every setting, which reveals a parameter that a loaded state leaves unset. The instances are never
    /// dropped: a host must not destroy an instance in a destructor of thread-local data.
    static INSTANCES: RefCell<Option<Instances>> = const { RefCell::new(None) };
}

/// Checks that the plugin either refuses `bytes` and changes nothing, or loads them and sets all parameters.
///
/// Checks `bytes` as they are, and again with their length in front, as a state has it: a fuzzer would hardly guess the length.
pub fn check(bytes: &[u8], library: fn() -> Library) {
    let with_length = [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat();
    INSTANCES.with_borrow_mut(|instances| {
        let (instances, before) = instances.get_or_insert_with(|| {
            let library = library();
            let mut instances = [busy(&library), library.instance().unwrap()];
            let before = saved(&mut instances);
            (ManuallyDrop::new(instances), before)
        });
        load(instances, before, bytes);
        load(instances, before, &with_length);
    });
}

fn load(instances: &mut [Instance; 2], before: &[Vec<u8>; 2], bytes: &[u8]) {
    for (instance, before) in instances.iter_mut().zip(before) {
        instance.load(before).unwrap();
    }
    assert_eq!(saved(instances), *before);
    let [first, second] = instances.each_mut().map(|instance| instance.load(bytes).is_ok());
    let after = saved(instances);
    assert_eq!(first, second);
    if !first {
        assert_eq!(after, *before);
        return;
    }
    let [first, second] = after.each_ref().map(|saved| controls_in(saved));
    assert_eq!(first, second);
    first.settings.validate().unwrap();
    let [first, second] = after.each_ref().map(|saved| text(saved, "preset"));
    assert_eq!(first, second);
    for saved in &after {
        let size: [f32; 2] = serde_json::from_str(&text(saved, "editor-size")).unwrap();
        let zoom: f32 = serde_json::from_str(&text(saved, "editor-zoom")).unwrap();
        assert!(size.iter().chain([&zoom]).all(|number| *number > 0.0), "{size:?}, {zoom}");
    }

    let [first, second] = instances;
    second.load(&after[0]).unwrap();
    assert_eq!(second.save().unwrap(), first.save().unwrap());
}

fn saved(instances: &mut [Instance; 2]) -> [Vec<u8>; 2] {
    instances.each_mut().map(|instance| instance.save().unwrap())
}

fn text(saved: &[u8], field: &str) -> String {
    let Value::String(text) = &state(saved)["fields"][field] else { panic!("no {field}") };
    text.clone()
}
