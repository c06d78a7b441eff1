//! 丽人·美发: teal and apricot.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{bottle, bright_room, close_up, glint, pendant, plant, shadow};
use super::theme::{CREAM, INK, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#17494d",
        main: "#2f8f8b",
        soft: "#a9d8d1",
        pale: "#e6f4f1",
        accent: "#ef9f5c",
        light: "#cfeae5",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.line("M17 31L33 5M31 31L15 5", a, 5);
    c.line("M6 37a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0M29 37a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0", b, 4);
    c.dot(24, 20, 2, b);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    let (shape, frame) = (d.range(0, 2), d.pick(&[p.main, p.accent, WOOD, p.deep]));
    let chair = d.pick(&[p.deep, p.accent, "#7a4b3a", p.main]);
    let lamp = d.range(0, 3);
    for x in [104, 296] {
        mirror(c, x, shape, frame);
        pendant(c, x, 14, lamp, p.accent);
    }
    c.rect([36, 178, 328, 12], 4, WOOD);
    c.rect([44, 190, 312, 34], 3, CREAM);
    c.line("M122 194v26M200 194v26M278 194v26", "#0002", 3);
    for x in [180, 196, 214] {
        bottle(c, x, 178, d.range(24, 38), d.pick(&[p.accent, p.main, p.soft, p.deep]));
    }
    for x in [104, 296] {
        barber_chair(c, x, chair);
    }
    plant(c, 200, 286, d.range(0, 2), p.main);
}

fn mirror(c: &mut Canvas, x: i32, shape: i32, frame: &str) {
    match shape {
        0 => {
            c.dot(x, 110, 58, frame);
            c.dot(x, 110, 50, "#dff0f3");
        }
        1 => {
            c.rect([x - 50, 52, 100, 122], 12, frame);
            c.rect([x - 42, 60, 84, 106], 6, "#dff0f3");
            for y in [70, 92, 114, 136, 158] {
                c.dot(x - 46, y, 5, "#fff2c6");
                c.dot(x + 46, y, 5, "#fff2c6");
            }
        }
        _ => {
            c.path(&format!("M{} 174V104a50 52 0 0 1 100 0v70z", x - 50), frame);
            c.path(&format!("M{} 168V104a42 44 0 0 1 84 0v64z", x - 42), "#dff0f3");
        }
    }
    c.path(&format!("M{} 146l44-66h16l-44 66z", x - 32), "#fffa");
}

fn barber_chair(c: &mut Canvas, x: i32, colour: &str) {
    shadow(c, x, 290, 42);
    c.rect([x - 26, 282, 52, 8], 4, INK);
    c.rect([x - 5, 256, 10, 28], 2, "#9aa3a8");
    c.rect([x - 14, 160, 28, 24], 9, colour);
    c.rect([x - 28, 180, 56, 60], 14, colour);
    c.rect([x - 28, 180, 56, 60], 14, "#fff2");
    c.rect([x - 36, 234, 72, 24], 11, colour);
    c.rect([x - 42, 216, 12, 32], 6, WOOD_DARK);
    c.rect([x + 30, 216, 12, 32], 6, WOOD_DARK);
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.id % 3 {
        0 => scissors_and_comb(c, p, d),
        1 => dryer(c, p, d),
        _ => wig(c, p, d),
    }
}

fn scissors_and_comb(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 250, 130);
    let comb = d.pick(&[p.accent, "#7a4b3a", CREAM]);
    c.open(&format!("rotate({} 260 150)", d.range(8, 22)));
    c.rect([244, 50, 26, 190], 8, comb);
    (0..17).for_each(|i| c.rect([266, 58 + i * 10, 34, 5], 2, comb));
    c.close();
    c.open(&format!("rotate({} 150 150)", d.range(-24, -8)));
    c.path("M136 162L170 40q10 4 8 16l-24 112z", "#c3cdd1");
    c.path("M168 162L134 40q-10 4-8 16l24 112z", "#dfe6e8");
    c.line("M112 204a20 22 0 1 0 40 0a20 22 0 1 0-40 0M152 204a20 22 0 1 0 40 0a20 22 0 1 0-40 0M140 184l8-20M164 184l-8-20", p.deep, 9);
    c.dot(152, 148, 6, p.accent);
    c.close();
    glint(c, 108, 66, 14, "#fff");
}

fn dryer(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let body = d.pick(&[p.accent, p.deep, "#d96f86"]);
    shadow(c, 230, 250, 90);
    c.line("M40 96q26-14 50 0t50 0M30 128q30-14 56 0t52 0M44 160q26-14 48 0t48 0", "#7fb9b8", 7);
    c.path("M230 160l14 78q2 12 14 12h22q12 0 10-12l-14-90z", p.main);
    c.rect([248, 190, 12, 26], 5, CREAM);
    c.path("M160 92h40v72h-40l-12-10V102z", p.deep);
    c.path("M190 84h68a44 44 0 0 1 0 88h-68q-10-44 0-88z", body);
    c.dot(262, 128, 24, "#fff3");
    c.line("M252 116h20M250 128h24M252 140h20", "#fff8", 4);
    c.line("M204 96q18-6 44-4", "#fff5", 6);
    c.line("M276 250q30 30 90 10", INK, 5);
}

/// Draws a head of hair from behind, in a random colour.
fn wig(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let hair = d.pick(&["#5a3727", "#2e2a30", "#b56a3c", "#c9667f", "#3f6b8a"]);
    c.path("M110 300q4-54 60-62h60q56 8 60 62z", p.accent);
    c.rect([180, 190, 40, 60], 14, "#f2c9a5");
    c.path("M120 150q-10-104 80-108q90 4 80 108q-2 40 12 72q-30 24-92 24t-92-24q14-32 12-72z", hair);
    c.line("M160 60q-24 60-16 176M188 50q-10 90-4 192M216 52q18 90 8 190M244 66q24 70 12 168", "#fff2", 5);
    c.path("M150 96q50 26 100 0l4 14q-54 28-108 0z", p.light);
    glint(c, 256, 84, 12, CREAM);
    glint(c, 96, 90, 16, "#fff");
    glint(c, 312, 130, 12, "#fff");
}
