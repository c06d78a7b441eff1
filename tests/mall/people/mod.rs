//! Users: log-in, passwords and profiles.

mod accounts;
mod passwords;
mod profiles;
mod sessions;
pub mod world;
