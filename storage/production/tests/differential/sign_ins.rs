//! Steps on [`SignIns`](mallbox_storage::SignIns).

use mallbox_storage::{Day, DaySpan, Page, Timestamp, UserId};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

/// The days that are signed: two weeks across a leap day and the end of a month.
const FIRST: &str = "2028-02-22";
const DAYS: u64 = 14;

#[derive(Clone, Debug)]
pub enum SignInStep {
    Sign(UserId, Day, Timestamp),
    MakeUp(UserId, Day, u32),
    Days(UserId, DaySpan),
    Streak(UserId, Day),
    Longest(UserId),
    Counts(DaySpan),
    SignedAll(DaySpan, Page),
}

impl SignInStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let (user, day) = (scene.user(dice), day(dice));
        match dice.below(100) {
            // Stored ids are below 2^63.
            0..35 => Self::Sign(UserId::new(user.get() >> 1), day, scene.now),
            35..50 => Self::MakeUp(UserId::new(user.get() >> 1), day, dice.pick(&[0, 1, 3, u32::MAX])),
            50..60 => Self::Days(user, span(dice)),
            60..70 => Self::Streak(user, day),
            70..75 => Self::Longest(user),
            75..85 => Self::Counts(span(dice)),
            _ => Self::SignedAll(span(dice), scene.page(dice)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let signs = &side.storage.people.sign_ins;
        match self {
            Self::Sign(user, day, now) => said(signs.sign(*user, *day, *now).await),
            Self::MakeUp(user, day, most) => said(signs.make_up(*user, *day, *most).await),
            Self::Days(user, span) => said(signs.days(*user, *span).await),
            Self::Streak(user, day) => said(signs.streak(*user, *day).await),
            Self::Longest(user) => said(signs.longest_streak(*user).await),
            Self::Counts(span) => said(signs.counts(*span).await),
            Self::SignedAll(span, page) => said(signs.signed_all(*span, *page).await),
        }
    }
}

/// The year that contains all signed days.
pub fn year() -> DaySpan {
    let last = Day::of(2028, 12, 31).unwrap();
    DaySpan::new(Day::of(2028, 1, 1).unwrap(), last).unwrap()
}

fn day(dice: &mut Dice) -> Day {
    let first = Day::parse(FIRST).unwrap().number();
    Day::from_number(first + i32::try_from(dice.below(DAYS)).unwrap()).unwrap()
}

fn span(dice: &mut Dice) -> DaySpan {
    let (one, other) = (day(dice), day(dice));
    let last = if dice.chance(50) { one } else { one.max(other) };
    DaySpan::new(one.min(last), last).unwrap()
}
