//! 健身运动: graphite and lime.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{bright_room, close_up, glint, pendant, plant, shadow, window};
use super::theme::{CREAM, INK, Palette, Theme};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#26323d",
        main: "#465866",
        soft: "#bcc9d3",
        pale: "#eef3f5",
        accent: "#a9cc2f",
        light: "#d9ec8c",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

const PLATES: [&str; 5] = ["#e8604c", "#a9cc2f", "#3f8fdc", "#f0b54d", "#26323d"];

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.rect([12, 21, 24, 6], 0, a);
    c.rect([1, 17, 6, 14], 3, b);
    c.rect([41, 17, 6, 14], 3, b);
    c.rect([7, 11, 9, 26], 4, a);
    c.rect([32, 11, 9, 26], 4, a);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    c.rect([0, 222, 400, 78], 0, d.pick(&["#5d6a75", "#7a8791", "#4c5a55"]));
    c.line("M0 248H400M0 276H400", "#fff1", 2);
    let stripe = d.pick(&[p.accent, "#f08a4b", "#3f8fdc"]);
    c.path("M0 150L400 110v18L0 170z", stripe);
    let x = d.pick(&[36, 214]);
    window(c, [x, 48, 150, 112], p);
    // A mirror on the other half of the wall.
    let m = 250 - x;
    c.rect([m, 48, 146, 146], 4, "#d3e1e6");
    c.path(&format!("M{} 194l90-146h24l-90 146z", m + 12), "#fff8");
    pendant(c, 200, 16, 1, p.deep);
    match d.range(0, 2) {
        0 => {
            treadmill(c, 40, stripe);
            rack(c, 222, d);
        }
        1 => {
            barbell(c, d);
            c.dot(348, 258, 30, stripe);
            c.dot(338, 248, 9, "#fff4");
        }
        _ => {
            yoga(c, d);
            rack(c, 222, d);
        }
    }
    plant(c, d.pick(&[16, 386]), 244, d.range(0, 2), p.main);
}

fn treadmill(c: &mut Canvas, x: i32, stripe: &str) {
    shadow(c, x + 76, 286, 82);
    c.path(&format!("M{} 262h130l14 22H{}z", x + 8, x - 4), INK);
    c.rect([x + 18, 262, 110, 8], 3, stripe);
    c.line(&format!("M{} 266l26-96h-26", x + 104), "#3a444d", 9);
    c.line(&format!("M{} 206h-34", x + 116), "#3a444d", 7);
    c.rect([x + 90, 154, 46, 22], 6, INK);
    c.rect([x + 96, 159, 28, 10], 2, stripe);
}

fn rack(c: &mut Canvas, x: i32, d: &mut Dice) {
    shadow(c, x + 70, 288, 80);
    c.line(&format!("M{x} 288l16-104M{} 288l-16-104", x + 140), INK, 8);
    for y in [212, 248, 280] {
        c.rect([x + 4, y, 132, 7], 3, "#3a444d");
        for i in 0..3 {
            let (at, fill) = (x + 22 + i * 40, d.pick(&PLATES));
            c.rect([at, y - 11, 24, 5], 1, "#c3ccd2");
            c.rect([at - 5, y - 18, 9, 19], 3, fill);
            c.rect([at + 20, y - 18, 9, 19], 3, fill);
        }
    }
}

fn barbell(c: &mut Canvas, d: &mut Dice) {
    shadow(c, 180, 286, 150);
    c.rect([30, 232, 300, 8], 4, "#c3ccd2");
    for (x, side) in [(84, -1), (268, 1)] {
        for (i, h) in (0..).zip([96, 74, 52]) {
            let fill = d.pick(&PLATES);
            c.rect([x + side * i * 15, 236 - h / 2, 13, h], 5, fill);
        }
    }
    c.rect([128, 262, 110, 12], 5, INK);
    c.rect([140, 272, 8, 16], 2, INK);
    c.rect([218, 272, 8, 16], 2, INK);
}

