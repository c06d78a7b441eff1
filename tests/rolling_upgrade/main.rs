//! The upgrade from a former version, with the real binaries of both: processes on Redis and MariaDB are
//! replaced one after the other while people buy, and a directory goes forth, and back by
//! `mallbox downgrade`.
//!
//! Every mall is made by the former version, through the HTTP API. The checker compares the final state with
//! every response of both versions.
//!
//! `MALLBOX_FORMER` names the binary of the former version; `tests/run --former REV` builds one.
//! `MALLBOX_SEED` repeats a plan.

#[path = "../common/mod.rs"]
mod common;

mod directory;
mod former;
mod founding;
mod servers;
mod sessions;
