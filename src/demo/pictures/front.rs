//! The front of a shop: a house, and the sign with the shop's name.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::street::{STREET, backdrop, pavement, street_life, trees};
use super::theme::{CREAM, LEAF, Palette, Theme, WOOD, WOOD_DARK};

/// Colours of one house.
struct Coat {
    wall: &'static str,
    trim: &'static str,
    sign: &'static str,
    lettering: &'static str,
    glass: &'static str,
}

/// The left and right edge of a house and the top of its wall; a house stands on [`STREET`].
struct House {
    left: i32,
    right: i32,
    top: i32,
}

/// Night sky over types of shop not known for nightlife, whose own darkest tone may be a red.
const NIGHT_SKY: &str = "#2b3659";

/// Draws the front of `shop`.
pub(super) fn front(c: &mut Canvas, shop: &DemoShop, theme: &Theme, d: &mut Dice) {
    let p = &theme.palette;
    let night =
        if theme.is_nocturnal { (!d.one_in(4)).then_some(p.deep) } else { d.one_in(6).then_some(NIGHT_SKY) };
    let is_night = night.is_some();
    backdrop(c, p, d, night);
    pavement(c, d, is_night);
    let coat = coat(p, d, is_night);
    let width = d.range(232, 286);
    let left = d.range(40, 360 - width);
    let house = House { left, right: left + width, top: d.range(70, 84) };
    trees(c, (house.left, house.right), d, is_night);
    roof(c, &house, &coat, d);
    wall(c, &house, &coat, d);
    let door = ground_floor(c, &house, &coat, theme, d);
    awning(c, &house, &coat, p, d);
    sign(c, &house, &coat, shop.name, d);
    street_life(c, (house.left, house.right), door, p, d);
}

fn coat(p: &Palette, d: &mut Dice, is_night: bool) -> Coat {
    let coats = [
        (CREAM, p.main, p.main, CREAM),
        (p.soft, p.deep, p.deep, CREAM),
        (p.main, p.deep, CREAM, p.deep),
        ("#f4efe8", p.deep, p.deep, p.light),
        ("#d8c3ab", p.main, CREAM, p.deep),
        ("#e9e4dd", WOOD_DARK, p.main, CREAM),
        // Last, because the wall would be invisible at night.
        (p.deep, p.soft, p.light, p.deep),
    ];
    let usable = if is_night { &coats[..6] } else { &coats[..] };
    let (wall, trim, sign, lettering) = d.pick(usable);
    // Dark trim needs a bright sky behind it.
    let trim = if is_night && trim == p.deep { p.soft } else { trim };
    let glass = if is_night { "#ffe3a1" } else { d.pick(&["#d7e8ee", "#e3eef0", "#fbe9c6"]) };
    Coat { wall, trim, sign, lettering, glass }
}

fn roof(c: &mut Canvas, house: &House, coat: &Coat, d: &mut Dice) {
    let House { left, right, top } = *house;
    let (width, middle) = (right - left, (left + right) / 2);
    match d.range(0, 4) {
        0 => {
            c.rect([left - 8, top - 12, width + 16, 16], 4, coat.trim);
        }
        1 => {
            c.path(&format!("M{} {top}L{middle} {}L{} {top}z", left - 18, top - 52, right + 18), coat.trim);
            c.dot(middle, top - 18, 9, coat.glass);
        }
        // Tiles and upturned eaves.
        2 => {
            c.path(
                &format!(
                    "M{} {}q20 10 34 -2L{} {}H{}L{} {}q14 12 34 2q-10 16 -28 16H{}q-18 0 -28 -16z",
                    left - 26,
                    top - 12,
                    left + 44,
                    top - 40,
                    right - 44,
                    right - 8,
                    top - 14,
                    left + 2
                ),
                "#4a5560",
            );
            c.rect([left + 40, top - 44, width - 80, 7], 3, "#39424c");
            c.line(
                &format!(
                    "M{} {}V{}M{} {}V{}M{middle} {}V{}",
                    left + 70,
                    top - 34,
                    top - 4,
                    right - 70,
                    top - 34,
                    top - 4,
                    top - 34,
                    top - 4
                ),
                "#fff2",
                3,
            );
        }
        // The stepped gables of old Hangzhou houses.
        3 => {
            c.rect([left, top - 26, 52, 40], 0, coat.wall);
            c.rect([right - 52, top - 26, 52, 40], 0, coat.wall);
            c.rect([left + 66, top - 44, width - 132, 50], 0, coat.wall);
            for (x, y, w) in
                [(left - 6, top - 32, 64), (right - 58, top - 32, 64), (left + 58, top - 50, width - 116)]
            {
                c.rect([x, y, w, 8], 3, "#4a5560");
            }
            c.rect([left + 50, top - 8, width - 100, 8], 0, "#4a5560");
        }
        _ => {
            c.path(&format!("M{} {top}a70 48 0 0 1 140 0z", middle - 70), coat.wall);
            c.line(&format!("M{left} {top}H{}a70 48 0 0 1 140 0H{right}", middle - 70), coat.trim, 9);
        }
    }
}

