//! What the end-to-end tests share: the real binary as a child, a mall made beforehand, clients that buy in it and record
//! every answer, and the inspection that holds the mall to that record.

#![allow(dead_code, reason = "each test binary uses the part it needs")]

pub mod aftermath;
pub mod dice;
pub mod http;
pub mod image;
pub mod inspection;
pub mod log_ins;
pub mod mall;
pub mod moment;
pub mod pending;
pub mod rush;
pub mod server;
pub mod shoppers;
