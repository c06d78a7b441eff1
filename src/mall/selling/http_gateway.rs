//! The client of a payment gateway over HTTP: signed requests, and the check of signed callbacks.
//!
//! The protocol is in `web/manual/payment-gateways.md`. Reasons: `src/decisions/0050-payment-gateways.md`.

mod wire;

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Method, StatusCode};
use mallbox_storage::{Payment, Timestamp};
use tokio::sync::Semaphore;

use super::payments::{GatewayError, GatewayState};
use crate::mall::base::outbound::{Endpoint, OutboundRequest};
use crate::mall::base::request_signature::{SIGNATURE, SharedSecret, TIMESTAMP, timestamp};
use crate::mall::base::sparse_log::SparseLog;
use crate::mall::{Clock as _, SystemClock};

pub use self::wire::MallAddresses;
pub(super) use self::wire::{Bill, Notice, NoticeState, reference};

/// Path that gateways sign in callbacks, whatever prefix a proxy adds or removes.
pub const CALLBACK_PATH: &str = "/payment/callback";
/// Minimum characters of the secret: whoever guesses the secret can mark orders as paid.
pub const SECRET_MIN_CHARS: usize = 16;
/// Difference of the machines' clocks, and age of a callback, up to which a signature counts.
const SIGNATURE_TOLERANCE: Duration = Duration::from_secs(300);
/// Calls at once. Further calls wait, as part of their own time limit: a silent gateway must not take all
/// sockets of the process.
const CALLS_MAX: usize = 64;
/// Longest response body: states and a URL.
const RESPONSE_MAX_BYTES: usize = 16 << 10;
/// Header with the name under which a repeated request has no second effect.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A payment gateway over HTTP. Cheap to clone. `Debug` hides URL and secret.
#[derive(Clone, Debug)]
pub struct HttpGateway {
    endpoint: Endpoint,
    secret: SharedSecret,
    /// Addresses of the mall for the gateway and for browsers.
    addresses: Option<MallAddresses>,
    calls: Arc<Semaphore>,
    contradictions: Arc<SparseLog>,
}

/// Why a gateway cannot be set up; the message is for the operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GatewaySetupError {
    /// The URL cannot be used, for this reason.
    #[error("expected a URL like https://pay.example/v1 or http://127.0.0.1:9000: {0}")]
    Url(&'static str),
    /// The secret is shorter than [`SECRET_MIN_CHARS`].
    #[error("the secret needs at least 16 characters")]
    ShortSecret,
}

/// A payment as created at a gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CreatedPayment {
    pub(super) state: GatewayState,
    /// URL at which the buyer pays, for a link or a QR code.
    pub(super) pay_url: Option<String>,
}

