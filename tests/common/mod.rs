//! What the end-to-end tests share: the real binary as a child, a mall made beforehand, a crowd that buys in it and
//! remembers what it was answered, and the check of a data directory against that memory.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

pub mod aftermath;
pub mod audit;
pub mod books;
pub mod crowd;
pub mod dice;
pub mod http;
pub mod image;
pub mod ledger;
pub mod mall;
pub mod rush;
pub mod server;
