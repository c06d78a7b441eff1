//! Colours, and pictures as PNG.

use std::io::Cursor;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use rand::RngExt as _;
use rand::rngs::StdRng;

/// A colour: red, green and blue, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Colour(pub(super) [f32; 3]);

impl Colour {
    /// Returns the colour of a hue (0 to 1), a saturation and a lightness.
    pub(super) fn new(hue: f32, saturation: f32, lightness: f32) -> Self {
        let reach = saturation * lightness.min(1.0 - lightness);
        let channel = |offset: f32| {
            let sector = (offset + hue.rem_euclid(1.0) * 12.0) % 12.0;
            lightness - reach * (sector - 3.0).min(9.0 - sector).clamp(-1.0, 1.0)
        };
        Self([channel(0.0), channel(8.0), channel(4.0)])
    }

    /// Returns a colour between this one (share 0) and another (share 1).
    pub(super) fn towards(self, other: Self, share: f32) -> Self {
        let mut mixed = self.0;
        for (channel, other) in mixed.iter_mut().zip(other.0) {
            *channel += (other - *channel) * share;
        }
        Self(mixed)
    }

    /// Returns the colour as bytes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    pub(super) fn bytes(self) -> [u8; 3] {
        self.0.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8)
    }
}

/// Light from one corner of a picture to the other, with some soft spots.
pub(super) struct Ground {
    from: Colour,
    to: Colour,
    direction: (f32, f32),
    spots: Vec<Spot>,
}

struct Spot {
    centre: (f32, f32),
    radius: f32,
    colour: Colour,
    strength: f32,
}

impl Ground {
    /// Draws a ground of a lightness for a picture of a size, with a number of spots.
    pub(super) fn draw(
        (width, height): (f32, f32),
        lightness: f32,
        spots: usize,
        random: &mut StdRng,
    ) -> Self {
        let hue: f32 = random.random();
        let angle: f32 = random.random_range(0.0..std::f32::consts::TAU);
        let spot = |random: &mut StdRng| Spot {
            centre: (random.random_range(0.0..width), random.random_range(0.0..height)),
            radius: random.random_range(0.1..0.4) * width.min(height),
            colour: Colour::new(random.random(), random.random_range(0.3..0.8), lightness),
            strength: random.random_range(0.3..0.9),
        };
        Self {
            from: Colour::new(hue, 0.5, lightness),
            to: Colour::new(hue + random.random_range(0.15..0.5), 0.5, lightness),
            direction: (angle.cos() / width, angle.sin() / height),
            spots: (0..spots).map(|_| spot(random)).collect(),
        }
    }

    /// Returns the colour of a pixel.
    pub(super) fn at(&self, x: f32, y: f32) -> Colour {
        let along = (x * self.direction.0 + y * self.direction.1).rem_euclid(2.0);
        let mut colour = self.from.towards(self.to, 1.0 - (1.0 - along).abs());
        for spot in &self.spots {
            let (dx, dy) = (x - spot.centre.0, y - spot.centre.1);
            let square = (dx * dx + dy * dy) / (spot.radius * spot.radius);
            if square >= 1.0 {
                continue;
            }
            let share = 1.0 - square.sqrt();
            colour = colour.towards(spot.colour, share * share * (3.0 - 2.0 * share) * spot.strength);
        }
        colour
    }
}

/// Encodes a picture with three (RGB) or four (RGBA) bytes per pixel.
pub(super) fn png(bytes: &[u8], (width, height): (u32, u32), colours: ExtendedColorType) -> Vec<u8> {
    let mut encoded = Cursor::new(Vec::new());
    let encoder = PngEncoder::new_with_quality(&mut encoded, CompressionType::Fast, FilterType::Adaptive);
    // Writing to memory fails only if the number of bytes does not fit the size.
    let written = encoder.write_image(bytes, width, height, colours);
    debug_assert!(written.is_ok(), "{written:?}");
    encoded.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues_are_those_of_the_wheel() {
        for (hue, bytes) in
            [(0.0, [255, 0, 0]), (1.0 / 3.0, [0, 255, 0]), (2.0 / 3.0, [0, 0, 255]), (1.0, [255, 0, 0])]
        {
            assert_eq!(Colour::new(hue, 1.0, 0.5).bytes(), bytes, "{hue}");
        }
        assert_eq!(Colour::new(0.3, 0.7, 1.0).bytes(), [255; 3]);
        assert_eq!(Colour::new(0.0, 0.0, 0.0).towards(Colour::new(0.0, 0.0, 1.0), 0.2).bytes(), [51; 3]);
    }

    #[test]
    fn a_png_has_the_pixels_that_were_written() {
        let bytes = [255, 0, 0, 128, 0, 0, 255, 255];
        let read = image::load_from_memory(&png(&bytes, (2, 1), ExtendedColorType::Rgba8)).expect("a PNG");
        assert_eq!(read.into_rgba8().into_raw(), bytes);
    }
}
