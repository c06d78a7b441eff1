//! Member levels from the operator's side: the table of levels, and the level of a user.
//!
//! Reasons: `src/decisions/0049-levels-are-earned.md`.

use mallbox_storage::{Profile, SetLevelOutcome, Timestamp, UserId};
use serde_json::json;

use super::users::audited;
use crate::mall::base::audit::AuditLog;
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::levels::LevelTable;
use crate::mall::base::{Context, Failure, Refusal};

/// Sets the table of levels, and levels of users.
pub struct LevelAdmin {
    context: Context,
    audit: AuditLog,
}

/// The level of a user, for operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserLevel {
    /// Level in force: the higher of the granted and the earned level.
    pub level: u8,
    /// Credits at present.
    pub credits: u64,
    /// Level earned by the credits.
    pub earned: u8,
    /// Level of an import; 0 without one.
    pub imported: u8,
    /// Level set by an operator, in place of the imported level.
    pub set: Option<u8>,
}

impl UserLevel {
    fn new(card: &Profile, table: &LevelTable) -> Self {
        Self {
            level: table.level_of(card),
            credits: card.credits,
            earned: table.earned(card.credits),
            imported: card.level,
            set: card.set_level,
        }
    }
}

impl LevelAdmin {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context, audit: AuditLog) -> Self {
        Self { context, audit }
    }

    /// Returns the table of levels.
    ///
    /// # Errors
    /// [`Refusal::Busy`] or [`Failure::Store`] if the store fails.
    pub async fn table(&self, now: Timestamp) -> Result<LevelTable, Failure> {
        self.context.level_table(now).await
    }

    /// Replaces the table of levels: the credits needed for levels 0, 1, 2 and so on. Levels in force change
    /// with the table, for all users.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for a table that does not begin at 0, does not ascend, or is too long;
    /// [`Failure::Store`]: the table may or may not be stored.
    pub async fn put_table(&self, credits: Vec<u64>, by: By) -> Result<LevelTable, Failure> {
        let table = LevelTable::new(credits).ok_or(Refusal::BadValue("credits"))?;
        let detail = json!({ "credits": table.credits() });
        let action = AuditedAction { action: "levels.set", subject: "levels".to_owned(), detail };
        let context = self.context.clone();
        let work = async move {
            context.set_level_table(&table).await?;
            Ok(table)
        };
        run_audited(&self.audit, by, action, work).await
    }

    /// Returns the level of a user.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Busy`] or [`Failure::Store`] if the store fails.
    pub async fn of(&self, user: UserId, now: Timestamp) -> Result<UserLevel, Failure> {
        level_of(&self.context, user, now).await
    }

    /// Sets the level of a user, 0 to 9, in force unless the credits earn a higher level. `None` removes the
    /// level set before.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] above 9; [`Refusal::NotFound`] for an unknown user or a deleted account;
    /// [`Failure::Store`]: the level may or may not be stored.
    pub async fn set(&self, user: UserId, level: Option<u8>, by: By) -> Result<UserLevel, Failure> {
        if level.is_some_and(|level| usize::from(level) >= LevelTable::LEVELS_MAX) {
            return Err(Refusal::BadValue("level").into());
        }
        let context = self.context.clone();
        let work = async move {
            let set = context.storage.people.credits.set_level(user, level, by.at).await;
            // After an error too: the write may have happened although the reply was lost.
            context.copies.people.changed(&[user]).await;
            match set? {
                SetLevelOutcome::Done { .. } => level_of(&context, user, by.at).await,
                SetLevelOutcome::NoSuchUser => Err(Refusal::NotFound("user").into()),
            }
        };
        run_audited(&self.audit, by, audited("user.level", user, json!({ "level": level })), work).await
    }
}

async fn level_of(context: &Context, user: UserId, now: Timestamp) -> Result<UserLevel, Failure> {
    let card = context.storage.people.users.card(user).await?.ok_or(Refusal::NotFound("user"))?;
    Ok(UserLevel::new(&card, &context.level_table(now).await?))
}
