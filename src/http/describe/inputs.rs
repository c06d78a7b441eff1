//! Descriptions of handler arguments.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::operation::Operation;
use super::schemas::{Schemas, strip_null};
use crate::http::request::client::FromClient;
use crate::http::request::extract::{
    AuthorOrOperator, Json, JsonIfAny, Login, LoginSession, MaybeLogin, Now, Operator, Path, PollingOperator,
    Query, Token,
};
use crate::http::request::gateway_token::FromGateway;
use crate::http::request::guard_headers::{self, FromDevice, KioskKey, Shown};
use crate::http::request::if_none_match::IfNoneMatch;
use crate::http::request::signed_body::SignedBody;
use crate::http::request::staff_calls::{OnlyStaff, PollingStaffOrOperator, StaffOrOperator};
use crate::http::response::error::ApiError;
use crate::mall::base::request_signature::{SIGNATURE, TIMESTAMP};

/// An argument of a handler.
pub trait Input {
    /// Adds the parameters read by the argument, and the refusals. Adds nothing by default.
    fn describe(_operation: &mut Operation, _schemas: &mut Schemas) {}
}

impl<S> Input for State<S> {}
impl Input for Now {}
impl Input for FromClient {}
impl<T> Input for Extension<T> {}

impl Input for Token {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_token(false);
    }
}

impl Input for MaybeLogin {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_token(false);
    }
}

impl Input for Login {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_token(true);
    }
}

impl Input for LoginSession {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_token(true);
    }
}

impl Input for FromGateway {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_gateway();
        operation.refuses(StatusCode::CONFLICT);
    }
}

impl Input for AuthorOrOperator {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_token(true);
        operation.refuses(StatusCode::FORBIDDEN);
    }
}

/// An argument whose refusal is returned by the handler itself.
fn describe_device(operation: &mut Operation) {
    let description = "The `deviceTicket` of the last challenge.";
    operation.takes(
        "header",
        guard_headers::DEVICE,
        false,
        json!({ "type": "string", "description": description }),
    );
}

fn describe_admission(operation: &mut Operation) {
    let description = "The admission, for a sale with a waiting room.";
    operation.takes(
        "header",
        guard_headers::ADMISSION,
        false,
        json!({ "type": "string", "description": description }),
    );
}

fn describe_pass(operation: &mut Operation, description: &str) {
    let schema = json!({ "type": "string", "description": description });
    operation.takes("header", guard_headers::PASS, false, schema);
}

impl Input for FromDevice {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        describe_device(operation);
        describe_admission(operation);
        describe_pass(operation, "The pass that was refused with `CHALLENGE_AGAIN`.");
    }
}

impl Input for Shown {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        describe_pass(operation, "The pass, for a guarded sale.");
        let description = "The key of a trusted kiosk, in place of a pass.";
        let schema = json!({ "type": "string", "description": description });
        operation.takes("header", guard_headers::KIOSK, false, schema);
        describe_device(operation);
        describe_admission(operation);
    }
}

impl Input for KioskKey {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let schema = json!({ "type": "string", "description": "The key of a trusted kiosk. Without it, the code is `KIOSK_UNKNOWN`." });
        operation.takes("header", guard_headers::KIOSK, false, schema);
    }
}

impl Input for OnlyStaff {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_staff();
    }
}

impl Input for StaffOrOperator {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_staff();
    }
}

impl Input for PollingStaffOrOperator {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_staff();
    }
}

impl<T: Input> Input for Result<T, ApiError> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
    }
}

impl Input for IfNoneMatch {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.takes("header", "if-none-match", false, json!({ "type": "string" }));
        operation.responds(
            StatusCode::NOT_MODIFIED,
            json!({ "description": "Not modified: the client's copy is current" }),
        );
    }
}

impl Input for Operator {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_operator();
    }
}

impl Input for PollingOperator {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        operation.wants_operator();
    }
}

impl<T: JsonSchema> Input for Path<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let whole = schemas.read_in_place::<T>();
        for (at, name) in operation.path_names().enumerate() {
            // With several values, each has a schema of its own; a single value has the whole schema.
            let schema = whole["prefixItems"].get(at).unwrap_or(&whole).clone();
            operation.takes("path", name, true, schema);
        }
        operation.refuses(StatusCode::BAD_REQUEST);
    }
}

impl<T: JsonSchema> Input for Query<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let form = schemas.read_in_place::<T>();
        let required = form["required"].as_array();
        for (name, schema) in form["properties"].as_object().into_iter().flatten() {
            let required = required.is_some_and(|names| names.iter().any(|required| required == name));
            let mut schema = schema.clone();
            // A query has no `null`: an absent parameter is omitted.
            strip_null(&mut schema);
            operation.takes("query", name, required, or_empty(schema, required));
        }
        operation.refuses(StatusCode::BAD_REQUEST);
    }
}

impl<T: JsonSchema> Input for Json<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.read::<T>();
        operation.takes_body(schema);
        operation.refuses(StatusCode::BAD_REQUEST);
        operation.refuses(StatusCode::PAYLOAD_TOO_LARGE);
        operation.refuses(StatusCode::REQUEST_TIMEOUT);
    }
}

impl<T: JsonSchema> Input for SignedBody<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let time = json!({ "type": "string", "description": "Seconds since 1970", "example": "1795262400" });
        operation.takes("header", TIMESTAMP, true, time);
        let code = "`sha256=` and the HMAC-SHA-256, in hexadecimal, of timestamp, method, path and body";
        operation.takes("header", SIGNATURE, true, json!({ "type": "string", "description": code }));
        Json::<T>::describe(operation, schemas);
        operation.refuses(StatusCode::UNAUTHORIZED);
        operation.refuses(StatusCode::NOT_FOUND);
        operation.refuses(StatusCode::CONFLICT);
    }
}

impl<T: JsonSchema> Input for JsonIfAny<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        Json::<T>::describe(operation, schemas);
        operation.body_may_be_absent();
    }
}

/// Accepts an empty value as absent (`?typeId=&current=1`), because pages send empty values.
fn or_empty(mut schema: Value, required: bool) -> Value {
    if required || schema["type"] == "string" {
        return schema;
    }
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let mut either = json!({ "anyOf": [schema, { "const": "" }] });
    if let Some(description) = description {
        either["description"] = description;
    }
    either
}
