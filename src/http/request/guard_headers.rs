//! Headers of guarded sales: the device ticket, and the pass of a claim.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use mallbox_storage::UserId;

use super::client_address::ClientAddress;
use crate::mall::selling::guard::{ShownPass, Visitor};

/// Header with the pass of a claim.
pub(in crate::http) const PASS: &str = "x-sale-pass";
/// Header with the ticket of the client's device.
pub(in crate::http) const DEVICE: &str = "x-device-ticket";

/// The device ticket of a request, and the client's address.
pub(in crate::http) struct FromDevice {
    ticket: Option<String>,
    address: Option<IpAddr>,
}

/// The pass and the device ticket of a claim.
pub(in crate::http) struct Shown {
    pass: Option<String>,
    device: Option<String>,
}

impl FromDevice {
    /// Returns the visitor for a logged-in user.
    pub(in crate::http) fn visitor(&self, user: UserId) -> Visitor<'_> {
        Visitor { user, device: self.ticket.as_deref(), address: self.address }
    }
}

impl Shown {
    /// Returns what the claim shows.
    pub(in crate::http) fn pass(&self) -> ShownPass<'_> {
        ShownPass { pass: self.pass.as_deref(), device: self.device.as_deref() }
    }
}

/// Returns a header's value; a value that is no ASCII text is as good as none.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

impl<S: Send + Sync> FromRequestParts<S> for FromDevice {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let address = parts.extensions.get::<ClientAddress>().map(|client| client.0);
        Ok(Self { ticket: text(&parts.headers, DEVICE), address })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Shown {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        Ok(Self { pass: text(headers, PASS), device: text(headers, DEVICE) })
    }
}
