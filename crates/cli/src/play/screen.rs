//! Display of the bands on a terminal, and control of the playback by keys.

use super::controls::Controls;
use crossterm::{
    cursor,
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    execute, queue,
    style::{Color, Print, ResetColor, SetForegroundColor},
    terminal,
};
use std::{
    io::{self, BufWriter, Stdout, Write},
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};
use tone_filter_dsp::{Band, BandState, Settings, notes::name_at};
use tone_filter_presets::{self as presets, Preset};

/// Level at which a bar has no length, in dB relative to the total power.
const LOWEST: f32 = -40.0;

/// Number of columns for a note's name and the blanks around it.
const NAME: usize = 6;

/// Amount in per cent by which the keys Left and Right change Mix.
const STEP: f32 = 5.0;

/// Display on the whole terminal. Dropping it restores the terminal.
pub struct Screen {
    out: BufWriter<Stdout>,
    title: String,
    /// Index of the factory preset that was chosen last; `None` before the first choice.
    preset: Option<usize>,
}

impl Screen {
    /// Switches the terminal to raw mode and the alternate screen.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn open(title: &str) -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let mut screen = Self {
            out: BufWriter::new(io::stdout()),
            title: crate::messages::escaped(title),
            preset: None,
        };
        execute!(screen.out, terminal::EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Draws the bands. Then waits for keys, at most for the time `frame`, and handles them.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn update(&mut self, controls: &Controls, frame: Duration) -> io::Result<()> {
        self.draw(controls)?;
        let mut wait = frame;
        while event::poll(wait)? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                self.press(key, controls);
            }
            wait = Duration::ZERO;
        }
        Ok(())
    }

    fn press(&mut self, key: KeyEvent, controls: &Controls) {
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => controls.quit(),
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => controls.quit(),
            KeyCode::Char(' ') => drop(controls.paused.fetch_xor(true, Relaxed)),
            KeyCode::Left => change_mix(controls, -STEP),
            KeyCode::Right => change_mix(controls, STEP),
            KeyCode::Up => self.choose_preset(false, controls),
            KeyCode::Down => self.choose_preset(true, controls),
            _ => {}
        }
    }

    fn choose_preset(&mut self, down: bool, controls: &Controls) {
        let count = presets::ids().count();
        let index = match (self.preset, down) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(index), _) => (index + if down { 1 } else { count - 1 }) % count,
        };
        let Some(preset) = presets::ids().nth(index).and_then(Preset::factory) else { return };
        self.preset = Some(index);
        // Keeps the setting `keys`: a MIDI file may be playing the bands.
        let keys = controls.state().settings.keys;
        controls.set_settings(Settings { keys, ..preset.settings });
    }

    fn draw(&mut self, controls: &Controls) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let (width, height) = (usize::from(width), usize::from(height).max(4));
        let (settings, bands, seconds) = {
            let state = controls.state();
            (state.settings, state.bands, state.seconds)
        };
        queue!(self.out, terminal::BeginSynchronizedUpdate)?;
        let clip = |line: &str| line.chars().take(width).collect::<String>();
        let preset = self.preset.and_then(|index| presets::ids().nth(index)).unwrap_or("own sound");
        let state = if controls.paused.load(Relaxed) { "paused" } else { "playing" };
        let status = format!("{}  {state}  Mix {:.0} %  {preset}", clock(seconds), settings.mix);
        self.line(0, &clip(&self.title.clone()))?;
        self.line(1, &clip(&status))?;
        self.line(height - 1, &clip("Space pause   Left/Right Mix   Up/Down preset   Q quit"))?;
        // The highest notes are on top. There are as many columns as the rows make necessary.
        let rows = height - 3;
        let shift = settings.pitch_shift();
        let tones: Vec<usize> = settings.range.by_pitch().rev().collect();
        let columns = tones.len().div_ceil(rows);
        let rows = tones.len().div_ceil(columns);
        let length = (width / columns).saturating_sub(NAME);
        for row in 0..height - 3 {
            queue!(self.out, cursor::MoveTo(0, (row + 2) as u16))?;
            queue!(self.out, terminal::Clear(terminal::ClearType::UntilNewLine))?;
            for column in 0..columns {
                if row < rows
                    && let Some(&tone) = tones.get(column * rows + row)
                {
                    self.draw_band(&name_at(tone, shift), &bands.bands[tone], length)?;
                }
            }
        }
        queue!(self.out, terminal::EndSynchronizedUpdate)?;
        self.out.flush()
    }

    fn line(&mut self, row: usize, text: &str) -> io::Result<()> {
        let clear = terminal::Clear(terminal::ClearType::UntilNewLine);
        queue!(self.out, cursor::MoveTo(0, row as u16), Print(text), clear)
    }

    /// Draws a band: the name of its note, and its level as a bar of at most `length` columns in the colour of the band's
    /// state.
    fn draw_band(&mut self, name: &str, band: &Band, length: usize) -> io::Result<()> {
        let fraction = ((band.level_db() - LOWEST) / -LOWEST).clamp(0.0, 1.0);
        let filled = (fraction * length as f32).round() as usize;
        let colour = match band.state {
            BandState::Inactive => Color::DarkGrey,
            BandState::Sounding => Color::Green,
            BandState::Saturated => Color::Red,
        };
        let bar = format!("{:length$} ", "\u{2588}".repeat(filled));
        let name = format!("{name:>4} ");
        queue!(self.out, SetForegroundColor(colour), Print(name), Print(bar), ResetColor)
    }
}

fn change_mix(controls: &Controls, step: f32) {
    let settings = controls.state().settings;
    let mix = (settings.mix + step).clamp(0.0, 100.0);
    controls.set_settings(Settings { mix, ..settings });
}

/// Formats seconds as minutes and seconds, `m:ss`.
fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Errors are ignored: the terminal may be gone.
        let _ = execute!(self.out, terminal::LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}
