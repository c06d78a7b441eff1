//! A picture with characters to be typed.

use std::f32::consts::TAU;

use image::ExtendedColorType;
use rand::RngExt as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use super::faces;
use super::mask::Mask;
use super::paint::{Colour, Ground, png};
use crate::language::Language;

/// Width and height of a picture, in pixels.
pub const SIZE: (u32, u32) = (240, 80);
/// Ink is laid down at twice the size, and read four times per pixel.
const FINE: u32 = 2;
/// Space left and right of the characters, in pixels.
const MARGIN: f32 = 22.0;
/// Strokes that cross the characters.
const STROKES: usize = 3;

/// Draws a text: four hanzi, or five letters and digits.
pub(in crate::mall::selling) fn text(language: Language, random: &mut StdRng) -> String {
    let (characters, count) = match language {
        Language::Zh => (faces::HANZI, 4),
        Language::En => (faces::LETTERS, 5),
    };
    let characters: Vec<char> = characters.chars().collect();
    characters.sample(random, count).collect()
}

/// Returns a text without what people type differently: spaces, capitals, full-width letters.
pub(in crate::mall::selling) fn normalised(text: &str) -> String {
    let half_width = |character: char| match character {
        '！'..='～' => char::from_u32(character as u32 - 0xfee0).unwrap_or(character),
        other => other,
    };
    text.chars()
        .filter(|character| !character.is_whitespace())
        .map(half_width)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Draws a picture of a text.
pub(in crate::mall::selling) fn draw(text: &str, random: &mut StdRng) -> Vec<u8> {
    let (width, height) = SIZE;
    let is_dark = random.random();
    let ground = Ground::draw((width as f32, height as f32), if is_dark { 0.22 } else { 0.86 }, 7, random);
    let inks: [Colour; 2] = std::array::from_fn(|_| {
        let lightness =
            if is_dark { random.random_range(0.72..0.85) } else { random.random_range(0.2..0.34) };
        Colour::new(random.random(), random.random_range(0.4..0.9), lightness)
    });
    let ink = ink(text, random);
    let waves = Waves::draw(random);
    let mut bytes = Vec::with_capacity((width * height * 3) as usize);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let (x, y) = (x as f32, y as f32);
        let colour = inks[0].towards(inks[1], x / width as f32);
        bytes.extend(ground.at(x, y).towards(colour, waves.coverage(&ink, x, y)).bytes());
    }
    png(&bytes, SIZE, ExtendedColorType::Rgb8)
}

/// Lays down the characters, and strokes across them.
fn ink(text: &str, random: &mut StdRng) -> Mask {
    let mut ink = Mask::new(SIZE.0 * FINE, SIZE.1 * FINE);
    let characters: Vec<char> = text.chars().collect();
    let step = (SIZE.0 as f32 - 2.0 * MARGIN) / characters.len() as f32;
    for (place, character) in characters.iter().enumerate() {
        let size = random.random_range(0.86..1.06) * if character.is_ascii() { 72.0 } else { 60.0 };
        let face = random.random_range(0..faces::COUNT);
        let turn = random.random_range(-0.32..0.32);
        let centre = (
            MARGIN + step * (place as f32 + 0.5) + random.random_range(-5.0..5.0),
            SIZE.1 as f32 / 2.0 + random.random_range(-7.0..7.0),
        );
        if let Some(glyph) = faces::glyph(face, *character, size * FINE as f32) {
            stamp(&mut ink, &glyph, (centre.0 * FINE as f32, centre.1 * FINE as f32), turn);
        }
    }
    for number in 0..STROKES {
        stroke(&mut ink, number == 0, random);
    }
    ink
}

/// Puts a glyph down around a centre, turned by an angle.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the mask")]
fn stamp(ink: &mut Mask, glyph: &Mask, centre: (f32, f32), turn: f32) {
    let (half_width, half_height) = (glyph.width() as f32 / 2.0, glyph.height() as f32 / 2.0);
    let reach = half_width.hypot(half_height);
    let (sin, cos) = turn.sin_cos();
    let range = |centre: f32, max: u32| {
        let from = (centre - reach).floor().clamp(0.0, max as f32) as u32;
        from..(centre + reach).ceil().clamp(0.0, max as f32) as u32
    };
    for y in range(centre.1, ink.height()) {
        for x in range(centre.0, ink.width()) {
            let (dx, dy) = (x as f32 - centre.0, y as f32 - centre.1);
            let covered = glyph.between(dx * cos + dy * sin + half_width, dy * cos - dx * sin + half_height);
            ink.add(x, y, covered);
        }
    }
}

