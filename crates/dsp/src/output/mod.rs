//! Output: the delay of the dry signal, the mix and the peak limiter.

mod delay;
mod limiter;
pub mod mix;

pub(crate) use {delay::Delay, limiter::Limiter, mix::Levels};
