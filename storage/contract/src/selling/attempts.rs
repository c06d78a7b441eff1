//! `Attempts`: a log in the order of storing, read by sale and by user, and swept by age and number.
//!
//! Sweeping concerns all attempts of a mall: each case has a mall of its own.

use std::time::Duration;

use mallbox_storage::{
    ATTEMPTS_SWEEP_MAX, Attempt, AttemptOutcome, DeleteOutcome, PaidOrders, Phone, Signal, Signals,
    StoredAttempt, Timestamp, UserId, VoucherId,
};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    attempts_are_read_as_they_were_stored,
    a_sales_attempts_are_listed_newest_first_in_pages,
    a_users_attempts_are_listed_oldest_first_in_pages,
    the_old_and_the_surplus_are_swept,
    a_sweep_ends_after_a_bounded_number,
    a_deleted_user_leaves_no_attempts,
    a_rush_of_batches_loses_none,
    attempts_outlive_a_reopening,
}

fn attempt(voucher: u64, user: u64, at: Timestamp) -> Attempt {
    Attempt {
        at,
        voucher: VoucherId::new(voucher),
        user: UserId::new(user),
        address: Some(user),
        device: None,
        outcome: AttemptOutcome::Accepted,
        score: 0,
        signals: Signals::default(),
    }
}

async fn append(w: &World, attempts: &[Attempt]) {
    w.storage.selling.attempts.append(attempts).await.unwrap();
}

async fn of_sale(w: &World, voucher: u64) -> Vec<StoredAttempt> {
    w.storage.selling.attempts.of_sale(VoucherId::new(voucher), None, 20_000).await.unwrap()
}

async fn users_of_sale(w: &World, voucher: u64) -> Vec<u64> {
    of_sale(w, voucher).await.iter().map(|stored| stored.attempt.user.get()).collect()
}

async fn attempts_are_read_as_they_were_stored(w: &World) {
    let w = w.another().await;
    let mut attempts: Vec<Attempt> = AttemptOutcome::ALL
        .into_iter()
        .zip(0..)
        .map(|(outcome, number)| Attempt { outcome, score: number, ..attempt(7, u64::from(number), NOON) })
        .collect();
    attempts[0].signals = Signal::ALL.into_iter().zip(1..).collect();
    attempts[1].signals = [(Signal::TrackSpread, u32::MAX)].into_iter().collect();
    for (attempt, hash) in attempts.iter_mut().zip([None, Some(0), Some(1 << 63), Some(u64::MAX)]) {
        (attempt.address, attempt.device) = (hash, hash);
    }
    attempts[2].score = u32::MAX;
    append(&w, &[]).await;
    append(&w, &attempts).await;
    let stored: Vec<Attempt> = of_sale(&w, 7).await.iter().rev().map(|stored| stored.attempt).collect();
    assert_eq!(stored, attempts);
}

async fn a_sales_attempts_are_listed_newest_first_in_pages(w: &World) {
    let w = w.another().await;
    for number in 1..=5 {
        append(&w, &[attempt(7, number, NOON), attempt(8, 100, NOON)]).await;
    }
    let attempts = &w.storage.selling.attempts;
    let (mut before, mut users) = (None, Vec::new());
    loop {
        let page = attempts.of_sale(VoucherId::new(7), before, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.is_sorted_by(|a, b| a.number > b.number));
        before = Some(last.number);
        users.extend(page.iter().map(|stored| stored.attempt.user.get()));
    }
    assert_eq!(users, [5, 4, 3, 2, 1]);
    assert_eq!(attempts.of_sale(VoucherId::new(404), None, 9).await.unwrap(), []);
    assert_eq!(attempts.of_sale(VoucherId::new(7), Some(0), 9).await.unwrap(), []);
    assert_eq!(attempts.of_sale(VoucherId::new(7), Some(u64::MAX), 9).await.unwrap().len(), 5);
}

async fn a_users_attempts_are_listed_oldest_first_in_pages(w: &World) {
    let w = w.another().await;
    for voucher in 1..=5 {
        append(&w, &[attempt(voucher, 7, NOON), attempt(voucher, 8, NOON)]).await;
    }
    let attempts = &w.storage.selling.attempts;
    let (mut last, mut sales) = (0, Vec::new());
    loop {
        let page = attempts.of_user(UserId::new(7), last, 2).await.unwrap();
        let Some(stored) = page.last() else { break };
        last = stored.number;
        sales.extend(page.iter().map(|stored| stored.attempt.voucher.get()));
    }
    assert_eq!(sales, [1, 2, 3, 4, 5]);
    assert_eq!(attempts.of_user(UserId::new(7), u64::MAX, 9).await.unwrap(), []);
    assert_eq!(attempts.of_user(UserId::new(404), 0, 9).await.unwrap(), []);
}

