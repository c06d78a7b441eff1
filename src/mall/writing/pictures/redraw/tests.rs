//! Re-encoding of real pictures, damaged files and files of other types.

use image::{ImageEncoder as _, Rgb, RgbImage, Rgba, RgbaImage};

use super::*;
use crate::mall::writing::pictures::fuzzing::uploads;

/// Maximum number of pixels, in millions.
const MEGAPIXELS: u32 = 32;

/// A gradient with a red top left corner, to show the orientation.
fn photo(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        if x < width / 4 && y < height / 4 {
            Rgb([250, 10, 10])
        } else {
            Rgb([10, u8::try_from(x * 255 / width).unwrap(), u8::try_from(y * 255 / height).unwrap()])
        }
    })
}

/// Noise, incompressible by any encoder.
fn noise(width: u32, height: u32, alpha: u8) -> RgbaImage {
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    RgbaImage::from_fn(width, height, |_, _| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let [r, g, b, ..] = dice.to_le_bytes();
        Rgba([r, g, b, alpha])
    })
}

fn written(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// EXIF metadata of a photograph: the camera's make and the orientation.
const EXIF_TURNED_RIGHT: &[u8] =
    b"MM\0*\0\0\0\x08\0\x02\x01\x0f\0\x02\0\0\0\x08\0\0\0\x26\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0SECRET1\0";

fn photo_with_exif(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, 90);
    encoder.set_exif_metadata(EXIF_TURNED_RIGHT.to_vec()).unwrap();
    encoder.write_image(&photo(width, height), width, height, image::ExtendedColorType::Rgb8).unwrap();
    bytes
}

fn drawn(file: &[u8]) -> (PictureKind, DynamicImage) {
    let drawn = reencode(file, MEGAPIXELS).unwrap_or_else(|mistake| panic!("{mistake:?}"));
    assert!(drawn.content.len() <= STORED_MAX_BYTES);
    let format = match drawn.kind {
        PictureKind::Jpeg => ImageFormat::Jpeg,
        PictureKind::Webp => ImageFormat::WebP,
    };
    (drawn.kind, image::load_from_memory_with_format(&drawn.content, format).unwrap())
}

fn mistake_in(file: &[u8]) -> InputError {
    reencode(file, MEGAPIXELS).err().expect("it is drawn")
}

#[test]
fn each_kind_is_drawn_with_its_own_colours() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP, ImageFormat::Gif] {
        let (kind, image) = drawn(&written(photo(80, 60), format));
        assert_eq!((kind, image.width(), image.height()), (PictureKind::Jpeg, 80, 60), "{format:?}");
        let [r, g, b] = image.to_rgb8().get_pixel(5, 5).0;
        assert!(r > 200 && g < 60 && b < 60, "{format:?}: {r} {g} {b}");
    }
}

#[test]
fn what_is_transparent_stays_so_and_what_only_could_be_is_a_jpeg() {
    let mut image = RgbaImage::from_pixel(40, 30, Rgba([1, 2, 3, 255]));
    assert_eq!(drawn(&written(image.clone(), ImageFormat::Png)).0, PictureKind::Jpeg);
    image.put_pixel(7, 8, Rgba([9, 9, 9, 0]));
    let (kind, again) = drawn(&written(image.clone(), ImageFormat::Png));
    assert_eq!(kind, PictureKind::Webp);
    assert_eq!(again.to_rgba8().get_pixel(7, 8).0[3], 0);
    assert_eq!(again.to_rgba8().get_pixel(0, 0).0, [1, 2, 3, 255]);
}

#[test]
fn a_photograph_is_turned_upright_and_says_nothing_of_its_camera() {
    let file = photo_with_exif(80, 60);
    assert!(file.windows(6).any(|bytes| bytes == b"SECRET"));
    let kept = reencode(&file, MEGAPIXELS).unwrap().content;
    assert!(!kept.windows(6).any(|bytes| bytes == b"SECRET"));
    assert!(!kept.windows(4).any(|bytes| bytes == b"Exif"));
    let (_, image) = drawn(&file);
    assert_eq!((image.width(), image.height()), (60, 80));
    let [r, g, b] = image.to_rgb8().get_pixel(55, 5).0;
    assert!(r > 200 && g < 60 && b < 60, "its red corner is at the right now: {r} {g} {b}");
}

