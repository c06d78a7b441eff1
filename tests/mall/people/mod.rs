//! Users: log-in, passwords and profiles.

mod accounts;
mod passwords;
mod profiles;
mod second_factor;
mod sessions;
pub mod world;
