//! 轰趴馆: azure, coral and confetti.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{balloon, bright_room, bunting, close_up, framed, plant, shadow};
use super::theme::{CREAM, INK, Palette, Theme, WOOD, WOOD_DARK};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#174a70",
        main: "#3b8ecb",
        soft: "#aed6f1",
        pale: "#eaf5fc",
        accent: "#f5715f",
        light: "#fde3a0",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

const CONFETTI: [&str; 6] = ["#f5715f", "#f9c84a", "#52c3cf", "#7cc48a", "#b688d8", "#fff"];

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.path("M4 45L15 15l19 18z", a);
    c.line("M11 29l9 11M17 21l11 13", b, 3);
    c.line("M24 14q-4-6 2-11M34 24q6-3 9 3M29 19L41 7", a, 3);
    c.dot(36, 15, 2, b);
    c.dot(43, 15, 3, b);
    c.dot(33, 4, 3, b);
    c.dot(43, 35, 2, b);
}

fn confetti(c: &mut Canvas, n: i32, bottom: i32, d: &mut Dice) {
    for _ in 0..n {
        let (x, y, fill) = (d.range(8, 392), d.range(8, bottom), d.pick(&CONFETTI));
        if d.one_in(2) {
            c.dot(x, y, d.range(2, 4), fill);
        } else {
            c.open(&format!("rotate({} {x} {y})", d.range(0, 90)));
            c.rect([x, y, 9, 5], 1, fill);
            c.close();
        }
    }
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    let shift = usize::try_from(d.range(0, 2)).unwrap_or(0);
    bunting(c, 14, &CONFETTI[shift..shift + 3]);
    framed(c, [d.pick(&[60, 110]), 86, 72, 56], p, d);
    framed(c, [d.pick(&[230, 262]), 80, 60, 68], p, d);
    let cluster = d.pick(&[40, 352]);
    for (dx, y) in [(-12, 128), (18, 112), (2, 158)] {
        balloon(c, cluster + dx, y, 250, d.pick(&CONFETTI[..5]));
    }
    plant(c, 392 - cluster, 240, d.range(0, 2), p.main);
    let cover = d.pick(&[p.accent, p.main, "#7cc48a", "#f0b54d", p.deep]);
    shadow(c, 200, 268, 120);
    c.rect([92, 158, 216, 70], 22, cover);
    c.rect([72, 186, 48, 74], 20, cover);
    c.rect([280, 186, 48, 74], 20, cover);
    c.rect([92, 206, 216, 52], 14, cover);
    c.rect([116, 200, 82, 40], 14, "#fff3");
    c.rect([202, 200, 82, 40], 14, "#fff3");
    for (x, lean) in [(140, -10), (256, 12)] {
        c.open(&format!("rotate({lean} {x} 196)"));
        c.rect([x - 19, 176, 38, 38], 9, d.pick(&[CREAM, p.light, p.soft]));
        c.close();
    }
    c.rect([130, 256, 140, 10], 5, WOOD);
    c.rect([144, 264, 8, 28], 2, WOOD_DARK);
    c.rect([248, 264, 8, 28], 2, WOOD_DARK);
    match d.range(0, 2) {
        0 => small_cake(c, d),
        1 => {
            die(c, 176, 244, 24, "#fff");
            die(c, 214, 246, 20, p.accent);
        }
        _ => {
            c.rect([160, 246, 80, 10], 3, "#5a7a4a");
            (0..4).for_each(|i| c.rect([166 + i * 18, 242, 12, 8], 2, CREAM));
        }
    }
}

fn small_cake(c: &mut Canvas, d: &mut Dice) {
    c.rect([174, 232, 52, 24], 6, d.pick(&["#f7c7cf", "#fff", "#f3d9a4"]));
    c.path("M174 238q6 10 13 0t13 0 13 0 13 0v-4q0-6-6-6h-40q-6 0-6 6z", d.pick(&CONFETTI[..5]));
    c.line("M188 226v-9M200 226v-9M212 226v-9", CREAM, 3);
    for x in [188, 200, 212] {
        c.dot(x, 213, 3, "#f9a03c");
    }
}

