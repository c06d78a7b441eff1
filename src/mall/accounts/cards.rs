//! User profiles: reading and editing.

use mallbox_storage::{FollowCounts, Profile, Timestamp, UserId};

use super::Accounts;
use crate::mall::{Context, Failure, InputError, Refusal, clean_text, picture_path, wall_time};

/// A user's profile with follower counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullProfile {
    /// The user's id.
    pub user: UserId,
    /// Profile fields: city, introduction, gender, birthday, credits and level.
    pub card: Profile,
    /// Number of followers.
    pub fans: u64,
    /// Number of users followed.
    pub followee: u64,
}

/// A partial update of a profile: `None` leaves a field unchanged. Credits and level cannot be edited by the
/// user.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileEdit {
    /// Display name, 1 to 32 characters.
    pub nick_name: Option<String>,
    /// Path of the picture on this mall, `""` for none.
    pub icon: Option<String>,
    /// City, at most 64 characters.
    pub city: Option<String>,
    /// Short introduction, at most 128 characters.
    pub introduce: Option<String>,
    /// `false` = male, as in hm-dianping.
    pub gender: Option<bool>,
    /// Date such as `2000-01-31`, not in the future; `""` clears the birthday.
    pub birthday: Option<String>,
}

impl Accounts {
    /// Returns a user's profile and follower counts; `None` for an unknown user.
    ///
    /// # Errors
    /// [`Refusal::Busy`] if the read is rejected by load shedding; [`Failure::Store`] if the store fails.
    pub async fn card(&self, user: UserId, now: Timestamp) -> Result<Option<FullProfile>, Failure> {
        let Context { storage, copies, .. } = &self.context;
        let Some(person) = copies.people.get(user, now).await? else { return Ok(None) };
        let FollowCounts { fans, followees } = storage.people.follows.counts(user).await?;
        Ok(Some(FullProfile { user, card: person.card, fans, followee: followees }))
    }

    /// Updates a user's name, picture and profile.
    ///
    /// # Errors
    /// [`InputError::Missing`] for an empty name, [`InputError::OutOfRange`] with the field's name,
    /// [`Refusal::NotFound`] for an unknown user; nothing has changed then.
    pub async fn put_card(&self, user: UserId, edit: &ProfileEdit, now: Timestamp) -> Result<(), Failure> {
        let users = &self.context.storage.people.users;
        let (Some(mut is), Some(mut card)) = (users.get(user).await?, users.card(user).await?) else {
            return Err(Refusal::NotFound("user").into());
        };
        if let Some(name) = &edit.nick_name {
            is.nick_name = clean_text::within("nickName", clean_text::line(name), 32)?;
            if is.nick_name.is_empty() {
                return Err(InputError::Missing("nickName").into());
            }
        }
        if let Some(icon) = &edit.icon {
            if !(icon.is_empty() || *icon == is.icon || picture_path::is_plain(icon)) {
                return Err(InputError::OutOfRange("icon").into());
            }
            is.icon = picture_path::restore_addresses(icon, &is.icon);
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
        // Invalidate after an error too: the write may have happened although the reply was lost.
        self.context.copies.people.changed(&[user]).await;
        if !put? {
            return Err(Refusal::NotFound("user").into());
        }
        Ok(())
    }

    fn birthday(&self, text: &str, now: Timestamp) -> Result<Option<String>, InputError> {
        if text.is_empty() {
            return Ok(None);
        }
        let today = wall_time::day(now, &self.context.zone);
        // Both have the form YYYY-MM-DD, so text order is date order.
        if !wall_time::is_day(text) || *text > *today {
            return Err(InputError::OutOfRange("birthday"));
        }
        Ok(Some(text.to_owned()))
    }
}
