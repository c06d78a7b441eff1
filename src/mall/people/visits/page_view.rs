//! A page view, and the identity of its visitor.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;

use mallbox_storage::{ShopId, Timestamp, TokenHash};

use crate::mall::people::Accounts;

/// Identity of a visitor: session and anonymous fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caller {
    pub(super) session: Option<TokenHash>,
    /// Fingerprint of an anonymous visitor. Never stored.
    pub(super) anonymous: u64,
}

impl Caller {
    /// Identifies a caller by token, live or not, and by address and browser.
    #[must_use]
    pub fn new(token: Option<&str>, address: Option<IpAddr>, browser: &[u8]) -> Self {
        // `DefaultHasher::new` has fixed keys: the hash is the same in every process of a mall.
        let mut hasher = DefaultHasher::new();
        (address, browser).hash(&mut hasher);
        Self { session: token.and_then(Accounts::session_of), anonymous: hasher.finish() }
    }
}

/// A page view in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageView {
    pub(super) at: Timestamp,
    pub(super) shop: Option<ShopId>,
    pub(super) by: Caller,
}
