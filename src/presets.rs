//! Settings as JSON.
