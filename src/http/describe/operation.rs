//! One call while its description is built.

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::language::{Bilingual, both};

/// The description of a call so far.
#[derive(Debug)]
pub struct Operation {
    path: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: BTreeMap<u16, Value>,
    security: Option<Value>,
    role: Option<&'static str>,
}

/// Refusals common to many calls: status, name, and reason.
pub(super) const REFUSALS: [(StatusCode, &str, Bilingual); 10] = [
    (StatusCode::BAD_REQUEST, "BadRequest", both("请求有误", "Malformed request, or an invalid value")),
    (StatusCode::UNAUTHORIZED, "NotLoggedIn", both("未登录", "Not logged in")),
    (StatusCode::FORBIDDEN, "Forbidden", both("没有权限", "Operators only")),
    (StatusCode::NOT_FOUND, "UnknownPath", both("没有这个地址", "Unknown path")),
    (
        StatusCode::REQUEST_TIMEOUT,
        "BodyTooSlow",
        both("请求内容未能及时送达", "The body did not arrive in time"),
    ),
    (StatusCode::CONFLICT, "Contradiction", both("与记录不符", "Contradicts the mall's records")),
    (StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", both("请求内容太大", "The body is too large")),
    (StatusCode::TOO_MANY_REQUESTS, "RateLimited", both("操作太频繁", "Rate limit reached; see Retry-After")),
    (
        StatusCode::INTERNAL_SERVER_ERROR,
        "Internal",
        both("内部错误", "Internal error; the log has the cause under the request id"),
    ),
    (
        StatusCode::SERVICE_UNAVAILABLE,
        "Unavailable",
        both("暂不可用", "Temporarily unavailable; see Retry-After"),
    ),
];

impl Operation {
    /// Creates the description for this path. Every call may be rate-limited, hit a bug, or meet an
    /// unavailable store.
    pub(super) fn new(path: &'static str) -> Self {
        let operation = Self {
            path,
            parameters: Vec::new(),
            body: None,
            responses: BTreeMap::new(),
            security: None,
            role: None,
        };
        [StatusCode::TOO_MANY_REQUESTS, StatusCode::INTERNAL_SERVER_ERROR, StatusCode::SERVICE_UNAVAILABLE]
            .into_iter()
            .fold(operation, Self::refusing)
    }

    fn refusing(mut self, status: StatusCode) -> Self {
        self.refuses(status);
        self
    }

    /// Adds a refusal with this status, in the usual envelope.
    pub fn refuses(&mut self, status: StatusCode) {
        if let Some((_, name, _)) = REFUSALS.iter().find(|(of, ..)| *of == status) {
            self.responds(status, json!({ "$ref": format!("#/components/responses/{name}") }));
        }
    }

    /// Adds a response; the value is a response object.
    pub fn responds(&mut self, status: StatusCode, response: Value) {
        self.responses.insert(status.as_u16(), response);
    }

    /// Adds a parameter `in` the path, the query or a header; the value is the parameter's schema.
    pub fn takes(&mut self, place: &'static str, name: &str, required: bool, schema: Value) {
        let mut schema = schema;
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({ "name": name, "in": place, "required": required, "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        self.parameters.push(parameter);
    }

    /// Adds a JSON body.
    pub fn takes_body(&mut self, schema: Value) {
        self.takes_form("application/json", schema);
    }

    /// Adds a body of this media type.
    pub fn takes_form(&mut self, media_type: &str, schema: Value) {
        self.body = Some(json!({ "required": true, "content": { media_type: { "schema": schema } } }));
    }

    /// Makes the body optional.
    pub fn body_may_be_absent(&mut self) {
        if let Some(body) = &mut self.body {
            body["required"] = json!(false);
        }
    }

    /// Adds the token as required or optional. Required wins, in any order of the handler's arguments.
    pub(super) fn wants_token(&mut self, required: bool) {
        if required {
            self.security = Some(json!([{ "token": [] }]));
            self.refuses(StatusCode::UNAUTHORIZED);
        } else {
            self.security.get_or_insert_with(|| json!([{}, { "token": [] }]));
        }
    }

    /// Restricts the call to operators.
    pub(super) fn wants_operator(&mut self) {
        self.wants_token(true);
        self.role = Some("operator");
        self.refuses(StatusCode::FORBIDDEN);
    }

    /// Restricts the call to staff and operators.
    pub(super) fn wants_staff(&mut self) {
        self.wants_token(true);
        self.role = Some("staff");
        self.refuses(StatusCode::FORBIDDEN);
    }

    /// Restricts the call to claim gateways.
    pub(super) fn wants_gateway(&mut self) {
        self.wants_token(true);
        self.role = Some("gateway");
    }

    /// Returns the names between braces, in the order of the path.
    pub(super) fn path_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the operation object of OpenAPI for this method.
    pub(super) fn into_value(self, method: &Method, area: Bilingual, summary: Bilingual) -> Value {
        let mut value = json!({
            "operationId": id(method, self.path),
            "tags": [area.en],
            "summary": summary.en,
            "x-summary-zh": summary.zh,
            "responses": self.responses.into_iter().map(|(status, response)| (status.to_string(), response))
                .collect::<serde_json::Map<_, _>>(),
            "security": self.security.unwrap_or_else(|| json!([])),
        });
        if !self.parameters.is_empty() {
            value["parameters"] = self.parameters.into();
        }
        if let Some(body) = self.body {
            value["requestBody"] = body;
        }
        if let Some(role) = self.role {
            value["x-role"] = role.into();
        }
        value
    }
}

/// Builds an operation id: `GET /sale/{id}/page` → `getSaleByIdPage`.
fn id(method: &Method, path: &str) -> String {
    let mut id = method.as_str().to_ascii_lowercase();
    for part in path.split(['/', '-', '.']).filter(|part| !part.is_empty()) {
        let (by, name) = match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => ("By", name),
            None => ("", part),
        };
        id += by;
        let mut letters = name.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id += letters.as_str();
        // Distinguishes the second spelling of a path, such as `/user/signCount`.
        if by.is_empty() && name.contains(|c: char| c.is_ascii_uppercase()) {
            id += "InCamelCase";
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_one_argument_needs_is_needed_whatever_the_others_do() {
        for order in [[true, false], [false, true]] {
            let mut operation = Operation::new("/");
            order.into_iter().for_each(|required| operation.wants_token(required));
            assert_eq!(operation.security, Some(json!([{ "token": [] }])), "{order:?}");
        }
    }

    #[test]
    fn an_operation_is_named_by_its_method_and_path() {
        for (method, path, want) in [
            (Method::GET, "/sale/{id}/page", "getSaleByIdPage"),
            (Method::POST, "/voucher-order/seckill/{voucherId}", "postVoucherOrderSeckillByVoucherId"),
            (Method::GET, "/openapi.json", "getOpenapiJson"),
        ] {
            assert_eq!(id(&method, path), want);
        }
    }
}
