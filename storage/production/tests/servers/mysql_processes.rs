//! Several processes on one database.

use std::collections::HashSet;

use mallbox_storage::{
    CLOSED_COUNTER, Cents, Claim, DeadReason, LoggedClaim, OrderCounts, OrderId, Page, PaymentState,
    PersistOutcome, Phone, Storage, Transition, TransitionOutcome, UserFilter, UserId,
};
use mallbox_storage_production::Holder;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use tokio::task::JoinSet;

use crate::mysql_faults::recovers;
use crate::world::{self, record};
use crate::world::{NOON, claim};
use mallbox_storage_contract::selling::orders::{logged, persist, stock};

/// Persists batches, each repeated until the database has accepted the batch.
async fn persist_patiently(storage: Storage, batches: Vec<Vec<LoggedClaim>>) -> Vec<PersistOutcome> {
    let mut answers = Vec::new();
    for batch in batches {
        loop {
            match storage.selling.orders.persist(&batch, NOON).await {
                Ok(settled) => break answers.extend(settled),
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
        }
    }
    answers
}

/// Shuffles claims by `seed` and cuts them into batches.
fn shuffled(claims: &[Claim], seed: u64) -> Vec<Vec<LoggedClaim>> {
    let mut claims: Vec<_> = claims.iter().copied().map(logged).collect();
    claims.shuffle(&mut StdRng::seed_from_u64(seed));
    claims.chunks(40).map(<[LoggedClaim]>::to_vec).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn the_same_claims_from_everywhere_are_written_once() {
    const UNITS: u64 = 700;
    let w = world::single().await;
    let sales = [w.sale(Some(UNITS)).await, w.sale(Some(10_000)).await];
    // A claim too many per user in the second sale, and more claims than units in the first.
    let mut claims: Vec<Claim> = (1..=1000).map(|user| claim(sales[0], user, user)).collect();
    claims.extend((1..=500).map(|user| claim(sales[1], user, 2000 + user)));
    claims.extend((1..=500).map(|user| claim(sales[1], user, 3000 + user)));
    let mut processes = JoinSet::new();
    for seed in 0..6 {
        let storage = if seed % 2 == 0 { w.storage.clone() } else { w.other_instance().await };
        processes.spawn(persist_patiently(storage, shuffled(&claims, seed)));
    }
    let answers: Vec<PersistOutcome> = processes.join_all().await.into_iter().flatten().collect();
    let count =
        |wanted: &dyn Fn(&PersistOutcome) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
    let is_written = |answer: &PersistOutcome| matches!(answer, PersistOutcome::Written { .. });
    assert_eq!(count(&is_written), 700 + 500, "each is answered for as written by one of them");
    assert_eq!(count(&|answer| *answer == PersistOutcome::DeadLetter(DeadReason::Oversold)), 300);
    assert_eq!(count(&|answer| *answer == PersistOutcome::DeadLetter(DeadReason::Double)), 500);
    assert_eq!(count(&|answer| *answer == PersistOutcome::Repeat), 5 * claims.len());
    assert_eq!((stock(&w, sales[0]).await, stock(&w, sales[1]).await), (Some(0), Some(9500)));
    let counts = w.storage.selling.orders.count(sales[0]).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: UNITS, ..OrderCounts::default() });
    let counts = w.storage.selling.orders.count(sales[1]).await.unwrap();
    assert_eq!(counts, OrderCounts { unpaid: 500, ..OrderCounts::default() });
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_claim_is_an_order_or_dead_but_not_both() {
    let w = world::single().await;
    let voucher = w.sale(Some(1000)).await;
    let claims: Vec<Claim> = (1..=200).map(|user| claim(voucher, user, user)).collect();
    let (here, there) = (w.storage.clone(), w.other_instance().await);
    let batches = claims.chunks(4).map(|batch| batch.iter().copied().map(logged).collect()).collect();
    let writes = tokio::spawn(persist_patiently(here, batches));
    let dead = claims.clone();
    let dead_letters = tokio::spawn(async move {
        for claim in dead {
            while there
                .selling
                .orders
                .insert_dead_letter(&logged(claim), DeadReason::Refused, "", NOON)
                .await
                .is_err()
            {}
        }
    });
    writes.await.unwrap();
    dead_letters.await.unwrap();
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts.unpaid + counts.dead_letters, 200);
    assert_eq!(stock(&w, voucher).await, Some(800));
    println!("{} orders, {} dead letters", counts.unpaid, counts.dead_letters);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn many_log_ins_at_once_make_one_user_per_phone() {
    const PHONES: u32 = 300;
    let w = world::single().await;
    let other = w.other_instance().await;
    let phone = |number: u32| Phone::parse(&format!("139{number:08}")).unwrap();
    let mut log_ins = JoinSet::new();
    // Each phone twice at each instance, which meet the phones in opposite orders.
    for number in (0..PHONES).chain(0..PHONES) {
        for (ports, number) in [(&w.storage, number), (&other, PHONES - 1 - number)] {
            let (users, phone) = (ports.people.users.clone(), phone(number));
            log_ins.spawn(async move {
                let user = recovers(|| users.find_or_create(&phone, "a", NOON)).await;
                assert_eq!(user.phone, phone);
                assert_eq!(recovers(|| users.get(user.id)).await.as_ref(), Some(&user));
                user.id
            });
        }
    }
    let answered: HashSet<UserId> = log_ins.join_all().await.into_iter().collect();
    assert_eq!(answered.len(), PHONES as usize);
    let page = Page::new(1, 2 * PHONES);
    let users = w.storage.people.users.list(&UserFilter::default(), page).await.unwrap();
    assert_eq!(users.iter().map(|user| user.id).collect::<HashSet<_>>(), answered);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn an_unreadable_user_fails_nobody_elses_log_in() {
    let w = world::single().await;
    let users = &w.storage.people.users;
    let phone = |number: u64| Phone::parse(&format!("139{number:08}")).unwrap();
    let mut ids = Vec::new();
    for number in 0..50 {
        ids.push(users.find_or_create(&phone(number), "a", NOON).await.unwrap().id);
    }
    w.back_end().sql(&format!("UPDATE users SET role = 9 WHERE id = {}", ids[7]));
    let mut reads = JoinSet::new();
    for (number, id) in ids.into_iter().enumerate() {
        let (users, phone) = (users.clone(), phone(number as u64));
        reads.spawn(async move {
            let read = (users.get(id).await.is_ok(), users.find_or_create(&phone, "a", NOON).await.is_ok());
            assert_eq!(read, (number != 7, number != 7), "{number}");
        });
    }
    reads.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn sixty_four_log_ins_with_one_phone_are_one_user() {
    let w = world::single().await;
    let other = w.other_instance().await;
    let phone = Phone::parse("13900000001").unwrap();
    let mut log_ins = JoinSet::new();
    for number in 0..64 {
        let users = if number % 2 == 0 { w.storage.people.users.clone() } else { other.people.users.clone() };
        let phone = phone.clone();
        // Everybody else's turn may take longer than a call waits.
        log_ins.spawn(async move { recovers(|| users.find_or_create(&phone, "a", NOON)).await });
    }
    let users = log_ins.join_all().await;
    assert!(users.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(
        w.storage.people.users.list(&UserFilter::default(), Page::new(1, 9)).await.unwrap(),
        users[..1]
    );
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn processes_draw_different_numbers() {
    let w = world::single().await;
    let mut draws = JoinSet::new();
    for _ in 0..4 {
        let sequences = w.other_instance().await.base.sequences;
        draws.spawn(async move {
            let mut drawn = Vec::new();
            for _ in 0..20_000 {
                drawn.push(sequences.next("order", 1).await.unwrap());
            }
            assert!(drawn.is_sorted());
            drawn
        });
    }
    let drawn: Vec<u64> = draws.join_all().await.into_iter().flatten().collect();
    assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 80_000);
    let high_water = w.storage.base.sequences.high_water("order", 1).await.unwrap();
    assert!(high_water >= drawn.iter().max().copied());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn processes_agree_on_the_counters_that_are_closed() {
    const DAYS: u64 = 60;
    let w = world::single().await;
    let mut draws = JoinSet::new();
    for process in 0..4 {
        let sequences = w.other_instance().await.base.sequences;
        draws.spawn(async move {
            let mut is_closed = Vec::new();
            for day in 0..DAYS {
                is_closed.push(match process % 2 {
                    0 => recovers(|| sequences.close("order", day)).await,
                    _ => recovers(|| sequences.next("order", day)).await >= CLOSED_COUNTER,
                });
            }
            is_closed
        });
    }
    let seen = draws.join_all().await;
    assert!(seen.iter().all(|of_process| *of_process == seen[0]), "{seen:?}");
}

/// The gateway reports a payment just as the order is cancelled: the payment must not be lost.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn money_taken_while_its_order_is_cancelled_is_found() {
    let w = world::single().await;
    let other = w.other_instance().await;
    let voucher = w.sale(Some(100)).await;
    for number in 1..=60 {
        let order = claim(voucher, number, number);
        persist(&w, &[order]).await;
        let payment = w.storage.selling.payments.start(order.order, Cents::new(100), NOON).await.unwrap();
        let (cancelled, settled) = tokio::join!(
            w.storage.selling.orders.step(order.order, Transition::Cancel, NOON),
            other.selling.payments.settle(payment.id, PaymentState::Captured, NOON),
        );
        assert!(matches!(cancelled.unwrap(), TransitionOutcome::Done(_)) && settled.unwrap());
    }
    assert_eq!(w.storage.selling.payments.unsettled(NOON, 1000).await.unwrap().len(), 60);
    assert_eq!(w.storage.selling.payments.faults().await.unwrap().captured_on_cancelled, 60);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn the_holders_of_a_sale_are_read_page_by_page() {
    const ORDERS: u64 = 12_000;
    let w = world::single().await;
    let (voucher, other, empty) =
        (w.sale(Some(ORDERS + 2)).await, w.sale(Some(ORDERS)).await, w.sale(Some(1)).await);
    let mut claims: Vec<Claim> = (1..=ORDERS).map(|user| claim(voucher, user, user)).collect();
    claims.extend((1..=200).map(|user| claim(other, user, user)));
    for batch in claims.chunks(4000) {
        persist(&w, batch).await;
    }
    // A second unit of a user, an id that another order has, and a claim beyond the stock.
    let (second, clash) = (claim(voucher, 1, ORDERS + 1), claim(voucher, ORDERS + 9, 7));
    let beyond = claim(voucher, ORDERS + 8, ORDERS + 8);
    w.storage
        .selling
        .orders
        .insert_dead_letter(&logged(second), DeadReason::Refused, "", NOON)
        .await
        .unwrap();
    persist(&w, &[clash]).await;
    persist(&w, &[beyond]).await;
    let closed = claims[3];
    assert!(matches!(
        w.storage.selling.orders.step(closed.order, Transition::Cancel, NOON).await.unwrap(),
        TransitionOutcome::Done(_)
    ));

    let holders = record(w.database().url()).await.holders;
    let (mut found, mut after, mut pages) = (Vec::new(), OrderId::new(0), 0);
    loop {
        let page = holders.page(voucher, after).await.unwrap();
        let Some(last) = page.last() else { break };
        (after, pages) = (last.order, pages + 1);
        found.extend(page);
    }
    assert!(pages > 1, "{pages}");
    let holder = |claim: &Claim, is_order| Holder { user: claim.user, order: claim.order, is_order };
    let live = claims.iter().filter(|claim| claim.voucher == voucher && claim.order != closed.order);
    let mut expected: Vec<_> = live.map(|claim| holder(claim, true)).collect();
    expected.extend([holder(&second, false), holder(&clash, false)]);
    expected.sort_by_key(|holder| (holder.order, holder.user));
    assert_eq!(found, expected);
    assert_eq!(holders.page(empty, OrderId::new(0)).await.unwrap(), []);
    assert_eq!(holders.page(voucher, OrderId::new(u64::MAX)).await.unwrap(), []);

    let never = claim(voucher, 77, ORDERS + 77);
    let foreign = Claim { user: UserId::new(ORDERS + 99), ..claims[0] };
    let asked = [claims[0], closed, second, clash, beyond, never];
    let settled = holders.settled(&asked).await.unwrap();
    assert_eq!(settled, asked[..5].iter().map(|claim| claim.order).collect());
    assert_eq!(holders.settled(&[foreign]).await.unwrap(), HashSet::new());
}
