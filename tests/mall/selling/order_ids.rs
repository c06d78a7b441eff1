//! Order ids: distinct whatever happens, and silent about the sales of the day.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use mallbox::mall::{Clock as _, FlashSales, ManualClock};
use mallbox_storage::{CLOSED_COUNTER, OrderId, UserId, VoucherId};

use super::world::{MINUTE, World, idle, world};

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Noon to midnight, by the calendar of order ids: UTC.
const HALF_A_DAY: Duration = Duration::from_secs(12 * 60 * 60);
/// More than any plain count of these tests.
const PLAIN_MAX: u64 = 100_000;

/// Returns the count in an id, as everybody can read it.
fn count(id: OrderId) -> u64 {
    id.get() >> 4 & OrderId::MAX_COUNT
}

/// Returns how far the counts of two ids are apart, around the end of their 28 bits.
fn apart(one: OrderId, other: OrderId) -> u64 {
    let difference = count(one).abs_diff(count(other));
    difference.min(OrderId::MAX_COUNT + 1 - difference)
}

/// Claims for some users, at this instant. Returns the orders.
async fn sell(w: &World, voucher: VoucherId, users: std::ops::Range<u64>) -> Vec<OrderId> {
    let mut sold = Vec::new();
    for user in users {
        sold.push(w.claim(user, voucher).await.unwrap());
    }
    sold
}

/// Draws an order id as versions before the offsets did; `None` if the day's counts are used up.
async fn drawn_by_an_older_version(w: &World, voucher: VoucherId) -> Option<OrderId> {
    let day = OrderId::day(w.now()).unwrap();
    let count = w.storage.base.sequences.next("order", day).await.unwrap();
    OrderId::compose(w.now(), count, voucher)
}

