//! `/payment/callback`: reports of the payment gateway.

use axum::extract::State;
use schemars::JsonSchema;

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::attempt::{Act, note_act};
use crate::http::request::extract::Now;
use crate::http::request::signed_body::SignedBody;
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::selling::cashier::CallbackOutcome;
use crate::mall::selling::http_gateway::SignedCall;

/// Returns the route of callbacks.
pub fn routes() -> Calls {
    Calls::of(both("支付网关", "Payment gateway"))
        .post("/payment/callback", callback, both("接收支付网关的回调", "Take a callback of the payment gateway"))
        .explained(both(
            "由支付网关调用，须有签名，五分钟内有效；结果落盘后才返回200，其他状态请重发。见手册“支付网关”。",
            "For the payment gateway, with a signature that counts for five minutes. 200 once the result is \
                durable; after any other status the gateway repeats. See the manual's page on payment gateways.",
        ))
}

/// A report of a payment.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes a body whose bytes are signed, so that the service parses them")]
struct CallbackBody {
    /// The payment's id, as sent when the payment was created: `<order>-<payment>`.
    #[schemars(example = &"662319245210910723-17")]
    id: String,
    /// Amount in cents, the price of the order.
    #[schemars(example = 4_750)]
    amount: i64,
    /// `CNY`.
    #[schemars(example = &"CNY")]
    currency: String,
    /// `pending`, `captured`, `declined`, `refunding`, `refunded`, or `reversed`: taken back by a chargeback.
    #[schemars(example = &"captured")]
    state: String,
}

async fn callback(State(app): State<App>, Now(now): Now, call: SignedBody<CallbackBody>) -> Reply {
    let SignedBody { timestamp, signature, body, .. } = &call;
    let outcome = app.cashier.take_callback(SignedCall { timestamp, signature, body }, now).await?;
    if outcome == CallbackOutcome::Reversed {
        note_act(Act::ReversePayment);
    }
    Ok(Answer::done())
}
