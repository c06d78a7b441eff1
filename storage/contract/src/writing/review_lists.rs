//! `Reviews`, lists: without gaps behind a cursor, by kind, and for operators.

use mallbox_storage::{
    Page, ReviewCounts, ReviewCursor, ReviewFilter, ReviewId, ReviewOrder, ReviewSearch, ReviewText, ShopId,
    Visibility,
};

use super::reviews::{ALL, demo, put_state, shop, text, user};
use crate::world::{NOON, World};

crate::cases! {
    lists_go_on_behind_a_cursor_without_gaps,
    lists_select_by_pictures_stars_and_fold,
    operators_find_reviews_by_shop_and_state,
}

/// Returns the filter for all counted reviews of a shop.
fn filter(shop: ShopId) -> ReviewFilter {
    ReviewFilter { shop, with_pictures: false, stars: None, folded: false }
}

async fn listed(w: &World, filter: &ReviewFilter, order: ReviewOrder) -> Vec<ReviewId> {
    let reviews = &w.storage.writing.reviews;
    let list = reviews.of_shop(filter, order, None, ALL).await.unwrap();
    assert_eq!(reviews.count(filter).await.unwrap(), list.len() as u64);
    list.into_iter().map(|review| review.id).collect()
}

async fn lists_go_on_behind_a_cursor_without_gaps(w: &World) {
    let (shop, anne) = (shop(w).await, user(w, 1).await);
    let mut all = Vec::new();
    for number in 0..11 {
        all.push(demo(w, shop, anne, text(50), number / 3).await);
    }
    let mut best = all.clone();
    for (place, voters) in [(4, 2), (9, 2), (2, 1)] {
        for voter in 0..voters {
            let voter = user(w, 10 + voter).await;
            let _ = w.storage.writing.votes.vote(all[place], voter, true, NOON).await.unwrap();
        }
    }
    all.reverse();
    best.reverse();
    // The sort is stable: equal votes stay in order of time and id.
    best.sort_by_key(|review| match review.get() {
        5 | 10 => 0,
        3 => 1,
        _ => 2,
    });
    let reviews = &w.storage.writing.reviews;
    for (order, expected) in [(ReviewOrder::Newest, &all), (ReviewOrder::Best, &best)] {
        assert_eq!(&listed(w, &filter(shop), order).await, expected);
        for size in [1, 2, 4, 11, 12] {
            let (mut after, mut found) = (None, Vec::new());
            loop {
                let page = reviews.of_shop(&filter(shop), order, after, Page::new(1, size)).await.unwrap();
                let Some(last) = page.last() else { break };
                after = Some(ReviewCursor { votes: last.votes, created: last.created, id: last.id });
                found.extend(page.iter().map(|review| review.id));
                assert!(found.len() <= expected.len(), "{order:?} {size}: {found:?}");
            }
            assert_eq!(&found, expected, "{order:?} {size}");
        }
        let second = reviews.of_shop(&filter(shop), order, None, Page::new(2, 4)).await.unwrap();
        assert_eq!(second.iter().map(|review| review.id).collect::<Vec<_>>(), expected[4..8]);
    }
    // What is written meanwhile comes before the cursor.
    let first = reviews.of_shop(&filter(shop), ReviewOrder::Newest, None, Page::new(1, 5)).await.unwrap();
    demo(w, shop, anne, text(50), 8).await;
    let after = first.last().map(|last| ReviewCursor { votes: 0, created: last.created, id: last.id });
    let rest = reviews.of_shop(&filter(shop), ReviewOrder::Newest, after, ALL).await.unwrap();
    assert_eq!(rest.iter().map(|review| review.id).collect::<Vec<_>>(), all[5..]);
}

async fn lists_select_by_pictures_stars_and_fold(w: &World) {
    let (here, there, anne) = (shop(w).await, shop(w).await, user(w, 1).await);
    demo(w, there, anne, text(50), 0).await;
    let with_picture = |score| ReviewText { images: "/imgs/a.jpg".to_owned(), ..text(score) };
    let low = demo(w, here, anne, text(10), 1).await;
    let half = demo(w, here, anne, with_picture(45), 2).await;
    let full = demo(w, here, anne, text(50), 3).await;
    let folded = demo(w, here, anne, with_picture(50), 4).await;
    let hidden = demo(w, here, anne, with_picture(50), 5).await;
    put_state(w, folded, Visibility::Shown, true).await;
    put_state(w, hidden, Visibility::Hidden, false).await;
    let any = filter(here);
    for (filter, expected) in [
        (any, &[full, half, low][..]),
        (ReviewFilter { with_pictures: true, ..any }, &[half]),
        (ReviewFilter { stars: Some(5), ..any }, &[full, half]),
        (ReviewFilter { stars: Some(1), ..any }, &[low]),
        (ReviewFilter { stars: Some(3), ..any }, &[]),
        (ReviewFilter { stars: Some(5), with_pictures: true, ..any }, &[half]),
        (ReviewFilter { folded: true, ..any }, &[folded]),
        (ReviewFilter { folded: true, stars: Some(1), ..any }, &[]),
        (ReviewFilter { shop: ShopId::new(404), ..any }, &[]),
    ] {
        for order in [ReviewOrder::Newest, ReviewOrder::Best] {
            assert_eq!(listed(w, &filter, order).await, expected, "{filter:?}");
        }
    }
    let counts = ReviewCounts { stars: [1, 0, 0, 0, 2], with_pictures: 1, folded: 1 };
    assert_eq!(w.storage.writing.reviews.counts(here).await.unwrap(), counts);
    let none = w.storage.writing.reviews.counts(ShopId::new(404)).await.unwrap();
    assert_eq!(none, ReviewCounts::default());
}

async fn operators_find_reviews_by_shop_and_state(w: &World) {
    let (here, there, anne) = (shop(w).await, shop(w).await, user(w, 1).await);
    let one = demo(w, here, anne, text(50), 1).await;
    let two = demo(w, there, anne, text(50), 2).await;
    let three = demo(w, here, anne, text(50), 3).await;
    put_state(w, one, Visibility::Hidden, false).await;
    put_state(w, three, Visibility::Shown, true).await;
    let any = ReviewSearch::default();
    let at = |shop| ReviewSearch { shop: Some(shop), ..any };
    let of = |visibility| ReviewSearch { visibility: Some(visibility), ..any };
    for (search, expected) in [
        (any, &[three, two, one][..]),
        (at(here), &[three, one]),
        (of(Visibility::Hidden), &[one]),
        (of(Visibility::Shown), &[three, two]),
        (ReviewSearch { is_folded: Some(false), ..of(Visibility::Shown) }, &[two]),
        (ReviewSearch { is_folded: Some(true), ..any }, &[three]),
        (ReviewSearch { visibility: Some(Visibility::Hidden), ..at(there) }, &[]),
    ] {
        let (found, total) = w.storage.writing.reviews.find(&search, ALL).await.unwrap();
        let found: Vec<ReviewId> = found.into_iter().map(|review| review.id).collect();
        assert_eq!((&found[..], total), (expected, expected.len() as u64), "{search:?}");
    }
    let (second, total) = w.storage.writing.reviews.find(&any, Page::new(2, 2)).await.unwrap();
    assert_eq!((second.len(), second[0].id, total), (1, one, 3));
}