fn wall(c: &mut Canvas, house: &House, coat: &Coat, d: &mut Dice) {
    let House { left, right, top } = *house;
    c.rect([left, top, right - left, STREET - top], 0, coat.wall);
    c.rect([right - 16, top, 16, STREET - top], 0, "#0001");
    if d.one_in(3) {
        let mut bricks = String::new();
        for _ in 0..14 {
            let (x, y) = (d.range(left + 6, right - 26), d.range(top + 8, STREET - 14) / 8 * 8);
            bricks.push_str(&format!("M{x} {y}h12"));
        }
        c.line(&bricks, "#0001", 4);
    }
    c.rect([left, STREET - 12, right - left, 12], 0, "#0001");
}

/// Draws the windows and the door. Returns the middle of the door.
fn ground_floor(c: &mut Canvas, house: &House, coat: &Coat, theme: &Theme, d: &mut Dice) -> i32 {
    let House { left, right, .. } = *house;
    let slots = 3;
    let slot = (right - left - 24) / slots;
    let door_at = d.range(0, slots - 1);
    let (is_arched, panes, plate) = (d.one_in(3), d.range(0, 2), d.one_in(2));
    let mut door = 0;
    for i in 0..slots {
        let x = left + 12 + i * slot + 6;
        let w = slot - 12;
        if i == door_at {
            door = x + w / 2;
            draw_door(c, x, w, is_arched, coat, d);
            continue;
        }
        let r = if is_arched { w / 2 } else { 4 };
        c.rect([x - 3, 159, w + 6, 70], r + 3, coat.trim);
        c.rect([x, 162, w, 64], r, coat.glass);
        if is_arched {
            c.rect([x - 3, 196, w + 6, 33], 3, coat.trim);
            c.rect([x, 194, w, 32], 0, coat.glass);
        }
        c.path(&format!("M{} 226l22 -44h12l-22 44z", x + 6), "#fff6");
        if panes == 1 {
            c.rect([x + w / 2 - 1, 164, 3, 62], 0, coat.trim);
        } else if i == (door_at + 1) % slots || (plate && panes == 0) {
            c.open(&format!("translate({} 180) scale(.9)", x + w / 2 - 22));
            (theme.glyph)(c, theme.palette.main, theme.palette.accent);
            c.close();
        }
        c.rect([x - 6, 227, w + 12, 7], 3, coat.trim);
        if panes == 2 {
            c.rect([x, 219, w, 9], 3, WOOD);
            let dots = |from: i32| -> String {
                (from..w / 12).step_by(2).map(|k| format!("M{} 217h0", x + 6 + k * 12)).collect()
            };
            // A dot is a stroke of no length with round ends.
            c.line(&dots(0), LEAF, 12);
            c.line(&dots(1), theme.palette.accent, 11);
        }
    }
    door
}