fn are_distinct(ids: &[OrderId]) {
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "an id came twice: {ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_one_second_rise_and_ids_of_two_days_are_unrelated() {
    let w = world().await;
    let mut days = Vec::new();
    for _ in 0..2 {
        let voucher = w.sale(None).await;
        let mut sold = sell(&w, voucher, 1..21).await;
        let ordinary = w.record(None).await;
        sold.push(w.orders.buy(UserId::new(1), ordinary, None, w.now()).await.unwrap());
        assert!(sold[..20].is_sorted_by(|one, next| one < next), "{sold:?}");
        are_distinct(&sold);
        let day = OrderId::day(w.now()).unwrap();
        assert!(sold.iter().all(|id| id.day_and_count(w.now()).is_some_and(|(of, _)| of == day)));
        days.push(sold);
        w.advance(HALF_A_DAY * 2).await;
    }
    // The same sales at the same time of two days: neither day shows its count, nor their difference.
    let (first, second) = (days[0][0], days[1][0]);
    assert!(count(first) > PLAIN_MAX && count(second) > PLAIN_MAX, "{first} {second}");
    assert!(apart(first, second) > PLAIN_MAX, "{first} {second}");
    // A second later the next order is not the next number.
    let voucher = w.sale(None).await;
    let one = w.claim(1, voucher).await.unwrap();
    w.clock.advance(Duration::from_secs(1));
    let next = w.claim(2, voucher).await.unwrap();
    assert!(one < next && apart(one, next) > PLAIN_MAX, "{one} {next}");
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_of_an_older_version_keeps_plain_counts_until_the_next_utc_day() {
    let w = world().await;
    let voucher = w.sale(None).await;
    let mut ids = vec![drawn_by_an_older_version(&w, voucher).await.unwrap()];
    ids.extend(sell(&w, voucher, 1..11).await);
    // The older version goes on beside this one for the rest of the day.
    ids.extend(drawn_by_an_older_version(&w, voucher).await);
    assert!(ids.iter().all(|id| count(*id) < PLAIN_MAX), "{ids:?}");
    are_distinct(&ids);
    w.drain().await;
    w.assert_balanced().await;

    w.advance(HALF_A_DAY - Duration::from_millis(1)).await;
    let late = w.sale(None).await;
    let last = w.claim(11, late).await.unwrap();
    w.clock.advance(Duration::from_millis(1));
    let first = w.claim(12, late).await.unwrap();
    assert!(count(last) < PLAIN_MAX && count(first) > PLAIN_MAX, "{last} {first}");
    // An older version that still runs is refused numbers from here on, and clashes with nobody.
    assert_eq!(drawn_by_an_older_version(&w, late).await, None);
    ids.extend([last, first]);
    ids.extend(sell(&w, late, 13..30).await);
    are_distinct(&ids);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_begun_by_an_older_version_stays_plain_for_every_instance() {
    let w = world().await;
    sell(&w, w.sale(None).await, 1..3).await;
    w.advance(HALF_A_DAY).await;
    let voucher = w.sale(None).await;
    let mut ids = vec![drawn_by_an_older_version(&w, voucher).await.unwrap()];
    let other = FlashSales::new(w.context.clone());
    for user in 3..23 {
        let instance = if user % 2 == 0 { &w.sales } else { &other };
        ids.push(instance.claim(UserId::new(user), voucher, w.now()).await.unwrap());
        ids.extend(drawn_by_an_older_version(&w, voucher).await);
    }
    assert_eq!(ids.len(), 41);
    assert!(ids.iter().all(|id| count(*id) < PLAIN_MAX), "{ids:?}");
    are_distinct(&ids);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_that_start_at_once_share_one_secret_and_no_id() {
    const EACH: u64 = 200;
    let w = world().await;
    let voucher = w.sale(None).await;
    let mut instances = tokio::task::JoinSet::new();
    for instance in 0..4 {
        // Each would choose another secret.
        let (sales, now) = (FlashSales::new(w.context.clone()), w.now());
        instances.spawn(async move {
            let mut ids = Vec::new();
            for user in instance * EACH..(instance + 1) * EACH {
                ids.push(sales.claim(UserId::new(1 + user), voucher, now).await.unwrap());
            }
            ids
        });
    }
    let ids: Vec<OrderId> = instances.join_all().await.into_iter().flatten().collect();
    are_distinct(&ids);
    // Of one second and one secret: the counts lie side by side.
    assert!(ids.iter().all(|id| apart(*id, ids[0]) < PLAIN_MAX), "{ids:?}");
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_returns_to_a_second_draws_no_id_twice() {
    let w = world().await;
    let (noon, mut ids) = (w.now(), Vec::new());
    let voucher = w.sale(None).await;
    // An older version has begun the first day, so that the clock moves between both forms.
    ids.extend(drawn_by_an_older_version(&w, voucher).await);
    let mut users = 1..;
    for at in [noon, noon + HALF_A_DAY * 2, noon, noon + HALF_A_DAY * 2, noon + HALF_A_DAY * 6, noon] {
        w.drain().await;
        w.clock.set(at);
        let voucher = w.sale(None).await;
        for user in users.by_ref().take(5) {
            ids.push(w.claim(user, voucher).await.unwrap());
        }
    }
    are_distinct(&ids);
    assert!(ids[1..6].iter().all(|id| count(*id) < PLAIN_MAX) && count(ids[6]) > PLAIN_MAX, "{ids:?}");
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_within_a_second_draws_no_id_twice() {
    let w = idle().await;
    let voucher = w.sale(None).await;
    let mut ids = sell(&w, voucher, 1..6).await;
    let w = w.restart().await;
    ids.extend(sell(&w, voucher, 6..11).await);
    let w = w.restart().await;
    ids.extend(sell(&w, voucher, 11..16).await);
    are_distinct(&ids);
    assert!(ids.is_sorted(), "one secret, and numbers that rise: {ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn midnight_in_the_middle_of_a_rush_clashes_with_nothing() {
    let w = world().await;
    w.advance(HALF_A_DAY - HOUR).await;
    let voucher = w.sale(None).await;
    let older = drawn_by_an_older_version(&w, voucher).await.unwrap();
    // Stores the secret of the seed, before instances with other secrets begin.
    let before_the_rush = w.claim(1_000, voucher).await.unwrap();
    let mut buyers = tokio::task::JoinSet::new();
    for lane in 0..8_u64 {
        let (sales, storage) = (w.sales.clone(), w.storage.clone());
        let clock = Arc::new(ManualClock::new(w.now() + HOUR - MINUTE));
        let mut context = w.context.clone();
        (context.clock, context.storage) = (clock.clone(), storage);
        // Half of the lanes are another instance, and every lane has a clock of its own.
        let sales = if lane % 2 == 0 { sales } else { FlashSales::new(context) };
        buyers.spawn(async move {
            let mut ids = Vec::new();
            for step in 0..60 {
                clock.advance(Duration::from_secs(2));
                ids.push(sales.claim(UserId::new(1 + lane * 60 + step), voucher, clock.now()).await.unwrap());
            }
            ids
        });
    }
    let mut ids: Vec<OrderId> = buyers.join_all().await.into_iter().flatten().collect();
    let day = OrderId::day(w.now());
    for id in &ids {
        let is_before_midnight = Some(id.second() / 86_400) == day;
        assert_eq!(count(*id) < PLAIN_MAX, is_before_midnight, "{id}");
    }
    ids.extend([older, before_the_rush]);
    are_distinct(&ids);
    w.advance(HOUR).await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_mall_hides_the_count_at_once() {
    let w = world().await;
    let voucher = w.sale(None).await;
    let order = w.order(1, voucher).await;
    assert!(count(order) > PLAIN_MAX, "{order}");
    let day = OrderId::day(w.now()).unwrap();
    let mark = w.storage.base.sequences.high_water("order", day).await.unwrap();
    assert!(mark >= Some(CLOSED_COUNTER - 1), "{mark:?}");
    w.assert_balanced().await;
}
