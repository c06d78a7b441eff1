//! Limits of claims per sale: one hot sale leaves the others alone.

use std::num::NonZeroU32;

use mallbox::mall::operator::sales::DEFAULT_ROOM;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::VoucherId;

use super::world::{World, idle, refusal, world};

/// Claims made in a row: more than a limit of one a second lets through in the time of a test.
const MANY: u64 = 400;

async fn limit(w: &World, voucher: VoucherId, per_second: u32) {
    let per_second = NonZeroU32::new(per_second);
    assert_eq!(w.sale_admin.put_claim_limit(w.by(), voucher, per_second).await.unwrap(), per_second);
}

/// Makes claims of `MANY` users. Returns how many bought, and how many were refused by the limit.
async fn rush(w: &World, voucher: VoucherId) -> (u64, u64) {
    let (mut bought, mut crowded) = (0, 0);
    for user in 1..=MANY {
        match w.claim(user, voucher).await {
            Ok(_) => bought += 1,
            Err(Failure::Refused(Refusal::Crowded { .. })) => crowded += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    (bought, crowded)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hot_sale_is_limited_and_another_is_not() {
    let w = world().await;
    let (hot, calm) = (w.sale(MANY).await, w.sale(MANY).await);
    limit(&w, hot, 1).await;
    let (bought, crowded) = rush(&w, hot).await;
    assert!(bought >= 1 && crowded > 0 && bought + crowded == MANY, "{bought} {crowded}");
    assert_eq!(rush(&w, calm).await, (MANY, 0));
    // What is refused takes nothing: without the limit the others buy.
    limit(&w, hot, 0).await;
    let mut late = 0;
    for user in 1..=MANY {
        match w.claim(user, hot).await {
            Ok(_) => late += 1,
            Err(Failure::Refused(Refusal::AlreadyBought(_))) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(bought + late, MANY);
    w.drain().await;
    assert_eq!((w.left(hot).await, w.left(calm).await), (0, 0));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_sale_would_refuse_anyway_is_said() {
    let w = idle().await;
    let hot = w.sale(9).await;
    limit(&w, hot, 1).await;
    w.sale_admin.pause(w.by(), hot).await.unwrap();
    for user in 1..=50 {
        assert_eq!(refusal(w.claim(user, hot).await), Refusal::Paused);
    }
    w.sale_admin.resume(w.by(), hot).await.unwrap();
    w.claim(1, hot).await.unwrap();
    // A changed limit holds at once, with a second's claims of its own.
    limit(&w, hot, 5).await;
    for user in 2..=6 {
        w.claim(user, hot).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sets_a_limit_on_the_record() {
    let w = idle().await;
    let voucher = w.sale(9).await;
    assert_eq!(w.sale_admin.claim_limit(voucher).await.unwrap(), None);
    let wrong = w.sale_admin.put_claim_limit(w.by(), voucher, NonZeroU32::new(1_000_001)).await;
    assert_eq!(refusal(wrong), Refusal::BadValue("claimsPerSecond"));
    let nowhere = w.sale_admin.put_claim_limit(w.by(), VoucherId::new(404), NonZeroU32::new(1)).await;
    assert_eq!(refusal(nowhere), Refusal::NotFound("sale"));
    // Settings of a sale do not disturb each other.
    w.sale_admin.put_room(w.by(), voucher, Some(DEFAULT_ROOM)).await.unwrap();
    limit(&w, voucher, 7).await;
    assert_eq!(w.sale_admin.room(voucher).await.unwrap().room, Some(DEFAULT_ROOM));
    w.sale_admin.put_room(w.by(), voucher, None).await.unwrap();
    assert_eq!(w.sale_admin.claim_limit(voucher).await.unwrap(), NonZeroU32::new(7));
    let audited = w.audited().await;
    let (_, _, detail) = audited.iter().find(|(action, ..)| action == "sale.claim_limit").unwrap();
    assert_eq!(detail["claimsPerSecond"], 7);
}
