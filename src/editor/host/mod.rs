//! Displays of host data: the track, marks at controls, menus.

pub mod indication;
pub mod menu;
pub mod track;
