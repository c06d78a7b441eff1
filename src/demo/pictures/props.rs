//! Props shared by several types of shop.

use super::canvas::Canvas;
use super::dice::Dice;
use super::theme::{CREAM, LEAF, LEAF_DARK, Palette, WOOD, WOOD_DARK};

/// Draws a bright room: wall, floor boards, skirting. The floor begins at y = 222.
pub(super) fn bright_room(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let wall = d.pick(&[p.pale, p.light, p.soft, CREAM]);
    c.rect([0, 0, 400, 300], 0, wall);
    match d.range(0, 3) {
        0 => c.rect([0, 140, 400, 82], 0, "#fff6"),
        1 => (0..10).for_each(|i| c.rect([i * 44 - 8, 0, 18, 222], 0, "#fff5")),
        2 => c.path("M250 0H400V222H210C300 170 190 90 250 0z", "#fff5"),
        _ => c.rect([0, 0, 400, 26], 0, "#fff7"),
    }
    floor(c, d.pick(&[WOOD, "#d9bd98", "#cfc6bb"]));
}

/// Draws a room after dark, lit from above.
pub(super) fn night_room(c: &mut Canvas, walls: &[&'static str], d: &mut Dice) {
    c.rect([0, 0, 400, 300], 0, d.pick(walls));
    let x = d.range(120, 280);
    c.path(&format!("M{x} -20L{} 300H{}z", x + 190, x - 190), "#fff1");
    if d.one_in(2) {
        (0..9).for_each(|i| c.rect([i * 48, 0, 2, 222], 0, "#fff1"));
    } else {
        (0..4).for_each(|i| c.rect([0, 30 + i * 52, 400, 2], 0, "#fff1"));
    }
    c.rect([0, 222, 400, 78], 0, "#0005");
    c.rect([0, 222, 400, 4], 0, "#fff1");
}

fn floor(c: &mut Canvas, boards: &str) {
    c.rect([0, 222, 400, 78], 0, boards);
    c.rect([0, 216, 400, 8], 0, "#fffa");
    c.line(
        "M0 246H400M0 272H400M70 224V246M230 224V246M150 246V272M320 246V272M60 272V300M250 272V300",
        "#0001",
        2,
    );
}

/// Draws the background of a close-up: a wall, a large calm shape, a table top from y = 214.
pub(super) fn close_up(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let (wall, shape, top) = d.pick(&[
        (p.pale, "#fffa", p.soft),
        (p.soft, "#fff5", p.main),
        (p.main, "#fff2", p.deep),
        (CREAM, p.pale, p.light),
        (p.light, "#fff6", p.main),
    ]);
    c.rect([0, 0, 400, 300], 0, wall);
    let x = d.range(150, 250);
    match d.range(0, 3) {
        0 => c.dot(x, 140, 118, shape),
        1 => c.path(&format!("M{} 230V130a100 100 0 0 1 200 0V230z", x - 100), shape),
        2 => c.path("M30 150C10 60 120 20 210 40s190 30 170 120-60 80-180 80S50 240 30 150z", shape),
        _ => {
            c.dot(x - 70, 120, 76, shape);
            c.dot(x + 80, 130, 92, shape);
        }
    }
    c.rect([0, 214, 400, 86], 0, top);
    c.rect([0, 214, 400, 6], 0, "#fff3");
}

/// Draws a soft shadow under an object standing on `y`.
pub(super) fn shadow(c: &mut Canvas, x: i32, y: i32, half_width: i32) {
    c.oval([x, y, half_width, 7], "#0002");
}

/// Draws a framed window with hills, `w` by `h` from the upper left corner.
pub(super) fn window(c: &mut Canvas, [x, y, w, h]: [i32; 4], p: &Palette) {
    c.rect([x - 5, y - 5, w + 10, h + 10], 6, "#fff");
    c.rect([x, y, w, h], 3, "#dcebf0");
    c.dot(x + w * 3 / 4, y + h / 3, h / 9, "#fff3d6");
    let (foot, third) = (y + h, w / 3);
    c.path(&format!("M{x} {foot}v-{}q{third} -{} {w} 0v{}z", h / 4, h / 2, h / 4), "#a9cbbd");
    c.path(&format!("M{x} {foot}v-{}q{} -{} {w} 0v{}z", h / 8, w * 2 / 3, h / 3, h / 8), "#8ab5a2");
    c.rect([x + w / 2 - 2, y, 4, h], 0, "#fff");
    c.rect([x - 9, foot + 3, w + 18, 7], 3, p.light);
}

/// Draws a hanging lamp; the light reaches about 30 below `y`.
pub(super) fn pendant(c: &mut Canvas, x: i32, y: i32, style: i32, colour: &str) {
    c.rect([x - 1, 0, 2, y], 0, "#0005");
    c.oval([x, y + 26, 34, 22], "#fff1c42a");
    match style {
        0 => c.path(&format!("M{} {}a22 20 0 0 1 44 0z", x - 22, y + 18), colour),
        1 => c.path(&format!("M{} {y}h16l12 20h-40z", x - 8), colour),
        2 => {
            c.rect([x - 15, y, 30, 34], 15, colour);
            c.line(&format!("M{} {}v30M{} {}v30", x - 6, y + 2, x + 6, y + 2), "#fff4", 2);
            return;
        }
        _ => {
            c.dot(x, y + 12, 14, "#fff3cf");
            c.rect([x - 6, y - 4, 12, 6], 2, colour);
            return;
        }
    }
    c.oval([x, y + 19, 8, 4], "#fff6d8");
}

/// Draws a potted plant standing on `y`, in one of three kinds.
pub(super) fn plant(c: &mut Canvas, x: i32, y: i32, style: i32, pot: &str) {
    shadow(c, x, y, 22);
    c.open(&format!("translate({x} {y})"));
    match style {
        0 => {
            c.path(
                "M0 -24C-6 -60 -30 -66 -34 -84C-12 -84 2 -62 2 -30C4 -70 22 -86 38 -88C34 -62 12 -56 4 -24z",
                LEAF,
            );
            c.path("M0 -24C-4 -56 -4 -84 4 -104C14 -82 10 -50 4 -24z", LEAF_DARK);
        }
        1 => {
            c.dot(-12, -48, 17, LEAF);
            c.dot(12, -46, 18, LEAF_DARK);
            c.dot(0, -66, 18, LEAF);
        }
        _ => {
            c.line(
                "M0 -26C-2 -50 -4 -70 -16 -92M2 -26C4 -50 10 -66 20 -80M0 -40C-8 -54 -16 -58 -26 -62",
                LEAF_DARK,
                4,
            );
            c.oval([-18, -96, 8, 13], LEAF);
            c.oval([24, -84, 9, 12], LEAF);
            c.oval([-30, -64, 11, 7], LEAF);
            c.oval([6, -62, 7, 11], LEAF);
        }
    }
    c.path("M-18 -30H18L13 0H-13z", pot);
    c.rect([-20, -34, 40, 8], 3, pot);
    c.rect([-20, -28, 40, 3], 0, "#0002");
    c.close();
}

/// Draws three curls of steam above `y`, in a grey visible on white as well.
pub(super) fn steam(c: &mut Canvas, x: i32, y: i32) {
    c.open(&format!("translate({x} {y})"));
    c.line("M-22 0c-8 -10 8 -18 0 -30M0 -4c-8 -12 8 -22 0 -36M22 0c-8 -10 8 -18 0 -30", "#cdbfb3aa", 5);
    c.close();
}

/// Draws a four-pointed glint.
pub(super) fn glint(c: &mut Canvas, x: i32, y: i32, r: i32, colour: &str) {
    let q = r / 5 + 1;
    c.path(
        &format!(
            "M{x} {}l{q} {} {} {q} -{} {q} -{q} {} -{q} -{} -{} -{q} {} -{q}z",
            y - r,
            r - q,
            r - q,
            r - q,
            r - q,
            r - q,
            r - q,
            r - q
        ),
        colour,
    );
}

/// Draws a string of pennants across the room.
pub(super) fn bunting(c: &mut Canvas, y: i32, colours: &[&str]) {
    c.line(&format!("M-10 {y}Q200 {} 410 {y}", y + 52), "#0003", 2);
    // The sag of the string at each pennant, from the curve above.
    for (i, sag) in [4, 13, 19, 23, 26, 26, 23, 19, 13, 4].into_iter().enumerate() {
        let x = 8 + 39 * i32::try_from(i).unwrap_or(0);
        c.path(&format!("M{x} {}h30l-15 28z", y + sag), colours[i % colours.len()]);
    }
}

/// Draws a round balloon on a string that hangs down to `foot`.
pub(super) fn balloon(c: &mut Canvas, x: i32, y: i32, foot: i32, colour: &str) {
    c.line(&format!("M{x} {}q-8 {} 0 {}", y + 30, (foot - y) / 3, foot - y - 30), "#0003", 1);
    c.oval([x, y, 22, 27], colour);
    c.path(&format!("M{} {}l5 -8 5 8z", x - 5, y + 32), colour);
    c.oval([x - 8, y - 10, 5, 8], "#fff7");
}

/// Draws a picture on the wall: hills, a sun, or stripes.
pub(super) fn framed(c: &mut Canvas, [x, y, w, h]: [i32; 4], p: &Palette, d: &mut Dice) {
    c.rect([x, y, w, h], 4, "#fff");
    let (ix, iy, iw, ih) = (x + 6, y + 6, w - 12, h - 12);
    c.rect([ix, iy, iw, ih], 2, p.light);
    match d.range(0, 2) {
        0 => c.dot(x + w / 2, y + h / 2, ih.min(iw) / 3, p.accent),
        1 => c.path(
            &format!("M{ix} {}v-{}q{} -{} {iw} 0v{}z", iy + ih, ih / 4, iw / 2, ih / 2, ih / 4),
            p.main,
        ),
        _ => {
            c.rect([ix, iy + ih / 4, iw, ih / 6], 0, p.main);
            c.rect([ix, iy + ih / 2, iw, ih / 5], 0, p.accent);
        }
    }
}

/// Draws a table seen from the front, with the top at `y`.
pub(super) fn table(c: &mut Canvas, x: i32, y: i32, w: i32, top: &str) {
    shadow(c, x + w / 2, 284, w / 2);
    c.rect([x + 14, y + 8, 9, 284 - y - 8], 3, WOOD_DARK);
    c.rect([x + w - 23, y + 8, 9, 284 - y - 8], 3, WOOD_DARK);
    c.rect([x, y, w, 13], 6, top);
    c.rect([x, y + 9, w, 4], 2, "#0002");
}

/// Draws a glass bottle standing on `y`.
pub(super) fn bottle(c: &mut Canvas, x: i32, y: i32, h: i32, colour: &str) {
    let (w, neck) = (h / 3, h / 8);
    c.rect([x - neck / 2, y - h, neck, h / 2], 2, colour);
    c.rect([x - w / 2, y - h * 5 / 8, w, h * 5 / 8], 4, colour);
    c.rect([x - w / 2 + 2, y - h / 2, w / 5 + 1, h / 3], 1, "#fff5");
    c.rect([x - neck / 2 - 1, y - h - 3, neck + 2, 5], 1, "#0004");
}

/// Draws a lit candle standing on `y`.
pub(super) fn candle(c: &mut Canvas, x: i32, y: i32, h: i32, wax: &str) {
    c.dot(x, y - h - 9, 17, "#ffd98a44");
    c.rect([x - 9, y - h, 18, h], 4, wax);
    c.path(&format!("M{x} {}c7 8 6 14 0 15c-6 -1 -7 -7 0 -15z", y - h - 18), "#f7b34a");
}
