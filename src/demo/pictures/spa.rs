//! 美容SPA: sage and lotus pink.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{bottle, bright_room, candle, close_up, plant, shadow, steam, window};
use super::theme::{CREAM, LEAF, LEAF_DARK, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#274c3d",
        main: "#5d9a78",
        soft: "#bcdcc5",
        pale: "#edf6ee",
        accent: "#e79aa6",
        light: "#dcefdc",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.path("M24 38c8 3 19 0 24-10c-10-4-20 0-24 10zM24 38c-8 3-19 0-24-10c10-4 20 0 24 10z", b);
    c.path("M24 38c10-4 18-13 17-25c-11 3-18 12-17 25zM24 38c-10-4-18-13-17-25c11 3 18 12 17 25z", a);
    c.path("M24 7c8 9 8 22 0 31c-8-9-8-22 0-31z", b);
    c.line("M12 44h24", a, 4);
}

/// Draws a lotus of five petals around the foot.
fn lotus(c: &mut Canvas, x: i32, y: i32, tenths: i32, petal: &str) {
    c.open(&format!("translate({x} {y}) scale({}.{})", tenths / 10, tenths % 10));
    for (turn, shade) in [(-70, "#0002"), (70, "#0002"), (-38, "#0000"), (38, "#0000"), (0, "#fff4")] {
        c.open(&format!("rotate({turn})"));
        c.path("M0 0c-18-18-18-42 0-60c18 18 18 42 0 60z", petal);
        c.path("M0 0c-18-18-18-42 0-60c18 18 18 42 0 60z", shade);
        c.close();
    }
    c.dot(0, -12, 7, "#f6cf6b");
    c.close();
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    if d.one_in(2) {
        window(c, [d.range(110, 150), 44, 150, 108], p);
    } else {
        let x = d.range(150, 250);
        c.dot(x, 104, 66, WOOD_DARK);
        c.dot(x, 104, 59, "#dcebf0");
        c.path(&format!("M{} 120q30-30 58-6t60-14q-2 60-60 63q-50-4-58-43z", x - 58), "#8ab5a2");
    }
    // A curtain on one side.
    let side = d.pick(&[0, 336]);
    let cloth = d.pick(&[p.accent, p.soft, CREAM]);
    (0..4).for_each(|i| c.rect([side + i * 16, 0, 15, 226], 6, cloth));
    plant(c, 366 - side * 332 / 336, 236, d.range(0, 2), p.main);
    if d.one_in(2) {
        bath(c, p, d);
    } else {
        couch(c, p, d);
    }
}

fn bath(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    steam(c, 170, 168);
    steam(c, 240, 174);
    shadow(c, 200, 288, 128);
    c.path("M82 190h236q4 84-50 94H132q-54-10-50-94z", "#fff");
    c.path("M86 226q4 50 46 58h136q42-8 46-58q-20 34-60 36H146q-40-2-60-36z", "#0001");
    c.oval([200, 190, 122, 20], "#f2f4f2");
    c.oval([200, 191, 110, 14], "#bfe0e2");
    for _ in 0..11 {
        let (x, y) = (d.range(106, 294), d.range(184, 200));
        c.oval([x, y, 7, 3], d.pick(&[p.accent, "#fff", "#f6c7cd"]));
    }
    candle(c, 56, 286, 34, CREAM);
    candle(c, 344, 288, 26, p.accent);
    candle(c, 30, 290, 20, p.accent);
}

fn couch(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 288, 136);
    c.rect([76, 234, 248, 22], 8, WOOD);
    c.rect([92, 254, 12, 32], 3, WOOD_DARK);
    c.rect([296, 254, 12, 32], 3, WOOD_DARK);
    c.rect([74, 208, 252, 30], 14, "#fff");
    c.rect([86, 194, 56, 22], 11, p.light);
    c.path("M176 208h150v18q0 12-14 12H194q-18-8-18-30z", d.pick(&[p.accent, p.main, p.soft]));
    lotus(c, 250, 210, 6, p.accent);
    c.rect([22, 226, 44, 8], 3, WOOD);
    c.rect([40, 234, 8, 52], 2, WOOD_DARK);
    bottle(c, 34, 226, 34, p.main);
    bottle(c, 54, 226, 26, p.accent);
    candle(c, 356, 288, 30, CREAM);
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.id % 3 {
        0 => water_lily(c, p, d),
        1 => oils(c, p, d),
        _ => towels(c, p, d),
    }
}

fn water_lily(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    c.oval([200, 222, 168, 46], "#8cc0bd");
    c.oval([200, 216, 160, 40], "#aad6d1");
    c.line("M96 222q30-8 60 0M240 236q26-8 60 0M170 246h44", "#fff8", 3);
    c.path("M300 214l44-14a44 14 0 1 1-50 4z", LEAF);
    c.path("M96 238l-40-10a40 12 0 1 0 44 4z", LEAF_DARK);
    lotus(c, 196, 218, 22, d.pick(&[p.accent, "#f6c7cd", "#fff", "#d98aa8"]));
    candle(c, 44, 262, 34, CREAM);
    candle(c, 358, 258, 28, p.accent);
}

fn oils(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    for (x, h) in [(128, d.range(78, 100)), (204, d.range(60, 92)), (266, d.range(48, 72))] {
        let half = h / 3;
        shadow(c, x, 242, half + 8);
        c.rect([x - 9, 242 - h - h / 2, 18, h / 2], 8, WOOD_DARK);
        c.rect([x - 15, 240 - h - h / 6, 30, h / 5], 4, WOOD);
        let glass = d.pick(&["#b8793f", p.main, "#d9a84e", p.deep]);
        c.rect([x - half, 242 - h, half * 2, h], h / 6, glass);
        c.rect([x - half, 242 - h * 3 / 5, half * 2, h * 2 / 5], 0, CREAM);
        c.oval([x, 242 - h * 2 / 5, h / 10, h / 7], p.main);
        c.rect([x - half + 6, 248 - h, 6, h / 4], 3, "#fff6");
    }
    lotus(c, 328, 244, 9, p.accent);
    c.line("M66 244q-16-60 8-130", LEAF_DARK, 4);
    for (x, y) in [(52, 200), (82, 180), (54, 156), (84, 136)] {
        c.oval([x, y, 14, 7], LEAF);
    }
}

fn towels(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 180, 246, 120);
    let colours =
        d.pick(&[["#fff", p.soft, p.accent], [p.accent, "#fff", p.main], [p.light, p.accent, "#fff"]]);
    for (y, fill) in [(208, colours[0]), (172, colours[1]), (136, colours[2])] {
        c.rect([84, y, 190, 38], 19, fill);
        c.rect([84, y + 26, 190, 12], 6, "#0001");
        c.line(&format!("M262 {}q-18 4-18 10t18 8", y + 10), "#0002", 3);
    }
    lotus(c, 178, 138, 11, d.pick(&["#f6c7cd", CREAM, "#d98aa8"]));
    candle(c, 318, 244, 50, CREAM);
    candle(c, 348, 246, 30, p.accent);
}
