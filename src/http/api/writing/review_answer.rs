//! A review as the pages expect it.

use jiff::tz::TimeZone;
use mallbox_storage::{
    Cents, OrderId, Review, ReviewCursor, ReviewId, ReviewOrigin, ReviewTags, Timestamp, Visibility,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::api::people::accounts::shown_name;
use crate::http::response::picture_list::PictureList;
use crate::mall::Refusal;
use crate::mall::base::wall_time;
use crate::mall::people::accounts::PublicUser;
use crate::mall::writing::reviews::ReviewView;

/// What a review praises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::http) enum TagWord {
    Taste,
    Environment,
    Service,
}

impl TagWord {
    /// Converts stored tags.
    fn all(tags: ReviewTags) -> Vec<Self> {
        let words =
            [(tags.taste, Self::Taste), (tags.environment, Self::Environment), (tags.service, Self::Service)];
        words.into_iter().filter_map(|(is_set, word)| is_set.then_some(word)).collect()
    }

    /// Converts tags of a request.
    pub(super) fn tags(words: &[Self]) -> ReviewTags {
        ReviewTags {
            taste: words.contains(&Self::Taste),
            environment: words.contains(&Self::Environment),
            service: words.contains(&Self::Service),
        }
    }
}

/// Where a review comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OriginWord {
    Order,
    Imported,
    Demo,
}

/// Who sees a review.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::http) enum StateWord {
    Shown,
    Reported,
    Folded,
    Hidden,
    Deleted,
}

/// The shop's reply.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReplyAnswer {
    #[schemars(example = &"谢谢光临！")]
    content: String,
    #[schemars(example = &"2026-11-21T12:00:00")]
    create_time: String,
}

/// A review.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct ReviewAnswer {
    id: u64,
    /// The id of the shop.
    item_id: u64,
    user_id: u64,
    /// The order reviewed; only for its author and for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    /// Stars × 10: 10 to 50.
    #[schemars(example = 45)]
    score: i64,
    /// Always empty: reviews have no title.
    header: &'static str,
    #[schemars(example = &"面很香，老板也热情。")]
    content: String,
    /// Paths of the pictures, separated by commas.
    images: PictureList,
    /// What a person spends on average, in cents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 4_750)]
    average_price: Option<i64>,
    /// What the review praises.
    tags: Vec<TagWord>,
    /// The author's name.
    #[schemars(example = &"小鱼")]
    name: String,
    /// The author's picture: a path, or empty.
    icon: PictureList,
    /// Number of users who find the review helpful.
    votes: u64,
    /// Whether the caller voted for the review in the last ten days.
    voting: bool,
    /// Whether the caller wrote the review.
    mine: bool,
    origin: OriginWord,
    /// Whether the author changed the review.
    edited: bool,
    /// The shop's reply, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<ReplyAnswer>,
    visibility: StateWord,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
    #[schemars(example = &"2026-11-21T10:09:17")]
    update_time: String,
    /// The place of the review in the list: `after` for the next page.
    #[schemars(example = &"3-1795262400000-17")]
    cursor: String,
}

impl ReviewAnswer {
    /// Converts a review for a reader.
    pub(in crate::http) fn for_reader(view: ReviewView, zone: &TimeZone) -> Self {
        let ReviewView { review, author, is_voted, is_own } = view;
        Self { voting: is_voted, mine: is_own, ..Self::new(review, &author, is_own, zone) }
    }

    /// Converts a review for an operator.
    pub(in crate::http) fn for_operator(review: Review, author: &PublicUser, zone: &TimeZone) -> Self {
        Self::new(review, author, true, zone)
    }

    fn new(review: Review, author: &PublicUser, shows_order: bool, zone: &TimeZone) -> Self {
        let Review { id, shop, origin, text, votes, state, is_edited, reply, created, updated, .. } = review;
        let time = |at| wall_time::text(at, zone);
        Self {
            id: id.get(),
            item_id: shop.get(),
            user_id: author.id.get(),
            order_id: origin.order().filter(|_| shows_order).as_ref().map(OrderId::to_string),
            score: text.stars.score(),
            header: "",
            content: text.content,
            images: text.images.into(),
            average_price: text.average_price.map(Cents::get),
            tags: TagWord::all(text.tags),
            name: shown_name(author),
            icon: author.icon.clone().into(),
            votes,
            voting: false,
            mine: false,
            origin: match origin {
                ReviewOrigin::Order(_) => OriginWord::Order,
                ReviewOrigin::Imported => OriginWord::Imported,
                ReviewOrigin::Demo => OriginWord::Demo,
            },
            edited: is_edited,
            reply: reply.map(|reply| ReplyAnswer { content: reply.content, create_time: time(reply.at) }),
            visibility: match state.visibility {
                Visibility::Hidden => StateWord::Hidden,
                Visibility::Deleted => StateWord::Deleted,
                Visibility::Shown | Visibility::Reported if state.is_folded => StateWord::Folded,
                Visibility::Reported => StateWord::Reported,
                Visibility::Shown => StateWord::Shown,
            },
            create_time: time(created),
            update_time: time(updated),
            cursor: format!("{votes}-{}-{id}", created.as_millis()),
        }
    }
}

/// Parses a [cursor](ReviewAnswer::cursor).
pub(super) fn parse_cursor(text: &str) -> Result<ReviewCursor, Refusal> {
    let mut parts = text.splitn(3, '-');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
    let cursor = number().zip(number()).zip(number()).and_then(|((votes, created), id)| {
        let created = Timestamp::from_millis(i64::try_from(created).ok()?);
        Some(ReviewCursor { votes, created, id: ReviewId::new(id) })
    });
    cursor.ok_or(Refusal::BadValue("after"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let created = Timestamp::from_millis(1_795_262_400_000);
        let cursor = ReviewCursor { votes: 3, created, id: ReviewId::new(17) };
        assert_eq!(parse_cursor("3-1795262400000-17"), Ok(cursor));
        for text in
            ["", "3", "3-4", "3-4-", "a-4-5", "3-4-5-6", "-1-4-5", "3--4-5", "3-99999999999999999999-5"]
        {
            assert_eq!(parse_cursor(text), Err(Refusal::BadValue("after")), "{text}");
        }
    }
}
