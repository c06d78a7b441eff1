//! Handlers of users: accounts, follows, sign-ins and visits.

pub mod accounts;
pub mod follows;
pub mod sign_ins;
pub mod visits;
