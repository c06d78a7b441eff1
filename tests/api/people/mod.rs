//! The API of people: follows, sign-ins and visits.

mod follows;
mod own_sessions;
mod phone_change;
mod sign_ins;
mod visits;

use super::world;
