//! What the filter does with sound, setting by setting. One program, as each takes seconds to build.

mod behaviour;
mod focus;
mod map;
mod overtones;
mod place;
mod play;
mod properties;
mod score;
mod scout;
mod sidechain;
mod spectrum;
mod voices;
