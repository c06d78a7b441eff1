//! Front ends and the manual: pages beside the API, and their requests to it.

mod front_end;
mod manual;
mod manual_pages;
mod original;
mod web;

use super::world;
use super::writing::uploads;
