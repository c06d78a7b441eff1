//! Authors of the posts on a page.

use std::collections::{BTreeSet, HashMap};

use mallbox_storage::{Timestamp, UserId};

use crate::mall::base::{Context, Failure};
use crate::mall::people::accounts::PublicUser;

/// Names and pictures of all authors on a page.
pub struct Authors(HashMap<UserId, PublicUser>);

impl Authors {
    /// Loads the given users in one query; duplicates are allowed.
    pub async fn of(context: &Context, users: impl IntoIterator<Item = UserId>) -> Result<Self, Failure> {
        let users: Vec<UserId> = users.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        if users.is_empty() {
            return Ok(Self(HashMap::new()));
        }
        let briefs = PublicUser::of(context, &users).await?;
        Ok(Self(briefs.into_iter().map(|brief| (brief.id, brief)).collect()))
    }

    /// Returns the given users from the cache, one by one: for posts that many read.
    pub async fn cached(context: &Context, users: &[UserId], now: Timestamp) -> Result<Self, Failure> {
        let mut authors = HashMap::new();
        for &user in users {
            if !authors.contains_key(&user)
                && let Some(person) = context.copies.people.shared(user, now).await?
            {
                authors.insert(user, PublicUser::from_copy(user, &person));
            }
        }
        Ok(Self(authors))
    }

    /// Returns the author with this id; an unknown user gets an empty name.
    pub fn brief(&self, user: UserId) -> PublicUser {
        let nameless =
            || PublicUser { id: user, nick_name: String::new(), icon: String::new(), is_deleted: false };
        self.0.get(&user).cloned().unwrap_or_else(nameless)
    }
}
