//! The command `tone-filter`.
fn main() {}
