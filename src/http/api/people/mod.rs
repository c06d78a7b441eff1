//! Handlers of users: accounts, their sessions, follows, sign-ins and visits.

pub mod accounts;
pub mod follows;
pub mod own_sessions;
pub mod personal_data;
pub mod sign_ins;
pub mod visits;
