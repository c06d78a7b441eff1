//! Shops and shop types.

mod caches;
mod nearby;
mod types;
mod warm_up;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{LatLng, Page, Shop, ShopArea, ShopId, ShopOrder, ShopText, ShopTypeId, Timestamp};

use tokio::sync::Semaphore;

use self::caches::ShopCaches;
use crate::mall::base::cache_aside::CacheMetrics;
use crate::mall::base::{Context, Failure, InputError, Refusal, clean_text, picture_path};

pub use nearby::{NearbyRequest, ShopNearby};
pub use types::ShopTypeForm;

/// An operator's edit of a shop. `None` leaves a field unchanged, or empty in a new shop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShopEdit {
    /// Name, 1 to 128 characters. Required for a new shop.
    pub name: Option<String>,
    /// Shop type. Required for a new shop.
    pub kind: Option<ShopTypeId>,
    /// Comma-separated pictures, at most 1024 characters.
    pub images: Option<String>,
    /// Neighbourhood, at most 128 characters.
    pub area: Option<String>,
    /// Address, at most 255 characters.
    pub address: Option<String>,
    /// Longitude, -180 to 180. Required for a new shop.
    pub x: Option<f64>,
    /// Latitude, -85.05 to 85.05 ([`LatLng`]). Required for a new shop.
    pub y: Option<f64>,
    /// Average spending per person, in whole yuan.
    pub avg_price: Option<i64>,
    /// Opening hours such as `10:00-22:00`, at most 32 characters.
    pub open_hours: Option<String>,
    /// Number of units sold so far.
    pub sold: Option<i64>,
    /// Number of comments so far.
    pub comments: Option<i64>,
    /// Stars × 10: 10 to 50, or 0 for none yet.
    pub score: Option<i64>,
}

/// The service for shops and shop types, for readers and operators.
///
/// Shops and types may be served from a cache; an operator's change is visible to the next reader.
pub struct Shops {
    context: Context,
    copies: ShopCaches,
    /// Limits concurrent searches by name.
    searches: Semaphore,
}

/// Shops per page of a list by type.
const OF_TYPE: u32 = 5;
/// Shops per page of a search by name.
const BY_NAME: u32 = 10;
/// Maximum number of shops read by a search by name, which has no index and needs no login: about 15 ms of a
/// core.
const SEARCH_MAX_SHOPS: u32 = 50_000;
/// Maximum number of concurrent searches by name: a flood of searches occupies only two readers of the
/// database.
const SEARCHES_AT_ONCE: usize = 2;
/// Longest wait for a search slot, in real time. A request must get its response within 1.5 s.
const SEARCH_WAIT_MAX: Duration = Duration::from_secs(1);
/// Maximum length of a name, in characters.
const NAME_MAX_CHARS: usize = 128;
/// Maximum of a count: the range of hm-dianping's column.
const COUNT_MAX: i64 = 4_294_967_295;
/// Largest integer that JavaScript represents exactly.
const JS_INTEGER_MAX: i64 = (1 << 53) - 1;

