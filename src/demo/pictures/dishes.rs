//! Close-ups for 美食: one drawing per dish.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;
use super::props::{close_up, steam};
use super::theme::{CREAM, LEAF, Palette, WOOD, WOOD_DARK};

/// Draws the dish promised by the shop's name, or a general dish.
pub(super) fn detail(c: &mut Canvas, shop: &DemoShop, p: &Palette, d: &mut Dice) {
    close_up(c, p, d);
    c.oval([200, 238, 150, 22], "#0002");
    match shop.name {
        n if n.contains("面馆") || n.ends_with('面') => noodles(c, p, d),
        n if n.contains("小笼") => steamer(c, p),
        n if n.contains('粥') || n.contains("汤团") => bowl(c, p, d),
        n if n.contains("烧烤") => skewers(c, p, d),
        n if n.contains("抹茶") => tea(c),
        n if n.contains('椒') || n.contains('灶') => hotpot(c, d),
        n if n.contains('鲫') || n.contains('荷') => fish(c, p, d),
        _ => rice(c, p),
    }
}

fn noodles(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    steam(c, 200, 62);
    c.line("M246 132L338 40M262 140L356 56", WOOD_DARK, 7);
    c.oval([200, 140, 124, 36], CREAM);
    c.oval([200, 140, 112, 29], d.pick(&["#e9b167", "#d98b4f", "#f0d9a6"]));
    c.line(
        "M112 138q22-20 44 0t44 0 44 0 40-2M122 148q22-16 44 0t44 0 44 0M132 130q22-14 44 0t44 0 40-2",
        "#fff1cd",
        6,
    );
    c.oval([152, 136, 24, 12], "#fff");
    c.oval([152, 135, 11, 7], "#f6b73c");
    c.path("M222 128l44 6 -4 12 -44 -6z", "#a9503a");
    c.path("M214 140l46 8 -4 10 -46 -8z", "#c06a4e");
    c.line("M186 122l10 6M204 118l8 8M176 152l12-4", LEAF, 5);
    c.path("M76 140q0 96 92 100h64q92-4 92-100q-30 36-124 36T76 140z", p.main);
    c.path("M84 168q16 24 116 24t116-24l-6 16q-24 22-110 22T90 184z", "#fff5");
    c.rect([160, 236, 80, 10], 5, p.deep);
}

fn steamer(c: &mut Canvas, p: &Palette) {
    steam(c, 200, 74);
    for (y, shade) in [(196, "#c99a5f"), (152, "#d8ad73")] {
        c.rect([88, y, 224, 46], 10, shade);
        c.rect([88, y + 12, 224, 4], 0, "#0001");
        c.rect([88, y + 32, 224, 4], 0, "#0001");
        c.rect([84, y - 4, 232, 10], 5, WOOD_DARK);
    }
    for (x, y) in [(140, 128), (200, 120), (260, 128), (170, 140), (230, 140)] {
        c.path(&format!("M{} {}q2 -34 34 -36q32 2 34 36q-34 10 -68 0z", x - 34, y + 18), CREAM);
        c.line(
            &format!("M{x} {}v8M{} {}l-8 8M{} {}l8 8", y - 14, x - 6, y - 12, x + 6, y - 12),
            "#d9c6a8",
            3,
        );
    }
    c.rect([84, 144, 232, 14], 6, WOOD);
    c.oval([338, 240, 30, 10], "#fff");
    c.oval([338, 238, 22, 6], p.deep);
}

fn bowl(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    steam(c, 200, 78);
    c.oval([200, 152, 116, 30], "#fff");
    c.oval([200, 152, 104, 24], "#f5ead2");
    for (x, y) in [(146, 150), (186, 160), (178, 142), (222, 150), (254, 156), (214, 164)] {
        c.dot(x, y, 14, d.pick(&["#fff", "#fff", "#f7d7c4", "#dcebc6"]));
        c.dot(x - 4, y - 5, 4, "#fffc");
    }
    for _ in 0..9 {
        let (x, y) = (d.range(130, 270), d.range(138, 168));
        c.dot(x, y, 3, "#eda63a");
    }
    c.path("M84 152q2 82 88 90h56q86-8 88-90q-26 32-116 32T84 152z", p.accent);
    c.line("M104 196q30 20 96 20t96-20", CREAM, 4);
    c.rect([164, 238, 72, 9], 4, p.deep);
    c.path("M276 142q40-50 62-64q14-2 12 12q-22 24-62 60z", "#fff");
}

