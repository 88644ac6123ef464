//! Tests of the sound, setting by setting. They are one program, as each program takes seconds to build.

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
