//! 亲子游乐: sunny yellow and sky blue.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{balloon, bright_room, bunting, close_up, shadow};
use super::theme::{CREAM, INK, Palette, Theme, WOOD};

pub(super) static THEME: Theme = Theme {
    palette: Palette {
        deep: "#7d4a0c",
        main: "#f0a526",
        soft: "#fbdc90",
        pale: "#fff6de",
        accent: "#3f8fdc",
        light: "#ffe9b5",
    },
    glyph,
    inside,
    detail,
    is_nocturnal: false,
};

const TOYS: [&str; 6] = ["#e8604c", "#3f8fdc", "#f6c445", "#5fb36b", "#b07cd0", "#f28bb0"];

fn glyph(c: &mut Canvas, a: &str, b: &str) {
    c.dot(11, 13, 8, a);
    c.dot(37, 13, 8, a);
    c.dot(11, 13, 4, b);
    c.dot(37, 13, 4, b);
    c.dot(24, 26, 19, a);
    c.oval([24, 33, 8, 6], b);
    c.dot(17, 23, 2, INK);
    c.dot(31, 23, 2, INK);
    c.oval([24, 30, 3, 2], INK);
}

fn inside(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    bright_room(c, p, d);
    c.path("M30 96a12 12 0 0 1 18-16a18 18 0 0 1 34 2a12 12 0 0 1 8 14zM290 120a11 11 0 0 1 16-14a17 17 0 0 1 32 2a11 11 0 0 1 6 12z", "#fffc");
    let shift = usize::try_from(d.range(0, 3)).unwrap_or(0);
    bunting(c, 18, &TOYS[shift..shift + 3]);
    match d.range(0, 2) {
        0 => {
            slide(c, d);
            ball_pit(c, 20, d);
        }
        1 => {
            castle(c, p, d);
            blocks(c, 322, 284, d);
        }
        _ => {
            slide(c, d);
            blocks(c, 66, 284, d);
            balloon(c, 120, 130, 240, d.pick(&TOYS));
        }
    }
}

fn slide(c: &mut Canvas, d: &mut Dice) {
    let (chute, tower) = (d.pick(&TOYS), d.pick(&["#3f8fdc", "#5fb36b", "#e8604c"]));
    shadow(c, 300, 286, 92);
    c.path("M268 106L306 66l38 40z", chute);
    c.rect([276, 104, 10, 180], 3, WOOD);
    c.rect([326, 104, 10, 180], 3, WOOD);
    c.rect([272, 146, 68, 40], 5, tower);
    c.dot(306, 166, 11, CREAM);
    c.line("M286 208h40M286 230h40M286 252h40", WOOD, 6);
    c.line("M274 184C230 190 226 268 160 272", chute, 26);
    c.line("M274 180C226 188 220 260 160 264", "#fff4", 6);
}

fn ball_pit(c: &mut Canvas, x: i32, d: &mut Dice) {
    for row in 0..3 {
        for i in 0..7 {
            c.dot(x + 14 + i * 21 + row % 2 * 8, 238 + row * 13, 11, d.pick(&TOYS));
        }
    }
    c.rect([x - 4, 256, 164, 32], 10, CREAM);
    c.rect([x - 4, 256, 164, 9], 4, d.pick(&TOYS));
}

fn castle(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let (wall, roof) =
        (d.pick(&[p.accent, "#f28bb0", "#8fc7a0"]), d.pick(&["#e8604c", "#b07cd0", "#f6c445"]));
    shadow(c, 160, 286, 130);
    for x in [52, 222] {
        c.rect([x, 120, 50, 166], 12, wall);
        c.path(&format!("M{} 122l33-52 33 52z", x - 8), roof);
        c.rect([x + 16, 148, 18, 28], 9, CREAM);
    }
    c.rect([92, 164, 140, 122], 8, wall);
    c.rect([92, 164, 140, 122], 8, "#fff3");
    (0..4).for_each(|i| c.rect([98 + i * 36, 150, 20, 22], 4, wall));
    c.path("M128 286v-52a34 34 0 0 1 68 0v52z", INK);
    c.path("M134 286v-50a28 28 0 0 1 56 0v50z", roof);
    c.dot(180, 262, 4, CREAM);
}

fn blocks(c: &mut Canvas, x: i32, y: i32, d: &mut Dice) {
    shadow(c, x, y, 50);
    for (dx, dy) in [(-40, 0), (2, 0), (-20, -40)] {
        let (fill, mark) = (d.pick(&TOYS), d.range(0, 2));
        c.rect([x + dx, y + dy - 38, 38, 38], 6, fill);
        match mark {
            0 => c.dot(x + dx + 19, y + dy - 19, 9, CREAM),
            1 => c.path(&format!("M{} {}l11 18h-22z", x + dx + 19, y + dy - 29), CREAM),
            _ => c.rect([x + dx + 11, y + dy - 27, 16, 16], 3, CREAM),
        }
    }
}

fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    match shop.name {
        n if n.contains("纸飞机") => paper_plane(c),
        n if n.contains("恐龙") => dinosaur(c, d),
        n if n.contains("蜗牛") => snail(c, d),
        n if n.contains("蒲公英") => pinwheel(c, d),
        n if n.contains('鱼') || n.contains('浪') => duck(c),
        _ if shop.id.is_multiple_of(2) => teddy(c, d),
        _ => tower(c, d),
    }
}

fn paper_plane(c: &mut Canvas) {
    c.line("M36 226q60-10 84-46t-14-42-34 22 60 26", "#7db8e8", 4);
    c.path("M150 150L350 50 262 226 226 172z", "#fff");
    c.path("M350 50L226 172l-14 54 36-28z", "#d6e6f4");
    c.path("M350 50L226 172 150 150z", "#f4f8fb");
    c.path("M212 226l14-54 16 24z", "#b9d0e4");
}

