//! Handlers of shops, shop types and vouchers.

pub mod shop_types;
pub mod shops;
pub mod vouchers;
