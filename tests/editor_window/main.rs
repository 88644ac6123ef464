//! The editor of the built plugin, opened in a window by a host that plays, and looked at.
#![cfg(target_os = "linux")]

mod common;
mod hosting;

use hosting::{demo, instance};
use std::{
    f64::consts::TAU,
    fs,
    path::PathBuf,
    thread::sleep,
    time::{Duration, Instant},
};
use tone_filter::dsp::notes::{TONES, frequency, name};
use xtask::{
    display::{Display, Picture},
    host::{Instance, Processor},
    target,
};

const RATE: f64 = 48_000.0;
const BLOCK: usize = 480;
/// A software renderer on a busy machine is slow, but not as slow as that.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a cell can be seen to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Dark,
    Blue,
    Green,
    Red,
}

/// The colour that stands out from the greys in `pixel`, if there is one.
fn look(pixel: [u8; 3]) -> Look {
    let [r, g, b] = pixel.map(i32::from);
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    match () {
        () if max - min < 70 => Look::Dark,
        () if r == max && g < r - 60 && b < r - 60 => Look::Red,
        () if g == max && r < g - 60 => Look::Green,
        () if b == max && r < b - 60 => Look::Blue,
        () => Look::Dark,
    }
}

/// Left, top, right and bottom, exclusive.
#[derive(Debug, Clone, Copy)]
struct Area([usize; 4]);

impl Area {
    /// The smallest one around all pixels of `picture` that look `wanted` but did not in `before`.
    fn appeared(before: &Picture, picture: &Picture, wanted: Look) -> Option<Self> {
        let mut area: Option<[usize; 4]> = None;
        for (index, (old, new)) in before.pixels.iter().zip(&picture.pixels).enumerate() {
            if look(*new) == wanted && look(*old) != wanted {
                let (x, y) = (index % picture.width, index / picture.width);
                let [left, top, right, bottom] = area.unwrap_or([x, y, x + 1, y + 1]);
                area = Some([left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)]);
            }
        }
        area.map(Self)
    }

    /// How many of its pixels look `wanted`.
    fn count(self, picture: &Picture, wanted: Look) -> usize {
        let Self([left, top, right, bottom]) = self;
        let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| picture.pixel(x, y)));
        pixels.filter(|&pixel| look(pixel) == wanted).count()
    }

    /// What the area says: red or green if at least a fiftieth of it does, else blue if any of it is.
    fn look(self, picture: &Picture) -> Look {
        let Self([left, top, right, bottom]) = self;
        let [red, green, blue] =
            [Look::Red, Look::Green, Look::Blue].map(|wanted| self.count(picture, wanted));
        match () {
            () if red.max(green) * 50 > (right - left) * (bottom - top) => {
                if red > green {
                    Look::Red
                } else {
                    Look::Green
                }
            }
            () if blue > 0 => Look::Blue,
            () => Look::Dark,
        }
    }
}

/// A host with an open editor, playing.
struct Stage {
    processor: Processor,
    instance: Instance,
    // The last to go: Xlib ends the process of whom it leaves behind.
    display: Display,
    size: [u32; 2],
    /// Threads of this process while no editor is open.
    threads: usize,
}

impl Stage {
    fn open() -> Self {
        let display = Display::start([1600, 1200]).unwrap_or_else(|error| panic!("{error:#}"));
        // SAFETY: this is the only test in its process, and no other thread of it reads or writes the
        // environment meanwhile: the harness just waits for this one.
        unsafe {
            std::env::set_var("DISPLAY", display.name());
            // No graphics card draws for a server without a screen.
            std::env::set_var("LIBGL_ALWAYS_SOFTWARE", "1");
        }
        let mut instance = instance();
        let processor = instance.activate(RATE, BLOCK).unwrap();
        let mut stage = Self { processor, instance, display, size: [0; 2], threads: threads() };
        stage.open_editor();
        stage
    }

    fn open_editor(&mut self) {
        self.size = self.instance.open_editor(self.display.window()).unwrap();
        self.display.resize(self.size).unwrap();
    }

    fn close_editor(&mut self) {
        self.instance.close_editor().unwrap();
        // The editor's thread may go on for a moment. Neither the display nor the process may end while
        // it is still putting OpenGL away.
        let begun = Instant::now();
        while threads() > self.threads {
            assert!(begun.elapsed() < PATIENCE, "the editor leaves threads behind");
            sleep(Duration::from_millis(10));
        }
    }

    /// Plays `sound` (the sample at a time in seconds) from a fresh start, until `check` likes what there
    /// is to see; the picture.
    fn show(
        &mut self,
        title: &str,
        sound: &dyn Fn(f64) -> f64,
        check: impl Fn(&Picture) -> Result<(), String>,
    ) -> Picture {
        self.processor.reset();
        // The slowest resonator needs some seconds to settle.
        let mut time = 0.0;
        self.play(sound, &mut time, 6.0);
        let begun = Instant::now();
        loop {
            for _ in 0..10 {
                self.play(sound, &mut time, 0.01);
                self.instance.idle();
                sleep(Duration::from_millis(10));
            }
            let picture = self.display.picture(self.size).unwrap();
            let complaint = check(&picture).err();
            let late = begun.elapsed() > PATIENCE;
            if complaint.is_none() || late {
                let path = pictures().join(format!("{title}.png"));
                picture.save(&path).unwrap();
                if let Some(complaint) = complaint {
                    panic!("{title}: {complaint}; see {}", path.display());
                }
                return picture;
            }
        }
    }

