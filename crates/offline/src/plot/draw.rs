//! What a piano roll looks like.

use super::{
    Cell, Plot,
    canvas::{Align, Canvas, Colour, oklch},
    merge,
};
use tone_filter_dsp::BandState;

/// Height of a note's row in pixels.
const ROW: i32 = 16;
const LEFT: i32 = 84;
const TOP: i32 = 64;
/// How many columns there is room for, a pixel each.
pub const WIDTH: i32 = 1440;
const RIGHT: i32 = 28;
const BOTTOM: i32 = 44;

/// The least level, in dB of the total power, that shows.
const DARKEST_DB: f32 = -60.0;
/// The level that is brightest.
const BRIGHTEST_DB: f32 = -5.0;

/// All of it.
pub fn picture(plot: &Plot) -> Canvas {
    let mut canvas =
        Canvas::new(LEFT + WIDTH + RIGHT, TOP + height(plot) + BOTTOM, oklch(0.17, 0.012, 265.0));
    draw_rows(plot, &mut canvas);
    draw_time(plot, &mut canvas);
    draw_cells(plot, &mut canvas);
    draw_keyboard(plot, &mut canvas);
    draw_title(plot, &mut canvas);
    canvas
}

fn draw_cells(plot: &Plot, canvas: &mut Canvas) {
    let (shown, columns) = (WIDTH as usize, plot.columns.len());
    if columns == 0 {
        return;
    }
    for x in 0..shown {
        let first = x * columns / shown;
        let end = ((x + 1) * columns / shown).max(first + 1);
        let mut column = plot.columns[first];
        for other in &plot.columns[first + 1..end] {
            merge(&mut column, other);
        }
        for (row, tone) in plot.tones.iter().enumerate() {
            let cell = column[*tone];
            if cell.level_db > DARKEST_DB {
                let height = thickness(cell.state);
                let y = row_top(plot, row) + (ROW - height) / 2;
                canvas.fill(LEFT + x as i32, y, 1, height, colour(cell));
            }
        }
    }
}

fn draw_time(plot: &Plot, canvas: &mut Canvas) {
    let duration = plot.duration();
    if duration == 0.0 {
        return;
    }
    let step = tick_step(duration);
    for tick in 0..=(duration / step + 1e-6) as u32 {
        let time = f64::from(tick) * step;
        let x = LEFT + (time / duration * f64::from(WIDTH)).round() as i32;
        canvas.fill(x, TOP, 1, height(plot) + 6, oklch(0.31, 0.012, 265.0));
        let label = time_label(time, step, duration);
        canvas.text(x, TOP + height(plot) + 24, 14.0, Align::Centre, TEXT, &label);
    }
}

fn draw_title(plot: &Plot, canvas: &mut Canvas) {
    let baseline = TOP - 24;
    let mut x = LEFT + WIDTH;
    for state in [BandState::Saturated, BandState::Sounding, BandState::Inactive] {
        let label = state.name();
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
    let whole = canvas.legible(&plot.title);
    let mut title = whole.clone();
    let mut kept = title.chars().count();
    while canvas.text_width(22.0, &title) > room {
        kept -= 1;
        title = whole.chars().take(kept).chain(['…']).collect();
    }
    canvas.text(LEFT, baseline, 22.0, Align::Left, [238, 240, 245], &title);
}

const TEXT: Colour = [186, 191, 202];

/// Brighter for stronger, and at any level every state brighter than the one before it: the states can
/// be read without colours.
fn colour(cell: Cell) -> Colour {
    let level = (cell.level_db - DARKEST_DB) / (BRIGHTEST_DB - DARKEST_DB);
    let level = level.clamp(0.0, 1.0);
    match cell.state {
        BandState::Inactive => oklch(0.23 + 0.20 * level, 0.02 + 0.12 * level, 258.0),
        BandState::Sounding => oklch(0.40 + 0.28 * level * level, 0.09 + 0.10 * level, 150.0),
        BandState::Saturated => oklch(0.55 + 0.19 * level * level, 0.17 + 0.03 * level, 27.0),
    }
}

/// Thicker for stronger, too.
fn thickness(state: BandState) -> i32 {
    match state {
        BandState::Inactive => 4,
        BandState::Sounding => 10,
        BandState::Saturated => 14,
    }
}

/// The height of all rows in pixels.
fn height(plot: &Plot) -> i32 {
    ROW * plot.tones.len() as i32
}

/// The upper edge of the row of the band that has so many below it.
fn row_top(plot: &Plot, row: usize) -> i32 {
    TOP + height(plot) - ROW * (row as i32 + 1)
}

fn is_black_key(name: &str) -> bool {
    name.contains('#')
}

fn draw_rows(plot: &Plot, canvas: &mut Canvas) {
    for (row, name) in plot.names.iter().enumerate() {
        let lightness = if is_black_key(name) { 0.185 } else { 0.22 };
        canvas.fill(LEFT, row_top(plot, row), WIDTH, ROW, oklch(lightness, 0.012, 265.0));
        // Below each C an octave of the names begins.
        if name.starts_with('C') && !is_black_key(name) {
            canvas.fill(LEFT, row_top(plot, row) + ROW - 1, WIDTH, 1, oklch(0.31, 0.012, 265.0));
        }
    }
}

fn draw_keyboard(plot: &Plot, canvas: &mut Canvas) {
    const KEYS: i32 = 64;
    const BLACK_KEYS: i32 = 44;
    let (white, black) = (oklch(0.90, 0.005, 265.0), oklch(0.26, 0.012, 265.0));
    let x = LEFT - KEYS - 2;
    canvas.fill(x, TOP, KEYS, height(plot), white);
    for (row, key) in plot.names.iter().enumerate() {
        let y = row_top(plot, row);
        let baseline = y + 13;
        if is_black_key(key) {
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

    #[test]
    fn ticks_are_round_and_their_labels_say_no_more_than_needed() {
        let axis = |duration: f64| {
            let step = tick_step(duration);
            assert!((2.0..=12.0).contains(&(duration / step)), "{duration} {step}");
            time_label(step, step, duration)
        };
        assert_eq!(axis(0.012), "0.001 s");
        assert_eq!(axis(1.2), "0.1 s");
        assert_eq!(axis(0.3), "0.05 s");
        assert_eq!(axis(12.0), "1 s");
        assert_eq!(axis(15.0), "2 s");
        assert_eq!(axis(200.0), "0:30");
        assert_eq!(axis(1000.0), "2:00");
        assert_eq!(axis(3.0 * 3600.0), "0:15:00");
        assert_eq!(axis(100.0 * 3600.0), "16:00:00");
    }
}
