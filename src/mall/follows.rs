//! Who follows whom, among people who are there.

use mallbox_storage::{Page, Timestamp, UserId};

use super::accounts::Brief;
use super::{Context, Failure, Mistake, Refusal};

/// People on a page of fans or followees.
const PAGE: u32 = 10;
/// The front end shows common follows on one page.
const MOST_COMMON: u32 = 500;

/// Keeps who follows whom.
pub struct FollowBook {
    context: Context,
}

impl FollowBook {
    /// Of this mall.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// From now on; a repeat changes nothing.
    ///
    /// # Errors
    /// [`Mistake::Oneself`]; [`Refusal::NotFound`] for nobody.
    pub async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<(), Failure> {
        if user == followee {
            return Err(Mistake::Oneself.into());
        }
        let storage = &self.context.storage;
        storage.users.get(followee).await?.ok_or(Refusal::NotFound("user"))?;
        let _ = storage.follows.follow(user, followee, now).await?;
        // After a repeat too: the call that was repeated may have ended here.
        Ok(storage.feeds.refresh(user).await?)
    }

    /// Not any more; a repeat changes nothing.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn unfollow(&self, user: UserId, followee: UserId) -> Result<(), Failure> {
        let storage = &self.context.storage;
        let _ = storage.follows.unfollow(user, followee).await?;
        Ok(storage.feeds.refresh(user).await?)
    }

    /// Whether `user` follows `followee`.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, Failure> {
        Ok(self.context.storage.follows.is_following(user, followee).await?)
    }

    /// Whom both follow, by id: the first 500.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn common(&self, one: UserId, other: UserId) -> Result<Vec<Brief>, Failure> {
        let common = self.context.storage.follows.common(one, other, Page::new(1, MOST_COMMON)).await?;
        Brief::of(&self.context, &common).await
    }

    /// Who follow somebody, the newest first, and how many they are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn fans(&self, followee: UserId, page: u32) -> Result<(Vec<Brief>, u64), Failure> {
        let follows = &self.context.storage.follows;
        let fans = follows.fans(followee, Page::new(page, PAGE)).await?;
        Ok((Brief::of(&self.context, &fans).await?, follows.counts(followee).await?.fans))
    }

    /// Whom somebody follows, the newest first, and how many they are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn followees(&self, user: UserId, page: u32) -> Result<(Vec<Brief>, u64), Failure> {
        let follows = &self.context.storage.follows;
        let followees = follows.followees(user, Page::new(page, PAGE)).await?;
        Ok((Brief::of(&self.context, &followees).await?, follows.counts(user).await?.followees))
    }
}
