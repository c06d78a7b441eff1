//! `Reviews`: one per used order, and a shop's score and count that follow exactly.

use mallbox_storage::{
    Cents, NewReview, Order, OrderId, OrderReview, Page, PaymentMode, Phone, Post, ReportOutcome, Review,
    ReviewId, ReviewOrigin, ReviewOutcome, ReviewReply, ReviewSearch, ReviewState, ReviewTags, ReviewText,
    RowCheck, ShopId, ShopText, Stars, Transition, TransitionOutcome, UserId, Visibility,
};
use tokio::task::JoinSet;

use crate::samples;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_review_is_read_as_it_was_written,
    a_review_needs_a_used_order_of_its_author_at_the_shop,
    an_order_is_reviewed_once_and_a_repeat_returns_the_same_review,
    a_repeat_with_other_contents_is_refused_and_named,
    of_many_reviews_of_one_order_at_once_one_is_written,
    score_and_comments_of_a_shop_follow_its_reviews_and_its_past,
    an_update_of_a_shop_leaves_score_and_comments,
    a_rush_of_reviews_is_counted_exactly,
    an_author_edits_the_own_review_only,
    a_review_that_counts_no_longer_leaves_score_and_lists,
    a_deleted_review_is_empty_for_good_and_keeps_its_order,
    a_reply_is_set_changed_and_removed,
    pictures_of_a_review_are_kept_withheld_and_given_up_with_it,
    a_reported_review_waits_for_a_decision,
    reviews_outlive_a_restart,
}

/// All reviews of a case on one page.
pub const ALL: Page = Page::new(1, 500);

/// Returns stars of a score in stars × 10.
pub fn stars(score: i64) -> Stars {
    Stars::from_score(score).unwrap()
}

/// Returns a review's contents without pictures.
pub fn text(score: i64) -> ReviewText {
    ReviewText {
        stars: stars(score),
        content: "面很香。".to_owned(),
        images: String::new(),
        average_price: None,
        tags: ReviewTags::default(),
    }
}

/// Creates a user.
pub async fn user(w: &World, number: u64) -> UserId {
    let phone = Phone::parse(&format!("1390000{number:04}")).unwrap();
    w.storage.people.users.find_or_create(&phone, "小鱼", NOON).await.unwrap().id
}

/// Creates a shop without comments.
pub async fn shop(w: &World) -> ShopId {
    samples::insert_shop(&*w.storage.catalogue.shops, NOON).await.unwrap()
}

/// Buys a voucher of the first shop, and uses the order if `is_used`.
pub async fn order(w: &World, number: u64, user: UserId, is_used: bool) -> OrderId {
    let order = Order {
        id: OrderId::new(number),
        voucher: w.ordinary_voucher().await,
        user,
        status: PaymentMode::None.first_status(),
        pay_value: Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::None,
        created: NOON,
        deadline: NOON + HOUR,
        paid: None,
        used: None,
        refunded: None,
    };
    let _ = w.storage.selling.orders.insert(&order, None, None).await.unwrap();
    if is_used {
        let used = w.storage.selling.orders.step(order.id, Transition::Use, NOON).await.unwrap();
        assert!(matches!(used, TransitionOutcome::Done(_)));
    }
    order.id
}

fn of_order(author: UserId, shop: ShopId, order: OrderId, request: &str) -> NewReview {
    let origin = ReviewOrigin::Order(order);
    NewReview { author, shop, origin, text: text(45), request: request.to_owned() }
}

/// Inserts a demo review.
pub async fn demo(w: &World, shop: ShopId, author: UserId, text: ReviewText, hours: u32) -> ReviewId {
    let review = NewReview { author, shop, origin: ReviewOrigin::Demo, text, request: String::new() };
    match w.storage.writing.reviews.insert(&review, NOON + HOUR * hours).await.unwrap() {
        ReviewOutcome::Written(review) => review,
        refused => panic!("{refused:?}"),
    }
}

