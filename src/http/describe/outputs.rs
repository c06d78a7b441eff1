//! Descriptions of handler results.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::operation::Operation;
use super::schemas::Schemas;
use crate::http::response::envelope::{NoData, Optional, OrderNumber, Paged, Reply};

/// The result of a handler. Implemented directly by responses without an envelope.
pub trait Output {
    /// Adds the responses.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// The content of an envelope.
pub trait Shape {
    /// Returns the schema of a successful envelope.
    fn envelope(schemas: &mut Schemas) -> Value;
}

impl<T: JsonSchema> Shape for T {
    fn envelope(schemas: &mut Schemas) -> Value {
        good(&[("data", schemas.written::<T>())], &["data"])
    }
}

impl Shape for NoData {
    fn envelope(_: &mut Schemas) -> Value {
        good(&[], &[])
    }
}

impl<T: JsonSchema> Shape for Optional<T> {
    fn envelope(schemas: &mut Schemas) -> Value {
        good(&[("data", schemas.written::<T>())], &[])
    }
}

impl<T: JsonSchema> Shape for Paged<T> {
    fn envelope(schemas: &mut Schemas) -> Value {
        let total = schemas.written::<u64>();
        good(&[("data", schemas.written::<Vec<T>>()), ("total", total)], &["data", "total"])
    }
}

impl Shape for OrderNumber {
    fn envelope(schemas: &mut Schemas) -> Value {
        let exact = json!({
            "type": "string", "pattern": "^[0-9]{1,20}$", "description": "The exact order id, as text",
            "examples": ["662319245210910723"],
        });
        let mut rounded = schemas.written::<u64>();
        rounded["description"] = "The order's id, above 2^53: browsers round the number".into();
        good(&[("data", rounded), ("dataText", exact)], &["data", "dataText"])
    }
}

fn good(fields: &[(&str, Value)], required: &[&str]) -> Value {
    let required = [&["success"], required].concat();
    let mut schema = json!({
        "type": "object",
        "properties": { "success": { "const": true } },
        "required": required,
        "additionalProperties": false,
    });
    for (name, field) in fields {
        schema["properties"][name] = field.clone();
    }
    schema
}

impl<T: Shape> Output for Reply<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        // Pages expect a business refusal with status 200.
        let schema = json!({ "oneOf": [T::envelope(schemas), { "$ref": "#/components/schemas/Refusal" }] });
        let response = json!({
            "description": "Done, or refused with the reason",
            "content": { "application/json": { "schema": schema } },
        });
        operation.responds(StatusCode::OK, response);
    }
}