#[test]
fn a_large_picture_is_scaled_down_and_a_small_one_is_left_alone() {
    for (width, height, want) in [
        (3_000, 1_500, (2_048, 1_024)),
        (1_000, 2_500, (819, 2_048)),
        (2_048, 10, (2_048, 10)),
        (1, 1, (1, 1)),
    ] {
        let (_, image) = drawn(&written(photo(width, height), ImageFormat::Jpeg));
        assert_eq!((image.width(), image.height()), want, "{width} x {height}");
    }
    let (_, thread) = drawn(&written(photo(4_096, 1), ImageFormat::Png));
    assert_eq!((thread.width(), thread.height()), (2_048, 1));
}

#[test]
fn what_stays_too_large_to_keep_is_scaled_down_further() {
    for (alpha, kind) in [(255, PictureKind::Jpeg), (128, PictureKind::Webp)] {
        // `drawn` checks the size of the stored file.
        let (got, image) = drawn(&written(noise(1_500, 1_200, alpha), ImageFormat::Png));
        assert_eq!(got, kind);
        assert!(image.width() < 1_500 && image.width() > 200, "{}", image.width());
    }
}

#[test]
fn what_moves_becomes_its_first_frame() {
    let mut file = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut file);
    for shade in [200, 20] {
        let frame = RgbaImage::from_pixel(20, 10, Rgba([shade, shade, shade, 255]));
        encoder.encode_frame(image::Frame::new(frame)).unwrap();
    }
    drop(encoder);
    let (_, image) = drawn(&file);
    assert!(image.to_rgb8().get_pixel(3, 3).0[0] > 180);
}

#[test]
fn nothing_that_follows_a_picture_is_kept() {
    let mut file = written(photo(40, 40), ImageFormat::Jpeg);
    file.extend_from_slice(b"<script>alert(1)</script>");
    let kept = reencode(&file, MEGAPIXELS).unwrap().content;
    assert!(!kept.windows(6).any(|bytes| bytes == b"script"));
}

#[test]
fn what_is_no_picture_is_refused_whatever_it_says() {
    let bmp = [b"BM".as_slice(), &[0; 200]].concat();
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
    let gif_header_alone = b"GIF89a\x10\0\x10\0\0\0\0";
    let cases: [&[u8]; 8] = [
        b"",
        b"\xff",
        b"<html>",
        svg,
        &bmp,
        gif_header_alone,
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\x10\0\0\0WEBPVP8 ",
    ];
    for file in cases {
        assert_eq!(mistake_in(file), InputError::NoPicture, "{}", String::from_utf8_lossy(file));
    }
    let png = written(photo(200, 200), ImageFormat::Png);
    assert_eq!(mistake_in(&png[..png.len() / 2]), InputError::NoPicture, "cut off");
}

/// A PNG with a header for the given size and almost no data.
fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let crc = [kind.as_slice(), data].concat().iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        });
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], kind, data, &(!crc).to_be_bytes()].concat()
    }
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head), chunk(b"IDAT", b"x"), chunk(b"IEND", b"")].concat()
}

#[test]
fn a_bomb_is_refused_before_any_room_is_made_for_it() {
    let too_large = InputError::TooManyPixels(MEGAPIXELS);
    for (width, height) in [(50_000, 50_000), (16_385, 1), (1, 16_385), (8_000, 4_001), (u32::MAX >> 1, 2)] {
        assert_eq!(mistake_in(&png_of_size(width, height)), too_large, "{width} x {height}");
    }
    assert_eq!(
        mistake_in(&png_of_size(8_000, 4_000)),
        InputError::NoPicture,
        "not too large, and nothing in it"
    );
    let gif = b"GIF89a\xff\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    assert_eq!(mistake_in(gif), too_large);
}

#[test]
fn no_bytes_at_all_make_it_break_off() {
    let mut seeds = vec![photo_with_exif(24, 16), png_of_size(24, 16)];
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP, ImageFormat::Gif] {
        seeds.push(written(photo(24, 16), format));
        if format != ImageFormat::Jpeg {
            seeds.push(written(noise(9, 9, 100), format));
        }
    }
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = move |sides: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % sides as u64).unwrap()
    };
    let (mut good, mut bad) = (0, 0);
    for round in 0..4_000 {
        let mut file = seeds[round % seeds.len()].clone();
        for _ in 0..=roll(4) {
            let at = roll(file.len());
            match roll(4) {
                0 => file[at] = u8::try_from(roll(256)).unwrap(),
                1 => file.truncate(at.max(1)),
                2 => file[at] ^= 1 << roll(8),
                _ => {
                    let other = &seeds[roll(seeds.len())];
                    file.splice(at.., other[roll(other.len())..].iter().copied());
                    file.push(0);
                }
            }
        }
        let count = if uploads(&file) { &mut good } else { &mut bad };
        *count += 1;
    }
    assert!(good > 100 && bad > 100, "{good} drawn, {bad} refused: nothing was tried");
}
