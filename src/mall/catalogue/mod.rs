//! Shops, shop types and vouchers.

pub(in crate::mall) mod refresh_caches;
pub mod shops;
pub mod vouchers;

pub use shops::Shops;
pub use vouchers::Vouchers;
