//! Pixel image with operations to draw rectangles and text.

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use tone_filter_dsp::roll::Colour;

/// Alignment: the part of a text that is at the given x coordinate.
#[derive(Clone, Copy)]
pub enum Align {
    Left,
    Centre,
    Right,
}

/// RGB image. Coordinates are pixels from the top left; drawing is clipped at the edges.
pub struct Canvas {
    width: i32,
    height: i32,
    pixels: Vec<Colour>,
    font: FontRef<'static>,
}

impl Canvas {
    /// Creates an image of `width` x `height` pixels in the colour `background`.
    pub fn new(width: i32, height: i32, background: Colour) -> Self {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)
            .expect("the embedded font is a font");
        let pixels = vec![background; (width * height) as usize];
        Self { width, height, pixels, font }
    }

    /// Fills the rectangle of `w` x `h` pixels at `x`, `y`.
    pub fn fill(&mut self, x: i32, y: i32, w: i32, h: i32, colour: Colour) {
        for y in y.max(0)..(y + h).min(self.height) {
            for x in x.max(0)..(x + w).min(self.width) {
                self.pixels[(y * self.width + x) as usize] = colour;
            }
        }
    }

    /// Returns `text` with an ellipsis for each run of characters that the font lacks.
    pub fn legible(&self, text: &str) -> String {
        let mut legible = String::new();
        for letter in text.chars() {
            if self.font.glyph_id(letter) != GlyphId(0) {
                legible.push(letter);
            } else if !legible.ends_with('…') {
                legible.push('…');
            }
        }
        legible
    }

    /// Returns the width of `text` in pixels at the font size `size`.
    pub fn text_width(&self, size: f32, text: &str) -> f32 {
        let glyphs = self.glyphs(size, text);
        glyphs.last().map_or(0.0, |&(_, _, end)| end)
    }

    /// Draws `text` at the font size `size`, with its baseline at `baseline` and aligned to `x`.
    pub fn text(
        &mut self,
        x: i32,
        baseline: i32,
        size: f32,
        align: Align,
        colour: Colour,
        text: &str,
    ) {
        let width = self.text_width(size, text);
        let x = x as f32
            - match align {
                Align::Left => 0.0,
                Align::Centre => width / 2.0,
                Align::Right => width,
            };
        for (glyph, start, _) in self.glyphs(size, text) {
            let at = point(x + start, baseline as f32);
            let glyph = glyph.with_scale_and_position(PxScale::from(size), at);
            let Some(outline) = self.font.outline_glyph(glyph) else { continue };
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, coverage| {
                let (x, y) = (corner.x as i32 + dx as i32, corner.y as i32 + dy as i32);
                if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
                    let pixel = &mut self.pixels[(y * self.width + x) as usize];
                    *pixel = std::array::from_fn(|i| {
                        let (under, ink) = (f32::from(pixel[i]), f32::from(colour[i]));
                        (under + coverage.min(1.0) * (ink - under)).round() as u8
                    });
                }
            });
        }
    }

    /// Returns the image as the content of a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(self.pixels.as_flattened()))
            .expect("memory takes a picture of the size it was given");
        file
    }

    /// Returns the glyphs of `text`, each with the x coordinates of its start and its end.
    fn glyphs(&self, size: f32, text: &str) -> Vec<(GlyphId, f32, f32)> {
        let font = self.font.as_scaled(size);
        let mut end = 0.0;
        let mut last = None;
        text.chars()
            .map(|letter| {
                let glyph = font.glyph_id(letter);
                let start = end + last.map_or(0.0, |last| font.kern(last, glyph));
                end = start + font.h_advance(glyph);
                last = Some(glyph);
                (glyph, start, end)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_outside_is_cut_off() {
        let mut canvas = Canvas::new(4, 4, [0; 3]);
        canvas.fill(-2, 2, 100, 100, [9; 3]);
        canvas.text(-5, 3, 12.0, Align::Centre, [255; 3], "W");
        assert_eq!(canvas.pixels.len(), 16);
        assert_eq!(canvas.pixels[15], [9; 3]);
        assert_eq!(canvas.pixels[3], [0; 3]);
    }

    #[test]
    fn letters_that_the_font_lacks_become_an_ellipsis() {
        assert_eq!(Canvas::new(1, 1, [0; 3]).legible("A夜想曲é第二番.wav"), "A…é….wav");
    }

    #[test]
    fn letters_stand_on_their_line_at_their_end_of_it() {
        for (align, part) in [(Align::Left, 0.0), (Align::Centre, 0.5), (Align::Right, 1.0)] {
            let mut canvas = Canvas::new(100, 60, [0; 3]);
            canvas.text(50, 50, 40.0, align, [255; 3], "H");
            let width = canvas.text_width(40.0, "H");
            assert!((canvas.text_width(40.0, "HHH") - 3.0 * width).abs() < 1.0, "{width}");
            let ink = |y: i32| {
                (0..100).filter(|x| canvas.pixels[(y * 100 + x) as usize][0] > 128).collect()
            };
            let rows: Vec<Vec<i32>> = (0..60).map(ink).collect();
            let left = 50.0 - part * width;
            for (y, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
                assert!((20..50).contains(&y), "{y}");
                let [first, last] = [row[0], row[row.len() - 1]].map(|x| x as f32 - left);
                assert!(first >= 0.0 && last <= width, "{first} to {last} of {width}");
                assert!(last - first > width / 2.0, "both stems: {row:?}");
            }
            // Only the bar of the letter is between its stems.
            let middle = (left + width / 2.0) as i32;
            let crossed = rows.iter().filter(|row| row.contains(&middle)).count();
            assert!((1..8).contains(&crossed), "{crossed}");
        }
    }
}
