//! What people tell about themselves.

use mallbox_storage::{Card, FollowCounts, Timestamp, UserId};

use super::Accounts;
use crate::mall::{Context, Failure, Mistake, Refusal, clean_text, picture_path, wall_time};

/// A person's card, with how many follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullCard {
    /// Who.
    pub user: UserId,
    /// What they tell about themselves.
    pub card: Card,
    /// How many follow them.
    pub fans: u64,
    /// How many they follow.
    pub followee: u64,
}

/// What a person changes about themselves: what is `None` stays. Credits and level are not theirs to change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CardEdit {
    /// The name others see: 1 to 32 characters.
    pub nick_name: Option<String>,
    /// Path of the picture on this mall, `""` for none.
    pub icon: Option<String>,
    /// City, at most 64 characters.
    pub city: Option<String>,
    /// A few words, at most 128 characters.
    pub introduce: Option<String>,
    /// `false` = male, as hm-dianping has it.
    pub gender: Option<bool>,
    /// `2000-01-31`; `""` takes it back.
    pub birthday: Option<String>,
}

impl Accounts {
    /// A user's card; `None` for no user.
    ///
    /// # Errors
    /// [`Refusal::Busy`], or the store is in trouble.
    pub async fn card(&self, user: UserId, now: Timestamp) -> Result<Option<FullCard>, Failure> {
        let Context { storage, copies, .. } = &self.context;
        let Some(person) = copies.people.get(user, now).await? else { return Ok(None) };
        let FollowCounts { fans, followees } = storage.follows.counts(user).await?;
        Ok(Some(FullCard { user, card: person.card, fans, followee: followees }))
    }

    /// Changes one's name, picture and card.
    ///
    /// # Errors
    /// [`Mistake::Missing`] for an empty name, [`Mistake::OutOfRange`] with the value's name; nothing changed then.
    pub async fn put_card(&self, user: UserId, edit: &CardEdit, now: Timestamp) -> Result<(), Failure> {
        let users = &self.context.storage.users;
        let (Some(mut is), Some(mut card)) = (users.get(user).await?, users.card(user).await?) else {
            return Err(Refusal::NotFound("user").into());
        };
        if let Some(name) = &edit.nick_name {
            is.nick_name = clean_text::within("nickName", clean_text::line(name), 32)?;
            if is.nick_name.is_empty() {
                return Err(Mistake::Missing("nickName").into());
            }
        }
        if let Some(icon) = &edit.icon {
            if !(icon.is_empty() || *icon == is.icon || picture_path::is_plain(icon)) {
                return Err(Mistake::OutOfRange("icon").into());
            }
            is.icon = picture_path::restored(icon, &is.icon);
        }
        if let Some(city) = &edit.city {
            card.city = clean_text::within("city", clean_text::line(city), 64)?;
        }
        if let Some(introduce) = &edit.introduce {
            card.introduce = clean_text::within("introduce", clean_text::lines(introduce), 128)?;
        }
        card.gender = edit.gender.unwrap_or(card.gender);
        if let Some(birthday) = &edit.birthday {
            card.birthday = self.birthday(birthday, now)?;
        }
        let put = users.put_card(user, &is.nick_name, &is.icon, &card, now).await;
        // Also if no answer came: it may have been written.
        self.context.copies.people.changed(&[user]).await;
        if !put? {
            return Err(Refusal::NotFound("user").into());
        }
        Ok(())
    }

    fn birthday(&self, text: &str, now: Timestamp) -> Result<Option<String>, Mistake> {
        if text.is_empty() {
            return Ok(None);
        }
        let today = wall_time::day(now, &self.context.zone);
        // Both have four digits, two and two: they sort as they follow each other.
        if !wall_time::is_day(text) || *text > *today {
            return Err(Mistake::OutOfRange("birthday"));
        }
        Ok(Some(text.to_owned()))
    }
}
