//! The client of a call.

use std::net::IpAddr;

/// The client of a call: by whom log-ins are limited, and what the user sees in the list of sessions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Client {
    /// The address; `None` if unknown. All clients without an address count as one.
    pub address: Option<IpAddr>,
    /// Short name of the browser, such as `Chrome 138 · Windows`; `""` if unknown.
    pub browser: String,
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self { address: Some(address), browser: String::new() }
    }
}
