//! The street in front of a shop: sky, hills, trees, pavement and people or things waiting there.

use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{plant, shadow};
use super::theme::{INK, LEAF, LEAF_DARK, Palette, WOOD, WOOD_DARK};

/// Top edge of the pavement.
pub(super) const STREET: i32 = 252;

pub(super) fn backdrop(c: &mut Canvas, p: &Palette, d: &mut Dice, night: Option<&'static str>) {
    let (sky, far, near) = if let Some(sky) = night {
        (sky, "#fff1", "#fff2")
    } else {
        d.pick(&[
            (p.pale, "#fff9", p.light),
            ("#e4f1f4", "#c6dfe0", "#b1d2cd"),
            ("#fdeedd", "#f8dcc4", "#f0cbb0"),
            (p.light, "#fff7", "#fff6"),
        ])
    };
    c.rect([0, 0, 400, 300], 0, sky);
    let x = d.range(40, 360);
    if night.is_some() {
        c.dot(x, 38, 17, "#ffedbd");
        c.dot(x + 8, 33, 15, sky);
        let stars: String = (0..10).map(|_| format!("M{} {}h0", d.range(8, 392), d.range(8, 110))).collect();
        c.line(&stars, "#fffa", 3);
    } else {
        c.dot(x, 44, 20, d.pick(&["#fff", "#ffe2a8", "#fff3d2"]));
        let x = d.range(20, 300);
        c.path(&format!("M{x} 40h64a9 9 0 0 0-10-14a16 16 0 0 0-30-3a13 13 0 0 0-24 17z"), "#fffc");
    }
    match d.range(0, 2) {
        0 => {
            c.path("M0 300V190c50-50 96-58 150-20s120-50 250-10V300z", far);
            c.path("M0 300V215c80-36 130-18 200 0s120-40 200-20V300z", near);
        }
        1 => {
            c.path("M0 300V150h36v-34h40v54h30V96h44v70h50v-44h38v60h34v-80h46v44h36v-24h46V300z", far);
        }
        // Hills with a pagoda: this is Hangzhou.
        _ => {
            c.path("M0 300V200c70-60 130-60 190-22s130-10 210-40V300z", far);
            let x = d.pick(&[18, 352]);
            c.open(&format!("translate({x} 92)"));
            c.path("M11-16h4v16h-4zM1 12q12-4 12-14q0 10 12 14zM-1 32q14-5 14-15q0 10 14 15zM-4 54q17-6 17-16q0 10 17 16zM4 12h18v90H4z", near);
            c.close();
        }
    }
}

pub(super) fn pavement(c: &mut Canvas, d: &mut Dice, is_night: bool) {
    let stone = if is_night { "#5b5866" } else { d.pick(&["#ddd5ca", "#d5d8d6", "#e2d6c6"]) };
    c.rect([0, STREET, 400, 48], 0, stone);
    c.rect([0, STREET, 400, 5], 0, "#fff4");
    // A kerb, or the canal's water.
    if d.one_in(3) {
        c.rect([0, 282, 400, 18], 0, if is_night { "#33465c" } else { "#9cc3c9" });
        c.line("M30 291h36M120 294h22M210 290h40M330 293h30", "#fff5", 2);
    } else {
        c.rect([0, 284, 400, 16], 0, "#0002");
    }
}

pub(super) fn trees(c: &mut Canvas, (left, right): (i32, i32), d: &mut Dice, is_night: bool) {
    let (leaf, shade) = if is_night { (LEAF_DARK, "#2f5c45") } else { (LEAF, LEAF_DARK) };
    for x in [left - 22, right + 22] {
        if d.one_in(3) {
            continue;
        }
        let h = d.range(84, 128);
        c.rect([x - 3, STREET - h / 2, 6, h / 2], 2, WOOD_DARK);
        if d.one_in(2) {
            c.oval([x, STREET - h * 3 / 4, 24, h / 2], leaf);
            c.oval([x + 8, STREET - h * 2 / 3, 13, h / 3], shade);
        } else {
            c.dot(x, STREET - h, 24, leaf);
            c.dot(x - 16, STREET - h + 24, 22, shade);
            c.dot(x + 16, STREET - h + 26, 23, leaf);
        }
    }
}

