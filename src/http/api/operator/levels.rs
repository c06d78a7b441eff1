//! Member levels, for operators: `/ops/levels`, `/ops/users/{id}/level`.

use axum::extract::State;
use mallbox_storage::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::App;
use crate::http::api::people::levels::{LevelStepAnswer, steps};
use crate::http::describe::Calls;
use crate::http::request::extract::{Json, Now, Operator, Path};
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::base::By;
use crate::mall::operator::levels::UserLevel;

/// Returns the routes of levels for operators.
pub fn routes() -> Calls {
    Calls::of(both("用户管理", "Users"))
        .get("/ops/levels", table, both("会员等级表", "The table of levels"))
        .put("/ops/levels", put_table, both("设置会员等级表", "Set the table of levels"))
        .explained(both(
            "从0级开始，各级所需的积分，逐级增大，最多10级。立即对所有用户生效。",
            "The credits of each level from level 0, ascending, at most 10 levels. In force at once, for all \
             users.",
        ))
        .get("/ops/users/{id}/level", of_user, both("一位用户的会员等级", "The level of a user"))
        .put("/ops/users/{id}/level", set, both("设置用户的会员等级", "Set the level of a user"))
        .explained(both(
            "0到9，代替导入的等级；积分挣得的等级更高时，以挣得的为准。`null`撤销设置。写入审计日志。",
            "0 to 9, in place of an imported level; a higher level earned by credits prevails. `null` removes \
             the level set. The audit log records the action.",
        ))
}

async fn table(State(app): State<App>, _: Operator, Now(now): Now) -> Reply<Vec<LevelStepAnswer>> {
    Ok(Answer::ok(steps(&app.level_admin.table(now).await?)))
}

#[derive(Deserialize, JsonSchema)]
struct LevelTableBody {
    /// Credits for level 0, which is 0, and for each further level.
    #[serde(default)]
    #[schemars(example = &[0, 100, 500, 2_000, 5_000, 10_000])]
    credits: Vec<u64>,
}

async fn put_table(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Json(body): Json<LevelTableBody>,
) -> Reply<Vec<LevelStepAnswer>> {
    let table = app.level_admin.put_table(body.credits, By::operator(operator, now)).await?;
    Ok(Answer::ok(steps(&table)))
}

/// The level of a user.
#[derive(Serialize, JsonSchema)]
struct UserLevelAnswer {
    /// The level in force.
    #[schemars(example = 3)]
    level: u8,
    #[schemars(example = 120)]
    credits: u64,
    /// The level earned by the credits.
    #[schemars(example = 1)]
    earned: u8,
    /// The imported level; 0 without an import.
    #[schemars(example = 0)]
    imported: u8,
    /// The level set by an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 3)]
    set: Option<u8>,
}

impl From<UserLevel> for UserLevelAnswer {
    fn from(is: UserLevel) -> Self {
        let UserLevel { level, credits, earned, imported, set } = is;
        Self { level, credits, earned, imported, set }
    }
}

async fn of_user(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Path(id): Path<u64>,
) -> Reply<UserLevelAnswer> {
    Ok(Answer::ok(UserLevelAnswer::from(app.level_admin.of(UserId::new(id), now).await?)))
}

#[derive(Deserialize, JsonSchema)]
struct LevelBody {
    /// The level, 0 to 9; `null` removes the level set before.
    #[schemars(example = 3)]
    level: Option<u8>,
}

async fn set(
    State(app): State<App>,
    Operator(operator): Operator,
    Now(now): Now,
    Path(id): Path<u64>,
    Json(body): Json<LevelBody>,
) -> Reply<UserLevelAnswer> {
    let by = By::operator(operator, now);
    let set = app.level_admin.set(UserId::new(id), body.level, by).await?;
    Ok(Answer::ok(UserLevelAnswer::from(set)))
}
