//! Shops and vouchers.

mod shops;
mod vouchers;

use super::people::world;
