//! Prints the times in seconds of the beats that are tracked while a sound file plays, one a line.
//!
//! ```sh
//! cargo run --example beats -- song.wav [live]
//! ```

use std::error::Error;
use tone_filter_listener::{BLOCK, Listener, Model, beats::BeatTracker};
use tone_filter_simd::Kernel;
use tone_filter_testkit::wav;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a WAV file")?;
    let lookahead = arguments.next().is_none();
    let (signal, rate) = wav::read(path.as_ref())?;
    let rate = f64::from(rate);
    let mut listener = Listener::new(rate, lookahead, Model::Full);
    let mut tracker = BeatTracker::new(listener.frame() as f64 / rate);
    let mut channels = signal.iter().map(|channel| channel.as_chunks::<BLOCK>().0.iter());
    let (left, mut right) = (channels.next().ok_or("no channel")?, channels.next());
    for block in left {
        let right = right.as_mut().and_then(Iterator::next);
        if let Some(decisions) = listener.push(Kernel::best(), block, right)
            && let Some(time) = tracker.push(Kernel::best(), decisions, lookahead)
        {
            println!("{time:.3}");
        }
    }
    Ok(())
}
