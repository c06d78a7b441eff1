//! The API of people: log-ins, sessions, follows, levels, sign-ins and visits.

mod account_deletion;
mod follows;
mod levels;
mod login_limits;
mod own_sessions;
mod phone_change;
mod privacy;
pub mod second_factor;
mod sign_ins;
mod visits;

use super::world;
