//! What tells the kinds of shop apart: a palette, a pictogram, an inside, a detail.

use super::super::catalogue::DemoShop;
use super::canvas::Canvas;
use super::dice::Dice;

/// Off-white of paper, walls and lettering.
pub(super) const CREAM: &str = "#fffaf2";
/// Near-black for eyes and thin lines.
pub(super) const INK: &str = "#2d2b33";
/// Leaves, the same in every palette.
pub(super) const LEAF: &str = "#5f9a6b";
/// Leaves in shade.
pub(super) const LEAF_DARK: &str = "#3f7a55";
/// Wood of tables and shelves.
pub(super) const WOOD: &str = "#c89b6d";
/// Wood in shade.
pub(super) const WOOD_DARK: &str = "#8f6642";

/// Six colours that get on with each other.
pub(super) struct Palette {
    /// Darkest: night skies, lettering.
    pub(super) deep: &'static str,
    /// The kind's own colour.
    pub(super) main: &'static str,
    /// Its lighter brother.
    pub(super) soft: &'static str,
    /// Nearly white.
    pub(super) pale: &'static str,
    /// The contrast.
    pub(super) accent: &'static str,
    /// A light tone that can be told from cream upon `main`.
    pub(super) light: &'static str,
}

/// How one kind of shop is drawn.
pub(super) struct Theme {
    pub(super) palette: Palette,
    /// Draws the pictogram into 48 by 48, in two colours.
    pub(super) glyph: fn(&mut Canvas, &str, &str),
    /// Draws the room.
    pub(super) inside: fn(&mut Canvas, &Palette, &mut Dice),
    /// Draws what the shop is about, from close by.
    pub(super) detail: fn(&mut Canvas, &DemoShop, &Palette, &mut Dice),
    /// Whether its fronts are mostly seen by night.
    pub(super) is_nocturnal: bool,
}
