//! Piano roll: colours of the bands over time, the same in pictures and in windows. A [`Column`] has all bands at one time.
//! [`Rows`] has a row for each band, with the lowest band at the bottom.

use super::{BandState, Bands};
use crate::{
    notes::{TONES, midi_note},
    settings::BandRange,
};
use std::ops::Range;

/// Red, green and blue in sRGB.
pub type Colour = [u8; 3];

/// Level up to which nothing is drawn, in dB relative to the total power.
pub const DARKEST_DB: f32 = -60.0;
/// Minimum level of notes with full brightness, in dB relative to the total power.
pub const BRIGHTEST_DB: f32 = -5.0;
/// `OKLCh` colour of the line below each C; see [`oklch`].
pub const LINE: [f32; 3] = [0.31, 0.012, 265.0];

/// Converts an `OKLCh` lightness (0..1), chroma (0..0.3) and hue (degrees) to sRGB. Equal steps of lightness look equal, whatever
/// the hue. By Björn Ottosson, "A perceptual color space for image processing" (2020), which also gives the constants.
pub fn oklch([lightness, chroma, hue]: [f32; 3]) -> Colour {
    let (b, a) = libm::sincosf(hue.to_radians());
    let (a, b) = (chroma * a, chroma * b);
    let cube = |root: f32| root * root * root;
    let l = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b);
    let m = cube(lightness - 0.105_561_346 * a - 0.063_854_17 * b);
    let s = cube(lightness - 0.089_484_18 * a - 1.291_485_5 * b);
    let linear = [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ];
    linear.map(|x| {
        let x = x.clamp(0.0, 1.0);
        let coded =
            if x < 0.003_130_8 { 12.92 * x } else { 1.055 * libm::powf(x, 1.0 / 2.4) - 0.055 };
        (255.0 * coded).round() as u8
    })
}

/// State and level of one band at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// State of the note: inactive, sounding, or at the ceiling.
    pub state: BandState,
    /// Level in dB relative to the total power.
    pub level_db: f32,
}

impl Cell {
    /// Returns the colour. Higher levels are brighter. Each higher state is brighter at every level, so that the states can be
    /// told apart without colours. Sounding and saturated notes have the same hue.
    pub fn colour(self) -> Colour {
        let level = (self.level_db - DARKEST_DB) / (BRIGHTEST_DB - DARKEST_DB);
        let level = level.clamp(0.0, 1.0);
        oklch(match self.state {
            BandState::Inactive => [0.22 + 0.09 * level, 0.02 + 0.06 * level, 258.0],
            BandState::Sounding => [0.50 + 0.10 * level, 0.08 + 0.04 * level, 150.0],
            BandState::Saturated => [0.80 + 0.10 * level, 0.13 + 0.02 * level, 150.0],
        })
    }

    /// Returns the height in pixels of the note's mark in a row of `row` pixels. A higher state has a higher mark. In a row of
    /// one pixel, notes that are not played have no mark.
    pub fn thickness(self, row: usize) -> usize {
        let sixteenths = match self.state {
            BandState::Inactive => 4,
            BandState::Sounding => 10,
            BandState::Saturated => 14,
        };
        (sixteenths * row + 8) / 16
    }
}

/// Cells of all bands at one time, or the strongest cell of each band over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column(pub [Cell; TONES]);

impl From<&Bands> for Column {
    fn from(bands: &Bands) -> Self {
        Self(bands.bands.map(|band| Cell { state: band.state, level_db: band.level_db() }))
    }
}

impl Column {
    /// Keeps, for each band, the cell with the higher state or, if both states are equal, with the higher level.
    pub fn merge(&mut self, other: &Self) {
        let rank = |cell: &Cell| (cell.state as u8, cell.level_db);
        for (cell, other) in self.0.iter_mut().zip(&other.0) {
            if rank(other) > rank(cell) {
                *cell = *other;
            }
        }
    }
}

/// Row of a roll: a band, and the note that it sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Tone of the band, 0..77.
    pub tone: usize,
    /// MIDI note that the band sounds.
    pub key: i32,
}

impl Row {
    /// Whether the note is a black key of a piano.
    pub fn is_black(self) -> bool {
        [1, 3, 6, 8, 10].contains(&self.key.rem_euclid(12))
    }

    /// Whether the note is a C, the first note of an octave.
    pub fn is_c(self) -> bool {
        self.key.rem_euclid(12) == 0
    }
}

/// Rows of a roll, from the lowest band to the highest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows(pub Vec<Row>);

impl Rows {
    /// Creates the rows of the bands in `range`, transposed by `transpose` semitones.
    pub fn new(range: BandRange, transpose: f32) -> Self {
        let row = |tone| Row { tone, key: midi_note(tone, transpose) };
        Self(range.by_pitch().map(row).collect())
    }

    /// Returns the pixels of row `index` in a roll of `height` pixels. Pixels are counted from the top; row 0 is at the bottom.
    pub fn span(&self, index: usize, height: usize) -> Range<usize> {
        let edge = |below: usize| height - height * below / self.0.len().max(1);
        edge(index + 1)..edge(index)
    }

    /// Returns the background of a roll of `height` pixels: spans of pixels and their colours; later spans cover earlier
    /// ones.
    pub fn background(&self, height: usize) -> impl Iterator<Item = (Range<usize>, Colour)> {
        self.0.iter().enumerate().flat_map(move |(index, row)| {
            let span = self.span(index, height);
            let lightness = if row.is_black() { 0.185 } else { 0.22 };
            let line = span.end.saturating_sub(usize::from(row.is_c()))..span.end;
            [(span, oklch([lightness, 0.012, 265.0])), (line, oklch(LINE))]
        })
    }

