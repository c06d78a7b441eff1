//! A puzzle: a piece to be moved to the gap in a picture.

use image::ExtendedColorType;
use rand::RngExt as _;
use rand::rngs::StdRng;

use super::outline::Outline;
use super::paint::{Colour, Ground, png};
use super::track;

/// Width and height of the picture with the gap, in pixels.
pub const SIZE: (u32, u32) = (320, 160);
/// Width and height of the piece, in pixels.
pub const PIECE_SIZE: (u32, u32) = (Outline::SIDE, Outline::SIDE);
/// Greatest distance of the piece from its gap, in pixels.
const TOLERANCE: u32 = 5;
/// Least distance of the gap from the place where the piece starts, and of a decoy from the gap.
const APART: u32 = Outline::SIDE + 24;
/// Space between a gap and the border of the picture.
const BORDER: u32 = 6;
/// Coloured spots of the picture.
const SPOTS: usize = 26;

/// The place of the gap: its left and upper edge, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::mall::selling) struct Place {
    left: u32,
    top: u32,
}

/// The pictures of a puzzle, as PNG.
#[derive(Debug)]
pub struct Drawing {
    /// The picture with the gap.
    pub background: Vec<u8>,
    /// The piece.
    pub piece: Vec<u8>,
    /// Upper edge of the piece, in pixels.
    pub top: u32,
}

impl Place {
    /// Draws a place.
    pub(in crate::mall::selling) fn draw(random: &mut StdRng) -> Self {
        Self {
            left: random.random_range(APART..SIZE.0 - Outline::SIDE - BORDER),
            top: random.random_range(BORDER..SIZE.1 - Outline::SIDE - BORDER),
        }
    }

    /// Draws the place of a gap in the same row that does not fit.
    fn decoy(self, random: &mut StdRng) -> Self {
        let is_apart = |left: &u32| left.abs_diff(self.left) >= APART;
        let free: Vec<u32> = (BORDER..SIZE.0 - Outline::SIDE - BORDER).filter(is_apart).collect();
        let left = free.get(random.random_range(0..free.len().max(1))).copied().unwrap_or(BORDER);
        Self { left, top: self.top }
    }
}

/// Draws the puzzle of a place.
pub(in crate::mall::selling) fn draw(place: Place, random: &mut StdRng) -> Drawing {
    let lightness = random.random_range(0.5..0.65);
    let ground = Ground::draw((SIZE.0 as f32, SIZE.1 as f32), lightness, SPOTS, random);
    let outline = Outline::draw(random);
    let gaps = [(place, outline), (place.decoy(random), outline.exchanged())];
    let mut background = Vec::with_capacity((SIZE.0 * SIZE.1 * 3) as usize);
    for (y, x) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (y, x))) {
        let mut colour = ground.at(x as f32, y as f32);
        for (place, outline) in gaps {
            colour = with_gap(colour, outline, (x.wrapping_sub(place.left), y.wrapping_sub(place.top)));
        }
        background.extend(colour.bytes());
    }
    Drawing {
        background: png(&background, SIZE, ExtendedColorType::Rgb8),
        piece: piece(&ground, outline, place),
        top: place.top,
    }
}

/// Returns the colour of a pixel, given by its place relative to a gap: dark within the gap.
fn with_gap(colour: Colour, outline: Outline, (x, y): (u32, u32)) -> Colour {
    if x >= Outline::SIDE || y >= Outline::SIDE {
        return colour;
    }
    let dark = colour.towards(Colour([0.0; 3]), 0.45 * outline.coverage(x, y));
    dark.towards(Colour([1.0; 3]), 0.5 * outline.rim(x, y))
}

/// Draws the piece: what the gap hides, with a white rim.
fn piece(ground: &Ground, outline: Outline, place: Place) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((Outline::SIDE * Outline::SIDE * 4) as usize);
    for (y, x) in (0..Outline::SIDE).flat_map(|y| (0..Outline::SIDE).map(move |x| (y, x))) {
        let colour = ground.at((place.left + x) as f32, (place.top + y) as f32);
        bytes.extend(colour.towards(Colour([1.0; 3]), 0.8 * outline.rim(x, y)).bytes());
        bytes.push(Colour([outline.coverage(x, y); 3]).bytes()[0]);
    }
    png(&bytes, PIECE_SIZE, ExtendedColorType::Rgba8)
}

