//! Shops and shop types.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Page, PlacedShop, ShopId, ShopTypeId, StoreError, Timestamp};

/// A type of shops.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShopType {
    /// Id of the type.
    pub id: ShopTypeId,
    /// Name of the type.
    pub name: String,
    /// Path of the type's picture below `/imgs`.
    pub icon: String,
    /// Sort key in the list, lowest first.
    pub sort: i64,
}

/// Partial update of a shop type: `None` leaves a field unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShopTypeEdit {
    /// Name of the type.
    pub name: Option<String>,
    /// Path of the type's picture below `/imgs`.
    pub icon: Option<String>,
    /// Sort key in the list, lowest first.
    pub sort: Option<i64>,
}

/// Description of a shop, as edited by an operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShopText {
    /// Name of the shop.
    pub name: String,
    /// Type of the shop.
    pub kind: ShopTypeId,
    /// Comma-separated picture paths, `""` for none.
    pub images: String,
    /// Neighbourhood, `""` if unknown.
    pub area: String,
    /// Postal address of the shop.
    pub address: String,
    /// Longitude in degrees, WGS-84.
    pub x: f64,
    /// Latitude in degrees, WGS-84.
    pub y: f64,
    /// Average price per person, in whole yuan.
    pub avg_price: Option<i64>,
    /// Opening hours as `10:00-22:00`, `""` if unknown.
    pub open_hours: String,
    /// Number of units sold.
    pub sold: i64,
    /// Number of comments on the shop: those that an import or a new shop brought along, and its reviews.
    pub comments: i64,
    /// Rating in stars × 10, the mean of what an import or a new shop brought along and of its reviews.
    pub score: i64,
}

/// A shop of the mall.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shop {
    /// Id of the shop.
    pub id: ShopId,
    /// Description of the shop.
    pub text: ShopText,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
}

/// A neighbourhood with its position on the overview map.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShopArea {
    /// Name of the neighbourhood.
    pub area: String,
    /// Mean longitude of the shops, in degrees.
    pub x: f64,
    /// Mean latitude of the shops, in degrees.
    pub y: f64,
    /// Number of shops.
    pub shops: u64,
}

/// Sort order of a shop list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShopOrder {
    /// By id, ascending.
    Id,
    /// Most comments first, then by id.
    Comments,
    /// Best score first, then by id.
    Score,
}

/// Shops and shop types in the database.
///
/// - Every call is a transaction of its own, durable when the call returns.
/// - Lists have a stable order: equal keys are ordered by id.
#[async_trait]
pub trait Shops: Send + Sync {
    /// Returns all types, by `sort`.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn types(&self) -> Result<Vec<ShopType>, StoreError>;

    /// Inserts or replaces a type.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_type(&self, kind: &ShopType, now: Timestamp) -> Result<(), StoreError>;

    /// Inserts a type under an id above all existing ones. Returns the new id.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost.
    async fn insert_type(
        &self,
        name: &str,
        icon: &str,
        sort: i64,
        now: Timestamp,
    ) -> Result<ShopTypeId, StoreError>;

    /// Updates the given fields of a type atomically: concurrent updates of different fields both take
    /// effect. Returns `false` for an unknown type.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn update_type(
        &self,
        kind: ShopTypeId,
        edit: &ShopTypeEdit,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns a shop by id.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn get(&self, shop: ShopId) -> Result<Option<Shop>, StoreError>;

    /// Inserts a shop, with comments and score as if imported. Returns the new id.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing was inserted, or the response was lost.
    async fn insert(&self, text: &ShopText, now: Timestamp) -> Result<ShopId, StoreError>;

    /// Replaces the description of a shop, except comments and score: those of `text` are ignored, since they
    /// follow from [`Reviews`](crate::Reviews). Returns `false` for an unknown shop.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn update(&self, shop: ShopId, text: &ShopText, now: Timestamp) -> Result<bool, StoreError>;

    /// Returns a page of the shops of a type, or of all types.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn of_type(
        &self,
        kind: Option<ShopTypeId>,
        order: ShopOrder,
        page: Page,
    ) -> Result<Vec<Shop>, StoreError>;

    /// Returns a page of the shops whose name contains `part`, by id; every name contains `""`. The letters a
    /// to z match in either case; case folding of other letters depends on the back end.
    ///
    /// Reads only the first `max_read` shops by id, but at least one: no index supports the search.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn by_name(&self, part: &str, max_read: u32, page: Page) -> Result<Vec<Shop>, StoreError>;

    /// Returns a page of the existing shops among `shops`, without duplicates.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn among(&self, shops: &[ShopId], order: ShopOrder, page: Page) -> Result<Vec<Shop>, StoreError>;

    /// Returns the `max` neighbourhoods with the most shops, by number of shops, then by name. Shops without
    /// a neighbourhood or without a valid position are not counted. Scans every shop.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn areas(&self, max: u32) -> Result<Vec<ShopArea>, StoreError>;

    /// Returns up to `max` shop ids above `after`, in order. Of shops inserted concurrently, a later one may
    /// be visible before an earlier one.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn ids(&self, after: ShopId, max: u32) -> Result<Vec<ShopId>, StoreError>;

    /// Returns the positions of up to `max` shops with an id above `after`, by id. Shops without a valid
    /// position ([`LatLng::new`](crate::LatLng::new)) are skipped; the result is empty only at the end of the
    /// list.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn places(&self, after: ShopId, max: u32) -> Result<Vec<PlacedShop>, StoreError>;
}
