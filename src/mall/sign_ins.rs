//! Signing in day by day: streaks, the month's calendar, days that are made up for, and what operators see of it.
//!
//! Days are those on the mall's wall. One missed day may be made up for as long as its month lasts, since a calendar shows a
//! month, and so many of them a month as the mall's settings say.

use mallbox_storage::{Day, DaySpan, MakeUp, Page, SignedDay, Timestamp, UserId};

use super::accounts::Brief;
use super::{Context, Failure, Mistake, Refusal};

/// The days on which people sign in.
pub struct SignBook {
    context: Context,
}

/// A month, as a calendar shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calendar {
    /// Its days.
    pub month: DaySpan,
    /// Today on the mall's wall.
    pub today: Day,
    /// Those of its days that are signed.
    pub signed: Vec<SignedDay>,
    /// Days in a row up to today, or up to yesterday.
    pub streak: u32,
    /// The most days in a row there ever were.
    pub longest: u32,
    /// How many days of this month can still be made up for: none of another month.
    pub make_ups_left: u32,
    /// The day on which the user came: none before it can be made up for.
    pub here_since: Option<Day>,
}

/// How many signed, and who signed every day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attendance {
    /// How many signed on each day.
    pub days: Vec<(Day, u64)>,
    /// A page of those who signed on all of them.
    pub all: Vec<Brief>,
    /// How many they are.
    pub all_count: u64,
}

/// Users on a page of those who signed every day.
const PAGE: u32 = 10;

impl SignBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Signs a user in today. Again on the same day is no error.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn sign(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        self.context.storage.sign_ins.sign(user, self.context.today(now)?).await?;
        Ok(())
    }

    /// Days in a row up to today; up to yesterday, if today is not signed yet.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn streak(&self, user: UserId, now: Timestamp) -> Result<u32, Failure> {
        Ok(self.context.storage.sign_ins.streak(user, self.context.today(now)?).await?)
    }

    /// The days of a month, `2026-11`, that a user signed; of this month, if it is `""`.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for what is no month.
    pub async fn month(&self, user: UserId, month: &str, now: Timestamp) -> Result<Vec<SignedDay>, Failure> {
        let month = self.month_of(month, now)?;
        Ok(self.context.storage.sign_ins.days(user, month).await?)
    }

    /// The same with what a calendar shows beside it.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for what is no month.
    pub async fn calendar(&self, user: UserId, month: &str, now: Timestamp) -> Result<Calendar, Failure> {
        let sign_ins = &self.context.storage.sign_ins;
        let (month, today) = (self.month_of(month, now)?, self.context.today(now)?);
        let signed = sign_ins.days(user, month).await?;
        let most = if month.contains(today) { self.context.settings.make_ups_a_month } else { 0 };
        let made_up = signed.iter().filter(|signed| signed.is_made_up).count();
        Ok(Calendar {
            month,
            today,
            streak: sign_ins.streak(user, today).await?,
            longest: sign_ins.longest_streak(user).await?,
            make_ups_left: most.saturating_sub(u32::try_from(made_up).unwrap_or(u32::MAX)),
            here_since: self.here_since(user).await?,
            signed,
        })
    }

    /// Makes up for a missed day, `2026-11-20`: a past one of this month, and none from before the user was here.
    ///
    /// # Errors
    /// [`Mistake::OutOfRange`] for another day; [`Refusal::SignedAlready`]; [`Refusal::MakeUpsUsed`].
    pub async fn make_up(&self, user: UserId, day: &str, now: Timestamp) -> Result<(), Failure> {
        let Context { storage, settings, .. } = &self.context;
        let today = self.context.today(now)?;
        let here_since = self.here_since(user).await?;
        let may_be = |day: &Day| *day < today && today.month().contains(*day) && Some(*day) >= here_since;
        let day = Day::parse(day).filter(may_be).ok_or(Mistake::OutOfRange("date"))?;
        let most = settings.make_ups_a_month;
        match storage.sign_ins.make_up(user, day, most).await? {
            MakeUp::Done => Ok(()),
            MakeUp::SignedAlready => Err(Refusal::SignedAlready.into()),
            MakeUp::TooMany => Err(Refusal::MakeUpsUsed(most).into()),
        }
    }

    /// How many signed from one day to another, and who signed on all of them: up to today and for a week, unless it is
    /// said otherwise by other than `""`; for a month at the most.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for what is no day, or too far from the other.
    pub async fn attendance(
        &self,
        (from, to): (&str, &str),
        page: u32,
        now: Timestamp,
    ) -> Result<Attendance, Failure> {
        let span = self.context.days_looked_at(from, to, now)?;
        let sign_ins = &self.context.storage.sign_ins;
        let counts = sign_ins.counts(span).await?;
        let (users, all_count) = sign_ins.signed_all(span, Page::new(page, PAGE)).await?;
        let all = Brief::of(&self.context, &users).await?;
        Ok(Attendance { days: span.days().zip(counts).collect(), all, all_count })
    }

    /// The day on which a user came, if it is one of the mall's.
    async fn here_since(&self, user: UserId) -> Result<Option<Day>, Failure> {
        let user = self.context.storage.users.get(user).await?.ok_or(Refusal::NotLoggedIn)?;
        Ok(self.context.day_of(user.created))
    }

    fn month_of(&self, month: &str, now: Timestamp) -> Result<DaySpan, Failure> {
        if month.is_empty() {
            return Ok(self.context.today(now)?.month());
        }
        let first = Day::parse(&format!("{month}-01")).ok_or(Refusal::BadValue("month"))?;
        Ok(first.month())
    }
}
