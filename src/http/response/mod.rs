//! What handlers return: envelopes, errors, messages and headers.

pub mod bad_request;
pub mod caller;
pub mod encodings;
pub mod envelope;
pub mod error;
pub mod headers;
pub mod json;
pub mod language;
pub mod messages;
pub mod note_html;
pub mod picture_list;
pub mod qr;
