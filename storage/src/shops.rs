//! Shops and their types.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Page, PlacedShop, ShopId, ShopTypeId, StoreError, Timestamp};

/// A kind of shop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShopType {
    /// Which.
    pub id: ShopTypeId,
    /// Its name.
    pub name: String,
    /// Path of its picture below `/imgs`.
    pub icon: String,
    /// Its place in the list, lowest first.
    pub sort: i64,
}

/// What is changed of a kind of shop: what is `None` stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShopTypeEdit {
    /// Its name.
    pub name: Option<String>,
    /// Path of its picture below `/imgs`.
    pub icon: Option<String>,
    /// Its place in the list, lowest first.
    pub sort: Option<i64>,
}

/// What is told about a shop; what an operator writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShopText {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ShopTypeId,
    /// Comma-separated picture paths, `""` for none.
    pub images: String,
    /// The neighbourhood, `""` if not told.
    pub area: String,
    /// The address.
    pub address: String,
    /// Longitude in degrees, WGS-84.
    pub x: f64,
    /// Latitude in degrees, WGS-84.
    pub y: f64,
    /// What one person spends on average, in whole yuan.
    pub avg_price: Option<i64>,
    /// `10:00-22:00`, `""` if not told.
    pub open_hours: String,
    /// Sold so far.
    pub sold: i64,
    /// Comments so far.
    pub comments: i64,
    /// Stars × 10.
    pub score: i64,
}

/// A shop.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shop {
    /// Which.
    pub id: ShopId,
    /// What is told about it.
    pub text: ShopText,
    /// Since when.
    pub created: Timestamp,
    /// Last change.
    pub updated: Timestamp,
}

/// A neighbourhood as a small map shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShopArea {
    /// Its name.
    pub area: String,
    /// The mean longitude of its shops, in degrees.
    pub x: f64,
    /// Their mean latitude, in degrees.
    pub y: f64,
    /// How many there are.
    pub shops: u64,
}

/// The order of a list of shops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShopOrder {
    /// By id.
    Id,
    /// Most comments first, then by id.
    Comments,
    /// Best score first, then by id.
    Score,
}

/// Shops: their record.
///
/// - Every call is its own transaction and durable when it answers.
/// - Lists are stable: equal keys are ordered by id.
#[async_trait]
pub trait Shops: Send + Sync {
    /// All types by `sort`.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn types(&self) -> Result<Vec<ShopType>, StoreError>;

    /// Adds or replaces a type.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_type(&self, kind: &ShopType, now: Timestamp) -> Result<(), StoreError>;

    /// Adds a type, above whatever id there was.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was added, or the answer was lost.
    async fn insert_type(
        &self,
        name: &str,
        icon: &str,
        sort: i64,
        now: Timestamp,
    ) -> Result<ShopTypeId, StoreError>;

    /// Changes a type, in one step: of two who change different things at once, both are done. `false` for no type.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn update_type(
        &self,
        kind: ShopTypeId,
        edit: &ShopTypeEdit,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// A shop by id.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn get(&self, shop: ShopId) -> Result<Option<Shop>, StoreError>;

    /// Adds a shop.
    ///
    /// # Errors
    /// [`StoreError`]: nothing was added, or the answer was lost.
    async fn insert(&self, text: &ShopText, now: Timestamp) -> Result<ShopId, StoreError>;

    /// Replaces what is told about a shop. `false` for no shop.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn update(&self, shop: ShopId, text: &ShopText, now: Timestamp) -> Result<bool, StoreError>;

    /// Shops of a type, or of all types.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<Shop>, StoreError>;

    /// Returns a page of the shops whose name contains `part`, by id; `""` is contained in all. a to z are found in either
    /// case; whether other letters are is the back end's affair.
    ///
    /// Reads the first `max_read` shops by id, at least one, and no more: there is no index for it.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn by_name(&self, part: &str, max_read: u32, page: Page) -> Result<Vec<Shop>, StoreError>;

    /// Those of these shops that there are, each once: a page of them.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn among(&self, shops: &[ShopId], order: ShopOrder, page: Page) -> Result<Vec<Shop>, StoreError>;

    /// The neighbourhoods with the most shops, no more than `max`, by their number and then by name. Shops that name none, or
    /// are nowhere on earth, count nowhere. Looks at every shop.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn areas(&self, max: u32) -> Result<Vec<ShopArea>, StoreError>;

    /// Which shops there are whose id is above `after`, by id, no more than `max`. Of shops that are added meanwhile, a later
    /// one may be told of and an earlier one not yet.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn ids(&self, after: ShopId, max: u32) -> Result<Vec<ShopId>, StoreError>;

    /// Where shops are whose id is above `after`, by id, no more than `max`. One that is nowhere on earth
    /// ([`LatLng::new`](crate::LatLng::new)) is left out; nothing is answered only where there is nothing more.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn places(&self, after: ShopId, max: u32) -> Result<Vec<PlacedShop>, StoreError>;
}
