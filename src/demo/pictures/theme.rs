//! Themes of the shop types: a palette, a pictogram, an interior, a detail.

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

/// Six matching colours.
pub(super) struct Palette {
    /// Darkest: night skies, lettering.
    pub(super) deep: &'static str,
    /// Main colour of the type.
    pub(super) main: &'static str,
    /// Lighter variant of `main`.
    pub(super) soft: &'static str,
    /// Nearly white tone.
    pub(super) pale: &'static str,
    /// Second colour, in contrast to the main colour.
    pub(super) accent: &'static str,
    /// Light tone, distinguishable from cream on `main`.
    pub(super) light: &'static str,
}

/// Drawing functions and colours of a shop type.
pub(super) struct Theme {
    pub(super) palette: Palette,
    /// Draws the pictogram into 48 by 48, in two colours.
    pub(super) glyph: fn(&mut Canvas, &str, &str),
    /// Draws the interior.
    pub(super) inside: fn(&mut Canvas, &Palette, &mut Dice),
    /// Draws a close-up of a typical product.
    pub(super) detail: fn(&mut Canvas, &DemoShop, &Palette, &mut Dice),
    /// Whether most fronts are drawn at night.
    pub(super) is_nocturnal: bool,
}
