//! Downloads that are written page by page while the client reads.

use std::io;

use axum::body::{Body, Bytes};
use http_body_util::channel::{Channel, Sender};

use crate::mall::Failure;

/// Why a download ends early.
pub(in crate::http) enum EndReason {
    /// The client has gone.
    Away,
    /// The data could not be read or written.
    Failed(String),
}

impl From<serde_json::Error> for EndReason {
    fn from(error: serde_json::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Failure> for EndReason {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.to_string())
    }
}

/// The writing end of a download's body.
pub(in crate::http) struct DownloadSender(Sender<Bytes, io::Error>);

impl DownloadSender {
    /// Creates a body with its writing end.
    pub(in crate::http) fn new() -> (Self, Body) {
        // One page waits while the client reads another: memory stays bounded.
        let (sender, body) = Channel::<Bytes, io::Error>::new(1);
        (Self(sender), Body::new(body))
    }

    /// Sends a part of the body.
    ///
    /// # Errors
    /// [`EndReason::Away`].
    pub(in crate::http) async fn send(&mut self, bytes: impl Into<Bytes>) -> Result<(), EndReason> {
        self.0.send_data(bytes.into()).await.map_err(|_| EndReason::Away)
    }

    /// Cuts the body off: the client must not take a part for the whole.
    pub(in crate::http) fn abort(self) {
        self.0.abort(io::Error::other("the download failed"));
    }
}
