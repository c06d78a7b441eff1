//! Re-encoding of uploads. No byte of the file is kept, so data hidden in the file is lost.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, ImageResult, Limits};
use mallbox_storage::PictureKind;

use crate::mall::base::InputError;

/// Maximum memory of a pixel that was decoded: red, green, blue and opacity, with a reserve.
const PIXEL_MAX_BYTES: u64 = 5;
/// Maximum side in pixels: no photograph is longer.
const SIDE_MAX_PX: u32 = 16_384;
/// Longest sides tried in turn until the file is small enough. Each step halves the pixels.
pub(super) const SIDES: [u32; 7] = [2_048, 1_448, 1_024, 724, 512, 362, 256];
/// Maximum size of a stored picture, in bytes: small enough to be written and sent in a few milliseconds.
pub(super) const STORED_MAX_BYTES: usize = 1 << 20;
/// JPEG quality, out of 100: losses are invisible, and a photograph takes half the bytes of quality 92.
const QUALITY: u8 = 82;

/// A re-encoded picture.
pub(super) struct Encoded {
    pub(super) kind: PictureKind,
    pub(super) content: Vec<u8>,
}

/// Re-encodes the picture in a file: upright, within [`SIDES`], as JPEG, or as WebP if any pixel is
/// transparent. An animation is reduced to its first frame. Camera metadata (place, time, serial number) is
/// removed. A picture of more than `megapixels` million pixels is refused.
pub(super) fn reencode(file: &[u8], megapixels: u32) -> Result<Encoded, InputError> {
    let (mut image, orientation) = read(file, megapixels)?;
    for side in SIDES {
        if image.width().max(image.height()) > side {
            image = image.thumbnail(side, side);
        } else if side < SIDES[0] {
            // Already encoded at this size in an earlier step.
            continue;
        }
        let drawn = draw(&image, orientation).map_err(|_| InputError::NoPicture)?;
        if drawn.content.len() <= STORED_MAX_BYTES {
            return Ok(drawn);
        }
    }
    Err(InputError::NoPicture)
}

/// Decodes the pixels and the orientation. The format is detected from the content. The size is checked
/// before memory is allocated.
fn read(file: &[u8], megapixels: u32) -> Result<(DynamicImage, Orientation), InputError> {
    let reader = ImageReader::new(Cursor::new(file)).with_guessed_format();
    let mut reader = reader.map_err(|_| InputError::NoPicture)?;
    let Some(ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP | ImageFormat::Gif) = reader.format()
    else {
        return Err(InputError::NoPicture);
    };
    let pixels_max = u64::from(megapixels) * 1_000_000;
    let mistake = |error| mistake(error, megapixels);
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(SIDE_MAX_PX);
    limits.max_image_height = Some(SIDE_MAX_PX);
    limits.max_alloc = Some(pixels_max * PIXEL_MAX_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(mistake)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(InputError::NoPicture);
    }
    let pixels = u64::from(width) * u64::from(height);
    if pixels > pixels_max || decoder.total_bytes() > pixels_max * PIXEL_MAX_BYTES {
        return Err(InputError::TooManyPixels(megapixels));
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(mistake)?, orientation))
}

fn mistake(error: ImageError, megapixels: u32) -> InputError {
    match error {
        ImageError::Limits(_) => InputError::TooManyPixels(megapixels),
        _ => InputError::NoPicture,
    }
}

fn draw(image: &DynamicImage, orientation: Orientation) -> ImageResult<Encoded> {
    let mut content = Vec::new();
    let kind = if is_transparent(image) {
        upright(image.to_rgba8().into(), orientation)
            .write_with_encoder(WebPEncoder::new_lossless(&mut content))?;
        PictureKind::Webp
    } else {
        let encoder = JpegEncoder::new_with_quality(&mut content, QUALITY);
        upright(image.to_rgb8().into(), orientation).write_with_encoder(encoder)?;
        PictureKind::Jpeg
    };
    Ok(Encoded { kind, content })
}

fn upright(mut image: DynamicImage, orientation: Orientation) -> DynamicImage {
    image.apply_orientation(orientation);
    image
}

fn is_transparent(image: &DynamicImage) -> bool {
    image.color().has_alpha() && image.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX)
}

#[cfg(test)]
mod tests;
