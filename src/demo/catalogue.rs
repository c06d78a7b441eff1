//! The content of the demo mall: plain data, no behaviour.
//!
//! Streets and districts are real and in Hangzhou; shops, house numbers, people and offers are invented.
//! Positions were set by hand and are accurate to a few hundred metres.

mod notes;
mod people;
mod reviews;
mod shops;
mod vouchers;

pub use notes::{FOLLOWS, NOTES};
pub use people::PEOPLE;
pub use reviews::REVIEWS;
pub use shops::SHOPS;
pub use vouchers::{OPENING_SALE, RUNNING_SALE, VOUCHERS};

/// Pictures per shop, numbered from 1.
pub const PICTURES_PER_SHOP: u64 = 3;

/// A type of shop, one tile on the home page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoType {
    /// From 1, in the order of [`TYPES`].
    pub id: u64,
    /// Name shown on the tile.
    pub name: &'static str,
    /// Path below `/imgs`; the front end adds the prefix itself.
    pub icon: &'static str,
    /// Position among the tiles, ascending.
    pub sort: i64,
}

/// A shop of the demo mall.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DemoShop {
    /// From 1 without gaps, in the order of [`SHOPS`].
    pub id: u64,
    /// Id of the shop's [`DemoType`].
    pub type_id: u64,
    /// Invented and unique.
    pub name: &'static str,
    /// Quarter of the city, as locals call it.
    pub area: &'static str,
    /// Street and invented house number.
    pub address: &'static str,
    /// Opening hours such as `10:00-22:00`; times past midnight as in `18:00-02:00`.
    pub open_hours: &'static str,
    /// Longitude in degrees, WGS-84.
    pub x: f64,
    /// Latitude in degrees, WGS-84.
    pub y: f64,
    /// Average price per head, in whole yuan.
    pub avg_price: i64,
    /// Number of vouchers sold.
    pub sold: i64,
    /// Number of reviews that the shop brought along, beside those of [`REVIEWS`].
    pub comments: i64,
    /// Their mean, stars times ten, 10 to 50.
    pub score: i64,
}

/// An ordinary voucher: always on the shelf, no stock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoVoucher {
    /// Id of the [`DemoShop`] that accepts the voucher.
    pub shop_id: u64,
    /// Title of the voucher.
    pub title: &'static str,
    /// Restrictions on time or customers.
    pub sub_title: &'static str,
    /// Rules, one per line.
    pub rules: &'static str,
    /// Price paid by the buyer, in cents.
    pub pay_value: i64,
    /// Value in the shop, in cents.
    pub actual_value: i64,
}

/// A flash sale without times: [`seed`](super::seed::seed) sets them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoSale {
    /// Id of the [`DemoShop`] that accepts the voucher.
    pub shop_id: u64,
    /// Title of the voucher.
    pub title: &'static str,
    /// Restrictions on time or customers.
    pub sub_title: &'static str,
    /// Rules, one per line.
    pub rules: &'static str,
    /// Price paid by the buyer, in cents.
    pub pay_value: i64,
    /// Value in the shop, in cents.
    pub actual_value: i64,
    /// Initial stock, in units.
    pub stock: u64,
}

/// A user with an account in the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoPerson {
    /// Eleven digits, from the block 139 0000 00xx.
    pub phone: &'static str,
    /// Unique display name.
    pub nick_name: &'static str,
    /// Path with the `/imgs` prefix.
    pub icon: &'static str,
    /// Home town, for the profile.
    pub city: &'static str,
    /// Self-description in one line.
    pub introduce: &'static str,
    /// False is male, as in the API.
    pub gender: bool,
    /// Date as `YYYY-MM-DD`.
    pub birthday: &'static str,
    /// Points for the profile.
    pub credits: i64,
}

/// A note by a user of the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoNote {
    /// Position of the author in [`PEOPLE`], from 1.
    pub author: usize,
    /// Id of the [`DemoShop`] the note is about.
    pub shop_id: u64,
    /// Age of the note at the mall's first start, in hours.
    pub hours_ago: u32,
    /// Number of pictures, 1 to 3.
    pub pictures: u64,
    /// Title; unique among the author's notes.
    pub title: &'static str,
    /// Lines, separated by `<br/>`.
    pub content: &'static str,
    /// Comments by other users, oldest first.
    pub comments: &'static [DemoComment],
}

/// A comment on a note of the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoComment {
    /// Position of the author in [`PEOPLE`], from 1.
    pub author: usize,
    /// Index of the comment replied to, among the note's comments, from 0.
    pub reply_to: Option<usize>,
    /// Text of the comment.
    pub content: &'static str,
}

/// A review of a shop of the demo mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DemoReview {
    /// Id of the [`DemoShop`].
    pub shop_id: u64,
    /// Position of the author in [`PEOPLE`], from 1.
    pub author: usize,
    /// Age of the review at the mall's first start, in days.
    pub days_ago: u32,
    /// Stars times ten, 10 to 50 in steps of 5.
    pub score: i64,
    /// Average price per head, in whole yuan.
    pub average_yuan: i64,
    /// What the review praises.
    pub praises: &'static [Praise],
    /// Number of the shop's pictures shown.
    pub pictures: usize,
    /// Number of users who find the review helpful: the first ones other than the author.
    pub votes: usize,
    /// Text of the review.
    pub content: &'static str,
    /// Reply of the shop; `""` for none.
    pub reply: &'static str,
}

/// What a review of the demo mall praises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Praise {
    /// The taste.
    Taste,
    /// The environment.
    Environment,
    /// The service.
    Service,
}

/// The ten types of shop, by [`DemoType::sort`].
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

/// Returns the paths of a shop's pictures, separated by commas, with the `/imgs` prefix.
#[must_use]
pub fn shop_images(shop: &DemoShop) -> String {
    let paths: Vec<String> =
        (1..=PICTURES_PER_SHOP).map(|n| format!("/imgs/shops/{}-{n}.svg", shop.id)).collect();
    paths.join(",")
}

/// Returns the paths of the pictures of note `number`, counted from 1, separated by commas, with the `/imgs`
/// prefix.
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