async fn get(w: &World, review: ReviewId) -> Review {
    w.storage.writing.reviews.get(review).await.unwrap().unwrap()
}

/// Sets the state of a review.
pub async fn put_state(w: &World, review: ReviewId, visibility: Visibility, is_folded: bool) {
    let state = ReviewState { visibility, is_folded };
    let put = w.storage.writing.reviews.put_state(review, state, NOON + HOUR * 9).await.unwrap();
    assert!(put.is_some());
}

/// Returns score and comments of a shop, after a check of the ledger.
async fn rating(w: &World, shop: ShopId) -> (i64, i64) {
    balanced(w).await;
    let text = w.storage.catalogue.shops.get(shop).await.unwrap().unwrap().text;
    (text.score, text.comments)
}

/// Asserts that nothing about reviews and votes contradicts the books.
pub async fn balanced(w: &World) {
    for check in [
        RowCheck::Review,
        RowCheck::ReviewOrder,
        RowCheck::ReviewPicture,
        RowCheck::ShopReviews,
        RowCheck::ShopScore,
        RowCheck::VoteLine,
        RowCheck::VoteTwice,
        RowCheck::VoteSum,
        RowCheck::VoteMark,
        RowCheck::Report,
    ] {
        let broken = w.storage.operator.ledger.broken(check, 5).await.unwrap();
        assert_eq!(broken.count, 0, "{check:?} {broken:?}");
    }
}

async fn a_review_is_read_as_it_was_written(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let order = order(w, 7, anne, true).await;
    let full = ReviewText {
        content: "👍 '; DROP TABLE reviews; --".to_owned(),
        images: "/imgs/blogs/1/2/a.jpg,/imgs/b.png".to_owned(),
        average_price: Some(Cents::new(4_750)),
        tags: ReviewTags { taste: true, environment: false, service: true },
        ..text(35)
    };
    let review = NewReview { text: full.clone(), ..of_order(anne, shop, order, "once") };
    let reviews = &w.storage.writing.reviews;
    let ReviewOutcome::Written(id) = reviews.insert(&review, NOON).await.unwrap() else { panic!("refused") };
    let expected = Review {
        id,
        shop,
        author: anne,
        origin: ReviewOrigin::Order(order),
        text: full,
        votes: 0,
        vote_lines: 0,
        state: ReviewState::SHOWN,
        is_edited: false,
        reply: None,
        created: NOON,
        updated: NOON,
    };
    assert_eq!(get(w, id).await, expected);
    let other = demo(w, shop, user(w, 2).await, text(10), 1).await;
    assert!(other > id);
    let unknown = ReviewId::new(u64::MAX);
    assert_eq!(reviews.get(unknown).await.unwrap(), None);
    let those = reviews.those(&[other, unknown, id, other]).await.unwrap();
    assert_eq!(those.iter().map(|review| review.id).collect::<Vec<_>>(), [other, id, other]);
    assert_eq!(reviews.of_author(anne, ALL).await.unwrap(), [expected]);
    let orders = [OrderId::new(1), order, OrderId::new(u64::MAX)];
    let of_order = OrderReview { order, review: id, is_deleted: false };
    assert_eq!(reviews.of_orders(anne, &orders).await.unwrap(), [of_order]);
    assert_eq!(reviews.of_orders(user(w, 2).await, &orders).await.unwrap(), []);
    balanced(w).await;
}

