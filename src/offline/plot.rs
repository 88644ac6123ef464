//! The 48 bands over time as a picture: a piano roll, A3 at the bottom and G#7 at the top.

use super::{
    Error,
    canvas::{Align, Canvas, Colour, oklch},
    wav::Reader,
};
use crate::dsp::{
    BandState, Bands, Settings, ToneFilter,
    notes::{TONES, name},
};
use std::path::Path;

/// Height of a note's row in pixels.
const ROW: i32 = 16;
const LEFT: i32 = 84;
const TOP: i32 = 64;
const WIDTH: i32 = 1440;
const HEIGHT: i32 = ROW * TONES as i32;
const RIGHT: i32 = 28;
const BOTTOM: i32 = 44;

/// Columns held before neighbours are merged: enough that the picture has no more than that to show.
const COLUMNS: usize = 2 * WIDTH as usize;

/// The least level, in dB of the total power, that shows.
const DARKEST_DB: f32 = -60.0;
/// The level that is brightest.
const BRIGHTEST_DB: f32 = -5.0;

/// Collects snapshots of the bands and draws them.
///
/// Takes the same memory for a second as for a day: the longer the sound, the more neighbouring
/// snapshots share a column, which shows the strongest of them.
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    hop: f64,
    columns: Vec<Column>,
    /// Snapshots in a full column.
    stride: u32,
    /// Snapshots in the last column.
    filled: u32,
}

type Column = [Cell; TONES];

#[derive(Debug, Clone, Copy)]
struct Cell {
    state: BandState,
    level_db: f32,
}

impl Cell {
    fn stronger(self, other: Self) -> Self {
        let rank = |cell: Self| (cell.state as u8, cell.level_db);
        if rank(other) > rank(self) { other } else { self }
    }
}

fn merge(into: &mut Column, column: &Column) {
    for (cell, other) in into.iter_mut().zip(column) {
        *cell = cell.stronger(*other);
    }
}

impl Plot {
    /// An empty plot called `title`, for snapshots that are `hop` seconds apart (10 ms does well).
    pub fn new(title: impl Into<String>, hop: f64) -> Self {
        Self { title: title.into(), hop, columns: Vec::new(), stride: 1, filled: 1 }
    }

