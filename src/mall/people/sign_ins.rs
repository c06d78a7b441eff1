//! Daily sign-in: streaks, the month's calendar, make-ups for missed days, and operators' statistics.
//!
//! Days follow the mall's time zone. A missed day can be made up for until the end of its month, because a
//! calendar shows one month. The number of make-ups per month is a setting.

use mallbox_storage::{Day, DaySpan, MakeUpOutcome, Page, SignedDay, Timestamp, UserId};

use super::accounts::PublicUser;
use crate::mall::base::{Context, Failure, InputError, Refusal, SharedContext};

/// The service for daily sign-in.
pub struct SignIns {
    context: Context,
}

/// A calendar month of one user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calendar {
    /// All days of the month.
    pub month: DaySpan,
    /// Today in the mall's time zone.
    pub today: Day,
    /// The signed days of the month.
    pub signed: Vec<SignedDay>,
    /// Current streak: consecutive days up to today, or up to yesterday if today is not signed yet.
    pub streak: u32,
    /// Longest streak ever, in days.
    pub longest: u32,
    /// Make-ups still available in this month; 0 for any other month.
    pub make_ups_left: u32,
    /// The day of registration: earlier days cannot be made up for.
    pub here_since: Option<Day>,
}

/// Sign-in statistics of a range of days.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attendance {
    /// Number of sign-ins per day.
    pub days: Vec<(Day, u64)>,
    /// A page of the users who signed in on every day.
    pub all: Vec<PublicUser>,
    /// Total number of users who signed in on every day.
    pub all_count: u64,
}

/// Users per page of [`Attendance::all`].
const PAGE: u32 = 10;

impl SignIns {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Signs a user in for today, which earns credits. A repeated call on the same day is no error.
    ///
    /// # Errors
    /// [`Refusal::Clock`] while it is not sure which day it is; [`Failure::Store`] if the store fails.
    pub async fn sign(&self, user: UserId, now: Timestamp) -> Result<(), Failure> {
        self.context.require_sure_clock()?;
        let today = self.context.today(now)?;
        if self.context.storage.people.sign_ins.sign(user, today, now).await? {
            self.context.credits_changed(user).await;
        }
        Ok(())
    }

    /// Returns the current streak: consecutive days up to today, or up to yesterday if today is not signed
    /// yet.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn streak(&self, user: UserId, now: Timestamp) -> Result<u32, Failure> {
        Ok(self.context.storage.people.sign_ins.streak(user, self.context.today(now)?).await?)
    }

    /// Returns the signed days of a month such as `2026-11`; `""` means the current month.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid month.
    pub async fn month(&self, user: UserId, month: &str, now: Timestamp) -> Result<Vec<SignedDay>, Failure> {
        let month = self.month_of(month, now)?;
        Ok(self.context.storage.people.sign_ins.days(user, month).await?)
    }

    /// Returns the data of a calendar month; `month` as in [`month`](Self::month).
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid month.
    pub async fn calendar(&self, user: UserId, month: &str, now: Timestamp) -> Result<Calendar, Failure> {
        let sign_ins = &self.context.storage.people.sign_ins;
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

    /// Makes up for a missed day such as `2026-11-20`: a past day of the current month, not before the user's
    /// registration.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`] for any other day; [`Refusal::SignedAlready`]; [`Refusal::MakeUpsUsed`];
    /// [`Refusal::Clock`] while it is not sure which month it is.
    pub async fn make_up(&self, user: UserId, day: &str, now: Timestamp) -> Result<(), Failure> {
        self.context.require_sure_clock()?;
        let SharedContext { storage, settings, .. } = &*self.context;
        let today = self.context.today(now)?;
        let here_since = self.here_since(user).await?;
        let may_be = |day: &Day| *day < today && today.month().contains(*day) && Some(*day) >= here_since;
        let day = Day::parse(day).filter(may_be).ok_or(InputError::OutOfRange("date"))?;
        let most = settings.make_ups_a_month;
        match storage.people.sign_ins.make_up(user, day, most).await? {
            MakeUpOutcome::Done => Ok(()),
            MakeUpOutcome::SignedAlready => Err(Refusal::SignedAlready.into()),
            MakeUpOutcome::TooMany => Err(Refusal::MakeUpsUsed(most).into()),
        }
    }

    /// Returns sign-in statistics of a range of days. An empty `to` means today, an empty `from` the seven
    /// days up to `to`; a range has at most 31 days.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid day or a range that is too long.
    pub async fn attendance(
        &self,
        (from, to): (&str, &str),
        page: u32,
        now: Timestamp,
    ) -> Result<Attendance, Failure> {
        let span = self.context.span_of_days(from, to, now)?;
        let sign_ins = &self.context.storage.people.sign_ins;
        let counts = sign_ins.counts(span).await?;
        let (users, all_count) = sign_ins.signed_all(span, Page::new(page, PAGE)).await?;
        let all = PublicUser::of(&self.context, &users).await?;
        Ok(Attendance { days: span.days().zip(counts).collect(), all, all_count })
    }

    /// Returns the user's day of registration; `None` in a year outside the supported range.
    async fn here_since(&self, user: UserId) -> Result<Option<Day>, Failure> {
        let user = self.context.storage.people.users.get(user).await?.ok_or(Refusal::NotLoggedIn)?;
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