async fn a_review_needs_a_used_order_of_its_author_at_the_shop(w: &World) {
    let (here, there) = (shop(w).await, shop(w).await);
    let (anne, ben) = (user(w, 1).await, user(w, 2).await);
    let (used, paid) = (order(w, 1, anne, true).await, order(w, 2, anne, false).await);
    let reviews = &w.storage.writing.reviews;
    let demo = |shop| NewReview { origin: ReviewOrigin::Demo, ..of_order(anne, shop, used, "") };
    for (review, refused) in [
        (of_order(anne, here, OrderId::new(404), ""), ReviewOutcome::NoSuchOrder),
        (of_order(ben, here, used, ""), ReviewOutcome::NoSuchOrder),
        (of_order(anne, there, used, ""), ReviewOutcome::NoSuchOrder),
        (of_order(anne, here, paid, ""), ReviewOutcome::NotUsed),
        (demo(ShopId::new(404)), ReviewOutcome::NoSuchShop),
    ] {
        assert_eq!(reviews.insert(&review, NOON).await.unwrap(), refused, "{review:?}");
    }
    assert_eq!(rating(w, here).await, (0, 0));
    assert_eq!(reviews.find(&ReviewSearch::default(), ALL).await.unwrap(), (vec![], 0));
}

async fn an_order_is_reviewed_once_and_a_repeat_returns_the_same_review(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let (order, reviews) = (order(w, 1, anne, true).await, &w.storage.writing.reviews);
    let insert = async |request| reviews.insert(&of_order(anne, shop, order, request), NOON).await.unwrap();
    let ReviewOutcome::Written(review) = insert("a").await else { panic!("refused") };
    assert_eq!(insert("a").await, ReviewOutcome::Written(review));
    assert_eq!(insert("b").await, ReviewOutcome::AlreadyReviewed(review));
    assert_eq!(insert("").await, ReviewOutcome::AlreadyReviewed(review));
    assert_eq!(rating(w, shop).await, (45, 1));
}

async fn a_repeat_with_other_contents_is_refused_and_named(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let (order, reviews) = (order(w, 1, anne, true).await, &w.storage.writing.reviews);
    let insert = async |request: &str, text: &ReviewText| {
        let review = NewReview { text: text.clone(), ..of_order(anne, shop, order, request) };
        reviews.insert(&review, NOON + HOUR).await.unwrap()
    };
    let first = ReviewText { images: "/imgs/a.jpg".to_owned(), ..text(45) };
    let ReviewOutcome::Written(review) = insert("a", &first).await else { panic!("refused") };
    let changed = [
        text(45),
        ReviewText { stars: stars(50), ..first.clone() },
        ReviewText { content: "别的。".to_owned(), ..first.clone() },
        ReviewText { average_price: Some(Cents::new(0)), ..first.clone() },
        ReviewText { tags: ReviewTags { taste: true, ..ReviewTags::default() }, ..first.clone() },
    ];
    for other in &changed {
        assert_eq!(insert("a", other).await, ReviewOutcome::Differs(review), "{other:?}");
        assert_eq!(insert("b", other).await, ReviewOutcome::AlreadyReviewed(review), "{other:?}");
        assert_eq!(get(w, review).await.text, first);
    }
    assert_eq!(insert("a", &first).await, ReviewOutcome::Written(review));
    assert_eq!(rating(w, shop).await, (45, 1));
    assert!(reviews.edit(review, anne, &changed[1], NOON + HOUR).await.unwrap());
    assert_eq!(insert("a", &first).await, ReviewOutcome::Differs(review), "the author edited the review");
    assert_eq!(insert("a", &changed[1]).await, ReviewOutcome::Written(review));
    assert_eq!(rating(w, shop).await, (50, 1));
}

async fn of_many_reviews_of_one_order_at_once_one_is_written(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let order = order(w, 1, anne, true).await;
    let mut calls = JoinSet::new();
    for call in 0..16 {
        let reviews = w.storage.writing.reviews.clone();
        let review = of_order(anne, shop, order, &format!("{}", call % 2));
        calls.spawn(async move { reviews.insert(&review, NOON).await.unwrap() });
    }
    let outcomes = calls.join_all().await;
    let written = ReviewId::new(1);
    let count = |outcome| outcomes.iter().filter(|one| **one == outcome).count();
    assert_eq!(count(ReviewOutcome::Written(written)), 8, "{outcomes:?}");
    assert_eq!(count(ReviewOutcome::AlreadyReviewed(written)), 8, "{outcomes:?}");
    assert_eq!(rating(w, shop).await, (45, 1));
}