fn dinosaur(c: &mut Canvas, d: &mut Dice) {
    let skin = d.pick(&["#6fbf7a", "#5fb3b0", "#9bbf5a"]);
    shadow(c, 200, 246, 130);
    c.path("M60 226q50-4 70-50q20-50 80-50q30 0 40-40q10-34 50-34q40 2 42 36q0 24-34 28q-14 4-18 30q-4 40-30 60v34h-34v-24h-50v24h-34v-30q-40 22-82 16z", skin);
    for (x, y) in [(128, 158), (158, 130), (192, 116), (226, 112)] {
        c.path(&format!("M{} {}l10-24 16 20z", x - 12, y + 6), "#f0a526");
    }
    c.line("M290 80q8 7 16 0", INK, 4);
    c.line("M308 106q14 2 24-6", INK, 3);
    c.oval([284, 98, 8, 5], "#f28b8b66");
    c.path("M180 214q40-10 62-50q10 40-24 58z", "#fff4");
    c.words(344, 46, 20, CREAM, "z");
    c.words(364, 30, 26, CREAM, "Z");
}

fn snail(c: &mut Canvas, d: &mut Dice) {
    let shell = d.pick(&["#c9714b", "#b0603f", "#d98b5a"]);
    shadow(c, 200, 246, 130);
    c.path("M70 240q0-20 40-22h150q20-4 22-50q2-30 26-30t26 30q0 66-60 72z", "#f2cfa4");
    c.dot(186, 158, 76, shell);
    c.line("M186 158q0-16 16-16t18 20-24 30-46-12-8-60 62-26 44 66", "#fff1dd", 9);
    c.line("M300 142l-8-34M316 142l12-32", "#f2cfa4", 6);
    c.dot(291, 104, 8, INK);
    c.dot(330, 106, 8, INK);
    c.line("M304 178q8 8 16 0", INK, 3);
}

fn pinwheel(c: &mut Canvas, d: &mut Dice) {
    c.rect([196, 120, 8, 134], 4, WOOD);
    let turn = d.range(0, 80);
    for (i, at) in (0..).zip([0, 90, 180, 270]) {
        c.open(&format!("rotate({} 200 116)", at + turn));
        c.path("M200 116V36q52 6 58 58z", TOYS[i]);
        c.path("M200 116l58-22q-30-4-58 22z", "#0002");
        c.close();
    }
    c.dot(200, 116, 10, CREAM);
    for (x, y) in [(70, 90), (98, 160), (322, 70), (340, 150), (58, 200)] {
        c.line(&format!("M{x} {y}v14M{x} {y}l-9-9M{x} {y}l9-9M{x} {y}v-12"), "#fffc", 3);
    }
}

fn duck(c: &mut Canvas) {
    c.path("M0 212q34-16 66 0t66 0 66 0 66 0 66 0 80-4v92H0z", "#5aa9d6");
    c.path("M88 160q30 8 60 0q60 0 90-8q34-2 60-36q14 56-22 92-30 28-96 24-84-4-92-72z", "#f9cf45");
    c.dot(136, 112, 52, "#f9cf45");
    c.path("M92 112q-42-2-44 14q20 18 50 8z", "#ef8a3a");
    c.dot(122, 98, 7, INK);
    c.dot(124, 96, 2, "#fff");
    c.path("M186 176q50-16 76-8q-14 40-66 32z", "#e9b52e");
    c.path("M0 244q34-20 66 0t66 0 66 0 66 0 66 0 80-4v60H0z", "#7fc1e6");
    c.dot(318, 90, 16, "#fffa");
    c.dot(346, 130, 10, "#fffa");
    c.dot(296, 56, 8, "#fffa");
}

fn teddy(c: &mut Canvas, d: &mut Dice) {
    let (fur, bow) = (d.pick(&["#b9824f", "#d6a878", "#8f6a52"]), d.pick(&TOYS));
    shadow(c, 200, 254, 92);
    c.oval([200, 216, 66, 50], fur);
    c.oval([200, 222, 38, 32], "#f3dcbc");
    for x in [140, 260] {
        c.oval([x, 240, 26, 20], fur);
        c.oval([x, 242, 13, 10], "#f3dcbc");
    }
    for x in [148, 252] {
        c.dot(x, 68, 26, fur);
        c.dot(x, 68, 13, "#f3dcbc");
    }
    c.dot(200, 112, 66, fur);
    c.oval([200, 134, 30, 24], "#f3dcbc");
    c.dot(176, 106, 7, INK);
    c.dot(224, 106, 7, INK);
    c.oval([200, 124, 9, 6], INK);
    c.line("M188 140q12 10 24 0", INK, 3);
    c.path("M200 184l-34-14v30zM200 184l34-14v30z", bow);
    c.dot(200, 184, 8, bow);
}

fn tower(c: &mut Canvas, d: &mut Dice) {
    blocks(c, 110, 248, d);
    shadow(c, 258, 248, 66);
    for (i, half) in (0..).zip([64, 52, 42, 32]) {
        let y = 216 - 32 * i;
        c.rect([258 - half, y, half * 2, 30], 15, TOYS[usize::try_from(i).unwrap_or(0)]);
        c.rect([258 - half + 12, y + 6, half / 2, 6], 3, "#fff6");
    }
    c.dot(258, 102, 20, d.pick(&TOYS));
    c.dot(252, 96, 6, "#fff7");
    c.dot(186, 238, 16, d.pick(&TOYS));
}
