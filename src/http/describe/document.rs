//! The OpenAPI document, and the call that returns it.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::calls::{Call, Calls};
use super::operation::{Operation, REFUSALS};
use super::outputs::Output;
use super::schemas::Schemas;
use crate::http::response::error::ApiError;
use crate::http::response::json::json_response;
use crate::http::response::messages::CODES;
use crate::language::{Bilingual, both};

/// The API's description in OpenAPI 3.1, as a response.
#[derive(Clone, Debug)]
pub struct Document(Bytes);

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        let mut response = json_response(StatusCode::OK, self.0);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

impl Output for Result<Document, ApiError> {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        let response = json!({
            "description": "OpenAPI 3.1",
            "content": { "application/json": { "schema": { "type": "object" } } },
        });
        operation.responds(StatusCode::OK, response);
    }
}

impl<S: Clone + Send + Sync + 'static> Calls<S> {
    /// Returns the routes plus `/openapi.json`, the description of all calls including itself. `prefix` is
    /// the API's path prefix.
    pub fn with_document(self, prefix: &str) -> Router<S> {
        let calls = Arc::new(OnceLock::new());
        // Rendered on the first request: few malls are asked for the document, and rendering takes
        // milliseconds.
        let (listed, written, prefix) = (Arc::clone(&calls), Arc::new(OnceLock::new()), prefix.to_owned());
        let answer = move |State(_): State<S>| {
            let write = |calls: &Vec<Call>| {
                let text = || Bytes::from(document(calls, &prefix).to_string());
                Document(written.get_or_init(text).clone())
            };
            let document = listed.get().map(write);
            async move { document.ok_or_else(|| ApiError::bug("the API is not described")) }
        };
        let own = Self::of(both("文档", "Documents")).get(
            "/openapi.json",
            answer,
            both("本文档（OpenAPI 3.1）", "This document, OpenAPI 3.1"),
        );
        let (router, described) = self.merge(own).into_parts();
        // Set before the router is returned, so every request finds the calls.
        let _ = calls.set(described);
        router
    }
}

/// Added to the description, because the schemas cover the strict profile only.
const PROFILES: Bilingual = both(
    "本文档描述严格模式。以`--profile original`（带`--web`时默认）启动的商城，对不带`x-mallbox-client`请求头的调用按hm-dianping的页面所期望的方式应答：\
     拒绝与限流均为200和`success:false`，401不变，并像Spring那样宽松地读取参数。",
    "This document describes the strict profile. A mall started with `--profile original`, the default with \
     `--web`, responds to calls without the header `x-mallbox-client` as the pages of hm-dianping expect: refusals \
     and limits are 200 with `success: false`, 401 stays 401, and requests are read as leniently as Spring reads \
     them.",
);

fn document(calls: &[Call], prefix: &str) -> Value {
    let mut schemas = Schemas::default();
    let mut paths = Map::new();
    let mut areas: Vec<Bilingual> = Vec::new();
    for call in calls {
        let mut operation = Operation::new(call.path);
        (call.describe)(&mut operation, &mut schemas);
        let path = paths.entry(call.path).or_insert_with(|| json!({}));
        let mut operation = operation.into_value(&call.method, call.area, call.summary);
        if let Some(explanation) = call.explanation {
            operation["description"] = explanation.en.into();
            operation["x-description-zh"] = explanation.zh.into();
        }
        path[method_name(&call.method)] = operation;
        if !areas.contains(&call.area) {
            areas.push(call.area);
        }
    }
    let mut named = schemas.into_named();
    named.insert("Refusal".to_owned(), refusal());
    let token = json!({
        "type": "apiKey", "in": "header", "name": "authorization",
        "description": "The token returned by POST /user/login; the prefix `Bearer ` is optional",
    });
    let server = if prefix.is_empty() { "/" } else { prefix };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "mallbox", "version": env!("CARGO_PKG_VERSION"),
            "summary": "A whole local-life mall", "x-summary-zh": "一座完整的本地生活商城",
            "description": PROFILES.en, "x-description-zh": PROFILES.zh,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": server }],
        "tags": areas.iter().map(|area| json!({ "name": area.en, "x-name-zh": area.zh })).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": named,
            "responses": refusals(),
            "securitySchemes": { "token": token },
        },
    })
}

fn method_name(method: &Method) -> String {
    method.as_str().to_ascii_lowercase()
}

fn refusals() -> Map<String, Value> {
    let schema = json!({ "$ref": "#/components/schemas/Refusal" });
    let refusals = REFUSALS.iter().map(|(_, name, when)| {
        let response = json!({
            "description": when.en, "x-description-zh": when.zh,
            "content": { "application/json": { "schema": schema } },
        });
        ((*name).to_owned(), response)
    });
    refusals.collect()
}

/// Returns the schema of a refusal's envelope.
fn refusal() -> Value {
    json!({
        "type": "object",
        "description": "The call was refused",
        "properties": {
            "success": { "const": false },
            "errorMsg": {
                "type": "string", "minLength": 1, "examples": ["库存不足"],
                "description": "A sentence for people, in Chinese or English by Accept-Language",
            },
            "code": { "type": "string", "enum": CODES, "description": "A stable code for programs" },
            "data": {
                "type": "integer", "minimum": 0, "maximum": u64::MAX,
                "description": "With ALREADY_BOUGHT: the existing order",
            },
            "dataText": { "type": "string", "pattern": "^[0-9]{1,20}$", "description": "The exact id" },
            "field": {
                "const": "oldCode",
                "description": "The field concerned, if the call has two codes by text message",
            },
        },
        "required": ["success", "errorMsg", "code"],
        "additionalProperties": false,
    })
}
