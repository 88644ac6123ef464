//! Colours, fonts and scale factors of the editor.

use egui::{
    self, Align2, Color32, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Painter,
    Pos2, Rect, Stroke, Visuals, style::ScrollStyle,
};
use std::{cell::Cell, ops::Deref, sync::Arc};
use tone_filter_dsp::BandState;

/// Colour in the ordinary theme and in the theme of high contrast. Dereferences to the colour in the selected theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shade([Color32; 2]);

impl Shade {
    /// Creates a shade from two colours, each 0xRRGGBB.
    const fn new(ordinary: u32, high_contrast: u32) -> Self {
        const fn colour(hex: u32) -> Color32 {
            let [_, red, green, blue] = hex.to_be_bytes();
            Color32::from_rgb(red, green, blue)
        }
        Self([colour(ordinary), colour(high_contrast)])
    }
}

impl Deref for Shade {
    type Target = Color32;

    fn deref(&self) -> &Color32 {
        &self.0[usize::from(HIGH_CONTRAST.get())]
    }
}

impl From<Shade> for Color32 {
    fn from(shade: Shade) -> Self {
        *shade
    }
}

thread_local! {
    /// Whether this thread draws in high contrast. [`select`] sets it for each frame, as several windows may share a thread.
    static HIGH_CONTRAST: Cell<bool> = const { Cell::new(false) };
}

pub const BACKGROUND: Shade = Shade::new(0x10_1216, 0x00_0000);
/// Colour of cells, buttons and menus at rest.
pub const SURFACE: Shade = Shade::new(0x19_1d23, 0x1a_1a1a);
pub const LINE: Shade = Shade::new(0x2a_3039, 0x58_5858);
pub const TEXT: Shade = Shade::new(0xdc_dfe4, 0xff_ffff);
/// Colour of captions and other secondary text.
pub const DIM: Shade = Shade::new(0x9a_a3b0, 0xdc_dcdc);
/// Text colour of controls without effect, and of silent or muted bands.
pub const IDLE: Shade = Shade::new(0x80_8996, 0xb4_b4b4);
/// Colours of the keys in the scale: natural notes, sharps.
pub const KEYS: [Shade; 2] = [Shade::new(0x5e_5a4e, 0x56_5656), Shade::new(0x41_403b, 0x3a_3a3a)];
pub const ACCENT: Shade = Shade::new(0xd1_c7a8, 0xff_e9a0);
/// Colour of errors, of clipping, and of actions that cannot be undone.
pub const ALARM: Shade = Shade::new(0xff_5c52, 0xff_8a80);

/// Returns the colour of a state. The states differ in lightness, for any kind of colour vision.
pub const fn state_colour(state: BandState) -> Shade {
    match state {
        BandState::Inactive => Shade::new(0x51_6a91, 0x58_7097),
        BandState::Sounding => Shade::new(0x37_b480, 0x35_c088),
        BandState::Saturated => Shade::new(0xb9_f8d6, 0xd8_ffe8),
    }
}

/// Minimum contrast with [`BACKGROUND`] of a colour that the host chooses. WCAG 2 requires it of graphics.
const CONTRAST: f32 = 3.0;

/// Lightens a colour of the host until it has [`CONTRAST`].
pub fn legible([red, green, blue]: [u8; 3]) -> Color32 {
    let colour = Color32::from_rgb(red, green, blue);
    let lighter = (0..=10).map(|tenths| colour.lerp_to_gamma(Color32::WHITE, 0.1 * tenths as f32));
    let mut lighter = lighter.filter(|colour| contrast(*colour, BACKGROUND) >= CONTRAST);
    lighter.next().unwrap_or(*TEXT)
}

/// Returns the contrast of two colours by WCAG 2, from 1 to 21.
pub fn contrast(one: impl Into<Color32>, other: impl Into<Color32>) -> f32 {
    let luminance = |colour: Color32| {
        let [red, green, blue, _] = egui::Rgba::from(colour).to_array();
        0.05 + 0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (one, other) = (luminance(one.into()), luminance(other.into()));
    one.max(other) / one.min(other)
}

/// Scale factor for lengths and fonts, derived from the size of the window or of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Scale(f32);

impl Scale {
    /// Computes the scale for a window of this logical size, at least 0.5. It is 1 from [`super::DEFAULT_SIZE`] to twice that
    /// size: in this range, only the display of the bands grows.
    pub fn new(window: egui::Vec2) -> Self {
        let [width, height] = super::DEFAULT_SIZE;
        let size = (window.x / width).min(window.y / height);
        Self(size.min(size.max(2.0) / 2.0).max(0.5))
    }

    /// Computes the scale for a cell of this size in points; it is 1 in a window of default size.
    pub fn of_cell(cell: egui::Vec2) -> Self {
        Self((cell.x / 76.0).min(cell.y / 70.0).clamp(0.5, 4.0))
    }

    /// Scales a length in points.
    pub fn length(self, points: f32) -> f32 {
        points * self.0
    }

    /// Returns a font whose size is `points` times the scale, but at least 9 points.
    pub fn font(self, points: f32) -> FontId {
        FontId::proportional((points * self.0).max(9.0))
    }

    /// Returns the line height in points of the font that [`Scale::font`] returns.
    pub fn line(self, points: f32) -> f32 {
        1.25 * self.font(points).size
    }
}

/// Paints a line of text with its `align` corner at `at`. Returns its area. Unlike [`Painter::text`], does not lay the text out
/// again when only the colour changes, as in an animation.
pub fn text(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: &str,
    font: FontId,
    colour: impl Into<Color32>,
) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
    let place = align.anchor_size(at, galley.size());
    painter.galley(place.min, galley, colour.into());
    place
}

