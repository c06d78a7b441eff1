//! 美睫·美甲: rose and mint.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{bright_room, close_up, framed, glint, pendant, plant, shadow, table};
use super::theme::{CREAM, INK, Palette, Theme, WOOD};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#7b2b4c",
        main: "#dd6690",
        soft: "#f6c2d2",
        pale: "#fdeef3",
        accent: "#63b3a0",
        light: "#fbd9e3",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

/// Colours of the nail polish.
const LACQUERS: [&str; 8] =
    ["#d8406b", "#f28ba0", "#f6c453", "#63b3a0", "#7d8fd6", "#a55fb0", "#f08a5d", "#fff3f0"];

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.path("M15 22l3-18h9l3 18z", b);
    c.rect([9, 21, 27, 24], 8, a);
    c.rect([14, 28, 5, 10], 2, b);
    c.path("M41 5l2 6 6 2-6 2-2 6-2-6-6-2 6-2z", a);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    let shelf_x = d.pick(&[30, 190]);
    c.rect([shelf_x, 44, 180, 128], 8, "#fffc");
    for row in 0..3 {
        let y = 82 + row * 40;
        lacquer_row(c, shelf_x + 19, y, d);
        c.rect([shelf_x + 6, y, 168, 5], 2, WOOD);
    }
    framed(c, [if shelf_x == 30 { 262 } else { 58 }, 56, 74, 74], p, d);
    let style = d.range(0, 3);
    pendant(c, 140, 18, style, p.main);
    pendant(c, 260, 26, style, p.main);
    plant(c, d.pick(&[24, 378]), 240, d.range(0, 2), p.accent);
    let seat = d.pick(&[p.main, p.accent, p.deep]);
    for x in [110, 290] {
        shadow(c, x, 288, 30);
        c.rect([x - 26, 172, 52, 62], 22, seat);
        c.rect([x - 30, 234, 60, 18], 9, seat);
        c.rect([x - 30, 234, 60, 18], 9, "#0001");
        c.rect([x - 4, 252, 8, 34], 2, "#b9a7a0");
    }
    table(c, 96, 206, 208, CREAM);
    c.rect([176, 192, 48, 14], 7, p.soft);
    c.line("M262 204v-34q0-12-20-12", p.deep, 4);
    c.path("M226 152h26l6 14h-38z", p.accent);
    for x in [128, 144, 160] {
        let lacquer = d.pick(&LACQUERS);
        c.rect([x - 3, 182, 6, 12], 2, INK);
        c.rect([x - 6, 192, 12, 14], 3, lacquer);
    }
}

/// Draws nine little bottles on a shelf as short thick strokes, with one path per colour.
fn lacquer_row(c: &mut Canvas, x: i32, y: i32, d: &mut Dice) {
    let mut rows = LACQUERS.map(|colour| (colour, String::new()));
    let mut caps = String::new();
    for i in 0..9 {
        let at = x + i * 18;
        caps.push_str(&format!("M{at} {}v-6", y - 15));
        let colour = usize::try_from(d.range(0, 7)).unwrap_or(0);
        rows[colour].1.push_str(&format!("M{at} {}v-3", y - 5));
    }
    c.line(&caps, INK, 5);
    for (colour, bottles) in rows.iter().filter(|(_, bottles)| !bottles.is_empty()) {
        c.line(bottles, colour, 10);
    }
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    if shop.name.contains('睫') {
        eye(c, p, d);
    } else if shop.id.is_multiple_of(2) {
        hand(c, d);
    } else {
        bottles(c, d);
    }
    for (x, y) in [(54, 70), (346, 56), (358, 180)] {
        glint(c, x, y + d.range(-14, 14), d.range(9, 17), "#fff");
    }
}

fn eye(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let iris = d.pick(&["#6b4432", "#3d6f7a", "#4f7a4e"]);
    c.path("M70 150q130-110 260 0q-130 88-260 0z", "#fff");
    c.dot(200, 144, 48, iris);
    c.dot(200, 144, 24, INK);
    c.dot(218, 126, 11, "#fff");
    c.line("M68 152q132-112 264 0", p.deep, 9);
    // Lashes bend outwards, more strongly with the distance from the middle.
    let lashes = [(82, 140, -34, -14), (104, 124, -30, -26), (130, 110, -22, -38), (160, 100, -13, -46)];
    let mut outline = String::from("M200 96V46");
    for (x, y, dx, dy) in lashes {
        outline.push_str(&format!("M{x} {y}q{} {} {dx} {dy}", dx / 5, dy * 3 / 5));
        outline.push_str(&format!("M{} {y}q{} {} {} {dy}", 400 - x, -dx / 5, dy * 3 / 5, -dx));
    }
    c.line(&outline, INK, 5);
    c.line("M80 158q120 80 240 0", "#0002", 4);
    c.line("M96 40q104-44 208 0", "#0002", 11);
    c.open("rotate(-24 300 236)");
    c.rect([232, 230, 120, 9], 4, p.accent);
    c.path("M352 226l24 3v10l-24 3z", INK);
    c.close();
}

fn hand(c: &mut Canvas, d: &mut Dice) {
    let skin = d.pick(&["#f6d0ae", "#eebf97", "#fbdcc2"]);
    c.path("M128 300q-8-60 10-96h120q18 44 6 96z", skin);
    for (x, top, lean) in [(146, 96, -12), (182, 62, -4), (220, 66, 5), (254, 100, 13)] {
        let lacquer = d.pick(&LACQUERS);
        c.open(&format!("rotate({lean} {x} 220)"));
        c.rect([x - 17, top, 34, 150], 17, skin);
        c.rect([x - 12, top - 14, 24, 44], 12, lacquer);
        c.rect([x - 7, top - 8, 5, 22], 2, "#fff8");
        c.close();
    }
    let lacquer = d.pick(&LACQUERS);
    c.open("rotate(-48 140 250)");
    c.rect([124, 150, 34, 110], 17, skin);
    c.rect([129, 138, 24, 40], 12, lacquer);
    c.close();
    c.path("M140 210q60-16 116 0v60H140z", skin);
    c.line("M164 206v14M200 202v14M238 206v14", "#0002", 3);
}

fn bottles(c: &mut Canvas, d: &mut Dice) {
    let first = d.range(0, 7);
    for (i, (x, h)) in (0..).zip([(104, 70), (168, 92), (236, 80), (300, 64)]) {
        let lacquer = LACQUERS[usize::try_from((first + i * 3) % 8).unwrap_or(0)];
        shadow(c, x, 240, 34);
        c.path(&format!("M{} {}l4 -66h16l4 66z", x - 12, 242 - h), INK);
        c.line(&format!("M{} {}l2 -48", x - 4, 234 - h), "#fff3", 4);
        c.rect([x - 28, 240 - h, 56, h], 16, "#fff9");
        c.rect([x - 24, 246 - h, 48, h - 10], 13, lacquer);
        c.rect([x - 18, 254 - h, 9, h - 34], 4, "#fff7");
    }
    c.line("M70 272q40-16 76-4t70-4", LACQUERS[usize::try_from(first).unwrap_or(0)], 12);
}
