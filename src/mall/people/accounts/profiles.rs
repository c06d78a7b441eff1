//! User profiles: reading and editing.

use mallbox_storage::{FollowCounts, Profile, Role, Timestamp, UserId};

use super::{Accounts, names};
use crate::mall::base::{Failure, InputError, Refusal, SharedContext, clean_text, picture_path, wall_time};

/// Portraits: those of the demo, and those that come with the pages of hm-dianping.
const PORTRAITS: &str = "/imgs/icons/";

/// A user's profile with follower counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FullProfile {
    /// The user's id.
    pub user: UserId,
    /// Profile fields: city, introduction, gender, birthday, credits and level.
    pub card: Profile,
    /// Level in force: the higher of the granted and the earned level.
    pub level: u8,
    /// Number of followers.
    pub fans: u64,
    /// Number of users followed.
    pub followee: u64,
}

/// A partial update of a profile: `None` leaves a field unchanged. Credits and level cannot be edited by the
/// user.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProfileEdit {
    /// Display name, 1 to 32 visible characters. Names of the mall's staff are for operators.
    pub nick_name: Option<String>,
    /// Path of the picture, `""` for none: an upload of the user, or one of the mall's own portraits.
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
        let SharedContext { storage, copies, .. } = &*self.context;
        let Some(person) = copies.people.get(user, now).await? else { return Ok(None) };
        let FollowCounts { fans, followees } = storage.people.follows.counts(user).await?;
        let level = self.context.level_table(now).await?.level_of(&person.card);
        Ok(Some(FullProfile { user, card: person.card, level, fans, followee: followees }))
    }

    /// Updates a user's name, picture and profile.
    ///
    /// # Errors
    /// [`InputError::Missing`] for an empty name, [`InputError::OutOfRange`] with the field's name,
    /// [`Refusal::NotFound`] for an unknown user, or a picture that somebody else uploaded;
    /// [`Refusal::RateLimited`]. Nothing has changed then.
    pub async fn put_card(&self, user: UserId, edit: &ProfileEdit, now: Timestamp) -> Result<(), Failure> {
        self.context.count_action(user, now).await?;
        let users = &self.context.storage.people.users;
        let (Some(mut is), Some(mut card)) = (users.get(user).await?, users.card(user).await?) else {
            return Err(Refusal::NotFound("user").into());
        };
        if let Some(name) = &edit.nick_name {
            let name = clean_text::within("nickName", names::visible(&clean_text::line(name)), 32)?;
            if name.is_empty() {
                return Err(InputError::Missing("nickName").into());
            }
            // A name from an import may stay.
            if name != is.nick_name && names::is_reserved(&name) && is.role != Role::Operator {
                return Err(InputError::OutOfRange("nickName").into());
            }
            is.nick_name = name;
        }
        if let Some(icon) = &edit.icon {
            self.check_icon(user, icon, &is.icon, now).await?;
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

    /// Checks a new profile picture: the stored one, an own upload, or a portrait. Any other path would let a
    /// user appear under somebody else's picture, or make every reader's browser request any path.
    async fn check_icon(
        &self,
        user: UserId,
        icon: &str,
        stored: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        if icon.is_empty() || icon == stored || picture_path::to_local_paths(stored) == icon {
            return Ok(());
        }
        if !picture_path::is_plain(icon) {
            return Err(InputError::OutOfRange("icon").into());
        }
        if let Some(name) = picture_path::upload_name(icon) {
            // Also keeps the upload: a picture without a reference would be swept.
            let foreign = self.context.storage.writing.pictures.keep(user, &[name], now).await?;
            return if foreign.is_empty() { Ok(()) } else { Err(Refusal::NotFound("picture").into()) };
        }
        let is_portrait =
            icon.strip_prefix(PORTRAITS).is_some_and(|name| !name.contains(['/', '?', '#', '%']));
        if is_portrait { Ok(()) } else { Err(InputError::OutOfRange("icon").into()) }
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
