//! The demo mall's pictures, drawn by code: no image files, and nothing under foreign copyright.
//!
//! A picture is a pure function of its path. The shop's id is the seed; the shop's type selects palette and
//! motifs (`pictures/food.rs` and nine sister modules). A shop therefore looks identical in every mall.

mod bar;
mod canvas;
mod dice;
mod dishes;
mod faces;
mod food;
mod front;
mod gym;
mod hair;
mod kids;
mod ktv;
mod massage;
mod nails;
mod party;
mod props;
mod spa;
mod street;
mod theme;

use self::canvas::Canvas;
use self::dice::Dice;
use self::theme::Theme;
use super::catalogue::{DemoNote, DemoShop, NOTES, PEOPLE, SHOPS, TYPES};

/// Returns the SVG of a path without the `/imgs` prefix, such as `/types/food.svg`, `/shops/12-1.svg`,
/// `/notes/3-1.svg` or `/icons/3.svg`; `None` for any other path.
#[must_use]
pub fn picture(path: &str) -> Option<String> {
    if let Some(kind) = TYPES.iter().find(|t| t.icon == path) {
        return Some(type_icon(theme(kind.id)?));
    }
    let name = path.strip_suffix(".svg")?;
    if let Some(number) = name.strip_prefix("/icons/") {
        return faces::face(plain_number(number)?);
    }
    if let Some(name) = name.strip_prefix("/notes/") {
        let (number, scene) = name.split_once('-')?;
        let (number, scene) = (plain_number(number)?, plain_number(scene)?);
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        return note_picture(number, NOTES.get(place)?, scene);
    }
    let (shop, scene) = name.strip_prefix("/shops/")?.split_once('-')?;
    let (id, scene) = (plain_number(shop)?, plain_number(scene)?);
    shop_picture(SHOPS.iter().find(|s| s.id == id)?, scene)
}

/// Returns the SVG shown in place of a missing picture.
#[must_use]
pub fn placeholder() -> String {
    let mut c = Canvas::new(400, 300);
    c.rect([0, 0, 400, 300], 0, "#eef1f2");
    c.path("M0 300V232c60-52 116-58 176-18s136 22 224-44v130z", "#dfe5e7");
    c.dot(318, 74, 24, "#f7e3c1");
    c.rect([134, 92, 132, 104], 16, "#fff");
    c.rect([146, 104, 108, 80], 8, "#d5e3e6");
    c.path("M146 176l32-34 24 22 22-28 30 40v0q0 8-8 8h-92q-8 0-8-8z", "#9dbbc1");
    c.dot(174, 126, 9, "#fff");
    c.line("M184 92l16-22 16 22", "#b9c8cc", 4);
    c.dot(200, 69, 5, "#b9c8cc");
    c.words(200, 234, 17, "#8a9a9f", "暂无图片");
    c.finish()
}

/// Returns the theme of a `DemoType`.
fn theme(type_id: u64) -> Option<&'static Theme> {
    Some(match type_id {
        1 => &food::THEME,
        2 => &ktv::THEME,
        3 => &hair::THEME,
        4 => &nails::THEME,
        5 => &massage::THEME,
        6 => &spa::THEME,
        7 => &kids::THEME,
        8 => &bar::THEME,
        9 => &party::THEME,
        10 => &gym::THEME,
        _ => return None,
    })
}

/// Draws a round-cornered tile with the type's pictogram.
fn type_icon(theme: &Theme) -> String {
    let p = &theme.palette;
    let mut c = Canvas::new(96, 96);
    c.rect([2, 2, 92, 92], 28, p.main);
    c.path("M2 62c26-16 60 14 92-14v18a28 28 0 0 1-28 28H30A28 28 0 0 1 2 66z", "#0001");
    c.open("translate(17 17) scale(1.3)");
    (theme.glyph)(&mut c, "#fffaf2", p.light);
    c.close();
    c.finish()
}

/// Draws a shop picture: scene 1 is the front, 2 the interior, 3 a detail.
fn shop_picture(shop: &DemoShop, scene: u64) -> Option<String> {
    let theme = theme(shop.type_id)?;
    let mut c = Canvas::new(400, 300);
    // Each scene has its own seed: a change to one leaves the others unchanged.
    let mut d = Dice::new(shop.id * 8 + scene);
    match scene {
        1 => front::front(&mut c, shop, theme, &mut d),
        2 => (theme.inside)(&mut c, &theme.palette, &mut d),
        3 => (theme.detail)(&mut c, shop, &theme.palette, &mut d),
        _ => return None,
    }
    Some(c.finish())
}

/// Draws a guest's photograph with the author's name in the corner: scene 1 is a detail, 2 the interior, 3
/// the front.
fn note_picture(number: u64, note: &DemoNote, scene: u64) -> Option<String> {
    let shop = SHOPS.iter().find(|shop| shop.id == note.shop_id)?;
    let (theme, author) = (theme(shop.type_id)?, PEOPLE.get(note.author.checked_sub(1)?)?);
    let mut c = Canvas::new(400, 300);
    // A different seed from the shop's own pictures.
    let mut d = Dice::new(10_000 + number * 8 + scene);
    match scene {
        _ if scene > note.pictures => return None,
        1 => (theme.detail)(&mut c, shop, &theme.palette, &mut d),
        2 => (theme.inside)(&mut c, &theme.palette, &mut d),
        3 => front::front(&mut c, shop, theme, &mut d),
        _ => return None,
    }
    c.rect([240, 268, 152, 24], 12, "#0007");
    c.words(316, 285, 13, theme::CREAM, &format!("@{}", author.nick_name));
    Some(c.finish())
}

/// Parses a decimal number in canonical form. `+1` and `01` are refused, as they would give one picture
/// several addresses.
fn plain_number(digits: &str) -> Option<u64> {
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests;
