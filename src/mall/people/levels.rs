//! The level and the credits of a user, for the user.
//!
//! Reasons: `src/decisions/0049-levels-are-earned.md`.

use mallbox_storage::{CreditLine, Profile, Timestamp, UserId};

use crate::mall::base::levels::LevelTable;
use crate::mall::base::{Context, Failure, Refusal};

/// Lines per page of the ledger.
const PAGE: u32 = 20;

/// The service for levels.
pub struct Levels {
    context: Context,
}

/// The level of a user, and the way to the next level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnLevel {
    /// Level in force: the higher of the granted and the earned level.
    pub level: u8,
    /// Credits at present.
    pub credits: u64,
    /// Credits needed for the next level; `None` at the top.
    pub next: Option<u64>,
    /// The mall's table of levels.
    pub table: LevelTable,
}

impl OwnLevel {
    fn new(card: &Profile, table: LevelTable) -> Self {
        let level = table.level_of(card);
        Self { level, credits: card.credits, next: table.after(level), table }
    }

    /// Returns the credits missing to the next level; 0 at the top.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.next.map_or(0, |next| next.saturating_sub(self.credits))
    }
}

impl Levels {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns the level of a user. Reads the database: a payment made a moment ago counts.
    ///
    /// # Errors
    /// [`Refusal::NotLoggedIn`] for an unknown user; [`Refusal::Busy`] or [`Failure::Store`] if the store
    /// fails.
    pub async fn of(&self, user: UserId, now: Timestamp) -> Result<OwnLevel, Failure> {
        let card = self.context.storage.people.users.card(user).await?.ok_or(Refusal::NotLoggedIn)?;
        Ok(OwnLevel::new(&card, self.context.level_table(now).await?))
    }

    /// Returns a page of a user's ledger of credits, newest first: lines with a number below `before`, or the
    /// newest lines.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn credits(&self, user: UserId, before: Option<u64>) -> Result<Vec<CreditLine>, Failure> {
        Ok(self.context.storage.people.credits.lines(user, before, PAGE).await?)
    }
}