    /// Appends a snapshot.
    pub fn push(&mut self, bands: &Bands) {
        let column = bands.bands.map(|band| Cell { state: band.state, level_db: band.level_db() });
        match self.columns.last_mut() {
            Some(last) if self.filled < self.stride => {
                merge(last, &column);
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

    /// What a filter hears in the WAV file `input`, called by the file's name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_wav(input: &Path, settings: &Settings) -> Result<Self, Error> {
        let mut reader = Reader::open(input)?;
        let format = reader.format();
        let rate = f64::from(format.rate);
        let mut filter = ToneFilter::new(rate, settings)
            .map_err(|source| Error::Filter { path: input.into(), source })?;
        let hop = format.rate as usize / 100;
        let title = input.file_name().unwrap_or_default().to_string_lossy();
        let mut plot = Self::new(title, hop as f64 / rate);
        let mut channels = vec![Vec::new(); usize::from(format.channels)];
        loop {
            reader.read(&mut channels, hop)?;
            if channels[0].is_empty() {
                return Ok(plot);
            }
            filter.process(&mut channels.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
            plot.push(&filter.bands());
        }
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut canvas =
            Canvas::new(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, oklch(0.17, 0.012, 265.0));
        draw_rows(&mut canvas);
        self.draw_time(&mut canvas);
        self.draw_cells(&mut canvas);
        draw_keyboard(&mut canvas);
        self.draw_title(&mut canvas);
        canvas.png()
    }

    /// Merges neighbouring columns.
    fn halve(&mut self) {
        for pair in 0..COLUMNS / 2 {
            let mut column = self.columns[2 * pair];
            merge(&mut column, &self.columns[2 * pair + 1]);
            self.columns[pair] = column;
        }
        self.columns.truncate(COLUMNS / 2);
        self.stride *= 2;
    }

    /// Seconds from the left edge to the right one.
    fn duration(&self) -> f64 {
        let missing = self.stride.saturating_sub(self.filled);
        let hops = self.columns.len() as f64 * f64::from(self.stride) - f64::from(missing);
        hops * self.hop
    }

    fn draw_cells(&self, canvas: &mut Canvas) {
        let (shown, columns) = (WIDTH as usize, self.columns.len());
        if columns == 0 {
            return;
        }
        for x in 0..shown {
            let first = x * columns / shown;
            let end = ((x + 1) * columns / shown).max(first + 1);
            let mut column = self.columns[first];
            for other in &self.columns[first + 1..end] {
                merge(&mut column, other);
            }
            for (tone, cell) in column.iter().enumerate() {
                if cell.level_db > DARKEST_DB {
                    let height = thickness(cell.state);
                    let y = row_top(tone) + (ROW - height) / 2;
                    canvas.fill(LEFT + x as i32, y, 1, height, colour(*cell));
                }
            }
        }
    }

    fn draw_time(&self, canvas: &mut Canvas) {
        let duration = self.duration();
        if duration == 0.0 {
            return;
        }
        let step = tick_step(duration);
        for tick in 0..=(duration / step + 1e-6) as u32 {
            let time = f64::from(tick) * step;
            let x = LEFT + (time / duration * f64::from(WIDTH)).round() as i32;
            canvas.fill(x, TOP, 1, HEIGHT + 6, oklch(0.31, 0.012, 265.0));
            let label = time_label(time, step, duration);
            canvas.text(x, TOP + HEIGHT + 24, 14.0, Align::Centre, TEXT, &label);
        }
    }

    fn draw_title(&self, canvas: &mut Canvas) {
        let baseline = TOP - 24;
        let mut x = LEFT + WIDTH;
        for (state, label) in [
            (BandState::Saturated, "saturated"),
            (BandState::Sounding, "sounding"),
            (BandState::Muted, "muted"),
        ] {
            canvas.text(x, baseline, 15.0, Align::Right, TEXT, label);
            x -= canvas.text_width(15.0, label) as i32 + 8;
            const SWATCH: i32 = 56;
            let height = thickness(state);
            for dx in 0..SWATCH {
                let level_db =
                    DARKEST_DB + (BRIGHTEST_DB - DARKEST_DB) * dx as f32 / (SWATCH - 1) as f32;
                let y = baseline - 5 - height / 2;
                canvas.fill(x - SWATCH + dx, y, 1, height, colour(Cell { state, level_db }));
            }
            x -= SWATCH + 24;
        }

        let room = (x - LEFT) as f32;
        let mut title = self.title.clone();
        let mut kept = title.chars().count();
        while canvas.text_width(22.0, &title) > room {
            kept -= 1;
            title = self.title.chars().take(kept).chain(['…']).collect();
        }
        canvas.text(LEFT, baseline, 22.0, Align::Left, [238, 240, 245], &title);
    }
}

const TEXT: Colour = [186, 191, 202];

/// Brighter for stronger, and every state brighter than the one before it: the states can be told
/// without telling colours.
fn colour(cell: Cell) -> Colour {
    let level = (cell.level_db - DARKEST_DB) / (BRIGHTEST_DB - DARKEST_DB);
    let level = level.clamp(0.0, 1.0);
    match cell.state {
        BandState::Muted => oklch(0.23 + 0.20 * level, 0.02 + 0.12 * level, 258.0),
        BandState::Sounding => oklch(0.40 + 0.28 * level * level, 0.09 + 0.10 * level, 150.0),
        BandState::Saturated => oklch(0.55 + 0.19 * level * level, 0.17 + 0.03 * level, 27.0),
    }
}

/// Thicker for stronger, too.
fn thickness(state: BandState) -> i32 {
    match state {
        BandState::Muted => 4,
        BandState::Sounding => 10,
        BandState::Saturated => 14,
    }
}

fn row_top(tone: usize) -> i32 {
    TOP + HEIGHT - ROW * (tone as i32 + 1)
}

fn is_black_key(tone: usize) -> bool {
    name(tone).contains('#')
}

fn draw_rows(canvas: &mut Canvas) {
    for tone in 0..TONES {
        let lightness = if is_black_key(tone) { 0.185 } else { 0.22 };
        canvas.fill(LEFT, row_top(tone), WIDTH, ROW, oklch(lightness, 0.012, 265.0));
        // Below each C an octave of the names begins.
        if name(tone).starts_with('C') && !is_black_key(tone) {
            canvas.fill(LEFT, row_top(tone) + ROW - 1, WIDTH, 1, oklch(0.31, 0.012, 265.0));
        }
    }
}

fn draw_keyboard(canvas: &mut Canvas) {
    const KEYS: i32 = 64;
    const BLACK_KEYS: i32 = 44;
    let (white, black) = (oklch(0.90, 0.005, 265.0), oklch(0.26, 0.012, 265.0));
    let x = LEFT - KEYS - 2;
    canvas.fill(x, TOP, KEYS, HEIGHT, white);
    for tone in 0..TONES {
        let (y, baseline) = (row_top(tone), row_top(tone) + 13);
        let key = name(tone);
        if is_black_key(tone) {
            // Two white keys meet behind a black one.
            canvas.fill(x, y + ROW / 2, KEYS, 1, oklch(0.70, 0.005, 265.0));
            canvas.fill(x, y, BLACK_KEYS, ROW, black);
            canvas.text(x + BLACK_KEYS - 5, baseline, 13.0, Align::Right, [240; 3], key);
        } else {
            if key.starts_with(['C', 'F']) {
                canvas.fill(x, y + ROW - 1, KEYS, 1, oklch(0.70, 0.005, 265.0));
            }
            canvas.text(x + KEYS - 5, baseline, 13.0, Align::Right, [20, 22, 28], key);
        }
    }
}

/// The least round number of seconds of which at most twelve fit into `duration`.
fn tick_step(duration: f64) -> f64 {
    let decades = (-6..=0).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(power)));
    let clock = [10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0];
    let hours = (1..31).map(|power| 3600.0 * 2f64.powi(power));
    decades.chain(clock).chain(hours).find(|step| duration / step <= 12.0).unwrap_or(f64::MAX)
}

/// `time` to the precision of `step`: `0.25 s`, `12 s`, `1:05`, `2:00:00`.
fn time_label(time: f64, step: f64, duration: f64) -> String {
    if duration < 60.0 {
        let decimals = (-step.log10()).ceil().max(0.0) as usize;
        return format!("{time:.decimals$} s");
    }
    let seconds = time.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if duration < 3600.0 {
        format!("{minutes}:{seconds:02}")
    } else {
        format!("{hours}:{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsp::Band;

    /// Puts `tone` at -10 dB in `state`.
    fn light(bands: &mut Bands, tone: usize, state: BandState) {
        bands.bands[tone] = Band { ratio: 0.1, state, ..Band::default() };
    }

    #[test]
    fn every_state_is_drawn_in_the_row_of_its_note_and_brighter_than_the_last() {
        let states = [BandState::Muted, BandState::Sounding, BandState::Saturated];
        let tones = [0, 12, 47];
        let mut bands = Bands::default();
        std::iter::zip(tones, states).for_each(|(tone, state)| light(&mut bands, tone, state));
        let mut plot = Plot::new("", 0.01);
        (0..5).for_each(|_| plot.push(&bands));

        let mut reader = png::Decoder::new(std::io::Cursor::new(plot.png())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let line = reader.next_frame(&mut pixels).unwrap().line_size;
        // The rows are 16 high, and the lowest ends where the time axis begins.
        let colours = [0, 12, 47, 11, 46].map(|tone| -> [u8; 3] {
            let y = 64 + 16 * (47 - tone) + 8;
            pixels[y * line + 3 * 200..][..3].try_into().unwrap()
        });
        let [blue, green, red, below_green, below_red] = colours;
        assert!(blue[2] > blue[0].max(blue[1]), "{blue:?}");
        assert!(green[1] > green[0].max(green[2]), "{green:?}");
        assert!(red[0] > red[1].max(red[2]), "{red:?}");
        let [dark, muted, sounding, saturated] = [below_green, blue, green, red].map(|c| {
            let [r, g, b] = c.map(f32::from);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        });
        assert!(dark < muted && muted < sounding && sounding < saturated, "{colours:?}");
        assert!(below_red.iter().all(|c| *c < 40), "{below_red:?}");
    }

    #[test]
    fn a_long_sound_takes_no_more_memory_and_hides_no_peak() {
        let mut plot = Plot::new("", 0.01);
        let snapshots = 7 * COLUMNS + 13;
        for index in 0..snapshots {
            let state = if index == 5003 { BandState::Saturated } else { BandState::Sounding };
            let mut bands = Bands::default();
            light(&mut bands, 12, state);
            plot.push(&bands);
        }
        assert!(plot.columns.len() <= COLUMNS);
        assert!((plot.duration() - 0.01 * snapshots as f64).abs() < 1e-9, "{}", plot.duration());
        let red = |column: &&Column| column[12].state == BandState::Saturated;
        assert_eq!(plot.columns.iter().filter(red).count(), 1);
    }

    #[test]
    fn ticks_are_round_and_their_labels_say_no_more_than_needed() {
        let axis = |duration: f64| {
            let step = tick_step(duration);
            assert!((2.0..=12.0).contains(&(duration / step)), "{duration} {step}");
            time_label(step, step, duration)
        };
        assert_eq!(axis(0.3), "0.05 s");
        assert_eq!(axis(12.0), "1 s");
        assert_eq!(axis(15.0), "2 s");
        assert_eq!(axis(200.0), "0:30");
        assert_eq!(axis(1000.0), "2:00");
        assert_eq!(axis(3.0 * 3600.0), "0:15:00");
        assert_eq!(axis(100.0 * 3600.0), "16:00:00");
    }

    #[test]
    fn nothing_and_a_name_too_long_still_make_a_picture() {
        let plot = Plot::new("an unreasonably long name ".repeat(50), 0.01);
        assert!(plot.png().starts_with(b"\x89PNG"));
    }
}