fn yoga(c: &mut Canvas, d: &mut Dice) {
    for (i, x) in (0..).zip([20, 110]) {
        let fill = PLATES[usize::try_from((d.range(0, 3) + i) % 5).unwrap_or(0)];
        c.path(&format!("M{} 244h68l-16 46h-78z", x + 26), fill);
        c.path(&format!("M{} 244h68l-2 6h-68z", x + 26), "#fff4");
    }
    c.dot(60, 226, 28, "#f28ba0");
    c.dot(51, 216, 8, "#fff5");
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.name {
        n if n.contains("瑜伽") => mats(c, p, d),
        n if n.contains("跑") || n.contains('追') => shoe(c, p, d),
        _ if shop.id.is_multiple_of(2) => kettlebell(c, p, d),
        _ => dumbbells(c, p, d),
    }
}

fn kettlebell(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let band = d.pick(&PLATES);
    shadow(c, 180, 248, 100);
    c.line("M138 128q-14-74 42-76t42 76", INK, 20);
    c.line("M138 110q0-44 34-46", "#fff3", 5);
    c.dot(180, 180, 68, p.deep);
    c.rect([130, 226, 100, 20], 8, p.deep);
    c.dot(180, 182, 34, band);
    c.words(180, 192, 26, CREAM, d.pick(&["8", "12", "16", "20"]));
    c.line("M130 156q10-22 28-30", "#fff4", 8);
    bottle_of_water(c, 306, d);
}

fn bottle_of_water(c: &mut Canvas, x: i32, d: &mut Dice) {
    shadow(c, x, 246, 30);
    c.rect([x - 26, 116, 52, 130], 14, d.pick(&["#7db8e8", "#8fd0b5", "#f0b54d"]));
    c.rect([x - 16, 98, 32, 20], 5, INK);
    c.rect([x - 7, 84, 14, 16], 4, "#e8604c");
    c.rect([x - 26, 158, 52, 34], 0, CREAM);
    c.rect([x - 18, 128, 8, 104], 4, "#fff5");
}

fn dumbbells(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 250, 150);
    let (fill, lean) = (d.pick(&PLATES[..4]), d.range(-9, 1));
    for (turn, y) in [(lean, 98), (lean + 5, 200)] {
        c.open(&format!("rotate({turn} 200 {y})"));
        c.rect([140, y - 9, 120, 18], 4, "#c3ccd2");
        c.line(
            &format!("M166 {}v14M182 {}v14M198 {}v14M214 {}v14M230 {}v14", y - 7, y - 7, y - 7, y - 7, y - 7),
            "#93a0a8",
            3,
        );
        for x in [92, 252] {
            c.rect([x, y - 40, 56, 80], 14, p.deep);
            c.rect([x + 8, y - 40, 12, 80], 0, fill);
            c.rect([x + 36, y - 40, 12, 80], 0, fill);
        }
        c.close();
    }
    glint(c, 330, 70, 15, "#fff");
}

fn mats(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 250, 140);
    for (x, y, fill) in
        [(120, 202, PLATES[1]), (280, 202, "#f28ba0"), (200, 140, d.pick(&["#7db8e8", "#b688d8"]))]
    {
        c.dot(x, y, 44, fill);
        c.line(
            &format!(
                "M{} {y}a30 30 0 1 1 -8 -20M{} {y}a18 18 0 1 1 -6 -12M{} {y}a7 7 0 1 1 -3 -6",
                x + 30,
                x + 18,
                x + 7
            ),
            "#0003",
            5,
        );
        c.rect([x - 5, y - 44, 10, 18], 2, CREAM);
    }
    c.path("M330 250q-6-60 24-110q14 60-10 110z", p.accent);
    c.path("M52 250q-20-40-8-90q26 40 22 90z", p.accent);
}

fn shoe(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let upper = d.pick(&["#e8604c", "#3f8fdc", p.deep, "#f0b54d"]);
    shadow(c, 200, 250, 150);
    c.line("M20 130h58M34 162h50M14 194h56", "#fffb", 7);
    c.path("M110 108q24 22 62 4q10-6 18 4l58 54q20 16 60 20q34 6 34 42H100q-12-70 10-124z", upper);
    c.path("M110 108q24 22 62 4l10 10q-40 22-76 6z", "#0003");
    c.path("M100 232h244q2 16-14 16H112q-12 0-12-16z", CREAM);
    c.path("M120 210q60-20 90-60l20 20q-30 44-104 54z", p.accent);
    c.line("M196 124l-22 18M214 140l-24 18M232 156l-26 18", CREAM, 6);
}
