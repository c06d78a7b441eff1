//! Steps on [`Reviews`](mallbox_storage::Reviews) and [`Votes`](mallbox_storage::Votes).

use mallbox_storage::{
    ArchivedVotes, Cents, Day, NewReview, OrderId, Page, ReviewFilter, ReviewId, ReviewOrder, ReviewOrigin,
    ReviewSearch, ReviewState, ReviewTags, ReviewText, ShopId, Stars, Timestamp, UserId, Visibility, utc_day,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::{Scene, TEXTS};
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum ReviewStep {
    Insert(NewReview, Timestamp),
    Edit(ReviewId, UserId, ReviewText, Timestamp),
    PutState(ReviewId, ReviewState, Timestamp),
    PutReply(ReviewId, Option<&'static str>, Timestamp),
    Vote(ReviewId, UserId, bool, Timestamp),
    OfShop(ReviewFilter, ReviewOrder, Page),
    Find(ReviewSearch, Page),
    Marked(UserId, Timestamp),
    PruneMarks(Timestamp, u32),
    Archive(Day, Timestamp),
}

/// Reviews that the steps name: the first ones, and one that hardly exists.
const REVIEWS: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, u64::MAX];

fn review(dice: &mut Dice) -> ReviewId {
    ReviewId::new(dice.pick(&REVIEWS))
}

fn shop(dice: &mut Dice) -> ShopId {
    ShopId::new(dice.pick(&[1, 1, 2, 404]))
}

fn text(dice: &mut Dice) -> ReviewText {
    ReviewText {
        stars: Stars::from_half_stars(dice.pick(&[2, 3, 4, 5, 6, 7, 8, 9, 10])).unwrap(),
        content: dice.pick(&TEXTS).replace('\0', ""),
        images: dice.pick(&["", "", "/imgs/a.jpg", "/imgs/blogs/1/2/b.jpg,/imgs/a.jpg"]).to_owned(),
        average_price: dice.pick(&[None, Some(Cents::new(0)), Some(Cents::new(4_750))]),
        tags: ReviewTags { taste: dice.chance(50), environment: false, service: dice.chance(50) },
    }
}

impl ReviewStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        let now = scene.now;
        let visibility = [Visibility::Shown, Visibility::Reported, Visibility::Hidden, Visibility::Deleted];
        match dice.below(100) {
            0..25 => {
                let order: OrderId = scene.order(dice);
                let origin =
                    dice.pick(&[ReviewOrigin::Order(order), ReviewOrigin::Demo, ReviewOrigin::Imported]);
                let request = dice.pick(&["", "a", "b"]).to_owned();
                let (author, shop, text) = (scene.user(dice), shop(dice), text(dice));
                Self::Insert(NewReview { author, shop, origin, text, request }, now)
            }
            25..35 => Self::Edit(review(dice), scene.user(dice), text(dice), now),
            35..45 => {
                let visibility = dice.pick(&visibility);
                Self::PutState(review(dice), ReviewState { visibility, is_folded: dice.chance(30) }, now)
            }
            45..50 => Self::PutReply(review(dice), dice.pick(&[None, Some("谢谢"), Some("")]), now),
            50..80 => Self::Vote(review(dice), scene.user(dice), dice.chance(60), now),
            80..90 => {
                let filter = ReviewFilter {
                    shop: shop(dice),
                    with_pictures: dice.chance(20),
                    stars: dice.pick(&[None, None, Some(1), Some(5)]),
                    folded: dice.chance(20),
                };
                let order = dice.pick(&[ReviewOrder::Newest, ReviewOrder::Best]);
                Self::OfShop(filter, order, Page::new(dice.pick(&[1, 2]), dice.pick(&[0, 1, 3, 100])))
            }
            90..94 => {
                let search = ReviewSearch {
                    shop: dice.pick(&[None, Some(ShopId::new(1))]),
                    visibility: dice.pick(&[None, Some(Visibility::Shown), Some(Visibility::Hidden)]),
                    is_folded: dice.pick(&[None, Some(true), Some(false)]),
                };
                Self::Find(search, Page::new(1, dice.pick(&[1, 100])))
            }
            94..97 => Self::Marked(scene.user(dice), now),
            97..99 => Self::PruneMarks(now, dice.pick(&[0, 1, 100])),
            _ => Self::Archive(utc_day(now).unwrap(), now),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let writing = &side.storage.writing;
        let reviews = &writing.reviews;
        match self {
            Self::Insert(review, now) => said(reviews.insert(review, *now).await),
            Self::Edit(review, author, text, now) => said(reviews.edit(*review, *author, text, *now).await),
            Self::PutState(review, state, now) => said(reviews.put_state(*review, *state, *now).await),
            Self::PutReply(review, reply, now) => said(reviews.put_reply(*review, *reply, *now).await),
            Self::Vote(review, user, up, now) => said(writing.votes.vote(*review, *user, *up, *now).await),
            Self::OfShop(filter, order, page) => {
                let list = reviews.of_shop(filter, *order, None, *page).await;
                let counts = (reviews.count(filter).await, reviews.counts(filter.shop).await);
                format!("{}, {}, {}", said(list), said(counts.0), said(counts.1))
            }
            Self::Find(search, page) => said(reviews.find(search, *page).await),
            Self::Marked(user, now) => {
                said(writing.votes.marked(*user, &REVIEWS.map(ReviewId::new), *now).await)
            }
            Self::PruneMarks(now, max) => said(writing.votes.prune_marks(*now, *max).await),
            // The same bytes on both back ends: the outcome has their hash.
            Self::Archive(day, now) => said(ArchivedVotes::of(&side.storage).archive(*day, *now).await),
        }
    }
}
