//! What must hold whatever bytes are uploaded. The fuzzer looks for bytes for which it does not.

use image::ImageFormat;
use mallbox_storage::PictureKind;

use super::redraw::{Drawn, LARGEST_KEPT, SIDES, redraw};

/// They are refused, or drawn as a picture that is small and can be read. Answers whether they were drawn.
///
/// # Panics
/// If it does not hold.
pub fn uploads(file: &[u8]) -> bool {
    let Ok(Drawn { kind, content }) = redraw(file) else { return false };
    let format = match kind {
        PictureKind::Jpeg => ImageFormat::Jpeg,
        PictureKind::Webp => ImageFormat::WebP,
    };
    let image = image::load_from_memory_with_format(&content, format).expect("what was drawn can be read");
    assert!(content.len() <= LARGEST_KEPT && image.width().max(image.height()) <= SIDES[0]);
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
