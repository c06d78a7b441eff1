//! 酒吧: night blue and amber.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{glint, night_room, pendant, shadow};
use super::theme::{CREAM, LEAF, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#17264a",
        main: "#34548c",
        soft: "#9db4de",
        pale: "#e8eef9",
        accent: "#f2b04a",
        light: "#f7dca6",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: true,
};

const DRINKS: [&str; 6] = ["#f2b04a", "#e8604c", "#8fd0b5", "#b98ad6", "#f28ba0", "#7db8e8"];

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.line("M32 10L42 2", b, 3);
    c.path("M4 9h40L27 29v11h8v5H13v-5h8V29z", a);
    c.path("M11 14h26l-7 8H18z", b);
    c.dot(32, 9, 5, b);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    night_room(c, &[p.deep, "#2a2342", "#153a42", "#38242f"], d);
    let back = d.pick(&["#0f1a36", "#2b3f6b", "#4a3040"]);
    c.rect([56, 58, 288, 128], 8, back);
    for row in 0..2 {
        let y = 114 + row * 58;
        bottles(c, y, d);
        c.rect([56, y, 288, 5], 0, "#f2b04a66");
    }
    let (style, shade) = (d.range(0, 3), d.pick(&[p.accent, "#c9714b", "#6fa287", CREAM]));
    for x in [88, 200, 312] {
        pendant(c, x, d.range(18, 30), style, shade);
    }
    c.rect([24, 196, 352, 74], 6, d.pick(&[WOOD_DARK, "#5a3b2e", p.main]));
    (0..8).for_each(|i| c.rect([34 + i * 43, 214, 34, 50], 4, "#0002"));
    c.rect([14, 188, 372, 14], 6, WOOD);
    for x in [92, 236, 300] {
        coupe(c, x, 188, d.pick(&DRINKS));
    }
    let seat = d.pick(&["#c2543f", p.accent, "#6fa287"]);
    for x in [100, 200, 300] {
        shadow(c, x, 292, 24);
        c.rect([x - 24, 232, 48, 12], 6, seat);
        c.line(&format!("M{} 244l-6 46M{} 244l6 46M{} 270h32", x - 12, x + 12, x - 16), "#0b1226", 4);
    }
}

/// Draws a row of bottles standing on `y`, with one path per colour to keep the SVG short.
fn bottles(c: &mut Canvas, y: i32, d: &mut Dice) {
    let glass = ["#f2b04a", "#6fa287", "#b5653f", "#8fa9d6", "#c9d6e8", "#94506a"];
    let mut rows = glass.map(|colour| (colour, String::new()));
    let mut glints = String::new();
    let mut x = 76;
    while x < 334 {
        let (half, body, neck) = (d.range(5, 8), d.range(16, 26), d.range(9, 15));
        let (wide, shoulder) = (half * 2, half - 2);
        let outline = format!(
            "M{} {y}v-{body}q0-4 {shoulder}-6v-{neck}h4v{neck}q{shoulder} 2 {shoulder} 6v{body}z",
            x - half
        );
        let colour = usize::try_from(d.range(0, 5)).unwrap_or(0);
        rows[colour].1.push_str(&outline);
        glints.push_str(&format!("M{} {}v{}", x - half + 4, y - body + 3, body / 2));
        x += wide + d.range(6, 14);
    }
    for (colour, outlines) in rows.iter().filter(|(_, outlines)| !outlines.is_empty()) {
        c.path(outlines, colour);
    }
    c.line(&glints, "#fff6", 2);
}

fn coupe(c: &mut Canvas, x: i32, y: i32, drink: &str) {
    c.path(&format!("M{} {}h24q0 12-12 14q-12-2-12-14z", x - 12, y - 30), "#fff5");
    c.path(&format!("M{} {}h20q-2 8-10 9q-8-1-10-9z", x - 10, y - 26), drink);
    c.rect([x - 1, y - 17, 2, 15], 0, "#fff9");
    c.rect([x - 8, y - 2, 16, 2], 1, "#fff9");
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    counter(c, p, d);
    match shop.name {
        n if n.contains("精酿") || n.contains('雨') => beer(c, d),
        n if n.contains("橹声") || n.contains("桂花") => warm_wine(c, p, d),
        _ if shop.id.is_multiple_of(2) => highball(c, d),
        _ => cocktail(c, d),
    }
}

