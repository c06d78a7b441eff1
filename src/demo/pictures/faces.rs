//! Portraits of the users: one look per user, composed of a few shapes.

use super::canvas::Canvas;
use super::theme::INK;

/// Hair, from short to long.
#[derive(Clone, Copy)]
enum Hair {
    Crop,
    SideParting,
    Curls,
    Bob,
    Long,
    Bun,
    Ponytail,
    Bald,
}

/// Distinguishing feature of a face.
#[derive(Clone, Copy)]
enum Extra {
    None,
    Glasses,
    Beard,
    Cap,
    Headphones,
    Flower,
    CatEars,
    Headband,
}

struct Look {
    ground: &'static str,
    halo: &'static str,
    skin: &'static str,
    hair: &'static str,
    top: &'static str,
    style: Hair,
    extra: Extra,
}

/// Looks in the order of `PEOPLE`, matching hair and sex.
const LOOKS: [Look; 12] = [
    look("#f6c667", "#fbe2a8", "#f2c9a5", "#3b3230", "#2f6f66", Hair::SideParting, Extra::Beard),
    look("#9fd3a8", "#cbe8cd", "#e8b98f", "#2e2a2c", "#e05d4f", Hair::Curls, Extra::None),
    look("#f7b5b0", "#fcdcd5", "#f9d9bd", "#6b4432", "#fff4e4", Hair::Bob, Extra::None),
    look("#8fb8de", "#c3dbef", "#f2c9a5", "#26262b", "#3d4a63", Hair::Crop, Extra::Glasses),
    look("#f3d9a4", "#faeccd", "#f6d0ae", "#463330", "#d9603b", Hair::Bun, Extra::None),
    look("#a7c7c4", "#d2e3e0", "#e3b48c", "#e9e7e3", "#37506b", Hair::Bald, Extra::Beard),
    look("#f2a65a", "#f9d2a2", "#fbdcc2", "#51362a", "#7a8f4d", Hair::Long, Extra::Flower),
    look("#c9b3e6", "#e4d8f3", "#f2c9a5", "#3a2b2b", "#f6c84c", Hair::Ponytail, Extra::None),
    look("#6e7fc4", "#a5b1e0", "#edc29a", "#7a4a2b", "#f4f1ea", Hair::SideParting, Extra::Headphones),
    look("#56616e", "#8a95a1", "#e8b98f", "#1f2024", "#f0b54d", Hair::Crop, Extra::Cap),
    look("#f28ba0", "#f9c1cb", "#eebf97", "#2c2430", "#4a5a68", Hair::Ponytail, Extra::Headband),
    look("#b5c99a", "#dbe6ca", "#f9d9bd", "#8d5a3c", "#a04e64", Hair::Bob, Extra::CatEars),
];

#[rustfmt::skip] // one line a person
const fn look(
    ground: &'static str, halo: &'static str, skin: &'static str, hair: &'static str,
    top: &'static str, style: Hair, extra: Extra,
) -> Look {
    Look { ground, halo, skin, hair, top, style, extra }
}

/// Draws the portrait with a number from 1.
pub(super) fn face(number: u64) -> Option<String> {
    let look = LOOKS.get(usize::try_from(number.checked_sub(1)?).ok()?)?;
    let mut c = Canvas::new(120, 120);
    c.rect([0, 0, 120, 120], 0, look.ground);
    c.dot(60, 62, 50, look.halo);
    hair_behind(&mut c, look);
    c.path("M14 120q2 -26 28 -30l18 -3 18 3q26 4 28 30z", look.top);
    c.path("M50 76h20v14q-10 12 -20 0z", look.skin);
    c.path("M50 82q10 9 20 0v5q-10 7 -20 0z", "#0002");
    c.dot(37, 60, 6, look.skin);
    c.dot(83, 60, 6, look.skin);
    c.path("M37 54q0 -26 23 -26t23 26v6q0 25 -23 26q-23 -1 -23 -26z", look.skin);
    c.oval([46, 69, 5, 3], "#e8776a44");
    c.oval([74, 69, 5, 3], "#e8776a44");
    features(&mut c, number);
    hair_before(&mut c, look);
    extra(&mut c, look);
    Some(c.finish())
}

fn features(c: &mut Canvas, number: u64) {
    match number % 4 {
        0 => c.line("M45 60q4 -5 8 0M67 60q4 -5 8 0", INK, 3),
        _ => {
            c.oval([49, 59, 3, 4], INK);
            c.oval([71, 59, 3, 4], INK);
            c.dot(50, 58, 1, "#fff");
            c.dot(72, 58, 1, "#fff");
        }
    }
    c.line("M44 51q5 -3 9 -1M67 50q5 -2 9 1", "#0006", 2);
    c.line("M60 62q-3 5 1 6", "#0003", 2);
    match number % 3 {
        0 => c.path("M52 74h16q-1 8 -8 8t-8 -8z", "#9c3f3f"),
        1 => c.line("M53 75q7 6 14 0", "#9c3f3f", 3),
        _ => c.line("M54 76q8 4 13 -2", "#9c3f3f", 3),
    }
}

