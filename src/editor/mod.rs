//! editor/mod