/// Draws a counter at night, with lights out of focus behind.
fn counter(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    c.rect([0, 0, 400, 300], 0, d.pick(&[p.deep, "#2b2344", "#1d3a47", "#3a2433"]));
    for _ in 0..12 {
        let (x, y, r) = (d.range(0, 400), d.range(0, 190), d.range(9, 32));
        c.dot(x, y, r, d.pick(&["#f2b04a2b", "#e8604c22", "#8fa9d62b", "#fff1"]));
    }
    c.rect([0, 216, 400, 84], 0, d.pick(&[WOOD_DARK, "#5a3b2e", "#3b4a6b"]));
    c.rect([0, 216, 400, 6], 0, "#fff3");
    c.oval([200, 246, 120, 14], "#0003");
}

fn cocktail(c: &mut Canvas, d: &mut Dice) {
    let drink = d.pick(&DRINKS);
    c.path("M96 56h208l-96 108h-16z", "#fff3");
    c.path("M118 76h164l-74 84h-16z", drink);
    c.path("M118 76h164l-10 12H128z", "#fff4");
    c.rect([196, 160, 8, 76], 2, "#fff8");
    c.oval([200, 240, 50, 9], "#fff7");
    c.line("M168 112L262 34", CREAM, 4);
    let garnish = d.pick(&["#7c9c3f", "#d8402f", "#f4f0d0"]);
    c.dot(196, 90, 15, garnish);
    c.dot(191, 85, 4, "#fff8");
    c.line("M128 68l30 34", "#fff9", 5);
    glint(c, 300, 92, 13, "#fff");
}

fn highball(c: &mut Canvas, d: &mut Dice) {
    let drink = d.pick(&DRINKS);
    c.path("M142 62h116l-10 178h-96z", "#fff3");
    c.path("M146 96h108l-8 138h-92z", drink);
    for (x, y, turn) in [(172, 118, 12), (216, 126, -14), (190, 164, 30)] {
        c.open(&format!("rotate({turn} {x} {y})"));
        c.rect([x - 17, y - 17, 34, 34], 6, "#fff6");
        c.close();
    }
    c.dot(258, 70, 32, "#f6c445");
    c.dot(258, 70, 25, "#fbe8a6");
    c.line("M258 48v44M236 70h44M243 55l30 30M273 55l-30 30", "#f6c445", 3);
    c.line("M186 214L220 26", "#e8604c", 7);
    c.path("M160 66q-24-24-16-40q22 10 24 36q8-20 24-20q-2 22-22 26z", LEAF);
    c.line("M156 110l4 104", "#fff7", 6);
}

fn beer(c: &mut Canvas, d: &mut Dice) {
    let ale = d.pick(&["#f0a93a", "#c9713a", "#8a4a2a", "#e9c25a"]);
    c.line("M252 118h28q22 0 22 26v30q0 26-22 26h-28", "#fff6", 16);
    c.rect([124, 84, 134, 158], 14, "#fff3");
    c.rect([132, 96, 118, 138], 10, ale);
    c.rect([148, 116, 14, 104], 7, "#fff4");
    c.rect([184, 116, 14, 104], 7, "#fff2");
    c.rect([220, 116, 14, 104], 7, "#fff2");
    for (x, y, r) in [(136, 82, 22), (166, 70, 26), (200, 76, 26), (232, 80, 24), (252, 92, 16)] {
        c.dot(x, y, r, CREAM);
    }
    c.rect([126, 82, 130, 22], 11, CREAM);
    c.rect([140, 96, 20, 44], 10, CREAM);
    for _ in 0..8 {
        let (x, y) = (d.range(150, 240), d.range(130, 222));
        c.dot(x, y, 3, "#fff8");
    }
}

fn warm_wine(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let glaze = d.pick(&["#8fb3a0", p.soft, "#c9714b", "#e4ded2"]);
    c.line("M136 74c-8-10 8-18 0-34M160 70c-8-12 8-22 0-38", "#fff8", 5);
    c.path("M128 92h40l-4 34q48 22 44 76q-4 40-60 40t-60-40q-4-54 44-76z", glaze);
    c.rect([120, 82, 56, 14], 6, glaze);
    c.path("M104 170q40 18 88 0l8 22q-50 22-104 0z", "#fff5");
    c.line("M108 148q-8 20-6 40", "#fff8", 6);
    for x in [252, 316] {
        c.path(&format!("M{} 204h52q-2 36-18 38h-16q-16-2-18-38z", x - 26), glaze);
        c.oval([x, 204, 26, 8], "#fff6");
        c.oval([x, 205, 21, 5], "#d98f2e");
    }
    for _ in 0..10 {
        let (x, y) = (d.range(230, 350), d.range(40, 170));
        c.dot(x, y, 4, p.accent);
        c.dot(x + 6, y + 3, 3, p.light);
    }
}
