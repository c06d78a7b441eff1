//! Shops and their types.

mod copies;
mod nearby;
mod types;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{LatLng, Page, Shop, ShopArea, ShopId, ShopOrder, ShopText, ShopTypeId, Timestamp};

use tokio::sync::Semaphore;

use self::copies::Copies;
use super::cache_aside::CacheFigures;
use super::{Context, Failure, Mistake, Refusal, clean_text, picture_path};

pub use nearby::{ShopNearby, Vicinity};
pub use types::ShopTypeForm;

/// What an operator writes about a shop: what is `None` stays as it is, and is empty in a new shop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShopEdit {
    /// Its name: 1 to 128 characters. A new shop must have one.
    pub name: Option<String>,
    /// Its kind. A new shop must have one.
    pub kind: Option<ShopTypeId>,
    /// Comma-separated pictures, at most 1024 characters.
    pub images: Option<String>,
    /// The neighbourhood, at most 128 characters.
    pub area: Option<String>,
    /// The address, at most 255 characters.
    pub address: Option<String>,
    /// Longitude, -180 to 180. A new shop must have one.
    pub x: Option<f64>,
    /// Latitude, -85.05 to 85.05 ([`LatLng`]). A new shop must have one.
    pub y: Option<f64>,
    /// What one person spends on average, in whole yuan.
    pub avg_price: Option<i64>,
    /// `10:00-22:00`, at most 32 characters.
    pub open_hours: Option<String>,
    /// Sold so far.
    pub sold: Option<i64>,
    /// Comments so far.
    pub comments: Option<i64>,
    /// Stars × 10: 10 to 50, or 0 for none yet.
    pub score: Option<i64>,
}

/// What the mall tells about its shops, and lets its operators write.
///
/// A shop and the types may be answered from a copy; what an operator writes here is seen by the next reader.
pub struct ShopDirectory {
    context: Context,
    copies: Copies,
    /// Searches by name that may run at once.
    searches: Semaphore,
}

/// Shops of a type on a page.
const OF_TYPE: u32 = 5;
/// Shops by name on a page.
const BY_NAME: u32 = 10;
/// Shops that a search by name reads, since it has no index and needs no log-in: some 15 ms of a core.
const SEARCH_MAX_SHOPS: u32 = 50_000;
/// Searches by name at once: whoever floods the mall with them takes two readers of the database and no more.
const SEARCHES_AT_ONCE: usize = 2;
/// How long one waits for its turn, in real time. A request has to be answered within 1.5 s.
const SEARCH_PATIENCE: Duration = Duration::from_secs(1);
/// The longest name, in characters.
const NAME: usize = 128;
/// The largest count: hm-dianping's column.
const COUNT: i64 = 4_294_967_295;
/// The largest number that a page's JavaScript reads exactly.
const EXACT: i64 = (1 << 53) - 1;

impl ShopDirectory {
    /// The shops of a mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let searches = Semaphore::new(SEARCHES_AT_ONCE);
        Self { copies: Copies::of(&context.storage), context, searches }
    }

    /// A shop.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Busy`] while the record is slow.
    pub async fn get(&self, shop: ShopId, now: Timestamp) -> Result<Shop, Failure> {
        let found = self.context.copies.shops.get_listed(&self.copies.ids, shop, now).await?;
        Ok(found.ok_or(Refusal::NotFound("shop"))?)
    }

    /// The neighbourhoods with the most shops, 100 at the most, and where those are: as some minutes ago, half an hour at
    /// the most.
    ///
    /// # Errors
    /// [`Refusal::Busy`] while the record is slow and there is no copy; or the store is in trouble.
    pub async fn areas(&self, now: Timestamp) -> Result<Vec<ShopArea>, Failure> {
        Ok(self.copies.areas.get((), now).await?.map(|areas| areas.0).unwrap_or_default())
    }

    /// What has been counted about the copies.
    #[must_use]
    pub fn cache_figures(&self) -> [Arc<CacheFigures>; 3] {
        [self.context.copies.shops.figures(), self.copies.types.figures(), self.copies.areas.figures()]
    }

    /// Adds a shop.
    ///
    /// # Errors
    /// [`Mistake::Missing`], [`Mistake::OutOfRange`] with the value's name; [`Refusal::NotFound`] for its type.
    pub async fn add(&self, edit: &ShopEdit, now: Timestamp) -> Result<ShopId, Failure> {
        let text = edit.applied(edit.blank()?)?;
        self.check_type(text.kind).await?;
        let shop = self.context.storage.shops.insert(&text, now).await?;
        // Somebody may have asked for it too early.
        self.context.copies.shops.changed(&[shop]).await;
        self.place(shop).await;
        Ok(shop)
    }

    /// Changes a shop. Addresses of pictures that an own page was shown as paths stay addresses.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`Refusal::NotFound`] for the shop; nothing changed then.
    pub async fn update(&self, shop: ShopId, edit: &ShopEdit, now: Timestamp) -> Result<(), Failure> {
        let shops = &self.context.storage.shops;
        let before = shops.get(shop).await?.ok_or(Refusal::NotFound("shop"))?;
        let text = edit.applied(before.text)?;
        if edit.kind.is_some() {
            self.check_type(text.kind).await?;
        }
        let updated = shops.update(shop, &text, now).await;
        // Also if no answer came: it may have been written.
        self.context.copies.shops.changed(&[shop]).await;
        if !updated? {
            return Err(Refusal::NotFound("shop").into());
        }
        self.place(shop).await;
        Ok(())
    }

    async fn check_type(&self, kind: ShopTypeId) -> Result<(), Failure> {
        if self.context.storage.shops.types().await?.iter().any(|known| known.id == kind) {
            Ok(())
        } else {
            Err(Refusal::NotFound("shop type").into())
        }
    }

    /// Shops of a type, five a page; `None` for all types. An unknown type has none.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: u32,
    ) -> Result<Vec<Shop>, Failure> {
        Ok(self.context.storage.shops.of_type(kind, order, Page::new(page, OF_TYPE)).await?)
    }

    /// Shops whose name contains `part`, ten a page; all for an empty one. Searches the first 50,000 shops.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if too many search at once; or the store is in trouble.
    pub async fn by_name(&self, part: &str, page: u32) -> Result<Vec<Shop>, Failure> {
        let part = part.trim();
        if part.chars().count() > NAME {
            return Ok(Vec::new());
        }
        let turn = tokio::time::timeout(SEARCH_PATIENCE, self.searches.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(Refusal::Busy.into()) };
        Ok(self.context.storage.shops.by_name(part, SEARCH_MAX_SHOPS, Page::new(page, BY_NAME)).await?)
    }
}

