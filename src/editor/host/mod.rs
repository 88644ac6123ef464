//! The host in the window: its track, marks at controls, menus.

pub mod indication;
pub mod menu;
pub mod track;
