//! `/ops/sales/{id}/guard`: the guard of a sale.

use axum::extract::State;
use mallbox_storage::{ChallengeKind, ChallengeKinds, Guard, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::selling::guards::names;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::By;
use crate::mall::operator::sales::DEFAULT_GUARD;

/// Returns the routes of guards.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/guard", guard, both("秒杀的防护设置", "The guard of a sale"))
        .put("/ops/sales/{id}/guard", put_guard, both("设置或取消防护", "Set or remove the guard of a sale"))
        .explained(both(
            "设了防护的秒杀，抢购前须先通过验证，领到通行码。一秒内生效。`kinds`为空表示取消防护。",
            "Claims of a guarded sale need a pass, which a solved challenge earns. Takes effect within a \
                second. An empty list of `kinds` removes the guard.",
        ))
}

/// The guard of a sale. Without one, `kinds` is empty and the other values are proposals.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GuardAnswer {
    /// Kinds of challenges, in the order of preference.
    kinds: Vec<&'static str>,
    work_bits: u8,
    pass_seconds: u16,
    jitter_seconds: u8,
    /// The external challenge service of the mall; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<ServiceState>,
}

/// The external challenge service of the mall.
#[derive(Serialize, JsonSchema)]
struct ServiceState {
    /// `hcaptcha`, `turnstile` or `geetest`.
    #[schemars(example = &"turnstile")]
    name: &'static str,
    /// False while the service is away, and sales use the mall's own challenges.
    available: bool,
}

impl GuardAnswer {
    fn new(guard: Option<Guard>, app: &App) -> Self {
        let kinds = guard.as_ref().map(names).unwrap_or_default();
        let Guard { kinds: _, work_bits, pass_seconds, jitter_seconds } = guard.unwrap_or(DEFAULT_GUARD);
        let service = app.sales.challenge_service().map(|watched| ServiceState {
            name: watched.service().name(),
            available: watched.is_available(),
        });
        Self { kinds, work_bits, pass_seconds, jitter_seconds, service }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GuardBody {
    /// Kinds of challenges in the order of preference, each at most once: `picture`, `slider`, `work`, and
    /// `service` in a mall with an external challenge service. Empty for no guard.
    #[schemars(example = &["picture", "work"])]
    kinds: Vec<String>,
    /// Leading zero bits of a proof of work, 8 to 26; each bit doubles the work. Default: 18.
    #[schemars(example = 18)]
    work_bits: Option<u8>,
    /// Lifetime of a pass in seconds, 10 to 600. Default: 60.
    #[schemars(example = 60)]
    pass_seconds: Option<u16>,
    /// Passes are issued up to this number of seconds before the begin, 0 to 30, at random per user.
    /// Default: 3.
    #[schemars(example = 3)]
    jitter_seconds: Option<u8>,
}

impl GuardBody {
    fn guard(self) -> Result<Option<Guard>, Refusal> {
        if self.kinds.is_empty() {
            return Ok(None);
        }
        let kinds: Option<Vec<ChallengeKind>> =
            self.kinds.iter().map(|name| ChallengeKind::of_name(name)).collect();
        let kinds =
            kinds.and_then(|kinds| ChallengeKinds::new(&kinds)).ok_or(Refusal::BadValue("challenges"))?;
        Ok(Some(Guard {
            kinds,
            work_bits: self.work_bits.unwrap_or(DEFAULT_GUARD.work_bits),
            pass_seconds: self.pass_seconds.unwrap_or(DEFAULT_GUARD.pass_seconds),
            jitter_seconds: self.jitter_seconds.unwrap_or(DEFAULT_GUARD.jitter_seconds),
        }))
    }
}

async fn guard(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<GuardAnswer> {
    let guard = app.sale_admin.guard(VoucherId::new(voucher)).await?;
    Ok(Answer::ok(GuardAnswer::new(guard, &app)))
}

async fn put_guard(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<GuardBody>,
) -> Reply<GuardAnswer> {
    let by = By::operator(user, now);
    let guard = app.sale_admin.put_guard(by, VoucherId::new(voucher), body.guard()?).await?;
    Ok(Answer::ok(GuardAnswer::new(guard, &app)))
}
