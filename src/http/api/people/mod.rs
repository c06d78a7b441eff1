//! Handlers of users: accounts, their sessions, follows, levels, sign-ins and visits.

pub mod accounts;
pub mod follows;
pub mod levels;
pub mod own_sessions;
mod personal_attempts;
pub mod personal_data;
mod personal_reviews;
mod personal_waiting;
pub mod second_factor;
pub mod sign_ins;
pub mod visits;
