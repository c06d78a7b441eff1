//! Deletion of notes, comments and reviews by their author, or by an operator with an audit log entry.

use mallbox_storage::{Post, Role, Timestamp, UserId, Visibility};

use super::decisions::{Decision, decide, put};
use crate::mall::base::{AuditLog, By, Context, Failure, Refusal};

/// A post to delete, with its author and visibility.
pub struct Removal {
    pub target: Post,
    pub author: UserId,
    pub visibility: Visibility,
}

/// The caller of a deletion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remover {
    /// The user, who may delete own posts.
    pub user: UserId,
    /// Why the caller may not act as an operator, if so.
    pub no_operator: Option<Refusal>,
}

/// Deletes the post. A repeated call by an authorised user is no error.
pub async fn remove(
    context: &Context,
    audit: &AuditLog,
    removal: Removal,
    by: Remover,
    now: Timestamp,
) -> Result<(), Failure> {
    let Removal { target, author, visibility } = removal;
    let Remover { user: by, no_operator } = by;
    if by == author {
        return put(context, target, Visibility::Deleted, now).await.map(drop);
    }
    let is_operator =
        context.storage.people.users.get(by).await?.is_some_and(|user| user.role == Role::Operator);
    if is_operator {
        if let Some(refusal) = no_operator {
            return Err(refusal.into());
        }
        return decide(context, audit, By::operator(by, now), target, Decision::Delete).await;
    }
    // An invisible post looks like an unknown one: the refusal must not reveal its existence.
    Err(if visibility.is_seen() { Refusal::Forbidden } else { not_found(target) }.into())
}

/// Returns the refusal for an unknown or invisible post.
pub fn not_found(target: Post) -> Refusal {
    match target {
        Post::Note(_) => Refusal::NotFound("note"),
        Post::Comment(_) => Refusal::NotFound("comment"),
        Post::Review(_) => Refusal::NotFound("review"),
    }
}
