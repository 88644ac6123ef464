//! Layout and colours of a piano roll.

use super::{
    Plot,
    canvas::{Align, Canvas},
};
use tone_filter_dsp::{
    BandState,
    roll::{self, BRIGHTEST_DB, Cell, Colour, DARKEST_DB, oklch},
};

/// Height of a note's row in pixels.
const ROW: i32 = 16;
/// Margin on the left of the roll in pixels, with the keyboard.
const LEFT: i32 = 84;
/// Margin above the roll in pixels, with the title.
const TOP: i32 = 64;
/// Width of the roll in pixels.
pub const WIDTH: i32 = 1440;
/// Margin on the right of the roll in pixels.
const RIGHT: i32 = 28;
/// Margin below the roll in pixels, with the times.
const BOTTOM: i32 = 44;

pub fn picture(plot: &Plot) -> Canvas {
    let mut canvas =
        Canvas::new(LEFT + WIDTH + RIGHT, TOP + height(plot) + BOTTOM, oklch([0.17, 0.012, 265.0]));
    draw_rows(plot, &mut canvas);
    draw_time(plot, &mut canvas);
    draw_bars(plot, &mut canvas);
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
        plot.columns[first + 1..end].iter().for_each(|other| column.merge(other));
        for (span, colour) in plot.rows.notes(&column, height(plot) as usize) {
            canvas.fill(LEFT + x as i32, TOP + span.start as i32, 1, span.len() as i32, colour);
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
        canvas.fill(x, TOP, 1, height(plot) + 6, oklch(roll::LINE));
        let label = time_label(time, step, duration);
        canvas.text(x, TOP + height(plot) + 24, 14.0, Align::Centre, TEXT, &label);
    }
}

/// Draws a line at the start of each bar, and the number of the bar above the rows. If bars are narrow, only every second,
/// fourth, eighth ... bar gets them.
fn draw_bars(plot: &Plot, canvas: &mut Canvas) {
    let (duration, count) = (plot.duration(), plot.bars.len());
    let width = f64::from(WIDTH) * plot.bars.last().copied().unwrap_or(0.0) / duration;
    let fits = |step: &usize| width * *step as f64 >= f64::from(BAR_WIDTH) * count as f64;
    let Some(step) = (0..usize::BITS).map(|power| 1 << power).find(fits) else { return };
    for (bar, time) in plot.bars.iter().enumerate().step_by(step) {
        let x = LEFT + (time / duration * f64::from(WIDTH)).round() as i32;
        canvas.fill(x, TOP - 6, 1, height(plot) + 6, oklch(BAR));
        canvas.text(x + 3, TOP - 3, 11.0, Align::Left, TEXT, &(bar + 1).to_string());
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
        for dx in 0..SWATCH {
            let level_db =
                DARKEST_DB + (BRIGHTEST_DB - DARKEST_DB) * dx as f32 / (SWATCH - 1) as f32;
            let cell = Cell { state, level_db };
            let height = cell.thickness(ROW as usize) as i32;
            let y = baseline - 5 - height / 2;
            canvas.fill(x - SWATCH + dx, y, 1, height, cell.colour());
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

/// Minimum distance between bar lines in pixels, as a mean over all bars.
const BAR_WIDTH: i32 = 22;

/// Colour of the bar lines in `OKLCh`.
const BAR: [f32; 3] = [0.36, 0.05, 85.0];

const TEXT: Colour = [186, 191, 202];

fn height(plot: &Plot) -> i32 {
    ROW * plot.rows.0.len() as i32
}

/// Returns the y coordinate of the top of `row`; row 0 is the lowest.
fn row_top(plot: &Plot, row: usize) -> i32 {
    TOP + height(plot) - ROW * (row as i32 + 1)
}

fn draw_rows(plot: &Plot, canvas: &mut Canvas) {
    for (span, colour) in plot.rows.background(height(plot) as usize) {
        canvas.fill(LEFT, TOP + span.start as i32, WIDTH, span.len() as i32, colour);
    }
}

fn draw_keyboard(plot: &Plot, canvas: &mut Canvas) {
    const KEYS: i32 = 64;
    const BLACK_KEYS: i32 = 44;
    let (white, black) = (oklch([0.90, 0.005, 265.0]), oklch([0.26, 0.012, 265.0]));
    let x = LEFT - KEYS - 2;
    canvas.fill(x, TOP, KEYS, height(plot), white);
    for (row, (key, name)) in plot.rows.0.iter().zip(&plot.names).enumerate() {
        let y = row_top(plot, row);
        let baseline = y + 13;
        if key.is_black() {
            // Two white keys meet behind a black one.
            canvas.fill(x, y + ROW / 2, KEYS, 1, oklch([0.70, 0.005, 265.0]));
            canvas.fill(x, y, BLACK_KEYS, ROW, black);
            canvas.text(x + BLACK_KEYS - 5, baseline, 13.0, Align::Right, [240; 3], name);
        } else {
            if name.starts_with(['C', 'F']) {
                canvas.fill(x, y + ROW - 1, KEYS, 1, oklch([0.70, 0.005, 265.0]));
            }
            canvas.text(x + KEYS - 5, baseline, 13.0, Align::Right, [20, 22, 28], name);
        }
    }
}

/// Returns the distance between time marks: the smallest round number of seconds that fits at most twelve times into `duration`.
fn tick_step(duration: f64) -> f64 {
    let decades = (-6..=0).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(power)));
    let clock = [10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0];
    let hours = (1..31).map(|power| 3600.0 * 2f64.powi(power));
    decades.chain(clock).chain(hours).find(|step| duration / step <= 12.0).unwrap_or(f64::MAX)
}

/// Returns `time` as text with the precision of `step`: `0.25 s`, `12 s`, `1:05`, `2:00:00`.
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
        assert_eq!(axis(60.0), "0:05");
        assert_eq!(axis(200.0), "0:30");
        assert_eq!(axis(1000.0), "2:00");
        assert_eq!(axis(3.0 * 3600.0), "0:15:00");
        assert_eq!(axis(100.0 * 3600.0), "16:00:00");
    }
}
