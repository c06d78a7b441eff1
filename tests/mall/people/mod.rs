//! Users: log-in, passwords and profiles.

mod accounts;
mod passwords;
mod profiles;
pub mod world;