impl ShopEdit {
    /// A shop with what it must have and nothing else.
    fn blank(&self) -> Result<ShopText, Mistake> {
        Ok(ShopText {
            name: self.name.clone().ok_or(Mistake::Missing("name"))?,
            kind: self.kind.ok_or(Mistake::Missing("typeId"))?,
            x: self.x.ok_or(Mistake::Missing("x"))?,
            y: self.y.ok_or(Mistake::Missing("y"))?,
            images: String::new(),
            area: String::new(),
            address: String::new(),
            avg_price: None,
            open_hours: String::new(),
            sold: 0,
            comments: 0,
            score: 0,
        })
    }

    /// `text` with this edit, if every value that the edit brings is allowed.
    fn applied(&self, mut text: ShopText) -> Result<ShopText, Mistake> {
        put_line(&mut text.name, "name", self.name.as_deref(), NAME)?;
        if text.name.is_empty() {
            return Err(Mistake::Missing("name"));
        }
        if let Some(images) = &self.images {
            text.images = pictures(&picture_path::restored(images, &text.images))?;
        }
        put_line(&mut text.area, "area", self.area.as_deref(), 128)?;
        put_line(&mut text.address, "address", self.address.as_deref(), 255)?;
        put_line(&mut text.open_hours, "openHours", self.open_hours.as_deref(), 32)?;
        text.kind = self.kind.unwrap_or(text.kind);
        text.x = within("x", self.x, -LatLng::MAX_LNG, LatLng::MAX_LNG)?.unwrap_or(text.x);
        text.y = within("y", self.y, -LatLng::MAX_LAT, LatLng::MAX_LAT)?.unwrap_or(text.y);
        text.avg_price = within("avgPrice", self.avg_price, 0, EXACT)?.or(text.avg_price);
        text.sold = within("sold", self.sold, 0, COUNT)?.unwrap_or(text.sold);
        text.comments = within("comments", self.comments, 0, COUNT)?.unwrap_or(text.comments);
        text.score = match self.score {
            Some(0) => 0,
            score => within("score", score, 10, 50)?.unwrap_or(text.score),
        };
        Ok(text)
    }
}

fn put_line(
    place: &mut String,
    name: &'static str,
    new: Option<&str>,
    most_chars: usize,
) -> Result<(), Mistake> {
    if let Some(new) = new {
        let clean = clean_text::line(new);
        if clean.chars().count() > most_chars {
            return Err(Mistake::OutOfRange(name));
        }
        *place = clean;
    }
    Ok(())
}

/// Not a number is within nothing.
fn within<N: PartialOrd>(
    name: &'static str,
    new: Option<N>,
    least: N,
    most: N,
) -> Result<Option<N>, Mistake> {
    match new {
        Some(number) if !(least <= number && number <= most) => Err(Mistake::OutOfRange(name)),
        other => Ok(other),
    }
}

/// Paths or addresses of pictures, as they are, if they can stand in an attribute of a page.
fn pictures(text: &str) -> Result<String, Mistake> {
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\');
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let fit =
        |part: &&str| part.starts_with('/') || part.starts_with("https://") || part.starts_with("http://");
    let shown: Vec<String> = parts.iter().map(|part| as_asked_for(part)).collect();
    let joined = shown.join(",");
    if !parts.iter().all(fit) || joined.contains(odd) || joined.chars().count() > 1024 {
        return Err(Mistake::OutOfRange("images"));
    }
    Ok(joined)
}