fn die(c: &mut Canvas, x: i32, y: i32, size: i32, fill: &str) {
    c.rect([x - size / 2, y - size / 2, size, size], size / 5, fill);
    let (q, r) = (size / 4, size / 11 + 1);
    for (dx, dy) in [(-q, -q), (q, q), (0, 0), (q, -q), (-q, q)] {
        c.dot(x + dx, y + dy, r, INK);
    }
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    confetti(c, 22, 200, d);
    match shop.name {
        n if n.contains("气球") => bouquet(c, d),
        n if n.contains("骰子") || n.contains("朋友") => games(c, p, d),
        _ if shop.id.is_multiple_of(2) => gamepad(c, p, d),
        _ => cake(c, d),
    }
}

fn bouquet(c: &mut Canvas, d: &mut Dice) {
    for (x, y) in [(140, 84), (262, 80), (168, 130), (236, 128), (200, 68)] {
        c.line(&format!("M{x} {}Q{} 190 200 226", y + 40, (x + 200) / 2), "#0003", 2);
        c.oval([x, y, 36, 43], d.pick(&CONFETTI[..5]));
        c.oval([x - 13, y - 16, 8, 13], "#fff6");
    }
    c.rect([170, 216, 60, 40], 6, "#f5715f");
    c.rect([194, 216, 12, 40], 0, "#f9c84a");
    c.rect([164, 210, 72, 14], 4, "#f9c84a");
}

fn games(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 254, 130);
    for (lean, suit) in [(-22, "#f5715f"), (-6, INK), (12, "#f5715f")] {
        c.open(&format!("rotate({lean} 140 240)"));
        c.rect([98, 92, 84, 124], 9, "#fff");
        c.path("M140 176c-24-18-30-30-18-38q12-6 18 8q6-14 18-8q12 8-18 38z", suit);
        c.dot(112, 108, 5, suit);
        c.close();
    }
    c.open(&format!("rotate({} 270 200)", d.range(-20, 20)));
    die(c, 270, 200, 76, CREAM);
    c.close();
    c.open(&format!("rotate({} 316 112)", d.range(-30, 30)));
    die(c, 316, 112, 54, p.accent);
    c.close();
}

fn gamepad(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let body = d.pick(&[p.deep, CREAM, p.accent]);
    shadow(c, 200, 250, 130);
    c.path("M132 98h136q56 0 70 70q10 64-22 70q-22 4-48-46H132q-26 50-48 46q-32-6-22-70q14-70 70-70z", body);
    c.path("M132 98h136q40 0 58 36q-126-18-252 0q18-36 58-36z", "#fff2");
    c.rect([112, 134, 18, 54], 5, "#7d8a99");
    c.rect([94, 152, 54, 18], 5, "#7d8a99");
    for (x, y, fill) in
        [(280, 138, CONFETTI[1]), (304, 161, CONFETTI[0]), (256, 161, CONFETTI[3]), (280, 184, CONFETTI[2])]
    {
        c.dot(x, y, 13, fill);
    }
    c.rect([178, 138, 18, 8], 4, "#7d8a99");
    c.rect([206, 138, 18, 8], 4, "#7d8a99");
    c.dot(200, 172, 10, CONFETTI[1]);
    c.line("M200 98q0-40 40-44t40-40", INK, 6);
}

fn cake(c: &mut Canvas, d: &mut Dice) {
    let (sponge, icing) =
        (d.pick(&["#f3d9a4", "#f7c7cf", "#c99a72"]), d.pick(&["#fff", "#f5715f", "#f28ba0"]));
    shadow(c, 200, 250, 130);
    c.oval([200, 246, 138, 14], "#fff");
    c.rect([92, 172, 216, 72], 14, sponge);
    c.path("M92 190q14 26 27 0t27 0 27 0 27 0 27 0 27 0 27 0 27 0v-8q0-14-14-14H106q-14 0-14 14z", icing);
    c.rect([128, 116, 144, 58], 12, sponge);
    c.path("M128 132q12 22 24 0t24 0 24 0 24 0 24 0 24 0v-6q0-12-12-12H140q-12 0-12 12z", icing);
    for x in [152, 184, 216, 248] {
        let stripe = d.pick(&CONFETTI[..5]);
        c.rect([x - 5, 78, 10, 38], 3, stripe);
        c.path(&format!("M{x} 56q9 12 0 20q-9-8 0-20z"), "#f9a03c");
    }
    for x in [112, 152, 200, 248, 288] {
        c.dot(x, 222, 7, d.pick(&CONFETTI));
    }
}
