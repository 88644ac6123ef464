//! The fitted weights, which `tools/fit` makes.

pub mod causal;
pub mod lookahead;
