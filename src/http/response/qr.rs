//! QR codes for pages: one SVG path instead of an image.

use std::fmt::Write as _;

use qrcodegen::{QrCode, QrCodeEcc};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::ApiError;

/// A QR code for `<svg viewBox="-4 -4 29 29"><path d="…"/></svg>`: −`quietZone` and `size` + 2 × `quietZone`.
#[derive(Serialize, JsonSchema, Debug)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct QrAnswer {
    /// Modules per side, without the quiet zone.
    #[schemars(example = 21)]
    size: i32,
    /// Width of the light border in modules; without the border, scanners do not find the code.
    #[schemars(example = 4)]
    quiet_zone: i32,
    /// An SVG path of the dark modules, each 1 by 1, the first at 0,0.
    #[schemars(example = &"M0 0h7v1h-7z")]
    path: String,
}

impl QrAnswer {
    /// Encodes a text; capital letters and digits are more compact than others. Readable with a seventh
    /// damaged.
    pub(in crate::http) fn of(text: &str) -> Result<Self, ApiError> {
        /// As specified by the standard.
        const QUIET_ZONE: i32 = 4;
        let code = QrCode::encode_text(text, QrCodeEcc::Medium)
            .map_err(|error| ApiError::bug(format!("no QR code of {} letters: {error}", text.len())))?;
        Ok(Self { size: code.size(), quiet_zone: QUIET_ZONE, path: path(&code) })
    }
}

/// Draws a rectangle for each run of dark modules.
fn path(code: &QrCode) -> String {
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let dark = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            if dark > 0 {
                // Writing to a String cannot fail.
                let _ = write!(path, "M{x} {y}h{dark}v1h-{dark}z");
            }
            // Skip the light module after the run as well.
            x += i32::try_from(dark).unwrap_or(i32::MAX).saturating_add(1);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_lines_of_sixty_chinese_characters_fit() {
        let text = vec![format!("{}…", "券".repeat(60)); 8].join("\n");
        assert!(QrAnswer::of(&text).unwrap().size <= 177);
    }

    #[test]
    fn the_path_covers_the_dark_modules_and_no_others() {
        let text = "1AQX0X5RC3N4E7TYW2KM";
        let answer = QrAnswer::of(text).unwrap();
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).unwrap();
        assert_eq!((answer.size, answer.quiet_zone), (21, 4));
        let mut dark = std::collections::BTreeSet::new();
        for run in answer.path.split('M').skip(1) {
            let (start, rest) = run.split_once('h').unwrap();
            let (x, y) = start.split_once(' ').unwrap();
            let (width, rest) = rest.split_once('v').unwrap();
            assert_eq!(rest, format!("1h-{width}z"));
            let (x, y, width): (i32, i32, i32) =
                (x.parse().unwrap(), y.parse().unwrap(), width.parse().unwrap());
            assert!((x..x + width).all(|x| dark.insert((x, y))), "{run} twice");
        }
        for (x, y) in (0..21).flat_map(|x| (0..21).map(move |y| (x, y))) {
            assert_eq!(dark.contains(&(x, y)), code.get_module(x, y), "{x} {y}");
        }
        // The three corner patterns by which a scanner finds the code.
        for (x, y) in [(0, 0), (14, 0), (0, 14)] {
            assert!((0..7).all(|i| dark.contains(&(x + i, y))) && !dark.contains(&(x + 1, y + 1)));
        }
    }
}
