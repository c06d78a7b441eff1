//! The body of a signed call, with the headers of the signature.

use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;

use crate::http::response::error::ApiError;
use crate::mall::base::request_signature::{SIGNATURE, TIMESTAMP};
use crate::mall::{CallbackError, Refusal};

/// Maximum bytes of a signed body: five short fields, sent by anybody until the signature is checked.
const SIGNED_MAX_BYTES: usize = 16 << 10;

/// A body as sent, since its bytes are signed, and the values of the signature's headers, `""` if missing.
/// `T` describes the body.
#[derive(Debug)]
pub struct SignedBody<T> {
    /// Time of the signature.
    pub timestamp: String,
    /// The signature.
    pub signature: String,
    /// The body.
    pub body: Bytes,
    form: PhantomData<fn() -> T>,
}

impl<T, S: Send + Sync> FromRequest<S> for SignedBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (timestamp, signature) =
            (header(request.headers(), TIMESTAMP), header(request.headers(), SIGNATURE));
        // Too large or cut off: a status that says "not taken" in every profile.
        let malformed = Refusal::Callback(CallbackError::Malformed);
        let body = Bytes::from_request(request, state).await.map_err(|_| malformed.clone())?;
        if body.len() > SIGNED_MAX_BYTES {
            return Err(malformed.into());
        }
        Ok(Self { timestamp, signature, body, form: PhantomData })
    }
}

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}
