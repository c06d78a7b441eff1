//! The API of people: follows, sign-ins and visits.

mod account_deletion;
mod follows;
mod own_sessions;
mod phone_change;
mod privacy;
mod sign_ins;
mod visits;

use super::world;
