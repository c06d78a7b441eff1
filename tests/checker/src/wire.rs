//! Serialization of requests and parsing of responses.

use serde_json::{Value, json};

use crate::history::{OrderView, Request, Response};

/// Header sent by the mall's own pages. Some rules and statuses depend on it.
const OUR_CLIENT: &str = "x-mallbox-client: checker";

/// Returns the complete HTTP/1.1 request.
pub(crate) fn write(request: &Request, token: &str) -> Vec<u8> {
    let (method, path, body) = match request {
        Request::Claim { sale } => ("POST", format!("/voucher-order/seckill/{sale}"), Value::Null),
        Request::Pay { order } => ("POST", format!("/voucher-order/{order}/pay"), Value::Null),
        Request::Cancel { order } => ("POST", format!("/voucher-order/{order}/cancel"), Value::Null),
        Request::ListOrders => ("GET", "/voucher-order/of/me".to_owned(), Value::Null),
        Request::ShowOrder { order } => ("GET", format!("/voucher-order/{order}"), Value::Null),
        Request::ShowStock { sale } => ("GET", format!("/sale/{sale}"), Value::Null),
        Request::PublishNote { title } => {
            let note =
                json!({ "shopId": 1, "title": title, "content": title, "images": "/imgs/noodles.jpg" });
            ("POST", "/blog".to_owned(), note)
        }
        Request::Like { note } => ("PUT", format!("/blog/like/{note}"), Value::Null),
        Request::SignIn => ("POST", "/user/sign".to_owned(), Value::Null),
        Request::Follow { user } => ("PUT", format!("/follow/{user}/true"), Value::Null),
        Request::LogIn { phone, code } => {
            let proof = json!({ "phone": phone, "code": code });
            return message("POST", "/user/login", "", &proof);
        }
    };
    message(method, &path, token, &body)
}

/// Returns an API request; `null` means no body, and an empty token no authorization.
pub(crate) fn message(method: &str, path: &str, token: &str, body: &Value) -> Vec<u8> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut head = format!("{method} /api{path} HTTP/1.1\r\nhost: mall\r\n{OUR_CLIENT}\r\n");
    if !token.is_empty() {
        head.push_str(&format!("authorization: {token}\r\n"));
    }
    if !body.is_empty() {
        head.push_str("content-type: application/json\r\n");
    }
    head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    head.into_bytes()
}

/// Parses the response to a request.
pub(crate) fn read(request: &Request, status: u16, body: &[u8]) -> Response {
    if status >= 500 {
        return Response::Unknown;
    }
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    let understood = match json["success"].as_bool() {
        Some(true) => granted(request, &json),
        Some(false) => refused(request, &json),
        None => None,
    };
    understood.unwrap_or_else(|| Response::Invalid(format!("{status} {}", String::from_utf8_lossy(body))))
}

/// Returns the code of a refusal, or the status without a code.
pub(crate) fn code(status: u16, body: &[u8]) -> String {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    json["code"].as_str().map_or_else(|| status.to_string(), str::to_owned)
}

fn granted(request: &Request, json: &Value) -> Option<Response> {
    let data = &json["data"];
    Some(match request {
        Request::Claim { .. } => Response::Accepted(order_number(json).filter(|id| data == id)?),
        Request::Pay { order } => Response::Order(order_at(data, *order, 2)?),
        Request::Cancel { order } => Response::Order(order_at(data, *order, 4)?),
        Request::ShowOrder { order } => Response::Order(order_view(data).filter(|view| view.id == *order)?),
        Request::ListOrders => Response::Orders(order_views(data)?),
        Request::ShowStock { .. } => Response::Stock(stock(&data["stock"])?),
        Request::PublishNote { .. } => Response::Note(data.as_u64()?),
        Request::Like { .. } | Request::SignIn | Request::Follow { .. } => Response::Done,
        Request::LogIn { .. } => Response::Session(data.as_str()?.to_owned()),
    })
}

fn refused(request: &Request, json: &Value) -> Option<Response> {
    Some(match (request, json["code"].as_str()?) {
        (Request::Claim { .. }, "ALREADY_BOUGHT") => Response::AlreadyBought(order_number(json)?),
        (Request::Claim { .. }, "SOLD_OUT") => Response::SoldOut,
        (_, code) => Response::Refused(code.to_owned()),
    })
}

/// Reads `dataText`, because a browser would round `data`.
fn order_number(json: &Value) -> Option<u64> {
    json["dataText"].as_str()?.parse().ok()
}

fn order_at(data: &Value, order: u64, status: u8) -> Option<OrderView> {
    order_view(data).filter(|view| view.id == order && view.status == status)
}

/// Parses an order of the API.
pub(crate) fn order_view(data: &Value) -> Option<OrderView> {
    Some(OrderView {
        id: data["id"].as_str()?.parse().ok()?,
        sale: data["voucherId"].as_u64()?,
        status: u8::try_from(data["status"].as_u64()?).ok().filter(|status| *status <= 6)?,
    })
}

pub(crate) fn order_views(data: &Value) -> Option<Vec<OrderView>> {
    data.as_array()?.iter().map(order_view).collect()
}

/// Parses a stock; −1 means unlimited.
pub(crate) fn stock(value: &Value) -> Option<Option<u64>> {
    match value.as_i64()? {
        -1 => Some(None),
        left => Some(Some(u64::try_from(left).ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_understood_or_senseless_and_a_fault_of_the_server_tells_nothing() {
        let claim = Request::Claim { sale: 7 };
        let pay = Request::Pay { order: 5 };
        let paid = r#"{"success":true,"data":{"id":"5","voucherId":7,"status":2}}"#;
        let senseless = |text: &str| Response::Invalid(text.to_owned());
        for (request, status, body, want) in [
            (&claim, 200, r#"{"success":true,"data":5,"dataText":"5"}"#, Response::Accepted(5)),
            (
                &claim,
                200,
                r#"{"success":true,"data":6,"dataText":"5"}"#,
                senseless("200 {\"success\":true,\"data\":6,\"dataText\":\"5\"}"),
            ),
            (
                &claim,
                409,
                r#"{"success":false,"code":"ALREADY_BOUGHT","dataText":"5"}"#,
                Response::AlreadyBought(5),
            ),
            (&claim, 200, r#"{"success":false,"code":"SOLD_OUT"}"#, Response::SoldOut),
            (
                &claim,
                429,
                r#"{"success":false,"code":"RATE_LIMITED"}"#,
                Response::Refused("RATE_LIMITED".to_owned()),
            ),
            (&claim, 503, r#"{"success":false,"code":"SOLD_OUT"}"#, Response::Unknown),
            (&claim, 404, "", senseless("404 ")),
            (&pay, 200, paid, Response::Order(OrderView { id: 5, sale: 7, status: 2 })),
            (&Request::Cancel { order: 5 }, 200, paid, senseless(&format!("200 {paid}"))),
            (&Request::ShowOrder { order: 6 }, 200, paid, senseless(&format!("200 {paid}"))),
            (
                &Request::ShowStock { sale: 7 },
                200,
                r#"{"success":true,"data":{"stock":-1}}"#,
                Response::Stock(None),
            ),
            (
                &Request::ShowStock { sale: 7 },
                200,
                r#"{"success":true,"data":{"stock":3}}"#,
                Response::Stock(Some(3)),
            ),
            (&Request::SignIn, 200, r#"{"success":true}"#, Response::Done),
        ] {
            assert_eq!(read(request, status, body.as_bytes()), want, "{request:?}: {status} {body}");
        }
    }
}
