//! The caller's level and credits: `/user/level`, `/user/credits`.

use axum::extract::State;
use jiff::tz::TimeZone;
use mallbox_storage::{CreditCause, CreditLine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Query};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::levels::LevelTable;
use crate::mall::base::wall_time;
use crate::mall::people::levels::OwnLevel;

/// Returns the routes of the caller's level and credits.
pub fn routes() -> Calls {
    Calls::of(both("会员等级", "Levels"))
        .get("/user/level", level, both("我的会员等级", "The level of the caller"))
        .explained(both(
            "积分达到`levels`中的数值即升级；管理员设置或导入的等级更高时，以其为准。\
                `missing`：到下一级还差的积分。",
            "Credits make the levels in `levels`; a higher level set by an operator or imported prevails. \
             `missing`: credits missing to the next level.",
        ))
        .get(
            "/user/credits",
            credits,
            both("我的积分记录，新的在前，每次20条", "The caller's credits, newest first, 20 at a time"),
        )
        .explained(both(
            "签到和已支付（免支付时为已使用）的订单得积分，退款时收回。\
                下一页：`before`为上一页最后一条的`number`。",
            "Sign-ins and paid orders (without payment: used orders) earn credits, refunds take them back. \
             For the next page, `before` is the `number` of the last line.",
        ))
}

/// A level, and the credits that make it.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct LevelStepAnswer {
    #[schemars(example = 1)]
    level: u8,
    #[schemars(example = 100)]
    credits: u64,
}

/// Returns the steps of a table of levels, from level 0.
pub(in crate::http) fn steps(table: &LevelTable) -> Vec<LevelStepAnswer> {
    (0..).zip(table.credits()).map(|(level, credits)| LevelStepAnswer { level, credits: *credits }).collect()
}

/// The level of the caller.
#[derive(Serialize, JsonSchema)]
struct LevelAnswer {
    #[schemars(example = 1)]
    level: u8,
    #[schemars(example = 120)]
    credits: u64,
    /// Credits of the next level; absent at the highest level.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 500)]
    next: Option<u64>,
    /// Credits missing to the next level; 0 at the highest level.
    #[schemars(example = 380)]
    missing: u64,
    levels: Vec<LevelStepAnswer>,
}

impl From<OwnLevel> for LevelAnswer {
    fn from(own: OwnLevel) -> Self {
        Self {
            level: own.level,
            credits: own.credits,
            next: own.next,
            missing: own.missing(),
            levels: steps(&own.table),
        }
    }
}

/// Cause of a line.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum CreditCauseName {
    /// Brought along from another mall, or from the time before the ledger.
    Imported,
    /// A sign-in on its day.
    SignIn,
    /// A paid order, or a used order without payment.
    Order,
    /// A refunded order: the order's credits are taken back.
    Refund,
}

/// A line of the caller's credits.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreditAnswer {
    /// Number of the line, from 1.
    #[schemars(example = 7)]
    number: u64,
    cause: CreditCauseName,
    /// The day of a sign-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2026-11-21")]
    date: Option<String>,
    /// The order paid, used or refunded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    /// Credits earned; negative if taken back.
    #[schemars(example = 47)]
    amount: i64,
    /// Credits after the line.
    #[schemars(example = 167)]
    credits: u64,
    #[schemars(example = &"2026-11-21T10:09:17")]
    time: String,
}

impl CreditAnswer {
    pub(super) fn new(line: CreditLine, zone: &TimeZone) -> Self {
        let CreditLine { number, cause, amount, sum, at } = line;
        let (cause, date, order_id) = match cause {
            CreditCause::Imported => (CreditCauseName::Imported, None, None),
            CreditCause::SignIn(day) => (CreditCauseName::SignIn, Some(day.to_string()), None),
            CreditCause::Order(order) => (CreditCauseName::Order, None, Some(order.to_string())),
            CreditCause::Refund(order) => (CreditCauseName::Refund, None, Some(order.to_string())),
        };
        Self { number, cause, date, order_id, amount, credits: sum, time: wall_time::text(at, zone) }
    }
}

async fn level(State(app): State<App>, Login(user): Login, Now(now): Now) -> Reply<LevelAnswer> {
    Ok(Answer::ok(LevelAnswer::from(app.levels.of(user, now).await?)))
}

#[derive(Deserialize, JsonSchema)]
struct LinesQuery {
    /// Lines before this number only.
    before: Option<u64>,
}

async fn credits(
    State(app): State<App>,
    Login(user): Login,
    Query(query): Query<LinesQuery>,
) -> Reply<Vec<CreditAnswer>> {
    let lines = app.levels.credits(user, query.before).await?;
    let zone = &app.context.zone;
    let lines: Vec<_> = lines.into_iter().map(|line| CreditAnswer::new(line, zone)).collect();
    Ok(Answer::ok(lines))
}
