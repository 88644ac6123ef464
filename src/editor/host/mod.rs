//! What the window shows of the host: the track, marks at controls, menus.

pub mod indication;
pub mod menu;
pub mod track;
