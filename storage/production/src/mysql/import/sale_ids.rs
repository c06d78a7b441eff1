//! Ids of the sales in an import.

use roaring::RoaringTreemap;

/// Ids of vouchers marked as sales.
pub(super) type SaleIds = RoaringTreemap;
