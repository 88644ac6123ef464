//! Development tasks: `cargo xtask` and what the package's tests share with it.

pub mod host;
pub mod tune;