    /// Plays the next `seconds` after `time`, as fast as it goes.
    fn play(&mut self, sound: &dyn Fn(f64) -> f64, time: &mut f64, seconds: f64) {
        let frames = 0..(seconds * RATE).round() as usize;
        let channel: Vec<f32> =
            frames.map(|frame| sound(*time + frame as f64 / RATE) as f32).collect();
        let mut signal = [channel.clone(), channel];
        self.processor.run(&mut signal, true, &mut std::iter::repeat(BLOCK), &[]).unwrap();
        *time += seconds;
    }
}

/// Threads of this process now.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

fn pictures() -> PathBuf {
    let folder = target().unwrap().join("pictures");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Sines of bands and amplitudes.
fn chord(tones: &[(usize, f64)]) -> impl Fn(f64) -> f64 {
    move |t| {
        let sine =
            |&(tone, level): &(usize, f64)| level * (TAU * frequency(tone, 440.0, 0.0) * t).sin();
        tones.iter().map(sine).sum()
    }
}

/// At least some text: many pixels that differ from the most frequent one.
fn is_drawn(picture: &Picture) -> Result<(), String> {
    let background = picture.pixel(2, 2);
    let drawn = picture.pixels.iter().filter(|&&pixel| pixel != background).count();
    if drawn * 20 > picture.pixels.len() { Ok(()) } else { Err(format!("{drawn} pixels drawn")) }
}

#[test]
fn the_editor_shows_each_band_in_its_place_and_the_colour_of_its_state() {
    let mut stage = Stage::open();
    let silent = stage.show("editor-silent", &|_| 0.0, is_drawn);

    // Alone, a tone holds all the power: red. The first and the last one show where the grid is.
    let mut corner = |tone: usize| {
        let appeared = |picture: &Picture| Area::appeared(&silent, picture, Look::Red);
        let picture =
            stage.show(&format!("editor-{}", name(tone)), &chord(&[(tone, 0.4)]), |picture| {
                appeared(picture).map(drop).ok_or_else(|| format!("{} is not red", name(tone)))
            });
        appeared(&picture).unwrap()
    };
    let (Area(first), Area(last)) = (corner(0), corner(TONES - 1));
    assert!(first[2] < last[0] && first[3] < last[1], "A3 is top left: {first:?} {last:?}");
    let cell = |tone: usize| {
        let (column, row) = (tone % 12, tone / 12);
        Area(std::array::from_fn(|side| {
            let (index, count) = if side % 2 == 0 { (column, 11) } else { (row, 3) };
            first[side] + (last[side] - first[side]) * index / count
        }))
    };

    // Of 0.136 in all: 0.045 each, far over the ceiling of a tenth.
    let red = [("A3", 0.3), ("C#5", 0.3), ("E6", 0.3)];
    // 0.0018 and 0.0008: between the gate and the ceiling.
    let green = [("A4", 0.06), ("G#7", 0.04)];
    // -39 dB full scale, 2.3 dB under the floor.
    let blue = [("C4", 0.0159)];
    let tone = |note: &str| (0..TONES).find(|&tone| name(tone) == note).unwrap();
    let tones: Vec<_> =
        red.iter().chain(&green).chain(&blue).map(|&(note, level)| (tone(note), level)).collect();
    let wanted = |tone: usize| {
        let plays = |notes: &[(&str, f64)]| notes.iter().any(|&(note, _)| note == name(tone));
        match () {
            () if plays(&red) => Look::Red,
            () if plays(&green) => Look::Green,
            () if plays(&blue) => Look::Blue,
            () => Look::Dark,
        }
    };
    let chord = chord(&tones);
    stage.show("editor-chord", &chord, |picture| {
        let wrong = |&tone: &usize| {
            let look = cell(tone).look(picture);
            // A band beside a loud one hears a little of it.
            look != wanted(tone) && (wanted(tone), look) != (Look::Dark, Look::Blue)
        };
        match (0..TONES).find(wrong) {
            None => Ok(()),
            Some(tone) => {
                let look = cell(tone).look(picture);
                Err(format!("{} looks {look:?}, not {:?}", name(tone), wanted(tone)))
            }
        }
    });

    // The picture that a reader likes to see: the demo tune, where the last chord sets in.
    let tune = demo().remove(0);
    let sound = |t: f64| tune.get(((t + 7.0) * 44_100.0) as usize).map_or(0.0, |&x| f64::from(x));
    stage.show("editor-tune", &sound, is_drawn);

    for size in [[1400, 900], [700, 500]] {
        stage.size = stage.instance.resize_editor(size).unwrap();
        assert_eq!(stage.size, size);
        stage.display.resize(size).unwrap();
        stage.show(&format!("editor-{}x{}", size[0], size[1]), &chord, |picture| {
            // A3 and A4 at the left edge, G#7 at the right one, wherever those are now.
            let column = |index: usize, wanted: Look| {
                let edge = |index| picture.width * index / 12;
                Area([edge(index), 0, edge(index + 1), picture.height]).count(picture, wanted)
            };
            let [red, green] = [column(0, Look::Red), column(11, Look::Green)];
            if red.min(green) > 50 { Ok(()) } else { Err(format!("{red} red, {green} green")) }
        });
    }

    let mut reloaded = instance();
    reloaded.load(&stage.instance.save().unwrap()).unwrap();
    assert_eq!(reloaded.editor_size().unwrap(), [700, 500], "the session remembers the size");
    stage.close_editor();
    stage.open_editor();
    assert_eq!(stage.size, [700, 500]);
    stage.close_editor();
    stage.instance.deactivate(stage.processor);
}
