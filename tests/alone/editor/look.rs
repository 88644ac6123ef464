//! Evaluation of screenshots of the editor.

use tone_filter_testkit::display::Picture;

/// Rectangle in pixels: left, top, right, bottom. Right and bottom are exclusive.
#[derive(Debug, Clone, Copy)]
pub struct Area(pub [usize; 4]);

impl Area {
    /// Returns the bounding box of all pixels that have the colour of the ceiling in `picture` but not in `before`; `None` if
    /// there are none.
    pub fn bright(before: &Picture, picture: &Picture) -> Option<Self> {
        let is_bright = |[red, green, _]: [u8; 3]| green > 235 && green > red.saturating_add(40);
        let mut area: Option<[usize; 4]> = None;
        for (index, (old, new)) in before.pixels.iter().zip(&picture.pixels).enumerate() {
            if is_bright(*new) && !is_bright(*old) {
                let (x, y) = (index % picture.width, index / picture.width);
                let [left, top, right, bottom] = area.unwrap_or([x, y, x + 1, y + 1]);
                area = Some([left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)]);
            }
        }
        area.map(Self)
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
    // Only the upper half: below, the legend is green as well.
    let grid = &picture.pixels[..picture.pixels.len() / 2];
    let is_green = |[red, green, blue]: &[u8; 3]| *green > red.saturating_add(60) && green > blue;
    let count = grid.iter().filter(|pixel| is_green(pixel)).count();
    if count > 50 { Ok(()) } else { Err(format!("{count} green pixels")) }
}