async fn score_and_comments_of_a_shop_follow_its_reviews_and_its_past(w: &World) {
    let (new, anne) = (shop(w).await, user(w, 1).await);
    let past = ShopText { comments: 19, score: 40, ..samples::shop() };
    let old = w.storage.catalogue.shops.insert(&past, NOON).await.unwrap();
    assert_eq!((rating(w, new).await, rating(w, old).await), ((0, 0), (40, 19)));
    demo(w, new, anne, text(50), 0).await;
    demo(w, old, anne, text(50), 0).await;
    assert_eq!((rating(w, new).await, rating(w, old).await), ((50, 1), (41, 20)));
    let low = demo(w, new, anne, text(15), 0).await;
    assert_eq!(rating(w, new).await, (33, 2), "32.5 is rounded up");
    assert!(w.storage.writing.reviews.edit(low, anne, &text(10), NOON).await.unwrap());
    assert_eq!(rating(w, new).await, (30, 2));
    put_state(w, low, Visibility::Deleted, false).await;
    assert_eq!(rating(w, new).await, (50, 1));
}

async fn an_update_of_a_shop_leaves_score_and_comments(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    demo(w, shop, anne, text(30), 0).await;
    let changed = ShopText { name: "茶楼".to_owned(), comments: 900, score: 50, ..samples::shop() };
    assert!(w.storage.catalogue.shops.update(shop, &changed, NOON).await.unwrap());
    assert_eq!(rating(w, shop).await, (30, 1));
}

