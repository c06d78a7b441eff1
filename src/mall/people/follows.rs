//! Follow relations between existing users.

use mallbox_storage::{Page, Timestamp, UserId};

use super::accounts::PublicUser;
use crate::mall::base::{Context, Failure, InputError, Refusal};

/// Users per page of followers or followees.
const PAGE: u32 = 10;
/// The front end shows common followees on a single page.
const COMMON_MAX: u32 = 500;

/// The service for follow relations.
pub struct Follows {
    context: Context,
}

impl Follows {
    /// Creates the service.
    #[must_use]
    pub fn new(context: Context) -> Self {
        Self { context }
    }

    /// Makes `user` follow `followee`. A repeated call changes nothing.
    ///
    /// # Errors
    /// [`InputError::Oneself`]; [`Refusal::NotFound`] for an unknown followee; [`Refusal::RateLimited`].
    pub async fn follow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<(), Failure> {
        if user == followee {
            return Err(InputError::Oneself.into());
        }
        self.context.count_action(user, now).await?;
        let storage = &self.context.storage;
        let found = storage.people.users.get(followee).await?;
        found.filter(|user| user.deleted.is_none()).ok_or(Refusal::NotFound("user"))?;
        let _ = storage.people.follows.follow(user, followee, now).await?;
        // After a repeated call too: an earlier attempt may have failed at exactly this point.
        Ok(storage.writing.feeds.refresh(user).await?)
    }

    /// Makes `user` no longer follow `followee`. A repeated call changes nothing.
    ///
    /// # Errors
    /// [`Refusal::RateLimited`]; [`Failure::Store`] if the store fails.
    pub async fn unfollow(&self, user: UserId, followee: UserId, now: Timestamp) -> Result<(), Failure> {
        self.context.count_action(user, now).await?;
        let storage = &self.context.storage;
        let _ = storage.people.follows.unfollow(user, followee).await?;
        Ok(storage.writing.feeds.refresh(user).await?)
    }

    /// Returns whether `user` follows `followee`.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn is_following(&self, user: UserId, followee: UserId) -> Result<bool, Failure> {
        Ok(self.context.storage.people.follows.is_following(user, followee).await?)
    }

    /// Returns the users followed by both, by id: the first 500.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn common(&self, one: UserId, other: UserId) -> Result<Vec<PublicUser>, Failure> {
        let common = self.context.storage.people.follows.common(one, other, Page::new(1, COMMON_MAX)).await?;
        PublicUser::of(&self.context, &common).await
    }

    /// Returns a page of followers, newest first, and their total number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn fans(&self, followee: UserId, page: u32) -> Result<(Vec<PublicUser>, u64), Failure> {
        let follows = &self.context.storage.people.follows;
        let fans = follows.fans(followee, Page::new(page, PAGE)).await?;
        Ok((PublicUser::of(&self.context, &fans).await?, follows.counts(followee).await?.fans))
    }

    /// Returns a page of followed users, newest first, and their total number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn followees(&self, user: UserId, page: u32) -> Result<(Vec<PublicUser>, u64), Failure> {
        let follows = &self.context.storage.people.follows;
        let followees = follows.followees(user, Page::new(page, PAGE)).await?;
        Ok((PublicUser::of(&self.context, &followees).await?, follows.counts(user).await?.followees))
    }
}