impl Shops {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let searches = Semaphore::new(SEARCHES_AT_ONCE);
        Self { copies: ShopCaches::of(&context.storage), context, searches }
    }

    /// Returns a shop.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Busy`] while the database is slow.
    pub async fn get(&self, shop: ShopId, now: Timestamp) -> Result<Arc<Shop>, Failure> {
        let found = self.context.copies.shops.get_listed(&self.copies.ids, shop, now).await?;
        Ok(found.ok_or(Refusal::NotFound("shop"))?)
    }

    /// Returns the neighbourhoods with the most shops, at most 100, with their positions. The data is some
    /// minutes old, at most half an hour.
    ///
    /// # Errors
    /// [`Refusal::Busy`] while the database is slow and there is no cached list; [`Failure::Store`] if the
    /// store fails.
    pub async fn areas(&self, now: Timestamp) -> Result<Vec<ShopArea>, Failure> {
        Ok(self.copies.areas.get((), now).await?.map(|areas| areas.0).unwrap_or_default())
    }

    /// Returns the cache metrics of shops, types and neighbourhoods.
    #[must_use]
    pub fn cache_figures(&self) -> [Arc<CacheMetrics>; 3] {
        [self.context.copies.shops.figures(), self.copies.types.figures(), self.copies.areas.figures()]
    }

    /// Adds a shop.
    ///
    /// # Errors
    /// [`InputError::Missing`], [`InputError::OutOfRange`] with the field's name; [`Refusal::NotFound`] for
    /// an unknown type.
    pub async fn add(&self, edit: &ShopEdit, now: Timestamp) -> Result<ShopId, Failure> {
        let text = edit.applied(edit.blank()?)?;
        self.check_type(text.kind).await?;
        let shop = self.context.storage.catalogue.shops.insert(&text, now).await?;
        // An earlier read of this id may have left a negative cache entry.
        self.context.copies.shops.changed(&[shop]).await;
        self.place(shop).await;
        Ok(shop)
    }

    /// Updates a shop. External picture addresses that a page received as paths are restored.
    ///
    /// # Errors
    /// As [`add`](Self::add), and [`Refusal::NotFound`] for an unknown shop; nothing has changed then.
    pub async fn update(&self, shop: ShopId, edit: &ShopEdit, now: Timestamp) -> Result<(), Failure> {
        let shops = &self.context.storage.catalogue.shops;
        let before = shops.get(shop).await?.ok_or(Refusal::NotFound("shop"))?;
        let text = edit.applied(before.text)?;
        if edit.kind.is_some() {
            self.check_type(text.kind).await?;
        }
        let updated = shops.update(shop, &text, now).await;
        // Invalidate after an error too: the write may have happened although the reply was lost.
        self.context.copies.shops.changed(&[shop]).await;
        if !updated? {
            return Err(Refusal::NotFound("shop").into());
        }
        self.place(shop).await;
        Ok(())
    }

    async fn check_type(&self, kind: ShopTypeId) -> Result<(), Failure> {
        if self.context.storage.catalogue.shops.types().await?.iter().any(|known| known.id == kind) {
            Ok(())
        } else {
            Err(Refusal::NotFound("shop type").into())
        }
    }

    /// Returns a page of five shops of a type, or of all types for `None`. An unknown type has no shops.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: u32,
    ) -> Result<Vec<Shop>, Failure> {
        Ok(self.context.storage.catalogue.shops.of_type(kind, order, Page::new(page, OF_TYPE)).await?)
    }

    /// Returns a page of ten shops whose name contains `part`; an empty `part` matches all. Searches only the
    /// first 50,000 shops.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if no search slot becomes free in time; [`Failure::Store`] if the store fails.
    pub async fn by_name(&self, part: &str, page: u32) -> Result<Vec<Shop>, Failure> {
        let part = part.trim();
        if part.chars().count() > NAME_MAX_CHARS {
            return Ok(Vec::new());
        }
        let turn = tokio::time::timeout(SEARCH_WAIT_MAX, self.searches.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(Refusal::Busy.into()) };
        Ok(self
            .context
            .storage
            .catalogue
            .shops
            .by_name(part, SEARCH_MAX_SHOPS, Page::new(page, BY_NAME))
            .await?)
    }
}

