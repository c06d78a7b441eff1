//! Claims in batches: `POST /voucher-order/seckill/batch`, for claim gateways.

use axum::extract::State;
use mallbox_storage::{UserId, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::Json;
use crate::http::request::gateway_token::FromGateway;
use crate::http::response::envelope::{Answer, Reply};
use crate::http::response::messages::{self, NextWave, millis};
use crate::language::{Language, both};
use crate::mall::Refusal;
use crate::mall::selling::batch_claims::{BatchOutcome, DecidedBatch, GatewayClaim};

/// Returns the routes of batches.
pub fn routes() -> Calls {
    Calls::of(both("订单", "Orders"))
        .post("/voucher-order/seckill/batch", claim, both("网关成批抢购", "Claim units for many users, as a gateway"))
        .explained(both(
            "凭管理员签发的网关令牌（`Authorization`），一次最多500个抢购，每个返回一个结果，顺序相同；校验与单个抢购一样。\
                设了防护的秒杀须在抢购里带上该用户的`pass`和`deviceTicket`，设了等候室的须带上`admission`。\
                24小时内用同一个`requestId`重发，返回同样的结果；返回503时请原样重发。",
            "Wants the token of a gateway that an operator added (`Authorization`). Takes up to 500 claims, and returns \
                an outcome per claim, in order; each passes the checks of a single claim. In a guarded sale a claim \
                needs the user's `pass` and `deviceTicket`, in a sale with a waiting room the `admission`. A repeat \
                with the same `requestId` within 24 hours returns the same outcomes; after a 503, repeat the request.",
        ))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BatchBody {
    /// A name for this batch, 1 to 64 characters: a repeat under the same name returns the same outcomes.
    #[schemars(example = &"5f0c7a1e-6d0a-4b5e-9a55-0f6f6a3c2d11")]
    request_id: String,
    /// 1 to 500 claims.
    claims: Vec<ClaimBody>,
}

/// A claim of a batch.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClaimBody {
    #[schemars(example = 1_001)]
    user_id: u64,
    #[schemars(example = 7)]
    voucher_id: u64,
    /// The units of the sale that the user holds already; 0 if absent.
    #[schemars(example = 1)]
    holding: Option<u8>,
    /// The user's pass, for a guarded sale.
    pass: Option<String>,
    /// The ticket of the device that earned the pass.
    device_ticket: Option<String>,
    /// The user's admission, for a sale with a waiting room.
    admission: Option<String>,
}

/// The outcomes of a batch.
#[derive(Serialize, JsonSchema)]
struct BatchAnswer {
    /// Number of accepted claims.
    #[schemars(example = 499)]
    accepted: usize,
    /// Whether an earlier request under the same name decided the batch.
    repeated: bool,
    /// An outcome per claim, in the order of the request.
    claims: Vec<OutcomeAnswer>,
}

/// The outcome of a claim of a batch.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OutcomeAnswer {
    /// Whether the user got a unit.
    success: bool,
    /// The id of the order, as text: of the new order, or of the order that the user has already
    /// (`ALREADY_BOUGHT`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    /// Code of the refusal, as for a single claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"SOLD_OUT")]
    code: Option<&'static str>,
    /// The refusal as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"库存不足")]
    error_msg: Option<String>,
    /// The next release of units.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_wave: Option<NextWave>,
    /// Milliseconds to wait before another claim, after a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 1_000)]
    retry_after_ms: Option<u64>,
}

impl OutcomeAnswer {
    fn new(outcome: &BatchOutcome, language: Language) -> Self {
        let refusal = match outcome {
            BatchOutcome::Accepted(order) => {
                return Self {
                    success: true,
                    order_id: Some(order.to_string()),
                    code: None,
                    error_msg: None,
                    next_wave: None,
                    retry_after_ms: None,
                };
            }
            BatchOutcome::Refused(refusal) => refusal,
        };
        let (code, sentence, details) = messages::of_refusal(refusal, language).into_parts();
        let retry_after = match refusal {
            Refusal::RateLimited { retry_after } | Refusal::Crowded { retry_after } => Some(*retry_after),
            _ => None,
        };
        Self {
            success: false,
            order_id: details.existing.map(|order| order.to_string()),
            code: Some(code),
            error_msg: Some(sentence),
            next_wave: details.next_wave,
            retry_after_ms: retry_after.map(millis),
        }
    }
}

impl From<ClaimBody> for GatewayClaim {
    fn from(body: ClaimBody) -> Self {
        let ClaimBody { user_id, voucher_id, holding, pass, device_ticket, admission } = body;
        Self {
            user: UserId::new(user_id),
            voucher: VoucherId::new(voucher_id),
            holding: holding.unwrap_or(0),
            pass,
            device: device_ticket,
            admission,
        }
    }
}

async fn claim(
    State(app): State<App>,
    FromGateway(gateway): FromGateway,
    Json(body): Json<BatchBody>,
) -> Reply<BatchAnswer> {
    let claims = body.claims.into_iter().map(GatewayClaim::from).collect();
    let DecidedBatch { outcomes, is_repeat } =
        app.batch_claims.claim(gateway, body.request_id, claims).await?;
    let language = Language::current();
    let claims: Vec<OutcomeAnswer> =
        outcomes.iter().map(|outcome| OutcomeAnswer::new(outcome, language)).collect();
    let accepted = claims.iter().filter(|claim| claim.success).count();
    let codes = claims.iter().map(|claim| claim.code.unwrap_or_default());
    let codes = if is_repeat { Vec::new() } else { codes.collect() };
    Ok(Answer::ok(BatchAnswer { accepted, repeated: is_repeat, claims }).with_claims(codes))
}
