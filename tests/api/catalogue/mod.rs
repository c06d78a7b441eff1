//! The API of the catalogue: shops, their types, and vouchers.

mod nearby;
mod shop_types;
mod vouchers;

use super::world;
use super::writing::uploads;