/// Draws a curved stroke from one side to the other: of ink, or a gap in the ink.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the mask")]
fn stroke(ink: &mut Mask, is_gap: bool, random: &mut StdRng) {
    let (width, height) = (ink.width() as f32, ink.height() as f32);
    let ends: [f32; 2] = std::array::from_fn(|_| random.random_range(0.2..0.8) * height);
    let (bend, phase) = (random.random_range(0.08..0.25) * height, random.random_range(0.0..TAU));
    let thick = if is_gap { 1.2 } else { random.random_range(2.0..3.4) };
    for x in 0..ink.width() {
        let along = x as f32 / width;
        let middle = ends[0] + (ends[1] - ends[0]) * along + bend * (phase + along * TAU).sin();
        let rows = (middle - thick - 1.0).clamp(0.0, height) as u32
            ..(middle + thick + 2.0).clamp(0.0, height) as u32;
        for y in rows {
            let covered = thick + 0.5 - (y as f32 - middle).abs();
            if is_gap { ink.remove(x, y, covered) } else { ink.add(x, y, covered) }
        }
    }
}

/// A distortion: each row moves sideways, each column up and down.
struct Waves {
    sideways: Wave,
    upright: Wave,
}

struct Wave {
    height: f32,
    length: f32,
    phase: f32,
}

impl Wave {
    fn draw(random: &mut StdRng) -> Self {
        Self {
            height: random.random_range(2.0..3.8),
            length: random.random_range(46.0..90.0),
            phase: random.random_range(0.0..TAU),
        }
    }

    fn at(&self, place: f32) -> f32 {
        self.height * (place / self.length * TAU + self.phase).sin()
    }
}

impl Waves {
    fn draw(random: &mut StdRng) -> Self {
        Self { sideways: Wave::draw(random), upright: Wave::draw(random) }
    }

    /// Returns the coverage of a pixel by distorted ink.
    fn coverage(&self, ink: &Mask, x: f32, y: f32) -> f32 {
        let fine = FINE as f32;
        let at =
            |x: f32, y: f32| ink.between((x + self.sideways.at(y)) * fine, (y + self.upright.at(x)) * fine);
        (at(x, y) + at(x + 0.5, y) + at(x, y + 0.5) + at(x + 0.5, y + 0.5)) / 4.0
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn random(seed: u64) -> StdRng {
        StdRng::seed_from_u64(seed)
    }

    #[test]
    fn texts_have_the_characters_of_their_language() {
        for seed in 0..50 {
            let (zh, en) = (text(Language::Zh, &mut random(seed)), text(Language::En, &mut random(seed)));
            assert!(zh.chars().count() == 4 && zh.chars().all(|one| faces::HANZI.contains(one)), "{zh}");
            assert!(en.len() == 5 && en.chars().all(|one| faces::LETTERS.contains(one)), "{en}");
            assert_ne!(text(Language::Zh, &mut random(seed + 50)), zh);
        }
    }

    #[test]
    fn what_people_type_differently_counts_as_equal() {
        for (typed, meant) in
            [(" 7K mhx\n", "7kmhx"), ("７ｋＭｈｘ", "7kmhx"), ("春 天　花草", "春天花草"), ("", "")]
        {
            assert_eq!(normalised(typed), meant, "{typed:?}");
        }
    }

    #[test]
    fn a_picture_has_its_size_and_shows_its_text() {
        for seed in 0..6 {
            for text in ["春天花草", "7kmhx"] {
                let png = draw(text, &mut random(seed));
                assert!(png.len() < 40_000, "{}", png.len());
                let picture = image::load_from_memory(&png).expect("a PNG");
                assert_eq!((picture.width(), picture.height()), SIZE);
                assert_eq!(
                    draw(text, &mut random(seed)),
                    png,
                    "the same random numbers draw the same picture"
                );
                // The difference to the picture without characters is their ink.
                let without = image::load_from_memory(&draw("", &mut random(seed))).expect("a PNG");
                assert_ne!(picture, without);
            }
        }
    }

    #[test]
    fn characters_cover_the_middle_of_the_picture() {
        for seed in 0..20 {
            let strokes = ink("", &mut random(seed)).ink();
            let whole = ink("春天花草", &mut random(seed));
            let all = (SIZE.0 * SIZE.1 * FINE * FINE) as f32;
            assert!(whole.ink() > 0.1 * all && strokes < 0.08 * all, "{} {strokes} of {all}", whole.ink());
        }
    }
}