/// Draws one or more things on the pavement, clear of the door.
pub(super) fn street_life(c: &mut Canvas, (left, right): (i32, i32), door: i32, p: &Palette, d: &mut Dice) {
    let beside = if door < 200 { right - 52 } else { left + 52 };
    match d.range(0, 5) {
        0 => bicycle(c, beside, p.accent),
        1 => bench(c, beside),
        2 => cat(c, beside, d.pick(&["#f0a24a", "#4a4650", "#f3eee6"])),
        3 => easel(c, beside, p),
        4 => {
            bench(c, beside);
            cat(c, beside + 8, d.pick(&["#f0a24a", "#4a4650", "#f3eee6"]));
        }
        _ => lamp_post(c, beside),
    }
    let style = d.range(0, 2);
    let pot = d.pick(&[p.accent, "#c9714b", "#8d949b", p.deep]);
    small_plant(c, door - 44, style, pot);
    if !d.one_in(3) {
        small_plant(c, door + 44, style, pot);
    }
}

fn small_plant(c: &mut Canvas, x: i32, style: i32, pot: &str) {
    c.open(&format!("translate({x} 262) scale(.66)"));
    plant(c, 0, 0, style, pot);
    c.close();
}

fn bicycle(c: &mut Canvas, x: i32, colour: &str) {
    shadow(c, x, 277, 40);
    c.open(&format!("translate({x} 262)"));
    c.line("M-24 12a13 13 0 1 1 0 .1zM24 12a13 13 0 1 1 0 .1z", INK, 2);
    c.close();
    c.open(&format!("translate({x} 249)"));
    c.line("M-24 13L-10 -8H16L2 13H-24M16 -8L24 13M-10 -8L2 13M16 -8l-3 -9h10", colour, 3);
    c.rect([-18, -14, 16, 5], 2, INK);
    c.close();
}

fn bench(c: &mut Canvas, x: i32) {
    shadow(c, x, 276, 38);
    c.rect([x - 30, 256, 5, 20], 2, INK);
    c.rect([x + 25, 256, 5, 20], 2, INK);
    c.rect([x - 36, 252, 72, 7], 3, WOOD);
    c.rect([x - 36, 236, 72, 6], 3, WOOD);
    c.rect([x - 2, 240, 4, 14], 0, WOOD_DARK);
}

fn cat(c: &mut Canvas, x: i32, fur: &str) {
    c.open(&format!("translate({x} 276)"));
    c.oval([0, 0, 20, 4], "#0002");
    c.line("M12 -4q16 -2 12 -18", fur, 5);
    c.path("M-14 0q-2 -24 10 -26q18 2 18 26z", fur);
    c.path("M-15 -30l-2 -14 9 6h8l9 -6 -2 14q-1 12 -11 12t-11 -12z", fur);
    c.dot(-8, -30, 2, INK);
    c.dot(1, -30, 2, INK);
    c.path("M-5 -26h4l-2 3z", "#e07b7b");
    c.close();
}

fn easel(c: &mut Canvas, x: i32, p: &Palette) {
    shadow(c, x, 278, 24);
    c.path(&format!("M{} 226h36l6 50h-6l-2 -10h-32l-2 10h-6z", x - 18), WOOD);
    c.path(&format!("M{} 231h28l4 32h-36z", x - 14), "#3d4a45");
    c.line(&format!("M{} 240h16M{} 248h20M{} 256h12", x - 8, x - 10, x - 6), p.light, 2);
}

fn lamp_post(c: &mut Canvas, x: i32) {
    shadow(c, x, 277, 14);
    c.dot(x, 176, 26, "#ffe9a855");
    c.rect([x - 3, 186, 6, 90], 2, INK);
    c.path(&format!("M{} 188l-3 -22h24l-3 22z", x - 9), "#ffe9a8");
    c.rect([x - 14, 161, 28, 6], 3, INK);
    c.rect([x - 8, 272, 16, 6], 2, INK);
}
