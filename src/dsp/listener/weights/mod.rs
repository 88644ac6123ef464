//! What was fitted; `tools/fit` says how.

pub mod causal;
pub mod lookahead;
