//! The outline of a puzzle's piece: a square whose sides have knobs and notches.

use rand::RngExt as _;
use rand::rngs::StdRng;

/// Distance of the square from the border of the piece, in pixels: room for knobs.
const INSET: f32 = 8.0;
/// Radius of knobs and notches, in pixels.
const RADIUS: f32 = 6.0;
/// Distance of a knob's centre from its side, in pixels.
const OUT: f32 = 1.0;
/// Samples per pixel and direction.
const SAMPLES: u32 = 3;

/// The four sides, from the upper one clockwise: whether a side has a knob; otherwise it has a notch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outline([bool; 4]);

impl Outline {
    /// Width and height of a piece, in pixels.
    pub(super) const SIDE: u32 = 48;

    /// Draws an outline with at least one knob and one notch.
    pub(super) fn draw(random: &mut StdRng) -> Self {
        let bits: u8 = random.random_range(1..15);
        Self(std::array::from_fn(|side| bits >> side & 1 == 1))
    }

    /// Returns the outline with knobs and notches exchanged.
    pub(super) fn exchanged(self) -> Self {
        Self(self.0.map(|is_knob| !is_knob))
    }

    /// Returns which share of a pixel lies inside.
    pub(super) fn coverage(self, x: u32, y: u32) -> f32 {
        let sample = |pixel: u32, number: u32| pixel as f32 + (number as f32 + 0.5) / SAMPLES as f32;
        let samples = (0..SAMPLES).flat_map(|row| (0..SAMPLES).map(move |column| (column, row)));
        let inside =
            samples.filter(|(column, row)| self.contains(sample(x, *column), sample(y, *row))).count();
        inside as f32 / (SAMPLES * SAMPLES) as f32
    }

    /// Returns how much a pixel belongs to the rim, from 0 to 1.
    pub(super) fn rim(self, x: u32, y: u32) -> f32 {
        let around = [(x.wrapping_sub(1), y), (x + 1, y), (x, y.wrapping_sub(1)), (x, y + 1)];
        let least = around
            .into_iter()
            .map(|(x, y)| if x < Self::SIDE && y < Self::SIDE { self.coverage(x, y) } else { 0.0 });
        self.coverage(x, y) * (1.0 - least.fold(1.0, f32::min))
    }

    fn contains(self, x: f32, y: f32) -> bool {
        let (low, high) = (INSET, Self::SIDE as f32 - INSET);
        let middle = f32::midpoint(low, high);
        let centres = [(middle, low), (high, middle), (middle, high), (low, middle)];
        let outwards = [(0.0, -OUT), (OUT, 0.0), (0.0, OUT), (-OUT, 0.0)];
        let mut is_inside = (low..high).contains(&x) && (low..high).contains(&y);
        for ((centre, outwards), is_knob) in centres.into_iter().zip(outwards).zip(self.0) {
            let sign = if is_knob { 1.0 } else { -1.0 };
            let (centre_x, centre_y) = (centre.0 + sign * outwards.0, centre.1 + sign * outwards.1);
            if (x - centre_x).hypot(y - centre_y) < RADIUS {
                is_inside = is_knob;
            }
        }
        is_inside
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn area(outline: Outline) -> f32 {
        (0..Outline::SIDE).flat_map(|y| (0..Outline::SIDE).map(move |x| outline.coverage(x, y))).sum()
    }

    #[test]
    fn knobs_add_area_and_notches_remove_it() {
        let square = (Outline::SIDE as f32 - 2.0 * INSET).powi(2);
        let (knobs, notches) = (area(Outline([true; 4])), area(Outline([false; 4])));
        assert!(knobs > square + 150.0 && notches < square - 150.0, "{notches} {square} {knobs}");
    }

    #[test]
    fn an_outline_fits_its_square_and_differs_from_its_opposite() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..30 {
            let outline = Outline::draw(&mut random);
            assert!(outline.0.contains(&true) && outline.0.contains(&false), "{outline:?}");
            assert_eq!(outline.exchanged().exchanged(), outline);
            for along in 0..Outline::SIDE {
                for (x, y) in [(0, along), (along, 0), (Outline::SIDE - 1, along), (along, Outline::SIDE - 1)]
                {
                    assert!(outline.coverage(x, y).abs() < 0.01, "{x} {y}");
                }
            }
            let (middle, border) = (Outline::SIDE / 2, 10);
            assert!(outline.coverage(middle, middle) > 0.99 && outline.rim(middle, middle) < 0.01);
            assert!(outline.coverage(border, border) > 0.99);
        }
    }
}
