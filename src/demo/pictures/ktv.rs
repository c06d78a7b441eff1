//! KTV: violet and neon pink.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{close_up, glint, night_room, shadow};
use super::theme::{CREAM, INK, Palette, Theme};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#2c1f57",
        main: "#6f4fc0",
        soft: "#bfaaea",
        pale: "#efe9fb",
        accent: "#ff7fa8",
        light: "#dccdf7",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: true,
};

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.line("M26 24L9 41", a, 8);
    c.dot(31, 17, 12, a);
    c.line("M23 13L35 25M28 8L40 20", b, 2);
    c.line("M35 45V34l9-2v11", b, 3);
    c.dot(33, 44, 3, b);
    c.dot(42, 43, 3, b);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    night_room(c, &[p.deep, "#401f52", "#1d2b5a", "#2a1a3c"], d);
    let ball = d.range(80, 320);
    for turn in [-40, -14, 16, 44] {
        c.open(&format!("rotate({turn} {ball} 40)"));
        c.path(&format!("M{ball} 40l-26 240h52z"), d.pick(&["#ff7fa81f", "#8fd3ff1a", "#ffe08a1a"]));
        c.close();
    }
    let is_stage = d.one_in(2);
    if is_stage {
        stage(c, p, d);
    } else {
        screen(c, p, d);
    }
    c.rect([ball - 1, 0, 2, 24], 0, "#fff5");
    c.dot(ball, 42, 20, "#cfc6ee");
    c.line(
        &format!(
            "M{} 34h36M{} 44h40M{} 54h32M{} 24v36M{ball} 22v40M{} 24v36",
            ball - 18,
            ball - 20,
            ball - 16,
            ball - 9,
            ball + 9
        ),
        "#8d7fc4",
        2,
    );
    glint(c, ball - 8, 34, 9, "#fff");
    if is_stage {
        return;
    }
    sofa(c, d.pick(&[p.main, p.accent, "#3f6fb5"]));
    shadow(c, 200, 286, 86);
    c.rect([130, 250, 140, 10], 5, "#191232");
    c.rect([150, 258, 8, 28], 2, "#191232");
    c.rect([242, 258, 8, 28], 2, "#191232");
    for x in [152, 176, 232] {
        let drink = d.pick(&["#ffb84d", "#ff7fa8", "#8fe0c5"]);
        c.path(&format!("M{} 228h16l-3 22h-10z", x - 8), "#fff4");
        c.path(&format!("M{} 236h14l-2 14h-10z", x - 7), drink);
    }
    c.line("M196 246l22-12", INK, 6);
    c.dot(222, 232, 7, "#d9d4ea");
}

/// Draws a small stage with curtains, a microphone and a stool.
fn stage(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let cloth = d.pick(&[p.accent, p.main, "#c2455f", "#3f6fb5"]);
    c.rect([70, 30, 260, 190], 0, "#0003");
    let word = d.pick(&["LIVE", "SING", "ENCORE", "♪ ♫ ♪"]);
    c.words(200, 100, 36, d.pick(&[p.accent, "#ffe08a", p.light]), word);
    for x in [24, 50, 76, 300, 326, 352] {
        c.rect([x, 24, 24, 200], 8, cloth);
        c.rect([x + 16, 24, 8, 196], 4, "#0002");
    }
    let scallops: String = (0..8).map(|i| format!("M{} 18h48v14a24 18 0 0 1-48 0z", 8 + i * 48)).collect();
    c.path(&scallops, cloth);
    c.oval([200, 254, 176, 30], "#120c29");
    c.oval([200, 244, 176, 30], p.main);
    c.oval([200, 240, 150, 22], "#fff2");
    let lights: String = (0..7).map(|i| format!("M{} 272h0", 80 + i * 40)).collect();
    c.line(&lights, "#ffe08a", 8);
    let x = d.range(176, 224);
    c.line(&format!("M{x} 240V152l-12-14"), "#d9d4ea", 4);
    c.line(&format!("M{} 242h36", x - 18), "#d9d4ea", 5);
    c.line(&format!("M{} 138l-8-9", x - 12), INK, 9);
    c.dot(x - 23, 125, 10, "#d9d4ea");
    c.rect([x + 36, 190, 46, 9], 4, cloth);
    c.line(&format!("M{} 200l-6 42M{} 200l6 42M{} 222h32", x + 46, x + 72, x + 43), "#191232", 4);
}