/// A callback as received.
#[derive(Clone, Copy, Debug)]
pub struct SignedCall<'a> {
    /// Value of the timestamp's header, `""` if missing.
    pub timestamp: &'a str,
    /// Value of the signature's header, `""` if missing.
    pub signature: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl HttpGateway {
    /// Creates a client for the gateway below an `https://` URL, or an `http://` URL of this machine. No
    /// connection is made yet.
    ///
    /// # Errors
    /// [`GatewaySetupError`] if the URL cannot be used, or the secret is too short.
    pub fn new(url: &str, secret: impl Into<String>) -> Result<Self, GatewaySetupError> {
        let secret = secret.into();
        let endpoint = Endpoint::new(url).map_err(|error| GatewaySetupError::Url(error.0))?;
        if endpoint.path().contains('?') {
            return Err(GatewaySetupError::Url("the URL must have no query"));
        }
        if secret.chars().count() < SECRET_MIN_CHARS {
            return Err(GatewaySetupError::ShortSecret);
        }
        Ok(Self {
            endpoint,
            secret: SharedSecret::new(secret),
            addresses: None,
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            contradictions: Arc::default(),
        })
    }

    /// Tells the gateway where to send callbacks and buyers. Without, the gateway needs an address of its own
    /// for callbacks, or the mall polls.
    #[must_use]
    pub fn with_addresses(self, addresses: MallAddresses) -> Self {
        Self { addresses: Some(addresses), ..self }
    }

    /// Creates the payment, or returns the state of the payment created before.
    ///
    /// # Errors
    /// [`GatewayError`]: the payment is in doubt; call again.
    pub(super) async fn create(
        &self,
        payment: &Payment,
        bill: &Bill,
    ) -> Result<CreatedPayment, GatewayError> {
        let body = wire::creation(payment, bill, self.addresses.as_ref());
        let key = reference(payment);
        let report = self.call(Method::POST, "/payments", Some(&key), Some(&body)).await?;
        let report = self.check(payment, report.ok_or_else(unexpected_absence)?)?;
        Ok(CreatedPayment { state: report.state.at_gateway(), pay_url: report.pay_url() })
    }

    /// Returns the state of a payment; `Pending` if the gateway does not know the payment (yet).
    ///
    /// # Errors
    /// [`GatewayError`]: nothing is known; call again.
    pub(super) async fn query(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        let path = format!("/payments/{}", reference(payment));
        match self.call(Method::GET, &path, None, None).await? {
            Some(report) => Ok(self.check(payment, report)?.state.at_gateway()),
            None => Ok(GatewayState::Pending),
        }
    }

    /// Closes a payment: money not taken yet is never taken. Returns the final state.
    ///
    /// # Errors
    /// [`GatewayError`]: call again.
    pub(super) async fn close(&self, payment: &Payment) -> Result<GatewayState, GatewayError> {
        let key = reference(payment);
        let path = format!("/payments/{key}/close");
        let report = self
            .call(Method::POST, &path, Some(&format!("{key}-close")), Some(&wire::money(payment)))
            .await?;
        match self.check(payment, report.ok_or_else(unexpected_absence)?)?.state.at_gateway() {
            GatewayState::Pending => Err(GatewayError("the payment was not closed".to_owned())),
            state => Ok(state),
        }
    }

    /// Refunds the whole payment. Succeeds once the money has gone back.
    ///
    /// # Errors
    /// [`GatewayError`]: the refund is under way or in doubt; call again.
    pub(super) async fn refund(&self, payment: &Payment) -> Result<(), GatewayError> {
        let key = reference(payment);
        let path = format!("/payments/{key}/refunds");
        let report = self
            .call(Method::POST, &path, Some(&format!("{key}-refund")), Some(&wire::money(payment)))
            .await?;
        match self.check(payment, report.ok_or_else(unexpected_absence)?)?.state {
            NoticeState::Refunded | NoticeState::Reversed => Ok(()),
            NoticeState::Refunding => Err(GatewayError("the refund is under way".to_owned())),
            other => Err(GatewayError(format!("the payment is {other:?} instead of refunded"))),
        }
    }

    /// Returns whether the gateway signed the callback a moment ago, by the machine's clock.
    pub(super) fn has_signed(&self, call: &SignedCall<'_>) -> bool {
        self.has_signed_at(call, SystemClock.now())
    }

    fn has_signed_at(&self, call: &SignedCall<'_>, now: Timestamp) -> bool {
        let Ok(seconds) = call.timestamp.parse::<i64>() else { return false };
        let age_ms = seconds.checked_mul(1_000).map(|sent| now.as_millis().abs_diff(sent));
        let is_fresh = age_ms.is_some_and(|age_ms| u128::from(age_ms) <= SIGNATURE_TOLERANCE.as_millis());
        let message = message(call.timestamp, &Method::POST, CALLBACK_PATH, call.body);
        is_fresh && self.secret.has_signed(call.signature, &parts(&message))
    }

    /// Sends a signed request. `None` for a payment that the gateway does not know.
    async fn call(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<&str>,
    ) -> Result<Option<Notice>, GatewayError> {
        let _permit = self.calls.acquire().await.map_err(|error| GatewayError(error.to_string()))?;
        let path = format!("{}{path}", self.endpoint.path().trim_end_matches('/'));
        let body = body.unwrap_or_default().as_bytes().to_vec();
        let time = timestamp(SystemClock.now());
        let signature = self.secret.signature(&parts(&message(&time, &method, &path, &body)));
        let mut headers = HeaderMap::new();
        let named = [
            (TIMESTAMP, Some(time)),
            (SIGNATURE, Some(signature)),
            (IDEMPOTENCY_KEY, key.map(str::to_owned)),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                let value = HeaderValue::try_from(value).expect("letters and digits are a header's value");
                headers.insert(name, value);
            }
        }
        let request = OutboundRequest { method, path: &path, headers, body };
        let response = self
            .endpoint
            .send(request, RESPONSE_MAX_BYTES)
            .await
            .map_err(|error| GatewayError(error.to_string()))?;
        match response.status {
            StatusCode::NOT_FOUND => Ok(None),
            status if status.is_success() => Notice::parse(&response.body)
                .map(Some)
                .ok_or_else(|| GatewayError("the response is not as the protocol demands".to_owned())),
            status => Err(GatewayError(format!("responded with {status}"))),
        }
    }

    /// Refuses a report about another payment or another amount.
    fn check(&self, payment: &Payment, report: Notice) -> Result<Notice, GatewayError> {
        if report.is_of(payment) {
            return Ok(report);
        }
        if let Some(times) = self.contradictions.again() {
            let (order, id, amount) = (payment.order.get(), payment.id.get(), payment.amount.get());
            tracing::warn!(
                target: "security", order, payment = id, amount, reported_amount = report.amount, times,
                "the payment gateway reported another payment or amount"
            );
        }
        Err(GatewayError("the gateway reported another payment or amount".to_owned()))
    }
}

