//! 美食: terracotta and scallion green.

use super::canvas::Canvas;
use super::dice::Dice;
use super::dishes;
use super::props::{bright_room, framed, pendant, plant, shadow, steam, table, window};
use super::theme::{CREAM, LEAF, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#7a2e20",
        main: "#d9603b",
        soft: "#f3c19c",
        pale: "#fcecdf",
        accent: "#4e8a60",
        light: "#f8d8a8",
    },
    glyph,
    inside,
    detail: dishes::detail,
    is_nocturnal: false,
};

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.line("M27 25L37 5M32 25L44 9", b, 3);
    c.line("M12 19c-3-4 3-6 0-11M20 19c-3-5 3-7 0-13", b, 3);
    c.path("M4 24h40c0 10-6 15-13 17v3H17v-3C10 39 4 34 4 24z", a);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let is_kitchen = d.one_in(2);
    bright_room(c, p, d);
    if is_kitchen {
        open_kitchen(c, p, d);
        return;
    }
    let window_x = d.pick(&[36, 226]);
    window(c, [window_x, 62, 136, 92], p);
    let other = 262 - window_x;
    if d.one_in(2) {
        // The menu, on strips of paper.
        for i in 0..4 {
            c.rect([other + i * 34, 66, 24, 78], 3, d.pick(&[p.deep, p.main, p.accent]));
            c.line(&format!("M{} 78v52", other + 12 + i * 34), "#fffa", 3);
        }
    } else {
        framed(c, [other + 4, 72, 54, 70], p, d);
        framed(c, [other + 72, 80, 50, 50], p, d);
    }
    let (style, shade) = (d.range(0, 3), d.pick(&[p.main, p.accent, p.deep, "#e2574c"]));
    for x in [96, 200, 304] {
        pendant(c, x, d.range(20, 34), style, shade);
    }
    plant(c, d.pick(&[24, 376]), 236, d.range(0, 2), p.main);
    dining_table(c, p, d);
}

fn dining_table(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let seat = d.pick(&[p.accent, p.main, p.deep]);
    for x in [92, 308] {
        shadow(c, x, 287, 28);
        c.rect([x - 22, 242, 44, 12], 6, seat);
        c.rect([x - 16, 252, 6, 34], 2, WOOD_DARK);
        c.rect([x + 10, 252, 6, 34], 2, WOOD_DARK);
    }
    table(c, 72, 208, 256, d.pick(&[WOOD, "#b98559", CREAM]));
    for (x, kind) in [(124, d.range(0, 2)), (200, d.range(0, 2)), (276, d.range(0, 2))] {
        dish(c, x, kind, p);
    }
}

/// Draws a counter with the kitchen behind: half curtain, jars, a pot on the stove.
fn open_kitchen(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let cloth = d.pick(&[p.deep, p.main, p.accent]);
    c.rect([40, 30, 320, 8], 3, WOOD_DARK);
    for i in 0..5 {
        c.path(&format!("M{} 36h61v42q-30 10-61 0z", 46 + i * 62), cloth);
    }
    for (i, word) in (0..).zip(d.pick(&[["鲜", "香", "好", "吃", "呀"], ["今", "天", "也", "开", "火"]]))
    {
        c.words(76 + i * 62, 68, 22, p.light, word);
    }
    c.rect([56, 138, 130, 7], 2, WOOD);
    for i in 0..5 {
        let h = d.range(18, 32);
        c.rect([62 + i * 25, 138 - h, 18, h], 5, d.pick(&[p.main, p.accent, p.deep, "#fff", "#e9b167"]));
    }
    steam(c, 274, 128);
    c.rect([236, 136, 76, 50], 8, "#7c828b");
    c.rect([228, 132, 92, 9], 4, "#5d636b");
    c.rect([236, 150, 76, 6], 0, "#fff3");
    let counter = d.pick(&[WOOD_DARK, p.main, "#a9744a"]);
    c.rect([20, 194, 360, 72], 5, counter);
    c.line("M60 206v54M110 206v54M160 206v54M210 206v54M260 206v54M310 206v54M350 206v54", "#0002", 3);
    c.rect([8, 184, 384, 14], 6, WOOD);
    let shift = d.range(-14, 14);
    for x in [96, 168] {
        let kind = d.range(0, 2);
        c.open("translate(0 -24)");
        dish(c, x + shift, kind, p);
        c.close();
    }
    let seat = d.pick(&[p.accent, p.light, p.deep]);
    for x in [80, 160, 240, 320] {
        shadow(c, x, 292, 22);
        c.rect([x - 22, 240, 44, 11], 5, seat);
        c.line(&format!("M{} 252l-5 38M{} 252l5 38", x - 11, x + 11), WOOD_DARK, 5);
    }
}

fn dish(c: &mut Canvas, x: i32, kind: i32, p: &Palette) {
    match kind {
        0 => {
            c.path(&format!("M{} 186h56q-3 22 -28 22t-28 -22z", x - 28), "#fff");
            c.path(&format!("M{} 194q26 8 48 0q-8 14 -24 14t-24 -14z", x - 24), p.main);
            c.rect([x - 28, 186, 56, 6], 3, p.accent);
            steam(c, x, 178);
        }
        1 => {
            c.rect([x - 26, 188, 52, 20], 4, "#dcb37c");
            c.rect([x - 28, 184, 56, 7], 3, WOOD_DARK);
            c.line(&format!("M{} 198h52", x - 26), "#0002", 2);
            steam(c, x, 176);
        }
        _ => {
            c.rect([x - 34, 202, 68, 6], 3, "#fff");
            c.path(&format!("M{} 202q4 -18 24 -16q20 -2 24 16z", x - 24), p.main);
            c.dot(x - 8, 194, 4, LEAF);
            c.dot(x + 9, 192, 3, LEAF);
        }
    }
}
