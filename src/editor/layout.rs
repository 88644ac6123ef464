//! Where the parts of the window are.

use super::{controls, preset_bar, scale_strip, theme::Scale};
use egui::Rect;

/// Logical height of the window below which the spectrum is left out.
const LOWEST_WITH_SPECTRUM: f32 = 420.0;

/// The areas of the panel's parts.
pub struct Layout {
    pub scale: Scale,
    pub header: Rect,
    pub grid: Rect,
    pub keyboard: Rect,
    pub strip: Rect,
    /// `None` in a low window.
    pub spectrum: Option<Rect>,
    pub controls: Rect,
}

impl Layout {
    /// For a window of this area.
    pub fn new(window: Rect) -> Self {
        let scale = Scale::new(window.size());
        let margin = scale.length(16.0).max(6.0);
        let area = window.shrink(margin);
        let (header, rest) = area.split_top_bottom_at_y(area.top() + preset_bar::height(scale));
        let (rest, controls) = rest.split_top_bottom_at_y(rest.bottom() - controls::height(scale));
        let mut rest =
            rest.with_min_y(rest.top() + 0.5 * margin).with_max_y(rest.bottom() - 0.6 * margin);
        let spectrum = (window.height() >= LOWEST_WITH_SPECTRUM).then(|| {
            let (above, spectrum) =
                rest.split_top_bottom_at_y(rest.bottom() - 0.17 * rest.height());
            rest = above.with_max_y(above.bottom() - 0.4 * margin);
            spectrum
        });
        let (rest, strip) = rest.split_top_bottom_at_y(rest.bottom() - scale_strip::height(scale));
        let rest = rest.with_max_y(rest.bottom() - 0.4 * margin);
        let keyboard = rest.bottom() - scale_strip::keyboard_height(scale);
        let (grid, keyboard) = rest.split_top_bottom_at_y(keyboard);
        let grid = grid.with_max_y(grid.bottom() - 0.3 * margin);
        Self { scale, header, grid, keyboard, strip, spectrum, controls }
    }
}