/// Returns whether the piece was moved to its gap, and as a person moves it.
pub(in crate::mall::selling) fn is_solved(place: Place, left: u32, track: &[[i32; 3]]) -> bool {
    left.abs_diff(place.left) <= TOLERANCE && track::is_plausible(left, track)
}

/// Returns the variation of the speed of a track that solved a puzzle, in thousandths.
pub(in crate::mall::selling) fn track_spread(track: &[[i32; 3]]) -> Option<u16> {
    track::speed_spread(track)
}

/// Returns a way to solve a puzzle, for tests: the left edge of the piece, and the samples of a pointer.
pub(in crate::mall::selling) fn solution(place: Place) -> (u32, Vec<[i32; 3]>) {
    (place.left, track::of_a_hand(place.left))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn random(seed: u64) -> StdRng {
        StdRng::seed_from_u64(seed)
    }

    #[test]
    fn a_puzzle_is_solved_within_the_tolerance_and_by_a_plausible_track() {
        for seed in 0..200 {
            let place = Place::draw(&mut random(seed));
            let (left, track) = solution(place);
            assert!(is_solved(place, left, &track), "{place:?}");
            for (moved, expected) in [(TOLERANCE, true), (TOLERANCE + 1, false)] {
                for left in [place.left - moved, place.left + moved] {
                    assert_eq!(is_solved(place, left, &track::of_a_hand(left)), expected, "{place:?} {left}");
                }
            }
            assert!(!is_solved(place, left, &[]) && !is_solved(place, u32::MAX, &track));
        }
    }

    #[test]
    fn gaps_lie_within_the_picture_and_apart() {
        for seed in 0..200 {
            let mut random = random(seed);
            let place = Place::draw(&mut random);
            let decoy = place.decoy(&mut random);
            for place in [place, decoy] {
                assert!(
                    place.left + PIECE_SIZE.0 <= SIZE.0 && place.top + PIECE_SIZE.1 <= SIZE.1,
                    "{place:?}"
                );
            }
            assert!(place.left >= APART && decoy.left.abs_diff(place.left) >= APART, "{place:?} {decoy:?}");
        }
    }

    /// Returns the mean difference, in steps of 255, between the picture around a gap and the ground with the
    /// piece put over it at `left`.
    fn difference(place: Place, seed: u64, shift: u32) -> f32 {
        let mut random = random(seed);
        let lightness = random.random_range(0.5..0.65);
        let ground = Ground::draw((SIZE.0 as f32, SIZE.1 as f32), lightness, SPOTS, &mut random);
        let drawing = draw(place, &mut self::random(seed));
        let piece = image::load_from_memory(&drawing.piece).expect("a PNG").into_rgba8();
        let (mut sum, mut count) = (0.0, 0.0_f32);
        for (x, y, pixel) in piece.enumerate_pixels().filter(|(.., pixel)| pixel[3] == 255) {
            let whole = ground.at((place.left + x + shift) as f32, (place.top + y) as f32).bytes();
            for (channel, expected) in pixel.0.iter().zip(whole) {
                sum += f32::from(channel.abs_diff(expected));
                count += 1.0;
            }
        }
        assert!(count > 2_000.0, "{count}");
        sum / count
    }

    #[test]
    fn the_piece_closes_its_gap_and_no_other_place() {
        for seed in 0..5 {
            let place = Place { left: 120, top: 60 };
            let (closed, beside) = (difference(place, seed, 0), difference(place, seed, 40));
            // The rim alone differs.
            assert!(closed < 20.0 && beside > 1.2 * closed, "{closed} {beside}");
        }
    }

    #[test]
    fn pictures_have_their_sizes_and_few_bytes() {
        for seed in 0..5 {
            let place = Place::draw(&mut random(seed));
            let drawing = draw(place, &mut random(seed));
            let size = |png: &[u8]| {
                let picture = image::load_from_memory(png).expect("a PNG");
                (picture.width(), picture.height())
            };
            assert_eq!((size(&drawing.background), size(&drawing.piece)), (SIZE, PIECE_SIZE));
            assert_eq!(drawing.top, place.top);
            assert!(drawing.background.len() < 70_000 && drawing.piece.len() < 8_000);
        }
    }
}
