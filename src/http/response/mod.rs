//! What handlers return: envelopes, errors, messages and headers.

pub(in crate::http) mod bad_request;
pub(in crate::http) mod caller;
pub(in crate::http) mod download;
pub(in crate::http) mod encodings;
pub mod envelope;
pub mod error;
pub(in crate::http) mod headers;
pub(in crate::http) mod json;
pub(in crate::http) mod json_list;
pub(in crate::http) mod language;
pub(in crate::http) mod messages;
pub(in crate::http) mod note_html;
pub(in crate::http) mod picture_list;
pub(in crate::http) mod qr;