async fn the_old_and_the_surplus_are_swept(w: &World) {
    let w = w.another().await;
    let attempts = &w.storage.selling.attempts;
    assert_eq!(attempts.sweep(NOON, 0).await.unwrap(), 0, "nothing to sweep");
    let batch: Vec<Attempt> =
        (1..=6_u32).map(|number| attempt(7, number.into(), NOON + HOUR * number)).collect();
    append(&w, &batch).await;
    assert_eq!(attempts.sweep(NOON + HOUR, 6).await.unwrap(), 0, "neither old nor too many");
    assert_eq!(attempts.sweep(NOON + HOUR + Duration::from_millis(1), u64::MAX).await.unwrap(), 1);
    assert_eq!(attempts.sweep(NOON, 3).await.unwrap(), 2, "the newest three stay");
    assert_eq!(users_of_sale(&w, 7).await, [6, 5, 4]);
    assert_eq!(attempts.sweep(NOON + HOUR * 7, 3).await.unwrap(), 3);
    append(&w, &[attempt(7, 9, NOON)]).await;
    assert_eq!(users_of_sale(&w, 7).await, [9], "no number is given twice");
}

async fn a_sweep_ends_after_a_bounded_number(w: &World) {
    let w = w.another().await;
    let most = u64::from(ATTEMPTS_SWEEP_MAX);
    let batch: Vec<Attempt> = (1..=most + 3).map(|number| attempt(7, number, NOON)).collect();
    append(&w, &batch).await;
    let attempts = &w.storage.selling.attempts;
    let swept = [
        attempts.sweep(NOON + HOUR, 0).await.unwrap(),
        attempts.sweep(NOON + HOUR, 0).await.unwrap(),
        attempts.sweep(NOON + HOUR, 0).await.unwrap(),
    ];
    // A database may skip numbers in a large batch.
    assert!(swept[0] <= most && swept[0] >= most - 3_000, "{swept:?}");
    assert_eq!(swept.iter().sum::<u64>(), most + 3);
}

async fn a_deleted_user_leaves_no_attempts(w: &World) {
    let w = w.another().await;
    let users = &w.storage.people.users;
    let phone = |text| Phone::parse(text).unwrap();
    let leaving = users.find_or_create(&phone("13800000001"), "one", NOON).await.unwrap().id;
    let staying = users.find_or_create(&phone("13800000002"), "two", NOON).await.unwrap().id;
    append(&w, &[attempt(7, leaving.get(), NOON), attempt(7, staying.get(), NOON)]).await;
    let deleted = w.storage.people.personal_data.delete(leaving, PaidOrders::Keep, NOON).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    assert_eq!(users_of_sale(&w, 7).await, [staying.get()]);
}

async fn a_rush_of_batches_loses_none(w: &World) {
    let w = w.another().await;
    let mut tasks = JoinSet::new();
    for task in 0..8_u64 {
        let attempts = w.storage.selling.attempts.clone();
        tasks.spawn(async move {
            for batch in 0..20 {
                let first = task * 1_000 + batch * 5;
                let batch: Vec<Attempt> = (first..first + 5).map(|user| attempt(7, user, NOON)).collect();
                attempts.append(&batch).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let mut users = users_of_sale(&w, 7).await;
    users.sort_unstable();
    let expected: Vec<u64> = (0..8).flat_map(|task| task * 1_000..task * 1_000 + 100).collect();
    assert_eq!(users, expected);
}

async fn attempts_outlive_a_reopening(w: &World) {
    let w = w.another().await;
    append(&w, &[attempt(7, 1, NOON), attempt(7, 2, NOON)]).await;
    let before = of_sale(&w, 7).await;
    let w = w.reopen().await;
    assert_eq!(of_sale(&w, 7).await, before);
    append(&w, &[attempt(7, 3, NOON)]).await;
    assert_eq!(users_of_sale(&w, 7).await, [3, 2, 1]);
}
