//! What the host tells of itself, in the window: the track, marks at controls, menus. And presets that it loads.

pub mod indication;
pub mod menu;
pub mod track;
