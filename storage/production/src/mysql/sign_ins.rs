//! [`SignRows`] in MySQL. The primary key holds the days of a user in sequence; the index by day, the users
//! of a day.

use async_trait::async_trait;
use mallbox_storage::backend::{StreakUpTo, longest_run};
use mallbox_storage::{
    CreditCause, Day, DaySpan, MakeUpOutcome, SIGN_IN_CREDITS, SignedDay, StoreError, Timestamp, UserId,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::credits;
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;
use crate::{BITMAP_USERS_MAX, SignRows};

pub(super) struct MysqlSignIns(pub(super) Database);

/// Rows per page when counting a streak: most streaks end within the first page.
const STREAK_PAGE: u32 = 64;

#[async_trait]
impl SignRows for MysqlSignIns {
    async fn sign(&self, user: UserId, day: Day, now: Timestamp) -> Result<bool, StoreError> {
        self.0.write("sign in", |conn| boxed(async move { sign(conn, user, day, now).await })).await
    }

    async fn make_up(&self, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, StoreError> {
        self.0.write("make up a day", |conn| boxed(async move { make_up(conn, user, day, most).await })).await
    }

    async fn days(&self, user: UserId, span: DaySpan) -> Result<Vec<SignedDay>, StoreError> {
        let sql = "SELECT day, made_up FROM sign_ins WHERE user_id = ? AND day BETWEEN ? AND ? ORDER BY day";
        let read =
            |row: &mut Columns| Ok(SignedDay { day: next_day(row)?, is_made_up: row.next::<i64>()? != 0 });
        self.0
            .read("signed days", |conn| {
                boxed(async move {
                    let keys = (user.get(), span.first().to_string(), span.last().to_string());
                    all(conn, sql, keys, read).await
                })
            })
            .await
    }

    async fn streak(&self, user: UserId, up_to: Day) -> Result<u32, StoreError> {
        self.0.read("streak", |conn| boxed(async move { streak(conn, user, up_to).await })).await
    }

    async fn longest_streak(&self, user: UserId) -> Result<u32, StoreError> {
        let sql = "SELECT day FROM sign_ins WHERE user_id = ? ORDER BY day";
        let days = self.0.read("longest streak", |conn| {
            boxed(async move { all(conn, sql, (user.get(),), next_day).await })
        });
        Ok(longest_run(days.await?))
    }

    async fn bits(&self, day: Day) -> Result<Vec<u8>, StoreError> {
        // 64 users per row. For a million users 16,000 rows; with a row per user, the driver would take a
        // second.
        let sql = "SELECT user_id DIV 64 AS word, BIT_OR(1 << (user_id % 64)) FROM sign_ins
                   WHERE day = ? AND user_id < ? GROUP BY word";
        let read = |row: &mut Columns| Ok((row.next::<u64>()?, row.next::<u64>()?));
        let words = self
            .0
            .look("users of a day", |conn| {
                boxed(async move { all(conn, sql, (day.to_string(), BITMAP_USERS_MAX), read).await })
            })
            .await?;
        let mut bits = Vec::new();
        for (word, users) in words {
            let at = usize::try_from(word * 8).unwrap_or(usize::MAX);
            bits.resize(bits.len().max(at + 8), 0);
            bits[at..at + 8].copy_from_slice(&users.reverse_bits().to_be_bytes());
        }
        Ok(bits)
    }

    async fn far(&self, span: DaySpan) -> Result<Vec<(Day, UserId)>, StoreError> {
        let read = |row: &mut Columns| Ok((next_day(row)?, UserId::new(row.next()?)));
        // A list of days, so that MySQL seeks each day in the index instead of scanning all days between
        // first and last.
        let places = vec!["?"; span.length()].join(", ");
        let sql: &str = &format!(
            "SELECT day, user_id FROM sign_ins WHERE day IN ({places}) AND user_id >= {BITMAP_USERS_MAX} ORDER BY user_id"
        );
        let days: &Vec<String> = &span.days().map(|day| day.to_string()).collect();
        self.0
            .read("users from afar", |conn| boxed(async move { all(conn, sql, days.clone(), read).await }))
            .await
    }
}

async fn sign(conn: &mut Conn, user: UserId, day: Day, now: Timestamp) -> Result<bool, MysqlError> {
    let is_new = insert(conn, user, day, false).await?;
    if is_new {
        credits::add(conn, user, CreditCause::SignIn(day), SIGN_IN_CREDITS, now).await?;
    }
    Ok(is_new)
}

async fn insert(conn: &mut Conn, user: UserId, day: Day, is_made_up: bool) -> Result<bool, MysqlError> {
    let sql = "INSERT INTO sign_ins (user_id, day, made_up) VALUES (?, ?, ?)";
    match execute(conn, sql, (user.get(), day.to_string(), is_made_up)).await {
        Err(fault) if fault.is_duplicate_key() => Ok(false),
        done => done.map(|_| true),
    }
}

/// Makes up a missed day. Locks the user's row: of two concurrent calls, the second counts the first.
async fn make_up(conn: &mut Conn, user: UserId, day: Day, most: u32) -> Result<MakeUpOutcome, MysqlError> {
    let lock = "SELECT id FROM users WHERE id = ? FOR UPDATE";
    first(conn, lock, (user.get(),), Columns::next::<u64>).await?;
    let month = day.month();
    let sql = "SELECT COUNT(CASE WHEN made_up = 1 THEN 1 END), COUNT(CASE WHEN day = ? THEN 1 END)
               FROM sign_ins WHERE user_id = ? AND day BETWEEN ? AND ?";
    let keys = (day.to_string(), user.get(), month.first().to_string(), month.last().to_string());
    let counted = first(conn, sql, keys, |row| Ok((row.count()?, row.count()?))).await?;
    match counted.unwrap_or_default() {
        (_, 1..) => Ok(MakeUpOutcome::SignedAlready),
        (made_up, 0) if made_up >= u64::from(most) => Ok(MakeUpOutcome::TooMany),
        _ if insert(conn, user, day, true).await? => Ok(MakeUpOutcome::Done),
        _ => Ok(MakeUpOutcome::SignedAlready),
    }
}

async fn streak(conn: &mut Conn, user: UserId, up_to: Day) -> Result<u32, MysqlError> {
    let sql = "SELECT day FROM sign_ins WHERE user_id = ? AND day <= ? ORDER BY day DESC LIMIT ?";
    let (mut streak, mut from) = (StreakUpTo::new(up_to), Some(up_to));
    while let Some(latest) = from {
        let keys = (user.get(), latest.to_string(), STREAK_PAGE);
        let days = all(conn, sql, keys, next_day).await?;
        let is_last = days.len() < STREAK_PAGE as usize;
        from = days.last().copied().and_then(Day::before).filter(|_| !is_last);
        if !days.into_iter().all(|day| streak.goes_on(day)) {
            break;
        }
    }
    Ok(streak.length())
}

fn next_day(row: &mut Columns) -> Result<Day, MysqlError> {
    let text: String = row.next()?;
    Day::parse(&text).ok_or_else(|| row.unreadable_last(text))
}
