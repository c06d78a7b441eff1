//! Headers of guarded sales: the device ticket, the pass of a claim, and the admission from a waiting room.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use mallbox_storage::UserId;

use super::client_address::ClientAddress;
use crate::mall::people::accounts::CurrentSession;
use crate::mall::selling::guard::{ShownPass, Visitor};

/// Header with the pass of a claim.
pub(in crate::http) const PASS: &str = "x-sale-pass";
/// Header with the ticket of the client's device.
pub(in crate::http) const DEVICE: &str = "x-device-ticket";

/// Header with the admission from a waiting room.
pub(in crate::http) const ADMISSION: &str = "x-sale-admission";

/// Header with the key of a trusted kiosk.
pub(in crate::http) const KIOSK: &str = "x-kiosk-key";

/// The device ticket, the admission and the refused pass of a request, and the client's address.
pub(in crate::http) struct FromDevice {
    ticket: Option<String>,
    admission: Option<String>,
    pass: Option<String>,
    address: Option<IpAddr>,
}

/// The pass, the device ticket, the admission and the kiosk's key of a claim, and the client's address.
pub(in crate::http) struct Shown {
    pass: Option<String>,
    device: Option<String>,
    admission: Option<String>,
    kiosk: Option<String>,
    address: Option<IpAddr>,
}

impl FromDevice {
    /// Returns the visitor for a logged-in user.
    pub(in crate::http) fn visitor(&self, user: UserId) -> Visitor<'_> {
        let [device, admission, pass] =
            [&self.ticket, &self.admission, &self.pass].map(|shown| shown.as_deref());
        Visitor { user, device, address: self.address, admission, pass }
    }
}

impl Shown {
    /// Returns what a claim of this session shows, of a user who holds no unit.
    pub(in crate::http) fn in_session(&self, session: &CurrentSession) -> ShownPass<'_> {
        let [pass, device, admission, kiosk] =
            [&self.pass, &self.device, &self.admission, &self.kiosk].map(|shown| shown.as_deref());
        let (by_sms_code, address) = (session.is_by_code(), self.address);
        ShownPass { pass, device, admission, by_sms_code, address, kiosk, holding: 0 }
    }
}

/// The kiosk's key of a request, if any.
pub(in crate::http) struct KioskKey(pub(in crate::http) Option<String>);

fn address(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<ClientAddress>().map(|client| client.0)
}

/// Returns a header's value; a value that is no ASCII text is as good as none.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

impl<S: Send + Sync> FromRequestParts<S> for FromDevice {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        let [ticket, admission, pass] = [DEVICE, ADMISSION, PASS].map(|name| text(headers, name));
        Ok(Self { ticket, admission, pass, address: address(parts) })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for KioskKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(text(&parts.headers, KIOSK)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Shown {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        let [pass, device, admission, kiosk] =
            [PASS, DEVICE, ADMISSION, KIOSK].map(|name| text(headers, name));
        Ok(Self { pass, device, admission, kiosk, address: address(parts) })
    }
}
