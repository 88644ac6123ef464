//! Evaluation of screenshots of the editor.

use tone_filter_testkit::display::Picture;

/// Appearance of a cell or a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Dark,
    Blue,
    Green,
    Red,
}

/// Returns the look of `pixel`: its colour if saturated, or else [`Look::Dark`].
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

/// Left, top, right and bottom of an area, in pixels; right and bottom are exclusive.
#[derive(Debug, Clone, Copy)]
pub struct Area(pub [usize; 4]);

impl Area {
    /// Returns the bounding box of all pixels that look `wanted` in `picture` but not in `before`; `None` without such a pixel.
    pub fn appeared(before: &Picture, picture: &Picture, wanted: Look) -> Option<Self> {
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

    /// Returns the number of the area's pixels that look `wanted`.
    pub fn count(self, picture: &Picture, wanted: Look) -> usize {
        let Self([left, top, right, bottom]) = self;
        let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| picture.pixel(x, y)));
        pixels.filter(|&pixel| look(pixel) == wanted).count()
    }

    /// Returns the look of the area: red or green if more than a fiftieth of it is; else blue if any pixel is blue; else dark.
    pub fn look(self, picture: &Picture) -> Look {
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

/// Checks that the editor is drawn: many pixels differ from the background.
pub fn is_drawn(picture: &Picture) -> Result<(), String> {
    let background = picture.pixel(2, 2);
    let drawn = picture.pixels.iter().filter(|&&pixel| pixel != background).count();
    if drawn * 20 > picture.pixels.len() { Ok(()) } else { Err(format!("{drawn} pixels drawn")) }
}

/// Checks that some notes sound.
pub fn is_lit(picture: &Picture) -> Result<(), String> {
    is_drawn(picture)?;
    // In the upper half, only the grid can be green. Below it, the legend is green as well.
    let grid = Area([0, 0, picture.width, picture.height / 2]);
    let green = grid.count(picture, Look::Green);
    if green > 50 { Ok(()) } else { Err(format!("{green} green pixels")) }
}