impl ShopEdit {
    /// Builds a new shop with the required fields only.
    fn blank(&self) -> Result<ShopText, InputError> {
        Ok(ShopText {
            name: self.name.clone().ok_or(InputError::Missing("name"))?,
            kind: self.kind.ok_or(InputError::Missing("typeId"))?,
            x: self.x.ok_or(InputError::Missing("x"))?,
            y: self.y.ok_or(InputError::Missing("y"))?,
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

    /// Applies this edit to `text` after validating every field of the edit.
    fn applied(&self, mut text: ShopText) -> Result<ShopText, InputError> {
        put_line(&mut text.name, "name", self.name.as_deref(), NAME_MAX_CHARS)?;
        if text.name.is_empty() {
            return Err(InputError::Missing("name"));
        }
        if let Some(images) = &self.images {
            text.images = pictures(&picture_path::restore_addresses(images, &text.images))?;
        }
        put_line(&mut text.area, "area", self.area.as_deref(), 128)?;
        put_line(&mut text.address, "address", self.address.as_deref(), 255)?;
        put_line(&mut text.open_hours, "openHours", self.open_hours.as_deref(), 32)?;
        text.kind = self.kind.unwrap_or(text.kind);
        text.x = within("x", self.x, -LatLng::MAX_LNG, LatLng::MAX_LNG)?.unwrap_or(text.x);
        text.y = within("y", self.y, -LatLng::MAX_LAT, LatLng::MAX_LAT)?.unwrap_or(text.y);
        text.avg_price = within("avgPrice", self.avg_price, 0, JS_INTEGER_MAX)?.or(text.avg_price);
        text.sold = within("sold", self.sold, 0, COUNT_MAX)?.unwrap_or(text.sold);
        text.comments = within("comments", self.comments, 0, COUNT_MAX)?.unwrap_or(text.comments);
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
) -> Result<(), InputError> {
    if let Some(new) = new {
        let clean = clean_text::line(new);
        if clean.chars().count() > most_chars {
            return Err(InputError::OutOfRange(name));
        }
        *place = clean;
    }
    Ok(())
}

/// Checks a range. NaN is in no range.
fn within<N: PartialOrd>(
    name: &'static str,
    new: Option<N>,
    least: N,
    most: N,
) -> Result<Option<N>, InputError> {
    match new {
        Some(number) if !(least <= number && number <= most) => Err(InputError::OutOfRange(name)),
        other => Ok(other),
    }
}

/// Validates comma-separated paths or addresses of pictures: safe inside an HTML attribute.
fn pictures(text: &str) -> Result<String, InputError> {
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '\\');
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let fit =
        |part: &&str| part.starts_with('/') || part.starts_with("https://") || part.starts_with("http://");
    let shown: Vec<String> = parts.iter().map(|part| as_asked_for(part)).collect();
    let joined = shown.join(",");
    if !parts.iter().all(fit) || joined.contains(odd) || joined.chars().count() > 1024 {
        return Err(InputError::OutOfRange("images"));
    }
    Ok(joined)
}

/// Returns the path that pages request: uploads are served below `/imgs`, other paths verbatim.
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

    fn added(edit: &ShopEdit) -> Result<ShopText, InputError> {
        edit.applied(edit.blank()?)
    }

    #[test]
    fn a_new_shop_needs_name_type_and_place() {
        assert_eq!(added(&edit()).unwrap().name, "103茶餐厅");
        assert_eq!(added(&ShopEdit { name: None, ..edit() }), Err(InputError::Missing("name")));
        assert_eq!(
            added(&ShopEdit { name: Some(" \n ".into()), ..edit() }),
            Err(InputError::Missing("name"))
        );
        assert_eq!(added(&ShopEdit { kind: None, ..edit() }), Err(InputError::Missing("typeId")));
        assert_eq!(added(&ShopEdit { x: None, ..edit() }), Err(InputError::Missing("x")));
        assert_eq!(added(&ShopEdit { y: None, ..edit() }), Err(InputError::Missing("y")));
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
            ("comments", ShopEdit { comments: Some(COUNT_MAX + 1), ..edit() }),
            ("score", ShopEdit { score: Some(9), ..edit() }),
            ("score", ShopEdit { score: Some(51), ..edit() }),
        ];
        for (name, edit) in bad {
            assert_eq!(added(&edit), Err(InputError::OutOfRange(name)), "{edit:?}");
        }
        let ends = ShopEdit {
            name: Some("字".repeat(128)),
            x: Some(-180.0),
            y: Some(85.05),
            score: Some(50),
            sold: Some(COUNT_MAX),
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
