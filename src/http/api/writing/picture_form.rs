//! A form with a picture: `multipart/form-data`, field `file`.

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, EXPECT};
use http_body_util::{BodyExt as _, LengthLimitError};
use multer::Multipart;
use serde_json::json;

use crate::http::describe::{Input, Operation, Schemas};
use crate::http::response::bad_request::BadRequest;
use crate::http::response::error::ApiError;
use crate::language::both;
use crate::mall::InputError;
use crate::mall::writing::pictures;

/// The form field of the picture.
const FIELD: &str = "file";
/// A client refused during an upload is still sending, and would not read the response: time to receive the
/// rest.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// A form whose body has not been read.
#[derive(Debug)]
pub struct PictureForm {
    boundary: Option<String>,
    /// Whether the client waits for `100 Continue` before sending.
    waits: bool,
    body: Body,
}

impl<S: Send + Sync> FromRequest<S> for PictureForm {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        let headers = request.headers();
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let boundary = kind.and_then(|kind| multer::parse_boundary(kind).ok());
        Ok(Self { boundary, waits: headers.contains_key(EXPECT), body: request.into_body() })
    }
}

impl PictureForm {
    /// Reads the file. The file's name and declared type are ignored, and so are other fields.
    ///
    /// # Errors
    /// 400 for an invalid form or a second file, 413 for a file too large; [`InputError::Missing`] without a
    /// file.
    pub async fn file(self) -> Result<Vec<u8>, ApiError> {
        let no_form = || ApiError::bad_request(NO_FORM);
        let mut form = Multipart::new(self.body.into_data_stream(), self.boundary.ok_or_else(no_form)?);
        let mut file = None;
        while let Some(mut field) = form.next_field().await.map_err(unreadable)? {
            if field.name() != Some(FIELD) {
                continue;
            }
            if file.is_some() {
                return Err(ApiError::bad_request(BadRequest::Twice(FIELD)));
            }
            let mut bytes = Vec::new();
            while let Some(chunk) = field.chunk().await.map_err(unreadable)? {
                if bytes.len() + chunk.len() > pictures::UPLOAD_MAX_BYTES {
                    return Err(ApiError::too_large(pictures::UPLOAD_MAX_BYTES));
                }
                bytes.extend_from_slice(&chunk);
            }
            file = Some(bytes);
        }
        file.filter(|bytes| !bytes.is_empty()).ok_or_else(|| InputError::Missing("file").into())
    }

    /// Receives the body and discards it.
    pub async fn discard(self) {
        let Self { mut body, waits, .. } = self;
        if !waits {
            let come = async { while let Some(Ok(_)) = body.frame().await {} };
            let _ = tokio::time::timeout(DISCARD_TIMEOUT, come).await;
        }
    }
}

const NO_FORM: BadRequest = BadRequest::Constant(both(
    "请求体应为multipart/form-data表单",
    "expected a form of the type multipart/form-data",
));

/// Maps read errors to client errors: a body too large, a disconnect, or an invalid form.
fn unreadable(error: multer::Error) -> ApiError {
    use multer::Error::{IncompleteFieldData, IncompleteHeaders, IncompleteStream, StreamReadFailed};
    match error {
        StreamReadFailed(cause) if is_too_long(&*cause) => ApiError::too_large(pictures::UPLOAD_MAX_BYTES),
        StreamReadFailed(_) | IncompleteStream | IncompleteHeaders | IncompleteFieldData { .. } => {
            ApiError::bad_request(BadRequest::CutOff)
        }
        _ => ApiError::bad_request(NO_FORM),
    }
}

fn is_too_long(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_long)
}

impl Input for PictureForm {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let words = "A JPEG, PNG, WebP or GIF picture of at most 5 MiB and 32 million pixels";
        let file = json!({ "type": "string", "format": "binary", "contentMediaType": "image/*", "description": words });
        let form = json!({ "type": "object", "properties": { (FIELD): file } });
        operation.takes_form("multipart/form-data", form);
        operation.refuses(StatusCode::BAD_REQUEST);
        operation.refuses(StatusCode::PAYLOAD_TOO_LARGE);
        operation.refuses(StatusCode::REQUEST_TIMEOUT);
    }
}
