//! `/ops/sales/{id}/judgement`, `/ops/judgement/rules`: what sales do with attempts that look automated, and
//! which attempts do.

use axum::extract::State;
use mallbox_storage::{Judgement, Signal, VoucherId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::Refusal;
use crate::mall::base::By;
use crate::mall::operator::sales::{RulesPreview, RulesView};

/// Name of a sale without judgement.
const OFF: &str = "off";

/// Returns the routes of the judgement.
pub(super) fn routes() -> Calls {
    Calls::of(both("秒杀管理", "Running sales"))
        .get("/ops/sales/{id}/judgement", judgement, both("秒杀的风控方式", "The judgement of a sale"))
        .put("/ops/sales/{id}/judgement", put_judgement, both("设置风控方式", "Set the judgement of a sale"))
        .explained(both(
            "`off`不评分；`observe`只记录；`challenge`要求疑似脚本的抢购再验证一次，没有设防护的秒杀只记录；\
                `refuse`直接拒绝。一秒内生效。",
            "`off` judges nothing; `observe` logs only; `challenge` demands a second challenge of claims that \
                look automated, and only logs without a guard; `refuse` refuses them. Takes effect within a \
                second.",
        ))
        .post(
            "/ops/sales/{id}/judgement/preview",
            preview,
            both("用另一套规则重算最近的抢购", "The last attempts by other rules"),
        )
        .explained(both(
            "用给定的规则重算这场秒杀最近一万次抢购，不保存。",
            "Scores the last 10,000 attempts at the sale by the given rules. Stores nothing.",
        ))
        .get("/ops/judgement/rules", rules, both("风控规则", "The rules of the judgement"))
        .put("/ops/judgement/rules", put_rules, both("设置风控规则", "Set the rules of the judgement"))
        .explained(both(
            "TOML格式：`limit`是判定为疑似脚本的分数，每条`[[rules]]`有`signal`、`at-least`或`below`、`points`。\
                留空恢复默认规则。对所有秒杀一秒内生效，写入审计日志。",
            "TOML: `limit` is the score from which an attempt looks automated; each of the `[[rules]]` has \
                `signal`, either `at-least` or `below`, and `points`. An empty text restores the default. In \
                force for all sales within a second. The audit log records the action.",
        ))
}

/// What a sale does with attempts that look automated.
#[derive(Serialize, JsonSchema)]
struct JudgementAnswer {
    /// `off`, `observe`, `challenge` or `refuse`.
    #[schemars(example = &"observe")]
    mode: &'static str,
}

impl JudgementAnswer {
    fn new(judgement: Option<Judgement>) -> Self {
        Self { mode: judgement.map_or(OFF, Judgement::name) }
    }
}

#[derive(Deserialize, JsonSchema)]
struct JudgementBody {
    /// `off`, `observe`, `challenge` or `refuse`.
    #[schemars(example = &"observe")]
    mode: String,
}

impl JudgementBody {
    fn judgement(&self) -> Result<Option<Judgement>, Refusal> {
        match (self.mode.as_str(), Judgement::of_name(&self.mode)) {
            (OFF, _) => Ok(None),
            (_, None) => Err(Refusal::BadValue("judgementMode")),
            (_, judgement) => Ok(judgement),
        }
    }
}

async fn judgement(State(app): State<App>, _: Operator, Path(voucher): Path<u64>) -> Reply<JudgementAnswer> {
    Ok(Answer::ok(JudgementAnswer::new(app.sale_admin.judgement(VoucherId::new(voucher)).await?)))
}

async fn put_judgement(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<JudgementBody>,
) -> Reply<JudgementAnswer> {
    let by = By::operator(user, now);
    let stored = app.sale_admin.put_judgement(by, VoucherId::new(voucher), body.judgement()?).await?;
    Ok(Answer::ok(JudgementAnswer::new(stored)))
}

#[derive(Deserialize, JsonSchema)]
struct RulesBody {
    /// The table in TOML, at most 16 KiB.
    #[schemars(example = &"limit = 100\n[[rules]]\nsignal = \"address-users\"\nat-least = 30\npoints = 60\n")]
    rules: String,
}

/// The rules in force.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RulesAnswer {
    /// The table in TOML.
    rules: String,
    /// Whether these are the default rules.
    is_default: bool,
}

impl RulesAnswer {
    fn new(RulesView { text, is_default }: RulesView) -> Self {
        Self { rules: text, is_default }
    }
}

/// A count by the rules in force, and by the given ones.
#[derive(Serialize, JsonSchema)]
struct NowAndThen {
    now: u64,
    then: u64,
}

/// The number of attempts to which rules about a signal give points.
#[derive(Serialize, JsonSchema)]
pub(super) struct SignalAnswer {
    /// Name of the signal, as in the rules.
    #[schemars(example = &"address-users")]
    signal: &'static str,
    attempts: u64,
}

impl SignalAnswer {
    pub(super) fn new((signal, attempts): (Signal, u64)) -> Self {
        Self { signal: signal.name(), attempts }
    }
}

/// The last attempts at a sale by other rules.
#[derive(Serialize, JsonSchema)]
struct PreviewAnswer {
    /// Number of attempts considered.
    #[schemars(example = 9_120)]
    attempts: u64,
    /// Attempts that look automated.
    suspicious: NowAndThen,
    /// Of these, attempts that got a unit.
    accepted: NowAndThen,
    /// By the given rules, most first.
    signals: Vec<SignalAnswer>,
}

impl PreviewAnswer {
    fn new(preview: RulesPreview) -> Self {
        let counts = |[now, then]: [u64; 2]| NowAndThen { now, then };
        Self {
            attempts: preview.attempts,
            suspicious: counts(preview.suspicious),
            accepted: counts(preview.accepted),
            signals: preview.signals.into_iter().map(SignalAnswer::new).collect(),
        }
    }
}

async fn preview(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Path(voucher): Path<u64>,
    Json(body): Json<RulesBody>,
) -> Reply<PreviewAnswer> {
    let preview = app.sale_admin.preview_rules(VoucherId::new(voucher), &body.rules, now).await?;
    Ok(Answer::ok(PreviewAnswer::new(preview)))
}

async fn rules(State(app): State<App>, _: Operator, Now(now): Now) -> Reply<RulesAnswer> {
    Ok(Answer::ok(RulesAnswer::new(app.sale_admin.judgement_rules(now).await?)))
}

async fn put_rules(
    State(app): State<App>,
    Operator(user): Operator,
    Now(now): Now,
    Json(body): Json<RulesBody>,
) -> Reply<RulesAnswer> {
    let stored = app.sale_admin.put_judgement_rules(By::operator(user, now), body.rules).await?;
    Ok(Answer::ok(RulesAnswer::new(stored)))
}
