//! Reading pictures with tesseract.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns whether tesseract is installed.
pub fn is_there() -> bool {
    let asked =
        Command::new("tesseract").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Reads the characters of a picture, as black on white if `is_prepared`.
pub fn read(png: &[u8], is_prepared: bool) -> String {
    let bytes = if is_prepared { prepared(png) } else { png.to_vec() };
    let letters = "tessedit_char_whitelist=abcdefghjkmnpqrstuvwxy346789";
    let child = Command::new("tesseract")
        .args(["stdin", "stdout", "--psm", "8", "-l", "eng", "-c", letters])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.expect("tesseract starts");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("it reads the picture");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).split_whitespace().collect()
}

/// Makes the ink black and the ground white by a threshold between both, at twice the size.
fn prepared(png: &[u8]) -> Vec<u8> {
    let grey = image::load_from_memory(png).expect("a picture").into_luma8();
    let twice =
        image::imageops::resize(&grey, grey.width() * 2, grey.height() * 2, image::imageops::Triangle);
    let mut levels: Vec<u8> = twice.pixels().map(|pixel| pixel[0]).collect();
    levels.sort_unstable();
    let (median, least, most) = (levels[levels.len() / 2], levels[0], levels[levels.len() - 1]);
    // The ground covers more than half of the picture, so the ink is what lies far from the median.
    let is_ink_light = most - median > median - least;
    let threshold = if is_ink_light { median.midpoint(most) } else { median.midpoint(least) };
    let mut plain = twice;
    for pixel in plain.pixels_mut() {
        pixel[0] = if (pixel[0] > threshold) == is_ink_light { 0 } else { 255 };
    }
    let mut bytes = std::io::Cursor::new(Vec::new());
    plain.write_to(&mut bytes, image::ImageFormat::Png).expect("a picture can be written to memory");
    bytes.into_inner()
}
