//! What the demo mall is stocked with: plain data, no behaviour.
//!
//! Streets and districts are real ones of Hangzhou; shops, house numbers, people and offers are
//! invented. Positions were set by hand and are good to a few hundred metres.

mod notes;
mod people;
mod shops;
mod vouchers;

pub use notes::{FOLLOWS, NOTES};
pub use people::PEOPLE;
pub use shops::SHOPS;
pub use vouchers::{OPENING_SALE, RUNNING_SALE, VOUCHERS};

/// Pictures each shop has, numbered from 1.
pub const PICTURES_PER_SHOP: u64 = 3;

/// A kind of shop, one tile on the front page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoType {
    /// From 1, in the order of [`TYPES`].
    pub id: u64,
    /// As shown.
    pub name: &'static str,
    /// Path below `/imgs`; the front end puts that prefix on by itself.
    pub icon: &'static str,
    /// Place among the tiles, smallest first.
    pub sort: i64,
}

/// A shop of the demo mall.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DemoShop {
    /// From 1 without gaps, in the order of [`SHOPS`].
    pub id: u64,
    /// The [`DemoType`] it belongs to.
    pub type_id: u64,
    /// Invented, and unique.
    pub name: &'static str,
    /// The quarter people would name when asked where it is.
    pub area: &'static str,
    /// Street and invented number.
    pub address: &'static str,
    /// Such as `10:00-22:00`; past midnight is written `18:00-02:00`.
    pub open_hours: &'static str,
    /// Longitude in degrees, WGS-84.
    pub x: f64,
    /// Latitude in degrees, WGS-84.
    pub y: f64,
    /// Whole yuan a head.
    pub avg_price: i64,
    /// Vouchers sold so far.
    pub sold: i64,
    /// Reviews so far.
    pub comments: i64,
    /// Stars times ten, 10 to 50.
    pub score: i64,
}

/// An ordinary voucher: always on the shelf, no stock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoVoucher {
    /// The [`DemoShop`] that takes it.
    pub shop_id: u64,
    /// What it is.
    pub title: &'static str,
    /// When or for whom it is good.
    pub sub_title: &'static str,
    /// One rule a line.
    pub rules: &'static str,
    /// What the buyer pays, in cents.
    pub pay_value: i64,
    /// What it is worth in the shop, in cents.
    pub actual_value: i64,
}

/// A flash sale without its hours: whoever starts the demo decides when it opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoSale {
    /// The [`DemoShop`] that takes the voucher.
    pub shop_id: u64,
    /// What it is.
    pub title: &'static str,
    /// When or for whom it is good.
    pub sub_title: &'static str,
    /// One rule a line.
    pub rules: &'static str,
    /// What the buyer pays, in cents.
    pub pay_value: i64,
    /// What it is worth in the shop, in cents.
    pub actual_value: i64,
    /// Units to begin with.
    pub stock: u64,
}

/// Somebody with an account in the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoPerson {
    /// Eleven digits, from the block 139 0000 00xx.
    pub phone: &'static str,
    /// As shown, and unique.
    pub nick_name: &'static str,
    /// Path with the `/imgs` prefix.
    pub icon: &'static str,
    /// Home town.
    pub city: &'static str,
    /// One line about themselves.
    pub introduce: &'static str,
    /// False is male, as in the API.
    pub gender: bool,
    /// `YYYY-MM-DD`.
    pub birthday: &'static str,
    /// 0 to 9.
    pub level: u8,
    /// Points collected.
    pub credits: i64,
}

/// A note by somebody in the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoNote {
    /// The author's place in [`PEOPLE`], from 1.
    pub author: usize,
    /// The [`DemoShop`] it is about.
    pub shop_id: u64,
    /// How long before the mall's first start it was written.
    pub hours_ago: u32,
    /// How many pictures it shows, 1 to 3.
    pub pictures: u64,
    /// As shown, and its author's only one of that name.
    pub title: &'static str,
    /// Lines, between `<br/>`.
    pub content: &'static str,
    /// What others said to it, the first first.
    pub comments: &'static [DemoComment],
}

/// A comment on a note of the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoComment {
    /// The author's place in [`PEOPLE`], from 1.
    pub author: usize,
    /// The place of the comment that it answers, among those of the note from 0.
    pub answers: Option<usize>,
    /// What it says.
    pub content: &'static str,
}

/// The ten kinds of shop, by [`DemoType::sort`].
pub static TYPES: [DemoType; 10] = [
    kind(1, "美食", "/types/food.svg"),
    kind(2, "KTV", "/types/ktv.svg"),
    kind(3, "丽人·美发", "/types/hair.svg"),
    kind(4, "美睫·美甲", "/types/nails.svg"),
    kind(5, "按摩·足疗", "/types/massage.svg"),
    kind(6, "美容SPA", "/types/spa.svg"),
    kind(7, "亲子游乐", "/types/kids.svg"),
    kind(8, "酒吧", "/types/bar.svg"),
    kind(9, "轰趴馆", "/types/party.svg"),
    kind(10, "健身运动", "/types/gym.svg"),
];

/// The picture paths of a shop, separated by commas, with the `/imgs` prefix.
#[must_use]
pub fn shop_images(shop: &DemoShop) -> String {
    let paths: Vec<String> =
        (1..=PICTURES_PER_SHOP).map(|n| format!("/imgs/shops/{}-{n}.svg", shop.id)).collect();
    paths.join(",")
}

/// The picture paths of the note with this number, counted from 1, separated by commas, with the `/imgs` prefix.
#[must_use]
pub fn note_images(number: u64, note: &DemoNote) -> String {
    let paths: Vec<String> = (1..=note.pictures).map(|n| format!("/imgs/notes/{number}-{n}.svg")).collect();
    paths.join(",")
}

const fn kind(id: u64, name: &'static str, icon: &'static str) -> DemoType {
    DemoType { id, name, icon, sort: id.cast_signed() }
}

#[cfg(test)]
mod tests;
