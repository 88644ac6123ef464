//! One file on several cores.

use crate::{Folder, common, float_wav};
use std::fs;

#[test]
fn a_long_file_is_the_same_with_the_listener_on_a_thread_of_its_own() {
    // Just longer than what is worth threads, and at a low rate, which takes less time. The listener runs on into the tail.
    let (rate, frames) = (8000, (1 << 21) + 12_345);
    let chord = common::noisy_chord(4.0, f64::from(rate));
    let sound: Vec<f32> = chord.iter().copied().cycle().take(frames).collect();
    let folder = Folder::with(&float_wav(rate, &[sound]));
    for jobs in [1, 2] {
        folder.run(&format!("render in.wav -o {jobs}.wav --jobs {jobs} --tail 1"));
    }
    let [one, two] = ["1.wav", "2.wav"].map(|name| fs::read(folder.path(name)).unwrap());
    assert!(one == two);
}
