//! The client address of a request, set by the server's front.

use std::net::IpAddr;

/// The client address of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Peer(pub(in crate::http) IpAddr);
