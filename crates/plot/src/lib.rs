//! Picture of the bands over time: a piano roll with the lowest band at the bottom. Without transposition, the top is G#7.

mod canvas;
mod draw;

use tone_filter_dsp::{
    Bands, Settings,
    notes::name_at,
    roll::{Column, Rows},
};

/// Maximum number of stored columns. When it is reached, neighbours are merged; at least one column per pixel remains.
const COLUMNS: usize = 2 * draw::WIDTH as usize;

/// Piano roll of the bands, built from snapshots.
///
/// Memory is bounded: in a long sound, several successive snapshots share a column, which shows the strongest state of each band.
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    /// Time between two snapshots in seconds.
    hop: f64,
    rows: Rows,
    /// Name of each row's note.
    names: Vec<String>,
    columns: Vec<Column>,
    /// Number of snapshots in a full column.
    stride: u32,
    /// Number of snapshots in the last column.
    filled: u32,
    /// Starts of the bars in seconds.
    bars: Vec<f64>,
}

impl Plot {
    /// Creates an empty plot for the bands of `settings`. `title` is drawn above the roll. `hop` is the time between snapshots in
    /// seconds; 0.01 is a good choice.
    pub fn new(title: impl Into<String>, hop: f64, settings: &Settings) -> Self {
        let (title, shift) = (title.into(), settings.pitch_shift());
        let rows = Rows::new(settings.range, shift);
        let names = rows.0.iter().map(|row| name_at(row.tone, shift)).collect();
        Self {
            title,
            hop,
            rows,
            names,
            columns: Vec::new(),
            stride: 1,
            filled: 1,
            bars: Vec::new(),
        }
    }

    /// Appends a snapshot, one `hop` after the last one.
    pub fn push(&mut self, bands: &Bands) {
        let column = Column::from(bands);
        match self.columns.last_mut() {
            Some(last) if self.filled < self.stride => {
                last.merge(&column);
                self.filled += 1;
            }
            _ => {
                if self.columns.len() == COLUMNS {
                    self.halve();
                }
                self.columns.push(column);
                self.filled = 1;
            }
        }
    }

    /// Sets the starts of the bars, in seconds from the start of the file. They are drawn as lines.
    pub fn set_bars(&mut self, bars: Vec<f64>) {
        self.bars = bars;
    }

    /// Returns the picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        draw::picture(self).png()
    }

    fn halve(&mut self) {
        for pair in 0..COLUMNS / 2 {
            let mut column = self.columns[2 * pair];
            column.merge(&self.columns[2 * pair + 1]);
            self.columns[pair] = column;
        }
        self.columns.truncate(COLUMNS / 2);
        self.stride *= 2;
    }

    /// Returns the duration of all snapshots in seconds: the width of the time axis.
    fn duration(&self) -> f64 {
        let missing = self.stride.saturating_sub(self.filled);
        let hops = self.columns.len() as f64 * f64::from(self.stride) - f64::from(missing);
        hops * self.hop
    }
}

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::{Band, BandState};

    fn light(bands: &mut Bands, tone: usize, state: BandState) {
        bands.bands[tone] = Band { ratio: 0.1, state, ..Band::default() };
    }

    #[test]
    fn every_state_is_drawn_in_the_row_of_its_note_and_brighter_than_the_last() {
        let states = [BandState::Inactive, BandState::Sounding, BandState::Saturated];
        let tones = [0, 12, 47];
        let mut bands = Bands::default();
        std::iter::zip(tones, states).for_each(|(tone, state)| light(&mut bands, tone, state));
        let mut plot = Plot::new("", 0.01, &Settings::default());
        (0..5).for_each(|_| plot.push(&bands));

        let mut reader = png::Decoder::new(std::io::Cursor::new(plot.png())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let line = reader.next_frame(&mut pixels).unwrap().line_size;
        // Rows are 16 pixels high; the lowest one ends at the time axis.
        let colours = [0, 12, 47, 11, 46].map(|tone| -> [u8; 3] {
            let y = 64 + 16 * (47 - tone) + 8;
            pixels[y * line + 3 * 200..][..3].try_into().unwrap()
        });
        let [blue, green, bright, below_green, below_bright] = colours;
        assert!(blue[2] > blue[0].max(blue[1]), "{blue:?}");
        for green in [green, bright] {
            assert!(green[1] > green[0].max(green[2]), "{green:?}");
        }
        let [dark, muted, sounding, saturated] = [below_green, blue, green, bright].map(|c| {
            let [r, g, b] = c.map(f32::from);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        });
        assert!(dark < muted && muted < sounding && sounding < saturated, "{colours:?}");
        assert!(below_bright.iter().all(|c| *c < 40), "{below_bright:?}");
        // Time marks are below the rows: 0.05 s are ten steps.
        let axis = &pixels[(reader.info().height as usize - 42) * line..][..line];
        let columns = axis.chunks_exact(3).enumerate();
        let marks = columns.filter(|(_, colour)| *colour != &axis[..3]).map(|(x, _)| x);
        assert!(marks.eq((0..=10).map(|step| 84 + 144 * step)));
    }

    #[test]
    fn a_long_sound_takes_no_more_memory_and_hides_no_peak() {
        let mut plot = Plot::new("", 0.01, &Settings::default());
        let snapshots = 7 * COLUMNS + 13;
        for index in 0..snapshots {
            let state = if index == 5003 { BandState::Saturated } else { BandState::Sounding };
            let mut bands = Bands::default();
            light(&mut bands, 12, state);
            plot.push(&bands);
        }
        assert!(plot.columns.len() <= COLUMNS);
        assert!((plot.duration() - 0.01 * snapshots as f64).abs() < 1e-9, "{}", plot.duration());
        let red = |column: &&Column| column.0[12].state == BandState::Saturated;
        assert_eq!(plot.columns.iter().filter(red).count(), 1);
    }

    #[test]
    fn nothing_and_a_name_too_long_still_make_a_picture() {
        let plot = Plot::new("an unreasonably long name ".repeat(50), 0.01, &Settings::default());
        assert!(plot.png().starts_with(b"\x89PNG"));
    }
}
