//! Faces of the characters in pictures: bold weights of Noto Sans CJK and Noto Serif CJK, cut down to the
//! characters that are used.
//!
//! `faces/subset` writes the files.

use ab_glyph::{Font as _, FontRef};

use super::mask::Mask;

/// Characters of Chinese pictures: common, learned early, and told apart at a glance.
pub(super) const HANZI: &str = include_str!("faces/hanzi.txt");
/// Characters of other pictures, without those that look alike: `0` and `o`, `1`, `i` and `l`, `2` and `z`,
/// `5` and `s`.
pub(super) const LETTERS: &str = include_str!("faces/letters.txt");
/// The files of the faces.
const FILES: [&[u8]; COUNT] = [include_bytes!("faces/noto-sans.otf"), include_bytes!("faces/noto-serif.otf")];
/// Number of faces.
pub(super) const COUNT: usize = 2;

/// Draws a character of a face, `size` pixels high, cropped to its ink. `None` if the face lacks the
/// character.
pub(super) fn glyph(face: usize, character: char, size: f32) -> Option<Mask> {
    let font = FontRef::try_from_slice(FILES.get(face)?).ok()?;
    let id = font.glyph_id(character);
    if id.0 == 0 {
        return None;
    }
    let outline = font.outline_glyph(id.with_scale(size))?;
    let bounds = outline.px_bounds();
    let mut mask = Mask::new(whole(bounds.width()), whole(bounds.height()));
    outline.draw(|x, y, coverage| mask.add(x, y, coverage));
    Some(mask)
}

/// Converts a length of a glyph to whole pixels.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of glyphs are small and positive"
)]
fn whole(length: f32) -> u32 {
    length.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_face_has_each_character_and_no_two_look_alike() {
        for face in 0..COUNT {
            for characters in [HANZI, LETTERS] {
                let mut seen: Vec<(char, Mask)> = Vec::new();
                for character in characters.chars() {
                    let mask =
                        glyph(face, character, 40.0).unwrap_or_else(|| panic!("{face} lacks {character}"));
                    assert!(mask.ink() > 60.0, "{character}: {}", mask.ink());
                    assert!(seen.iter().all(|(_, other)| *other != mask), "{character}");
                    seen.push((character, mask));
                }
            }
        }
        assert_eq!(glyph(0, '龘', 40.0), None);
        assert_eq!(glyph(COUNT, 'a', 40.0), None);
    }
}