fn screen(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let x = d.range(96, 124);
    c.rect([x - 6, 68, 196, 104], 10, "#120c29");
    c.rect([x, 74, 184, 92], 6, d.pick(&[p.main, "#27446f", "#7a2f66"]));
    if d.one_in(2) {
        for i in 0..14 {
            let h = d.range(10, 58);
            c.rect([x + 11 + i * 12, 128 - h, 7, h], 3, d.pick(&[p.accent, "#ffe08a", p.light]));
        }
    } else {
        c.dot(x + 140, 104, 18, "#ffe0a3");
        c.path(&format!("M{x} 140q46-46 92-18t92-12v30z"), "#0003");
    }
    c.rect([x + 30, 138, 124, 7], 3, "#fff4");
    c.rect([x + 30, 138, d.range(40, 100), 7], 3, "#fff");
    c.rect([x + 54, 151, 76, 6], 3, "#fff6");
    for at in [x - 44, x + 200] {
        c.rect([at, 92, 28, 76], 6, "#120c29");
        c.dot(at + 14, 112, 9, "#3a2f66");
        c.dot(at + 14, 144, 12, "#3a2f66");
        c.dot(at + 14, 144, 4, p.accent);
    }
}

fn sofa(c: &mut Canvas, colour: &str) {
    for (x, w) in [(14, 120), (266, 120)] {
        shadow(c, x + w / 2, 274, w / 2);
        c.rect([x, 190, w, 54], 18, colour);
        c.rect([x, 190, w, 54], 18, "#0002");
        c.rect([x - 6, 216, w + 12, 52], 16, colour);
        c.rect([x + 6, 212, w / 2 - 9, 30], 10, "#fff2");
        c.rect([x + w / 2 + 3, 212, w / 2 - 9, 30], 10, "#fff2");
    }
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.id % 3 {
        0 => microphone(c, p, d),
        1 => headphones(c, p, d),
        _ => record(c, p, d),
    }
    for (left, right) in [(26, 60), (318, 344), (350, 372)] {
        let (x, y) = (d.range(left, right), d.range(34, 150));
        note(c, x, y, d.pick(&[p.accent, p.deep]));
    }
}

fn note(c: &mut Canvas, x: i32, y: i32, colour: &str) {
    c.open(&format!("translate({x} {y})"));
    c.line("M0 24V-8l22-5V19", colour, 5);
    c.oval([-6, 25, 8, 6], colour);
    c.oval([16, 20, 8, 6], colour);
    c.close();
}

fn microphone(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 196, 246, 110);
    c.open(&format!("rotate({} 200 150)", d.range(-8, 10)));
    c.path("M224 118l30 30-108 92q-14 8-22 0t0-22z", p.deep);
    c.path("M224 118l12 12-108 100q-10-4-4-12z", "#fff3");
    c.dot(256, 104, 50, "#d6d3e2");
    c.line(
        "M216 84l80 40M224 70l78 38M212 100l66 44M230 140l30-84M250 152l30-90M276 148l20-62",
        "#a39fb8",
        3,
    );
    c.line("M224 66q-24 30 4 74", "#fff7", 8);
    c.open("rotate(45 236 132)");
    c.rect([218, 126, 36, 16], 6, p.accent);
    c.close();
    c.dot(180, 186, 6, p.accent);
    c.close();
}

fn headphones(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let cup = d.pick(&[p.accent, "#f0b54d", p.deep]);
    shadow(c, 200, 244, 116);
    c.line("M112 180C104 40 296 40 288 180", p.deep, 18);
    c.line("M118 150C124 66 250 46 278 130", "#fff3", 5);
    for (x, lean) in [(112, -6), (288, 6)] {
        c.open(&format!("rotate({lean} {x} 190)"));
        c.rect([x - 30, 148, 60, 92], 26, cup);
        c.rect([x - 16, 166, 32, 56], 14, "#0002");
        c.close();
    }
    for (i, x) in (0..7).zip([164, 176, 188, 200, 212, 224, 236]) {
        let h = d.range(14, 66) + if i == 3 { 14 } else { 0 };
        c.rect([x - 4, 180 - h / 2, 7, h], 3, p.accent);
    }
}

fn record(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    shadow(c, 200, 246, 130);
    c.rect([74, 66, 176, 176], 8, d.pick(&[p.accent, p.light, "#f0b54d"]));
    c.dot(130, 124, 34, "#fff6");
    c.path("M74 200q60-50 110-10t66-20v64q0 8-8 8H82q-8 0-8-8z", "#fff4");
    c.dot(244, 152, 90, "#262033");
    for r in [76, 62, 48] {
        c.line(&format!("M{} 152a{r} {r} 0 1 1 {} 0a{r} {r} 0 1 1 -{} 0", 244 - r, 2 * r, 2 * r), "#fff2", 2);
    }
    c.dot(244, 152, 32, p.main);
    c.dot(244, 152, 5, CREAM);
    c.line("M196 100q14-16 32-20", "#fff5", 6);
}