/// Pages ask for a shop's pictures as they stand there, and an upload is answered by its name below `/imgs`.
fn as_asked_for(path: &str) -> String {
    let before = if path.starts_with("/blogs/") { "/imgs" } else { "" };
    format!("{before}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit() -> ShopEdit {
        ShopEdit {
            name: Some("103茶餐厅".to_owned()),
            kind: Some(ShopTypeId::new(1)),
            x: Some(120.149993),
            y: Some(30.334229),
            ..ShopEdit::default()
        }
    }

    fn added(edit: &ShopEdit) -> Result<ShopText, Mistake> {
        edit.applied(edit.blank()?)
    }

    #[test]
    fn a_new_shop_needs_name_type_and_place() {
        assert_eq!(added(&edit()).unwrap().name, "103茶餐厅");
        assert_eq!(added(&ShopEdit { name: None, ..edit() }), Err(Mistake::Missing("name")));
        assert_eq!(added(&ShopEdit { name: Some(" \n ".into()), ..edit() }), Err(Mistake::Missing("name")));
        assert_eq!(added(&ShopEdit { kind: None, ..edit() }), Err(Mistake::Missing("typeId")));
        assert_eq!(added(&ShopEdit { x: None, ..edit() }), Err(Mistake::Missing("x")));
        assert_eq!(added(&ShopEdit { y: None, ..edit() }), Err(Mistake::Missing("y")));
    }

    #[test]
    fn every_value_has_its_range() {
        let bad: Vec<(&str, ShopEdit)> = vec![
            ("name", ShopEdit { name: Some("x".repeat(129)), ..edit() }),
            ("area", ShopEdit { area: Some("x".repeat(129)), ..edit() }),
            ("address", ShopEdit { address: Some("x".repeat(256)), ..edit() }),
            ("openHours", ShopEdit { open_hours: Some("x".repeat(33)), ..edit() }),
            ("images", ShopEdit { images: Some(format!("/{}", "x".repeat(1024))), ..edit() }),
            ("images", ShopEdit { images: Some("/a.png,javascript:x".into()), ..edit() }),
            ("images", ShopEdit { images: Some("/a\"onerror=x".into()), ..edit() }),
            ("x", ShopEdit { x: Some(180.01), ..edit() }),
            ("x", ShopEdit { x: Some(f64::NAN), ..edit() }),
            ("y", ShopEdit { y: Some(-85.06), ..edit() }),
            ("avgPrice", ShopEdit { avg_price: Some(-1), ..edit() }),
            ("sold", ShopEdit { sold: Some(-1), ..edit() }),
            ("comments", ShopEdit { comments: Some(COUNT + 1), ..edit() }),
            ("score", ShopEdit { score: Some(9), ..edit() }),
            ("score", ShopEdit { score: Some(51), ..edit() }),
        ];
        for (name, edit) in bad {
            assert_eq!(added(&edit), Err(Mistake::OutOfRange(name)), "{edit:?}");
        }
        let ends = ShopEdit {
            name: Some("字".repeat(128)),
            x: Some(-180.0),
            y: Some(85.05),
            score: Some(50),
            sold: Some(COUNT),
            avg_price: Some(0),
            images: Some(" /imgs/a.jpg , https://example.org/b c.jpg,".into()),
            ..edit()
        };
        let text = added(&ends).unwrap();
        assert_eq!((text.x, text.y, text.score), (-180.0, 85.05, 50));
        assert_eq!(text.images, "/imgs/a.jpg,https://example.org/b c.jpg");
        let uploaded = ShopEdit { images: Some("/blogs/1/2/a.jpg,/imgs/blogs/1/2/b.jpg".into()), ..edit() };
        assert_eq!(added(&uploaded).unwrap().images, "/imgs/blogs/1/2/a.jpg,/imgs/blogs/1/2/b.jpg");
        assert_eq!(added(&ShopEdit { score: Some(0), ..edit() }).unwrap().score, 0);
    }

    #[test]
    fn what_an_edit_leaves_out_stays() {
        let all = ShopEdit {
            images: Some("/a.png".into()),
            area: Some("大关".into()),
            address: Some("金华路29号".into()),
            avg_price: Some(80),
            open_hours: Some("10:00-22:00".into()),
            sold: Some(42),
            comments: Some(7),
            score: Some(37),
            ..edit()
        };
        let before = added(&all).unwrap();
        assert_eq!(ShopEdit::default().applied(before.clone()).unwrap(), before);
        let after =
            ShopEdit { area: Some(String::new()), ..ShopEdit::default() }.applied(before.clone()).unwrap();
        assert_eq!(after, ShopText { area: String::new(), ..before });
    }

    #[test]
    fn texts_are_stored_as_they_were_written() {
        let text = added(&ShopEdit { name: Some("<i>茶</i> < 餐厅".into()), ..edit() }).unwrap();
        assert_eq!(text.name, "<i>茶</i> < 餐厅");
    }
}