pub fn text_width(ui: &egui::Ui, text: &str, font: FontId) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER).size().x
}

/// Makes buttons stand out from the background of a menu or a dialog, the focused one by an outline, and centres the items beside
/// them.
pub fn raise(ui: &mut egui::Ui) {
    let widgets = &mut ui.visuals_mut().widgets;
    widgets.inactive.weak_bg_fill = *LINE;
    // Focused or pressed.
    widgets.active.bg_stroke = Stroke::new(1.5, ACCENT);
    let height = ui.text_style_height(&egui::TextStyle::Button);
    let spacing = ui.spacing_mut();
    spacing.interact_size.y = height + 2.0 * spacing.button_padding.y;
}

/// Outlines radio buttons and checkboxes, whose fill is that of menus and dialogs.
pub fn outline(ui: &mut egui::Ui) {
    let widgets = &mut ui.visuals_mut().widgets;
    for state in [&mut widgets.inactive, &mut widgets.hovered] {
        state.bg_stroke = Stroke::new(1.0, DIM);
    }
    widgets.active.bg_stroke = Stroke::new(1.5, ACCENT);
}

/// Sets the size of all text for which a widget names no font, as in menus, dialogs and tooltips, by `scale`.
pub fn resize(ctx: &egui::Context, scale: Scale) {
    let font = scale.font(12.0);
    // egui lays out all text again after a change of style, so an unchanged style is not set.
    if ctx.global_style().text_styles.values().any(|style| *style != font) {
        ctx.all_styles_mut(|style| {
            style.text_styles.values_mut().for_each(|style| *style = font.clone());
        });
    }
}

/// Selects the theme in which this thread draws until the next call, and colours egui's own widgets in `ctx`.
pub fn select(ctx: &egui::Context, high_contrast: bool) {
    HIGH_CONTRAST.set(high_contrast);
    if ctx.global_style().visuals.panel_fill == *BACKGROUND {
        return;
    }
    let mut visuals = Visuals::dark();
    visuals.panel_fill = *BACKGROUND;
    visuals.window_fill = *SURFACE;
    visuals.window_stroke = Stroke::new(1.0, LINE);
    visuals.extreme_bg_color = *BACKGROUND;
    visuals.override_text_color = Some(*TEXT);
    visuals.weak_text_color = Some(*DIM);
    visuals.disabled_alpha = 0.65;
    visuals.selection.bg_fill = ACCENT.gamma_multiply(0.2);
    visuals.selection.stroke = Stroke::new(1.0, ACCENT);
    visuals.menu_corner_radius = CornerRadius::same(4);
    // egui's own widgets look like the painted controls.
    let widgets = &mut visuals.widgets;
    for (state, fill) in [
        (&mut widgets.inactive, *SURFACE),
        (&mut widgets.hovered, *LINE),
        (&mut widgets.active, *LINE),
        (&mut widgets.open, *LINE),
    ] {
        (state.weak_bg_fill, state.bg_fill, state.bg_stroke) = (fill, fill, Stroke::NONE);
        (state.corner_radius, state.expansion) = (CornerRadius::same(4), 0.0);
    }
    ctx.set_visuals_of(egui::Theme::Dark, visuals);
}

pub fn install(ctx: &egui::Context) {
    const NAME: &str = "Ubuntu-Light";
    let mut fonts = FontDefinitions::empty();
    let data = FontData::from_static(epaint_default_fonts::UBUNTU_LIGHT);
    fonts.font_data.insert(NAME.to_owned(), Arc::new(data));
    for family in [FontFamily::Proportional, FontFamily::Monospace] {
        fonts.families.insert(family, vec![NAME.to_owned()]);
    }
    ctx.set_fonts(fonts);

    ctx.all_styles_mut(|style| {
        // Without a minimum height, a text field is as high as the text that it replaces.
        style.spacing.interact_size.y = 0.0;
        // Scroll bars are always visible, as a list would look complete without one. Text does not fade at the edges, as it
        // would be illegible.
        style.spacing.scroll = ScrollStyle { foreground_color: true, ..ScrollStyle::solid() };
        style.spacing.scroll.fade.strength = 0.0;
    });
    ctx.set_theme(egui::Theme::Dark);
    select(ctx, false);
    // egui would change the zoom without asking the host for a window of that size.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}