fn unexpected_absence() -> GatewayError {
    GatewayError("the gateway does not know the path or the payment".to_owned())
}

/// A message to sign: time, method, path and body, separated by line feeds, which only a body contains.
type Message<'a> = [&'a [u8]; 4];

fn message<'a>(time: &'a str, method: &'a Method, path: &'a str, body: &'a [u8]) -> Message<'a> {
    [time.as_bytes(), method.as_str().as_bytes(), path.as_bytes(), body]
}

fn parts<'a>(message: &Message<'a>) -> [&'a [u8]; 7] {
    let [time, method, path, body] = *message;
    [time, b"\n", method, b"\n", path, b"\n", body]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef";
    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn gateway() -> HttpGateway {
        HttpGateway::new("http://127.0.0.1:9", SECRET).unwrap()
    }

    #[test]
    fn a_callback_counts_with_its_own_time_and_body_and_for_five_minutes() {
        // printf '1795262400\nPOST\n/payment/callback\n{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let signature = "sha256=6335814f19cf93ccd29b30e5c3e8f9800b8d7775eb7c68dead89e12e5a2f00b1";
        let call = SignedCall { timestamp: "1795262400", signature, body: br#"{"a":1}"# };
        let seconds = Duration::from_secs;
        for now in [NOON, NOON + seconds(300), NOON - seconds(300)] {
            assert!(gateway().has_signed_at(&call, now));
        }
        for now in [NOON + seconds(301), NOON - seconds(301)] {
            assert!(!gateway().has_signed_at(&call, now));
        }
        for wrong in [
            SignedCall { body: br#"{"a":2}"#, ..call },
            SignedCall { timestamp: "1795262401", ..call },
            SignedCall { timestamp: "+1795262400", ..call },
            SignedCall { timestamp: "9223372036854775807", ..call },
            SignedCall { timestamp: "", ..call },
            SignedCall { signature: "", ..call },
        ] {
            assert!(!gateway().has_signed_at(&wrong, NOON), "{wrong:?}");
        }
        let other = HttpGateway::new("http://127.0.0.1:9", "0123456789abcdeF").unwrap();
        assert!(!other.has_signed_at(&call, NOON));
    }

    #[test]
    fn url_and_secret_are_checked_and_hidden() {
        for (url, secret, why) in [
            ("http://pay.example/", SECRET, "https://"),
            ("http://127.0.0.1/?key=1", SECRET, "query"),
            ("here", SECRET, "begin with"),
            ("http://127.0.0.1/", "0123456789abcde", "16 characters"),
        ] {
            let error = HttpGateway::new(url, secret).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains(SECRET), "{url}: {error}");
        }
        let shown = format!("{:?}", HttpGateway::new("http://127.0.0.1/k3p9", SECRET).unwrap());
        assert!(!shown.contains("k3p9") && !shown.contains(SECRET), "{shown}");
    }
}