fn draw_door(c: &mut Canvas, x: i32, w: i32, is_arched: bool, coat: &Coat, d: &mut Dice) {
    let r = if is_arched { w / 2 } else { 4 };
    let leaf = d.pick(&[WOOD_DARK, coat.trim, "#6d5a4a"]);
    c.rect([x - 4, 160, w + 8, STREET - 160], r + 4, "#fffa");
    c.rect([x, 164, w, STREET - 164], r, leaf);
    c.rect([x - 4, 226, w + 8, STREET - 226], 0, "#fffa");
    c.rect([x, 220, w, STREET - 220], 0, leaf);
    if d.one_in(2) {
        c.rect([x + w / 2 - 1, 164, 2, STREET - 164], 0, "#0003");
        c.rect([x + 7, 178, w / 2 - 12, 40], 3, coat.glass);
        c.rect([x + w / 2 + 5, 178, w / 2 - 12, 40], 3, coat.glass);
    } else {
        c.rect([x + 10, 178, w - 20, 46], 4, coat.glass);
        c.dot(x + w - 6, 222, 3, "#f2c94c");
    }
    c.rect([x - 8, STREET - 3, w + 16, 7], 2, "#0002");
}

fn awning(c: &mut Canvas, house: &House, coat: &Coat, p: &Palette, d: &mut Dice) {
    let House { left, right, top } = *house;
    let y = (top + 64).max(142);
    let (x, w) = (left + 6, right - left - 12);
    match d.range(0, 3) {
        0 | 1 => {
            let n = d.pick(&[8, 10, 12]);
            let colours = d.pick(&[[p.main, "#fff"], [p.accent, CREAM], [p.deep, p.light]]);
            let mut stripes = [String::new(), String::new()];
            for i in 0..n {
                let (from, to) = (x + w * i / n, x + w * (i + 1) / n);
                let (wide, half) = (to - from, (to - from) / 2 + 1);
                let stripe = format!("M{from} {y}h{wide}v18a{half} 9 0 0 1-{wide} 0z");
                stripes[usize::from(i % 2 == 1)].push_str(&stripe);
            }
            c.path(&stripes[0], colours[0]);
            c.path(&stripes[1], colours[1]);
            c.rect([x - 3, y - 4, w + 6, 6], 3, coat.trim);
        }
        2 => {
            let (from, to, wide) = (x + 6, x + w - 6, w + 20);
            c.path(&format!("M{from} {y}H{to}l16 18h-{wide}z"), coat.sign);
            c.rect([x - 10, y + 15, wide, 5], 2, "#0002");
        }
        // A string of lanterns.
        _ => {
            let (n, lamp) = (d.range(4, 7), d.pick(&["#e2574c", p.accent, "#ffd27a"]));
            let mut string = format!("M{x} {y}h{w}");
            let mut lamps = String::new();
            for i in 0..n {
                let at = x + w * (2 * i + 1) / (2 * n);
                string.push_str(&format!("M{at} {y}v26"));
                lamps.push_str(&format!("M{} {}a10 9 0 0 1 20 0a10 9 0 0 1-20 0z", at - 10, y + 14));
            }
            c.line(&string, coat.trim, 3);
            c.path(&lamps, lamp);
        }
    }
}

fn sign(c: &mut Canvas, house: &House, coat: &Coat, name: &str, d: &mut Dice) {
    let House { left, right, top } = *house;
    // Hanzi are one em wide, Latin letters a little over half.
    let ems: i32 = name.chars().map(|ch| if ch.is_ascii() { 6 } else { 10 }).sum();
    let size = (10 * (right - left - 60) / ems).min(28);
    let width = (size * ems / 10 + 44).max(150);
    let (x, y) = ((left + right - width) / 2, top + 12);
    let style = d.range(0, 3);
    let r = [5, 20, 0, 12][usize::try_from(style).unwrap_or(0)];
    c.rect([x + 2, y + 4, width, 42], r, "#0002");
    c.rect([x, y, width, 42], r, coat.sign);
    if style >= 2 {
        c.open(&format!("translate({} {})", x + 4, y + 4));
        c.line(&format!("M0 0H{}V34H0z", width - 8), coat.lettering, 1);
        c.close();
    } else {
        c.dot(x + 11, y + 21, 3, coat.lettering);
        c.dot(x + width - 11, y + 21, 3, coat.lettering);
    }
    c.words((left + right) / 2, y + 21 + size * 36 / 100, size, coat.lettering, name);
}