    /// Returns the notes of `column` in a roll of `height` pixels: spans of pixels and their colours.
    pub fn notes(
        &self,
        column: &Column,
        height: usize,
    ) -> impl Iterator<Item = (Range<usize>, Colour)> {
        let height_of_row = (height / self.0.len().max(1)).max(1);
        self.0.iter().enumerate().filter_map(move |(index, row)| {
            let cell = column.0[row.tone];
            let span = self.span(index, height);
            let thickness = cell.thickness(height_of_row);
            let top = span.start + span.len().saturating_sub(thickness) / 2;
            (cell.level_db > DARKEST_DB)
                .then(|| (top..(top + thickness).min(span.end), cell.colour()))
        })
    }
}

impl Default for Column {
    /// Creates a column of silence.
    fn default() -> Self {
        let silent = Cell { state: BandState::Inactive, level_db: f32::NEG_INFINITY };
        Self([silent; TONES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{notes, view::Band};

    const STATES: [BandState; 3] = [BandState::Inactive, BandState::Sounding, BandState::Saturated];

    #[test]
    fn oklch_has_the_greys_and_the_primaries_of_srgb() {
        assert_eq!(oklch([0.0, 0.0, 0.0]), [0, 0, 0]);
        assert_eq!(oklch([1.0, 0.0, 0.0]), [255, 255, 255]);
        // CSS Color 4 gives sRGB red as oklch(0.62796 0.25768 29.234).
        let [red, green, blue] = oklch([0.627_96, 0.257_68, 29.234]);
        assert!(red >= 254 && green <= 2 && blue <= 2, "{red} {green} {blue}");
    }

    #[test]
    fn rows_fill_any_height_without_gaps() {
        for (range, lowest, count) in
            [(BandRange::Published, "A3", 48), (BandRange::Whole, "E1", TONES)]
        {
            let rows = Rows::new(range, 0.0);
            assert_eq!(rows.0.len(), count);
            assert_eq!(notes::name(rows.0[0].tone), lowest);
            for row in &rows.0 {
                let name = notes::name(row.tone);
                assert_eq!(
                    (row.is_black(), row.is_c()),
                    (name.contains('#'), { name.starts_with('C') && !name.contains('#') })
                );
            }
            for height in [0, 10, 100, 131, 1232] {
                let mut bottom = height;
                for index in 0..count {
                    let span = rows.span(index, height);
                    assert_eq!(span.end, bottom);
                    bottom = span.start;
                }
                assert_eq!(bottom, 0);
                let column = Column([Cell { state: BandState::Saturated, level_db: 0.0 }; TONES]);
                let mut all = rows.background(height).chain(rows.notes(&column, height));
                assert!(all.all(|(span, _)| span.end <= height && span.start <= span.end));
            }
        }
        assert_eq!(Rows::new(BandRange::Published, 3.0).0[0], Row { tone: 0, key: 60 });
    }

    /// Matrices from linear sRGB to what people with full colour vision, deuteranopia and protanopia see. By Machado, Oliveira,
    /// Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009).
    const VISION: [[[f32; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ];

    #[test]
    fn states_differ_by_lightness_for_every_eye() {
        for vision in VISION {
            // Lightness in CIELAB, 0 to 100.
            let lightness = |cell: &Cell| {
                let rgb = cell.colour().map(|coded| {
                    let coded = f32::from(coded) / 255.0;
                    let high = ((coded + 0.055) / 1.055).powf(2.4);
                    if coded <= 0.040_45 { coded / 12.92 } else { high }
                });
                let seen = vision.map(|row| row.iter().zip(rgb).map(|(a, b)| a * b).sum::<f32>());
                let luminance = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
                116.0 * luminance.max(0.0).cbrt() - 16.0
            };
            let levels = |state| {
                let cell = move |step| Cell { state, level_db: DARKEST_DB + 5.0 * step as f32 };
                (0..=11).map(cell).collect::<Vec<_>>()
            };
            let seen = STATES.map(|state| levels(state).iter().map(lightness).collect::<Vec<_>>());
            for of_state in &seen {
                assert!(of_state.is_sorted_by(|one, next| one < next), "{of_state:?}");
            }
            for pair in seen.windows(2) {
                assert!(pair[1][0] - pair[0][11] >= 20.0, "{pair:?}");
            }
        }
        for level_db in [DARKEST_DB, BRIGHTEST_DB] {
            let cells = STATES.map(|state| Cell { state, level_db });
            assert!(cells.is_sorted_by(|one, other| one.thickness(16) < other.thickness(16)));
        }
    }

    #[test]
    fn notes_are_centred_and_merged_columns_keep_the_strongest() {
        let rows = Rows::new(BandRange::Published, 0.0);
        let loud = Cell { state: BandState::Saturated, level_db: -10.0 };
        let mut bands = Bands::default();
        bands.bands[notes::A4] = Band { state: loud.state, ratio: 0.1, ..Band::default() };
        let mut column = Column::from(&bands);
        let silent = Cell { state: BandState::Inactive, level_db: f32::NEG_INFINITY };
        assert_eq!([column.0[notes::A4], column.0[notes::A4 + 1]], [loud, silent]);
        // 35 rows of 16 pixels are above.
        let expected = vec![(35 * 16 + 1..36 * 16 - 1, loud.colour())];
        assert_eq!(rows.notes(&column, 48 * 16).collect::<Vec<_>>(), expected);

        let before = column;
        column.merge(&Column::default());
        assert_eq!(column, before);
        let mut merged = Column::default();
        merged.0[3] = Cell { state: BandState::Sounding, level_db: -50.0 };
        merged.merge(&column);
        assert_eq!((merged.0[12], merged.0[3].level_db), (loud, -50.0));
    }
}