async fn a_rush_of_reviews_is_counted_exactly(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let mut calls = JoinSet::new();
    for call in 0..40_u32 {
        let reviews = w.storage.writing.reviews.clone();
        let text = text(10 + 5 * i64::from(call % 9));
        let (origin, request) = (ReviewOrigin::Demo, String::new());
        let review = NewReview { author: anne, shop, origin, text, request };
        calls.spawn(async move {
            let ReviewOutcome::Written(id) = reviews.insert(&review, NOON).await.unwrap() else {
                panic!("refused")
            };
            let state = ReviewState { visibility: Visibility::Hidden, ..ReviewState::SHOWN };
            if call % 4 == 0 {
                reviews.put_state(id, state, NOON).await.unwrap().unwrap();
            } else if call % 4 == 1 {
                assert!(
                    reviews
                        .edit(id, anne, &ReviewText { stars: stars(50), ..review.text }, NOON)
                        .await
                        .unwrap()
                );
            }
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
    let (_, comments) = rating(w, shop).await;
    assert_eq!(comments, 30);
}

async fn an_author_edits_the_own_review_only(w: &World) {
    let (shop, anne, ben) = (shop(w).await, user(w, 1).await, user(w, 2).await);
    let review = demo(w, shop, anne, text(50), 0).await;
    let reviews = &w.storage.writing.reviews;
    let edited = ReviewText {
        content: "变了。".to_owned(),
        images: "/imgs/a.jpg".to_owned(),
        average_price: Some(Cents::new(900)),
        tags: ReviewTags { service: true, ..ReviewTags::default() },
        ..text(20)
    };
    assert!(!reviews.edit(review, ben, &edited, NOON).await.unwrap());
    assert!(!reviews.edit(ReviewId::new(404), anne, &edited, NOON).await.unwrap());
    assert!(reviews.edit(review, anne, &text(50), NOON + HOUR).await.unwrap());
    let found = get(w, review).await;
    assert_eq!((found.is_edited, found.updated), (false, NOON), "nothing changed");
    for _ in 0..2 {
        assert!(reviews.edit(review, anne, &edited, NOON + HOUR).await.unwrap());
        let found = get(w, review).await;
        assert_eq!((found.is_edited, found.updated, found.created), (true, NOON + HOUR, NOON));
        assert_eq!(found.text, edited);
        assert_eq!(rating(w, shop).await, (20, 1));
    }
    put_state(w, review, Visibility::Hidden, false).await;
    assert!(reviews.edit(review, anne, &text(30), NOON).await.unwrap());
    assert_eq!(rating(w, shop).await, (0, 0), "it does not count");
    put_state(w, review, Visibility::Shown, false).await;
    assert_eq!(rating(w, shop).await, (30, 1));
    put_state(w, review, Visibility::Deleted, false).await;
    assert!(!reviews.edit(review, anne, &edited, NOON).await.unwrap());
}

async fn a_review_that_counts_no_longer_leaves_score_and_lists(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let reviews = &w.storage.writing.reviews;
    demo(w, shop, anne, text(50), 0).await;
    let review = demo(w, shop, anne, text(10), 0).await;
    let put = async |visibility, is_folded| {
        let state = ReviewState { visibility, is_folded };
        reviews
            .put_state(review, state, NOON + HOUR)
            .await
            .unwrap()
            .map(|was| (was.visibility, was.is_folded))
    };
    let mut before = (Shown, false);
    for (visibility, is_folded, counts) in [
        (Shown, true, false),
        (Shown, true, false),
        (Reported, true, false),
        (Hidden, true, false),
        (Hidden, false, false),
        (Shown, false, true),
        (Reported, false, true),
        (Deleted, false, false),
    ] {
        assert_eq!(put(visibility, is_folded).await, Some(before));
        before = (visibility, is_folded);
        assert_eq!(rating(w, shop).await, if counts { (30, 2) } else { (50, 1) }, "{before:?}");
        let listed: u64 = reviews.counts(shop).await.unwrap().stars.iter().sum();
        assert_eq!(listed, if counts { 2 } else { 1 });
        assert_eq!(get(w, review).await.updated, NOON + HOUR);
    }
    assert_eq!(put(Shown, false).await, Some((Deleted, false)));
    assert_eq!(rating(w, shop).await, (50, 1), "a deletion is final");
    let state = ReviewState::SHOWN;
    assert_eq!(reviews.put_state(ReviewId::new(404), state, NOON).await.unwrap(), None);
}

async fn a_deleted_review_is_empty_for_good_and_keeps_its_order(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let (order, reviews) = (order(w, 1, anne, true).await, &w.storage.writing.reviews);
    let tags = ReviewTags { taste: true, environment: true, service: true };
    let full =
        ReviewText { images: "/imgs/a.jpg".into(), average_price: Some(Cents::new(1)), tags, ..text(30) };
    let review = NewReview { text: full, ..of_order(anne, shop, order, "a") };
    let ReviewOutcome::Written(id) = reviews.insert(&review, NOON).await.unwrap() else { panic!("refused") };
    assert!(reviews.put_reply(id, Some("谢谢"), NOON).await.unwrap());
    put_state(w, id, Visibility::Deleted, false).await;
    let found = get(w, id).await;
    assert_eq!(found.text, ReviewText { content: String::new(), ..text(30) });
    assert_eq!(found.reply, None);
    assert!(!reviews.put_reply(id, Some("x"), NOON).await.unwrap());
    assert_eq!(reviews.of_author(anne, ALL).await.unwrap(), []);
    for request in ["a", "b", ""] {
        let repeat = NewReview { request: request.to_owned(), ..review.clone() };
        for again in [&repeat, &of_order(anne, shop, order, request)] {
            let again = reviews.insert(again, NOON).await.unwrap();
            assert_eq!(again, ReviewOutcome::AlreadyReviewed(id), "{request}");
        }
    }
    let of_order = OrderReview { order, review: id, is_deleted: true };
    assert_eq!(reviews.of_orders(anne, &[order]).await.unwrap(), [of_order]);
    balanced(w).await;
}

async fn a_reply_is_set_changed_and_removed(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let review = demo(w, shop, anne, text(50), 0).await;
    let reviews = &w.storage.writing.reviews;
    for (hours, reply) in [(1, Some("谢谢光临")), (2, Some("欢迎再来")), (3, None), (4, None)] {
        assert!(reviews.put_reply(review, reply, NOON + HOUR * hours).await.unwrap());
        let reply = reply.map(|content| ReviewReply { content: content.to_owned(), at: NOON + HOUR * hours });
        let found = get(w, review).await;
        assert_eq!((found.reply, found.updated), (reply, NOON));
    }
    assert!(!reviews.put_reply(ReviewId::new(404), Some("x"), NOON).await.unwrap());
}

async fn pictures_of_a_review_are_kept_withheld_and_given_up_with_it(w: &World) {
    use mallbox_storage::{NewPicture, PictureKind, PictureUsage, PutOutcome, RemoveOutcome};
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let pictures = &w.storage.writing.pictures;
    let name = "/blogs/1/2/noodles.jpg".to_owned();
    let upload = NewPicture { name: name.clone(), owner: anne, kind: PictureKind::Jpeg, content: vec![1] };
    let most = PictureUsage { pictures: 9, bytes: 900 };
    assert_eq!(pictures.put(upload, most, NOON).await.unwrap(), PutOutcome::Put);
    let with_picture = ReviewText { images: format!("/imgs{name}"), ..text(50) };
    let review = demo(w, shop, anne, with_picture.clone(), 0).await;
    assert_eq!(pictures.remove(anne, &name).await.unwrap(), RemoveOutcome::Shown);
    assert_eq!(pictures.sweep(NOON, 10, NOON + HOUR).await.unwrap().removed, 0);
    for (visibility, is_folded, is_served) in [
        (Visibility::Hidden, false, false),
        (Visibility::Shown, true, true),
        (Visibility::Reported, false, true),
    ] {
        put_state(w, review, visibility, is_folded).await;
        assert_eq!(pictures.get(&name).await.unwrap().is_some(), is_served, "{visibility:?}");
    }
    assert!(w.storage.writing.reviews.edit(review, anne, &text(50), NOON).await.unwrap());
    assert!(w.storage.writing.reviews.edit(review, anne, &with_picture, NOON).await.unwrap());
    assert_eq!(pictures.remove(anne, &name).await.unwrap(), RemoveOutcome::Shown);
    put_state(w, review, Visibility::Deleted, false).await;
    assert_eq!(pictures.remove(anne, &name).await.unwrap(), RemoveOutcome::Removed);
}

async fn a_reported_review_waits_for_a_decision(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let review = demo(w, shop, anne, text(50), 0).await;
    let (target, reports) = (Post::Review(review), &w.storage.writing.reports);
    let report = async |by| reports.report(UserId::new(by), target, "广告", NOON).await.unwrap();
    let reporter = user(w, 2).await.get();
    assert_eq!(report(reporter).await, ReportOutcome::Taken);
    assert_eq!(report(reporter).await, ReportOutcome::Repeat);
    let (open, total) = reports.open(ALL).await.unwrap();
    assert_eq!((open[0].target, open[0].count, total), (target, 1, 1));
    assert_eq!(get(w, review).await.state.visibility, Visibility::Reported);
    assert_eq!(rating(w, shop).await, (50, 1), "it counts still");
    put_state(w, review, Visibility::Shown, false).await;
    assert_eq!(reports.open(ALL).await.unwrap(), (vec![], 0));
    put_state(w, review, Visibility::Hidden, false).await;
    assert_eq!(report(user(w, 3).await.get()).await, ReportOutcome::NotThere);
    let like = mallbox_storage::LikeChange::Like;
    let liked = w.storage.writing.likes.change(anne, target, like, NOON).await.unwrap();
    assert_eq!(liked, None, "reviews have votes");
}

async fn reviews_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let (shop, anne) = (shop(&w).await, user(&w, 1).await);
    let review = demo(&w, shop, anne, text(35), 0).await;
    let before = get(&w, review).await;
    let w = w.reopen().await;
    assert_eq!(get(&w, review).await, before);
    assert_eq!(rating(&w, shop).await, (35, 1));
}
