//! `/ops/sales/{id}/attack`, `/ops/sales/{id}/attempts`: the decision log of a judged sale.

use axum::extract::State;
use mallbox_storage::{Attempt, Timestamp, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judgement::SignalAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Now, Operator, Path, PollingOperator, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::operator::sales::{AddressView, AttackView, AttemptView, SaleAdmin, Slot};

/// Returns the routes of the decision log.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get(
            "/ops/sales/{id}/attack",
            attack,
            both("最近五分钟的抢购", "The attempts of the last five minutes"),
        )
        .explained(both(
            "按结果、信号和来源地址统计，最多统计最近一万次抢购。地址只有带密钥的散列值。",
            "Counts by outcome, signal and address, of the last 10,000 attempts at most. Addresses are keyed \
                hashes.",
        ))
        .get("/ops/sales/{id}/attempts", attempts, both("抢购记录", "The decision log of a sale"))
        .explained(both(
            "从新到旧，每页一百条；`next`作为`before`取更早的。记录保留七天，最多一百万条。",
            "Newest first, 100 per page; pass `next` as `before` for older ones. Attempts are kept for seven \
                days, a million at most.",
        ))
}

/// The attempts of the last five minutes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttackAnswer {
    attempts: u64,
    /// Attempts that look automated by the rules in force.
    suspicious: u64,
    /// Score from which an attempt looks automated.
    #[schemars(example = 100)]
    limit: u32,
    /// Whether more attempts were made than counted.
    is_cut: bool,
    /// Attempts that this instance of the mall could not log since its start.
    lost: u64,
    /// Most first; outcomes that occurred.
    outcomes: Vec<OutcomeAnswer>,
    /// Attempts to which rules about a signal gave points, most first.
    signals: Vec<SignalAnswer>,
    /// Ten addresses with the most attempts, most first.
    addresses: Vec<AddressAnswer>,
    /// Slots of ten seconds, oldest first.
    timeline: Vec<SlotAnswer>,
}

#[derive(Serialize, JsonSchema)]
struct OutcomeAnswer {
    /// Such as `ACCEPTED` or `LOOKS_AUTOMATED`.
    #[schemars(example = &"ACCEPTED")]
    outcome: &'static str,
    attempts: u64,
}

#[derive(Serialize, JsonSchema)]
struct AddressAnswer {
    /// Keyed hash of the address.
    #[schemars(example = &"9f3a01c2d4e5f607")]
    address: String,
    attempts: u64,
    /// Distinct users.
    users: u64,
    /// Attempts that got a unit.
    accepted: u64,
    suspicious: u64,
}

impl AddressAnswer {
    fn new(view: &AddressView) -> Self {
        let AddressView { address, attempts, users, accepted, suspicious } = *view;
        Self { address: hash(address), attempts, users, accepted, suspicious }
    }
}

#[derive(Serialize, JsonSchema)]
struct SlotAnswer {
    /// Begin of the slot, in milliseconds since 1970.
    at: i64,
    attempts: u64,
    accepted: u64,
    suspicious: u64,
}

impl SlotAnswer {
    fn new(slot: &Slot) -> Self {
        let Slot { begin, attempts, accepted, suspicious } = *slot;
        Self { at: begin.as_millis(), attempts, accepted, suspicious }
    }
}

impl AttackAnswer {
    fn new(view: &AttackView, lost: u64) -> Self {
        Self {
            attempts: view.attempts,
            suspicious: view.suspicious,
            limit: view.limit,
            is_cut: view.is_cut,
            lost,
            outcomes: view
                .outcomes
                .iter()
                .map(|(outcome, attempts)| OutcomeAnswer { outcome: outcome.name(), attempts: *attempts })
                .collect(),
            signals: view.signals.iter().copied().map(SignalAnswer::new).collect(),
            addresses: view.addresses.iter().map(AddressAnswer::new).collect(),
            timeline: view.timeline.iter().map(SlotAnswer::new).collect(),
        }
    }
}

async fn attack(
    State(app): State<App>,
    _: PollingOperator,
    Now(now): Now,
    Path(voucher): Path<u64>,
) -> Reply<AttackAnswer> {
    let admin: &SaleAdmin = &app.sale_admin;
    let view = admin.attack(VoucherId::new(voucher), now).await?;
    Ok(Answer::ok(AttackAnswer::new(&view, admin.lost_attempts())))
}

#[derive(Deserialize, JsonSchema)]
struct AttemptsQuery {
    /// Only attempts with smaller numbers; default: the newest.
    #[schemars(example = 891)]
    before: Option<u64>,
}

/// A page of the decision log.
#[derive(Serialize, JsonSchema)]
struct AttemptsAnswer {
    attempts: Vec<AttemptAnswer>,
    /// To be passed as `before` for older attempts; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

/// An attempt to claim a unit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttemptAnswer {
    /// Number of the attempt, ascending in the order of storing.
    number: u64,
    /// Milliseconds since 1970.
    at: i64,
    user_id: u64,
    /// Keyed hash of the address, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"9f3a01c2d4e5f607")]
    address: Option<String>,
    /// Keyed hash of the device ticket, if shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"0b1c2d3e4f506172")]
    device: Option<String>,
    /// How the attempt ended.
    #[schemars(example = &"ACCEPTED")]
    outcome: &'static str,
    /// Score by the rules of that time.
    score: u32,
    signals: Vec<SignalPart>,
}

#[derive(Serialize, JsonSchema)]
struct SignalPart {
    /// Name of the signal, as in the rules.
    #[schemars(example = &"address-users")]
    signal: &'static str,
    value: u32,
    /// Points by the rules in force.
    points: u32,
}

impl AttemptAnswer {
    fn new(view: &AttemptView) -> Self {
        let Attempt { at, user, address, device, outcome, score, .. } = view.stored.attempt;
        Self {
            number: view.stored.number,
            at: Timestamp::as_millis(at),
            user_id: user.get(),
            address: address.map(hash),
            device: device.map(hash),
            outcome: outcome.name(),
            score,
            signals: view
                .signals
                .iter()
                .map(|(signal, value, points)| SignalPart {
                    signal: signal.name(),
                    value: *value,
                    points: *points,
                })
                .collect(),
        }
    }
}

async fn attempts(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Query(query): Query<AttemptsQuery>,
) -> Reply<AttemptsAnswer> {
    let page = app.sale_admin.attempts(VoucherId::new(voucher), query.before, now).await?;
    let is_full = page.len() >= SaleAdmin::ATTEMPTS_PAGE as usize;
    let next = page.last().filter(|_| is_full).map(|last| last.stored.number);
    Ok(Answer::ok(AttemptsAnswer { attempts: page.iter().map(AttemptAnswer::new).collect(), next }))
}

fn hash(hash: u64) -> String {
    format!("{hash:016x}")
}
