//! Piano roll: colours of the bands over time, the same in pictures and in windows. A [`Column`] has all bands at one time.
//! [`Rows`] has a row for each band, with the lowest band at the bottom.

use super::{BandState, Bands};
use crate::{
    notes::{TONES, midi_note},
    settings::BandRange,
};
use std::{array, ops::Range};

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
    /// Returns the colour. Higher levels are brighter. At equal levels, each higher state is brighter, so that the states can be
    /// told apart without colours.
    pub fn colour(self) -> Colour {
        let level = (self.level_db - DARKEST_DB) / (BRIGHTEST_DB - DARKEST_DB);
        let level = level.clamp(0.0, 1.0);
        oklch(match self.state {
            BandState::Inactive => [0.23 + 0.20 * level, 0.02 + 0.12 * level, 258.0],
            BandState::Sounding => [0.40 + 0.28 * level * level, 0.09 + 0.10 * level, 150.0],
            BandState::Saturated => [0.55 + 0.19 * level * level, 0.17 + 0.03 * level, 27.0],
        })
    }

    /// Returns the height of the note's mark in a row of `row` pixels, which is greater for a higher state. In a row of one
    /// pixel, notes that are not played have no mark.
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
        Self(array::from_fn(|_| silent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes;

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
    fn rows_share_out_every_height_without_gaps_from_the_lowest_note_at_the_bottom() {
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

    #[test]
    fn higher_states_are_thicker_and_brighter_and_stronger_notes_brighter() {
        // Lightness in Oklab, from the same source as `oklch`.
        let light = |cell: Cell| {
            let [r, g, b] = cell.colour().map(|coded| {
                let coded = f32::from(coded) / 255.0;
                let high = ((coded + 0.055) / 1.055).powf(2.4);
                if coded <= 0.040_45 { coded / 12.92 } else { high }
            });
            let l = 0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b;
            let m = 0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b;
            let s = 0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b;
            0.210_454_26 * l.cbrt() + 0.793_617_8 * m.cbrt() - 0.004_072_047 * s.cbrt()
        };
        for level in 0..=55 {
            let level_db = DARKEST_DB + level as f32;
            let cells = STATES.map(|state| Cell { state, level_db });
            assert!(cells.is_sorted_by(|one, other| light(*one) < light(*other)), "{level_db} dB");
            assert!(cells.is_sorted_by(|one, other| one.thickness(16) < other.thickness(16)));
        }
        for state in STATES {
            let levels = (0..=11).map(|step| Cell { state, level_db: -60.0 + 5.0 * step as f32 });
            assert!(levels.map(light).is_sorted_by(|one, other| one < other), "{state:?}");
        }
    }

    #[test]
    fn a_note_is_in_the_middle_of_its_row_and_the_strongest_of_merged_columns_shows() {
        let rows = Rows::new(BandRange::Published, 0.0);
        let loud = Cell { state: BandState::Saturated, level_db: -10.0 };
        let mut column = Column::default();
        column.0[12] = loud;
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
