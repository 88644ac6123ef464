//! Areas of the window's parts.

use super::{
    band_grid, bypass, controls, keyboard, preset_bar, preset_browser, scale_strip, theme::Scale,
};
use egui::Rect;

/// Minimum height in points, from the upper edge of the grid to the margin at the bottom of the window, at which the spectrum is
/// shown.
const LOWEST_WITH_SPECTRUM: f32 = 330.0;
/// Minimum width in points of the bands beside the browser of presets. With less room, the browser hides the bands.
const LEAST_BESIDE_BROWSER: f32 = 420.0;
/// Minimum height in points of a legible grid. With less height, the grid is hidden, and More takes its room.
const LOWEST_GRID: f32 = 96.0;

pub struct Layout {
    pub scale: Scale,
    pub bypass: Rect,
    pub header: Rect,
    pub main: Rect,
    /// `None` while the browser of presets is closed.
    pub browser: Option<Rect>,
    /// Whether the parts of all following fields are shown; false if the browser hides them.
    pub has_bands: bool,
    /// `None` while More is closed.
    pub more: Option<Rect>,
    /// Whether the grid, its octaves and the keyboard are shown; false if they have too little height.
    pub has_grid: bool,
    pub octaves: Rect,
    pub grid: Rect,
    pub keyboard: Rect,
    pub strip: Rect,
    /// `None` in a low window.
    pub spectrum: Option<Rect>,
}

impl Layout {
    /// Lays out the area `window`. `open` is whether More is open; `browser` is whether the browser of presets is open.
    pub fn new(window: Rect, open: bool, browser: bool) -> Self {
        let scale = Scale::new(window.size());
        let margin = scale.length(16.0).max(6.0);
        let area = window.shrink(margin);
        let (top, rest) = area.split_top_bottom_at_y(area.top() + preset_bar::height(scale));
        let (bypass, header) = top.split_left_right_at_x(top.left() + bypass::width(top, scale));
        let header = header.with_min_x(header.left() + scale.length(14.0).max(4.0));
        let rest = rest.with_min_y(rest.top() + 0.7 * margin);
        let (main, rest) = rest.split_top_bottom_at_y(rest.top() + controls::strip::height(scale));
        let mut rest = rest.with_min_y(rest.top() + 0.5 * margin);
        let width = preset_browser::width(scale);
        let has_bands = !browser || rest.width() - width - margin >= LEAST_BESIDE_BROWSER;
        let browser = browser.then(|| {
            let width = if has_bands { width } else { rest.width() };
            let (browser, beside) = rest.split_left_right_at_x(rest.left() + width);
            if has_bands {
                rest = beside.with_min_x(beside.left() + margin);
            }
            browser
        });
        let more = open.then(|| {
            let height = controls::more::height(rest.width(), scale);
            let (more, below) = rest.split_top_bottom_at_y(rest.top() + height);
            rest = below.with_min_y(below.top() + 0.4 * margin);
            more
        });
        let spectrum = (rest.height() >= LOWEST_WITH_SPECTRUM).then(|| {
            let (above, spectrum) =
                rest.split_top_bottom_at_y(rest.bottom() - 0.17 * rest.height());
            rest = above.with_max_y(above.bottom() - 0.4 * margin);
            spectrum
        });
        let (rest, strip) = rest.split_top_bottom_at_y(rest.bottom() - scale_strip::height(scale));
        let rest = rest.with_max_y(rest.bottom() - 0.4 * margin);
        let keyboard = rest.bottom() - keyboard::height(scale);
        let (grid, keyboard) = rest.split_top_bottom_at_y(keyboard);
        let grid = grid.with_max_y(grid.bottom() - 0.3 * margin);
        let has_grid = grid.height() >= LOWEST_GRID;
        let more = match more {
            Some(more) if !has_grid => Some(more.with_max_y(keyboard.bottom())),
            more => more,
        };
        let (octaves, grid) =
            grid.split_left_right_at_x(grid.left() + band_grid::octaves_width(scale));
        let grid = grid.with_min_x(grid.left() + band_grid::gap(grid));
        Self {
            scale,
            bypass,
            header,
            main,
            browser,
            has_bands,
            more,
            has_grid,
            octaves,
            grid,
            keyboard,
            strip,
            spectrum,
        }
    }
}
