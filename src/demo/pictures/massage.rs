//! 按摩·足疗: straw, moss and warm stone.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{bright_room, candle, close_up, framed, pendant, plant, shadow, steam};
use super::theme::{CREAM, LEAF, LEAF_DARK, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#4d3b22",
        main: "#9c7a43",
        soft: "#e0c899",
        pale: "#f8f1e2",
        accent: "#7c9c63",
        light: "#f0dfba",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.path("M27 46c-7 0-9-5-8-12s-5-9-4-15 7-7 12-6 11 5 10 14-4 10-3 14-2 5-7 5z", a);
    c.dot(14, 8, 5, b);
    c.dot(23, 5, 3, b);
    c.dot(30, 6, 3, b);
    c.dot(36, 10, 3, b);
    c.dot(40, 15, 3, b);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    if d.one_in(2) {
        // A sliding screen of wood and paper.
        c.rect([40, 40, 150, 182], 3, WOOD_DARK);
        (0..6).for_each(|i| c.rect([47 + i % 3 * 47, 48 + i / 3 * 86, 42, 80], 1, CREAM));
        framed(c, [258, 62, 60, 94], p, d);
    } else {
        framed(c, [66, 54, 64, 100], p, d);
        c.rect([234, 48, 126, 112], 6, WOOD_DARK);
        c.rect([241, 55, 112, 98], 3, "#dce8d6");
        c.line("M262 153V55M286 153V55M312 153V55M336 153V55", LEAF_DARK, 6);
        c.path("M262 90q22-18 34-8q-14 14-34 8zM312 76q18-20 34-12q-12 16-34 12zM286 120q-20-16-30-6q12 12 30 6z", LEAF);
    }
    let style = d.range(0, 2);
    pendant(c, 200, 24, style, p.accent);
    plant(c, d.pick(&[22, 380]), 238, d.range(0, 2), p.main);
    if d.one_in(2) {
        recliners(c, p, d);
    } else {
        bed(c, p, d);
    }
}

fn recliners(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let cover = d.pick(&[p.main, p.accent, "#a8614a", p.deep]);
    for x in [52, 222] {
        shadow(c, x + 64, 286, 74);
        c.line(&format!("M{} 262v22M{} 262v22", x + 40, x + 96), WOOD_DARK, 7);
        c.line(&format!("M{} 182L{} 246H{}", x + 10, x + 36, x + 102), cover, 30);
        c.line(&format!("M{} 176L{} 238H{}", x + 16, x + 42, x + 104), "#fff2", 8);
        c.line(&format!("M{} 226H{}", x + 44, x + 76), WOOD_DARK, 8);
        c.rect([x - 4, 164, 34, 24], 11, CREAM);
        c.path(&format!("M{} 250h44l-5 36h-34z", x + 116), WOOD);
        c.rect([x + 117, 262, 42, 4], 0, WOOD_DARK);
        steam(c, x + 138, 244);
    }
}

fn bed(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 288, 130);
    c.rect([96, 250, 10, 38], 2, WOOD_DARK);
    c.rect([294, 250, 10, 38], 2, WOOD_DARK);
    c.rect([78, 232, 244, 22], 8, WOOD);
    c.rect([80, 212, 240, 26], 12, CREAM);
    c.path("M170 212h150v14q0 12-12 12H190q-16-10-20-26z", d.pick(&[p.accent, p.main, "#a8614a"]));
    c.rect([92, 198, 54, 20], 10, p.light);
    for (x, w) in [(214, 62), (220, 50)] {
        c.rect([x, if w == 62 { 199 } else { 186 }, w, 14], 7, if w == 62 { "#fff" } else { p.soft });
    }
    c.rect([338, 216, 40, 8], 3, WOOD);
    c.rect([354, 224, 8, 62], 2, WOOD_DARK);
    candle(c, 358, 216, 20, CREAM);
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.id % 3 {
        0 => stones(c, d),
        1 => tub(c, p, d),
        _ => herbs(c, p),
    }
}

fn stones(c: &mut Canvas, d: &mut Dice) {
    shadow(c, 190, 244, 110);
    let (dark, light) = d.pick(&[("#4f4a48", "#6f6966"), ("#5d5a52", "#858176"), ("#6b5a4d", "#927d6b")]);
    let mut y = 226;
    for (half, tall) in [(96, 24), (74, 21), (54, 18), (34, 14)] {
        let x = 186 + d.range(-7, 7);
        c.oval([x, y, half, tall], dark);
        c.oval([x - half / 4, y - tall / 3, half / 2, tall / 3], light);
        y -= tall * 2 - 6;
    }
    c.path("M176 98q-6-40 30-56q12 34-30 56z", LEAF);
    c.line("M178 98q8-26 24-46", LEAF_DARK, 3);
    candle(c, 310, 240, 44, CREAM);
    candle(c, 342, 244, 26, CREAM);
}

fn tub(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    steam(c, 150, 96);
    steam(c, 250, 90);
    shadow(c, 200, 252, 120);
    c.path("M84 130h232l-24 122H108z", WOOD);
    c.line("M130 136l12 112M166 136l6 112M200 136v112M234 136l-6 112M270 136l-12 112", "#0002", 3);
    c.path("M90 162h220l-3 14H93zM102 222h196l-3 14H105z", WOOD_DARK);
    c.oval([200, 130, 116, 28], WOOD_DARK);
    c.oval([200, 130, 104, 22], d.pick(&["#a9713f", "#8fae8a", "#b5846b"]));
    for _ in 0..9 {
        let (x, y, fill) =
            (d.range(120, 280), d.range(118, 142), d.pick(&["#d8506b", "#f0b54d", LEAF, CREAM]));
        c.oval([x, y, 8, 4], fill);
    }
    c.rect([306, 196, 60, 18], 9, CREAM);
    c.rect([302, 214, 68, 20], 10, p.accent);
    c.rect([298, 234, 76, 20], 10, p.light);
}

fn herbs(c: &mut Canvas, p: &Palette) {
    shadow(c, 190, 248, 130);
    c.path("M66 160h170q-4 78-60 86h-50q-56-8-60-86z", "#6b6a66");
    c.oval([151, 160, 85, 20], "#85837d");
    c.oval([151, 161, 74, 14], "#5c6b45");
    c.open("rotate(28 190 130)");
    c.rect([176, 40, 24, 120], 12, "#9b9890");
    c.close();
    for (x, y, turn) in [(292, 224, -70), (316, 216, -40), (330, 230, -10), (276, 236, -100)] {
        c.open(&format!("translate({x} {y}) rotate({turn})"));
        c.path("M0 0q-16-36 0-74q16 38 0 74z", p.accent);
        c.line("M0 0V-66", LEAF_DARK, 2);
        c.close();
    }
    for (x, y) in [(118, 156), (146, 164), (172, 155)] {
        c.path(&format!("M{x} {y}q12-12 22 0q-10 8-22 0z"), LEAF);
    }
    c.dot(262, 252, 9, "#c65c3a");
    c.dot(284, 260, 7, "#c65c3a");
    steam(c, 120, 128);
}