fn hair_behind(c: &mut Canvas, look: &Look) {
    match look.style {
        Hair::Long => c.path("M30 56q0 -38 30 -38t30 38v40q2 10 -8 10H38q-10 0 -8 -10z", look.hair),
        Hair::Bob => c.path("M30 56q0 -36 30 -36t30 36v22q0 10 -10 10H40q-10 0 -10 -10z", look.hair),
        Hair::Bun => {
            c.dot(60, 18, 13, look.hair);
            c.path("M33 60q-4 -38 27 -38t27 38z", look.hair);
        }
        Hair::Ponytail => {
            c.path("M78 34q28 -6 26 26q-1 22 -12 30q2 -30 -16 -44z", look.hair);
        }
        Hair::Curls => {
            for (x, y) in [(36, 46), (40, 32), (54, 24), (70, 25), (82, 34), (85, 48)] {
                c.dot(x, y, 12, look.hair);
            }
        }
        Hair::Crop | Hair::SideParting | Hair::Bald => {}
    }
}

fn hair_before(c: &mut Canvas, look: &Look) {
    let d = match look.style {
        Hair::Crop => "M35 54q-4 -30 25 -31t25 31q-3 -12 -8 -15q-17 4 -34 0q-5 3 -8 15z",
        Hair::SideParting => {
            "M34 56q-5 -36 28 -35q28 0 24 35q-3 -10 -6 -14q-20 0 -30 -11q-6 12 -12 14q-3 4 -4 11z"
        }
        Hair::Curls => "M36 48q4 -20 24 -20t24 20q-8 -4 -10 -9q-6 6 -14 2q-6 5 -14 0q-3 6 -10 7z",
        Hair::Bob => "M34 62q-2 -36 26 -37t26 37q-4 -4 -5 -14q-21 2 -42 0q-1 10 -5 14z",
        Hair::Long => "M34 66q-4 -40 26 -42q30 2 26 42q-4 -16 -26 -34q-22 18 -26 34z",
        Hair::Bun => "M35 54q0 -28 25 -28t25 28q-8 -16 -25 -17q-17 1 -25 17z",
        Hair::Ponytail => "M35 58q-2 -34 25 -34t25 34q-2 -12 -8 -17q-20 2 -32 -5q-8 8 -10 22z",
        Hair::Bald => "M35 60q-4 -4 -1 -14q4 2 4 12zM85 60q4 -4 1 -14q-4 2 -4 12z",
    };
    c.path(d, look.hair);
}

fn extra(c: &mut Canvas, look: &Look) {
    match look.extra {
        Extra::None => {}
        Extra::Glasses => {
            c.line(
                "M40 60a9 9 0 1 0 18 0a9 9 0 1 0-18 0M62 60a9 9 0 1 0 18 0a9 9 0 1 0-18 0M58 58h4",
                INK,
                2,
            );
        }
        Extra::Beard => {
            c.path("M37 64q2 26 23 27q21 -1 23 -27q-3 10 -11 8q-12 -5 -24 0q-8 2 -11 -8z", look.hair);
            c.line("M54 78q6 4 12 0", "#fff9", 3);
        }
        Extra::Cap => {
            c.path("M33 46q0 -26 27 -26t27 26z", look.top);
            c.path("M30 46h60q10 2 8 8q-38 -6 -68 0z", "#c98a2b");
            c.dot(60, 20, 3, "#c98a2b");
        }
        Extra::Headphones => {
            c.line("M33 58q-2 -40 27 -40t27 40", "#2f3350", 5);
            c.rect([27, 52, 12, 20], 6, "#e2574c");
            c.rect([81, 52, 12, 20], 6, "#e2574c");
        }
        Extra::Flower => {
            for (x, y) in [(82, 28), (90, 33), (87, 42), (77, 42), (74, 33)] {
                c.dot(x, y, 5, "#fff6df");
            }
            c.dot(82, 36, 4, "#f0a83c");
        }
        Extra::CatEars => {
            c.path("M36 34l-2 -22 20 12zM84 34l2 -22 -20 12z", look.hair);
            c.path("M39 29l-1 -10 9 6zM81 29l1 -10 -9 6z", "#f4a9a0");
        }
        Extra::Headband => c.line("M37 44q23 -12 46 0", "#ffd24d", 6),
    }
}