fn skewers(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    c.rect([66, 196, 268, 44], 10, "#4b4a52");
    c.rect([76, 200, 248, 14], 5, "#e8683a");
    c.rect([90, 203, 60, 7], 3, "#f9b24a");
    c.rect([214, 203, 80, 7], 3, "#f9b24a");
    for i in 0..5 {
        let x = 104 + i * 48;
        c.open(&format!("rotate({} {x} 150)", (i - 2) * 4));
        c.rect([x - 2, 60, 4, 176], 2, WOOD);
        for k in 0..4 {
            let fill = d.pick(&["#a9503a", "#c0693f", LEAF, "#e2574c", "#e9b167"]);
            c.rect([x - 14, 76 + k * 31, 28, 26], 9, fill);
            c.rect([x - 9, 81 + k * 31, 6, 12], 3, "#fff3");
        }
        c.close();
    }
    steam(c, 200, 56);
    c.dot(352, 236, 12, p.light);
}

fn tea(c: &mut Canvas) {
    steam(c, 178, 86);
    c.path("M86 120h184q2 92-56 114h-72q-58-22-56-114z", "#3f3f45");
    c.oval([178, 120, 92, 24], "#55555d");
    c.oval([178, 121, 82, 19], "#8fb65a");
    c.line("M122 120q26-12 56 0t54-4", "#b9d488", 5);
    c.line("M106 152q4 38 26 56", "#fff3", 6);
    c.rect([302, 190, 44, 44], 6, "#e8cf9f");
    c.path("M306 190l-8-62h52l-8 62z", "#d8b67a");
    c.line("M308 130l6 58M316 130l3 58M324 130v58M332 130l-3 58M340 130l-6 58", "#a98450", 2);
    c.dot(84, 230, 14, "#f7c7cf");
    c.dot(56, 232, 14, "#fff6e4");
    c.dot(70, 214, 14, "#bcd597");
}

fn hotpot(c: &mut Canvas, d: &mut Dice) {
    steam(c, 200, 70);
    c.oval([200, 150, 140, 44], "#9aa0a8");
    c.oval([200, 148, 128, 37], "#c9352b");
    c.path("M200 111c60 0 128 14 128 37s-68 37-128 37q-34-18 0-37t0-37z", "#f3d9a8");
    for _ in 0..11 {
        let (x, y, turn) = (d.range(92, 176), d.range(128, 166), d.range(0, 170));
        c.open(&format!("translate({x} {y}) rotate({turn})"));
        c.path("M-11 0q11-9 22 0q-11 4-22 0z", "#7d1712");
        c.close();
    }
    for _ in 0..7 {
        let (x, y) = (d.range(230, 306), d.range(132, 164));
        c.dot(x, y, 7, d.pick(&["#fff", LEAF, "#f0b54d"]));
    }
    c.path("M60 152q8 84 96 92h88q88-8 96-92q-40 42-140 42T60 152z", "#7c828b");
    c.path("M72 178q30 34 128 34t128-34l-6 14q-34 34-122 34T78 192z", "#fff3");
    c.rect([30, 150, 34, 14], 7, "#5d636b");
    c.rect([336, 150, 34, 14], 7, "#5d636b");
}

fn fish(c: &mut Canvas, p: &Palette, d: &mut Dice) {
    let skin = d.pick(&["#8796a3", "#b5713f", p.accent]);
    steam(c, 200, 84);
    c.oval([200, 190, 158, 50], "#fff");
    c.oval([200, 188, 134, 38], p.light);
    c.path("M84 186q60-54 150-34q30 6 44 26l46-26q-6 34 2 62l-48-22q-60 44-140 26q-36-8-54-32z", skin);
    c.path("M84 186q60-54 150-34q-60 4-150 34z", "#fff3");
    c.dot(114, 180, 6, "#fff");
    c.dot(114, 180, 3, "#222");
    c.line("M146 168q14 18 0 42M176 172q8 10 0 22M204 168q8 12 0 26M232 174q8 8 0 18", "#fff6", 4);
    c.line("M150 158l30 14M172 150l20 18M206 152l22 12M190 208l26-8", "#f7e08a", 4);
    c.line("M160 200l24 8M226 204l20-8", "#d8402f", 5);
}

fn rice(c: &mut Canvas, p: &Palette) {
    steam(c, 132, 106);
    c.path("M70 168q8-46 62-46t62 46z", "#fff");
    c.path("M60 166h144q-4 70-52 76h-40q-48-6-52-76z", p.main);
    c.rect([60, 164, 144, 9], 4, CREAM);
    c.path("M216 206h140q-8 34-46 36h-48q-38-2-46-36z", p.accent);
    c.path("M222 206q10-52 64-56q52 4 64 56z", "#a9503a");
    c.line("M246 186q10-18 24-22M286 176q14-2 26 10M262 198q20-8 40-2", "#d98a5f", 6);
    c.line("M282 160l12 8M306 172l8 8M250 176l8-4", LEAF, 5);
    c.line("M92 122L40 52M106 118L60 44", WOOD_DARK, 6);
}
