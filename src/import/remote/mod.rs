//! Remote pictures, fetched once into the mall: `mallbox import --fetch-pictures`.
//!
//! The addresses are untrusted. [`client`] connects to the public internet only (protection against SSRF),
//! and pictures are re-encoded like uploads, so that none of the original bytes are kept.

#[cfg(feature = "https")]
mod address;
#[cfg(feature = "https")]
mod client;
#[cfg(feature = "https")]
mod fetch;
mod outcome;
#[cfg(test)]
#[cfg(feature = "https")]
mod tests;

#[cfg(feature = "https")]
pub use self::fetch::fetch;
pub(super) use self::outcome::FetchError;
pub use self::outcome::Fetched;

/// Maximum number of addresses fetched. A mall of the original's size has some forty.
pub(super) const ADDRESSES_MAX: usize = 5_000;
