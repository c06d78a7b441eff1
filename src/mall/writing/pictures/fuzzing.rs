//! The invariant of uploads for arbitrary bytes, checked by the fuzzer.

use image::ImageFormat;
use mallbox_storage::PictureKind;

use super::redraw::{Encoded, SIDES, STORED_MAX_BYTES, reencode};
use crate::mall::base::MemoryBudget;

/// Checks that a file is either refused, or re-encoded as a small, readable picture. Returns whether the file
/// was re-encoded.
///
/// # Panics
/// If the invariant is violated.
pub fn uploads(file: &[u8]) -> bool {
    let Ok(Encoded { kind, content }) = reencode(file, MemoryBudget::FULL.megapixels()) else { return false };
    let format = match kind {
        PictureKind::Jpeg => ImageFormat::Jpeg,
        PictureKind::Webp => ImageFormat::WebP,
    };
    let image = image::load_from_memory_with_format(&content, format).expect("what was drawn can be read");
    assert!(content.len() <= STORED_MAX_BYTES && image.width().max(image.height()) <= SIDES[0]);
    true
}

#[cfg(test)]
mod tests {
    use super::uploads;

    #[test]
    fn it_holds_for_what_the_fuzzer_has_kept() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/corpus/uploads");
        let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(Result::unwrap).collect();
        let drawn = files.iter().filter(|file| uploads(&std::fs::read(file.path()).unwrap())).count();
        assert!(drawn > 0 && drawn < files.len(), "{drawn} of {} were drawn", files.len());
    }
}
