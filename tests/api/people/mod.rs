//! The API of people: follows, sign-ins and visits.

mod follows;
mod sign_ins;
mod visits;

use super::world;
