//! Entries of the hash of exact shop locations: type, longitude and latitude as text.

use mallbox_storage::{LatLng, PlacedShop, ShopId, ShopTypeId, StoreError};

/// Formats a shop's type and location. Parsing the numbers yields the exact values again.
pub(super) fn format_entry(shop: PlacedShop) -> String {
    format!("{} {} {}", shop.kind, shop.at.lng(), shop.at.lat())
}

/// Parses a shop's entry.
///
/// # Errors
/// [`StoreError::Corrupt`]: the entry has another form.
pub(super) fn parse_entry(op: &'static str, shop: ShopId, entry: &str) -> Result<PlacedShop, StoreError> {
    let mut parts = entry.split(' ');
    let mut parse = || {
        let kind = ShopTypeId::new(parts.next()?.parse().ok()?);
        let at = LatLng::new(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?)?;
        Some(PlacedShop { shop, kind, at })
    };
    parse().ok_or_else(|| StoreError::Corrupt { op, key: format!("place of shop {shop}") })
}

/// Parses a shop's id, as scripts and hashes name it.
///
/// # Errors
/// [`StoreError::Corrupt`]: the id is not a number.
pub(super) fn parse_shop(op: &'static str, shop: &str) -> Result<ShopId, StoreError> {
    let corrupt = |_| StoreError::Corrupt { op, key: format!("shop {shop:?}") };
    shop.parse().map(ShopId::new).map_err(corrupt)
}
