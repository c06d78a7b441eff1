//! Reviews of the demo's shops, with votes and replies.

use anyhow::{Context as _, bail};
use mallbox_storage::{
    Cents, NewReview, ReviewCounts, ReviewOrigin, ReviewOutcome, ReviewTags, ReviewText, ShopId, Stars,
    Timestamp,
};

use super::people::People;
use super::values::DAY;
use crate::demo::catalogue::{DemoReview, Praise, REVIEWS, SHOPS, shop_images};
use crate::mall::Mall;

/// Adds the reviews of all shops that have none yet.
pub(super) async fn add(mall: &Mall, people: &People, now: Timestamp) -> anyhow::Result<()> {
    let mut shops: Vec<u64> = REVIEWS.iter().map(|review| review.shop_id).collect();
    shops.dedup();
    for shop in shops {
        let counts = mall.context.storage.writing.reviews.counts(ShopId::new(shop)).await?;
        if counts == ReviewCounts::default() {
            for review in REVIEWS.iter().filter(|review| review.shop_id == shop) {
                add_one(mall, people, review, now).await?;
            }
        }
    }
    Ok(())
}

async fn add_one(mall: &Mall, people: &People, review: &DemoReview, now: Timestamp) -> anyhow::Result<()> {
    let writing = &mall.context.storage.writing;
    let (author, at) = (people.at(review.author)?, now - DAY * review.days_ago);
    let shop = SHOPS.iter().find(|shop| shop.id == review.shop_id).context("no shop has that id")?;
    let images = shop_images(shop);
    let images: Vec<&str> = images.split(',').take(review.pictures).collect();
    let praises = |what| review.praises.contains(&what);
    let text = ReviewText {
        stars: Stars::from_score(review.score).context("the stars of a review")?,
        content: review.content.to_owned(),
        images: images.join(","),
        average_price: Some(Cents::new(review.average_yuan * 100)),
        tags: ReviewTags {
            taste: praises(Praise::Taste),
            environment: praises(Praise::Environment),
            service: praises(Praise::Service),
        },
    };
    let (shop, origin, request) = (ShopId::new(review.shop_id), ReviewOrigin::Demo, String::new());
    let new = NewReview { author, shop, origin, text, request };
    let id = match writing.reviews.insert(&new, at).await? {
        ReviewOutcome::Written(id) => id,
        refused => bail!("a review of shop {shop} was refused: {refused:?}"),
    };
    for voter in people.others(author).take(review.votes) {
        let _ = writing.votes.vote(id, voter, true, at + DAY).await?;
    }
    if !review.reply.is_empty() {
        writing.reviews.put_reply(id, Some(review.reply), at + DAY).await?;
    }
    Ok(())
}
