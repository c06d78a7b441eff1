//! Reviews and votes in the export of personal data.

use jiff::tz::TimeZone;
use mallbox_storage::{Cents, OrderId, Review, VoteCause, VoteLine};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mall::base::wall_time;

/// A review in an export.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewPart {
    id: u64,
    shop_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    /// Stars × 10.
    #[schemars(example = 45)]
    score: i64,
    content: String,
    images: String,
    /// In cents.
    #[serde(skip_serializing_if = "Option::is_none")]
    average_price: Option<i64>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl ReviewPart {
    pub(super) fn new(review: Review, zone: &TimeZone) -> Self {
        Self {
            id: review.id.get(),
            shop_id: review.shop.get(),
            order_id: review.origin.order().as_ref().map(OrderId::to_string),
            score: review.text.stars.score(),
            content: review.text.content,
            images: review.text.images,
            average_price: review.text.average_price.map(Cents::get),
            create_time: wall_time::text(review.created, zone),
        }
    }
}

/// A vote, or a vote taken back, in an export.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VotePart {
    review_id: u64,
    /// Whether the review was voted for; otherwise the vote was taken back.
    up: bool,
    #[schemars(example = &"2026-11-21T10:09:17")]
    create_time: String,
}

impl VotePart {
    pub(super) fn new(line: VoteLine, zone: &TimeZone) -> Self {
        Self {
            review_id: line.review.get(),
            up: line.cause == VoteCause::Up,
            create_time: wall_time::text(line.at, zone),
        }
    }
}
