//! mallbox: a whole local-life mall in a self-contained binary.
//!
//! Modules depend in a single direction: `cli → http → mall → mallbox_storage`. ARCHITECTURE.md has the map.

#[cfg(feature = "cli")]
pub mod backup;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod config;
pub mod http;
pub mod language;
pub mod mall;
pub mod place;

#[cfg(all(feature = "cli", feature = "production"))]
pub mod bench;
pub mod demo;
pub mod fixture;
pub mod import;
