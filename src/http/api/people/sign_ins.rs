//! Daily sign-ins: `/user/sign…`, and `/stats/signs` for operators.

use axum::extract::State;
use mallbox_storage::{Day, SignedDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::BriefAnswer;
use crate::http::App;
use crate::http::describe::Calls;
use crate::http::request::extract::{Login, Now, Operator, Query};
use crate::http::request::page_query::DaysQuery;
use crate::http::response::envelope::{Answer, Reply};
use crate::language::both;
use crate::mall::people::sign_ins::{Attendance, Calendar};

/// Returns the routes of sign-ins.
pub fn routes() -> Calls {
    Calls::of(both("签到", "Sign-ins"))
        .post("/user/sign", sign, both("今日签到，可重复调用", "Sign in today; a repeat is no error"))
        .get(
            "/user/sign/count",
            count,
            both("连续签到天数", "Consecutive sign-in days up to today or yesterday"),
        )
        .get(
            "/user/signCount",
            count,
            both("连续签到天数，另一个地址", "Consecutive sign-in days; another path of hm-dianping"),
        )
        .get("/user/sign/month", month, both("某月签到的日子", "Days of a month with a sign-in"))
        .get("/user/sign/calendar", calendar, both("某月签到日历", "A month as a sign-in calendar"))
        .post(
            "/user/sign/make-up",
            make_up,
            both("补签本月漏签的一天", "Make up for a missed day of the current month"),
        )
        .explained(both(
            "这一天从此算作已签。每月最多三天（`--make-ups-per-month`），不能补注册之前的日子。",
            "The day counts as signed from then on. Three days a month (`--make-ups-per-month`), \
                none before the day of registration.",
        ))
        .get(
            "/stats/signs",
            attendance,
            both("每日签到人数与全勤者", "Sign-ins per day, and users signed in on every day"),
        )
        .explained(both(
            "最多31天；全勤者每页10人。",
            "At most 31 days; users with every day are listed 10 a page.",
        ))
}

async fn sign(State(app): State<App>, Login(user): Login, Now(now): Now) -> Reply {
    app.sign_ins.sign(user, now).await?;
    Ok(Answer::done())
}

async fn count(State(app): State<App>, Login(user): Login, Now(now): Now) -> Reply<u32> {
    Ok(Answer::ok(app.sign_ins.streak(user, now).await?))
}

#[derive(Deserialize, JsonSchema)]
struct OfMonth {
    /// The month; default: the current month.
    #[schemars(example = &"2026-11")]
    #[serde(default)]
    month: String,
}

async fn month(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<OfMonth>,
) -> Reply<Vec<i32>> {
    let signed = app.sign_ins.month(user, &query.month, now).await?;
    Ok(Answer::ok(signed.iter().map(|signed| signed.day.of_month()).collect::<Vec<_>>()))
}

/// A month as a calendar.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CalendarAnswer {
    #[schemars(example = &"2026-11")]
    month: String,
    /// The current date in the mall's time zone.
    #[schemars(example = &"2026-11-21")]
    today: String,
    /// Days of the month with a sign-in, including days signed later.
    signed: Vec<i32>,
    /// Days of the month signed later.
    made_up: Vec<i32>,
    /// Consecutive days with a sign-in, up to today, or up to yesterday before today's sign-in.
    streak: u32,
    /// The longest streak so far, in days.
    longest: u32,
    /// Days of the current month that the user may still sign later.
    make_ups_left: u32,
    /// The date of registration: earlier days cannot be signed.
    #[schemars(example = &"2026-11-02")]
    #[serde(skip_serializing_if = "Option::is_none")]
    here_since: Option<String>,
}

impl From<Calendar> for CalendarAnswer {
    fn from(calendar: Calendar) -> Self {
        let Calendar { month, today, signed, streak, longest, make_ups_left, here_since } = calendar;
        let number = |signed: &SignedDay| signed.day.of_month();
        let month = month.first().to_string();
        Self {
            month: month.strip_suffix("-01").unwrap_or(&month).to_owned(),
            today: today.to_string(),
            made_up: signed.iter().filter(|signed| signed.is_made_up).map(number).collect(),
            signed: signed.iter().map(number).collect(),
            streak,
            longest,
            make_ups_left,
            here_since: here_since.map(|day| day.to_string()),
        }
    }
}

async fn calendar(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<OfMonth>,
) -> Reply<CalendarAnswer> {
    let calendar = app.sign_ins.calendar(user, &query.month, now).await?;
    Ok(Answer::ok(CalendarAnswer::from(calendar)))
}

#[derive(Deserialize, JsonSchema)]
struct OfDay {
    /// A past day of the current month.
    #[schemars(example = &"2026-11-20")]
    #[serde(default)]
    date: String,
}

async fn make_up(
    State(app): State<App>,
    Login(user): Login,
    Now(now): Now,
    Query(query): Query<OfDay>,
) -> Reply {
    app.sign_ins.make_up(user, &query.date, now).await?;
    Ok(Answer::done())
}

#[derive(Deserialize, JsonSchema)]
struct UsersQuery {
    /// Page of the users who signed in every day, 10 a page.
    #[schemars(example = 1)]
    #[serde(default)]
    current: u32,
}

/// Sign-ins of a range of days.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttendanceAnswer {
    days: Vec<DayAnswer>,
    /// Number of users who signed in every day.
    all: u64,
    /// A page of those users, by id.
    users: Vec<BriefAnswer>,
}

/// Sign-ins of one day.
#[derive(Serialize, JsonSchema)]
struct DayAnswer {
    #[schemars(example = &"2026-11-21")]
    date: String,
    /// Number of users who signed in.
    signed: u64,
}

impl From<Attendance> for AttendanceAnswer {
    fn from(attendance: Attendance) -> Self {
        let Attendance { days, all, all_count } = attendance;
        let day = |(day, signed): (Day, u64)| DayAnswer { date: day.to_string(), signed };
        Self {
            days: days.into_iter().map(day).collect(),
            all: all_count,
            users: all.into_iter().map(BriefAnswer::from).collect(),
        }
    }
}

async fn attendance(
    State(app): State<App>,
    _: Operator,
    Now(now): Now,
    Query(days): Query<DaysQuery>,
    Query(page): Query<UsersQuery>,
) -> Reply<AttendanceAnswer> {
    let attendance = app.sign_ins.attendance(days.ends(), page.current, now).await?;
    Ok(Answer::ok(AttendanceAnswer::from(attendance)))
}
