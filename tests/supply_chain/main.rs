//! Other people's crates: licences, sources, bans, the notices that the binary prints, and its bill of
//! materials.
//!
//! Reads `cargo metadata` and `Cargo.lock`, for Linux on x86-64, glibc and musl. Not covered: crates of
//! other platforms, advisories published since `.cargo/deny.toml` was written (`cargo deny check advisories`
//! knows them), and the tools that tests install (schemathesis, pytest, axe-core, tsc).
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

mod bill;
mod expression;
mod graph;
mod notices;
mod policy;
