//! Thresholds of sales: old accounts, and sessions that began with an SMS code.

use std::time::Duration;

use mallbox::mall::operator::sales::DEFAULT_ROOM;
use mallbox::mall::selling::guard::ShownPass;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::{NewSale, OrderId, Thresholds, UserId, VoucherId};

use super::world::{NOON, PAY_WITHIN, World, idle, refusal};

const HOUR: Duration = Duration::from_secs(3_600);
const MS: Duration = Duration::from_millis(1);

/// Adds a sale of two weeks with these thresholds.
async fn sale(w: &World, thresholds: Thresholds) -> VoucherId {
    let end = NOON + 14 * 24 * HOUR;
    let terms = NewSale { units: Some(9), begin: NOON, end, pay_within: PAY_WITHIN, min_level: 0 };
    let voucher = w.sale_like(terms).await;
    assert_eq!(w.sale_admin.put_thresholds(w.by(), voucher, thresholds).await.unwrap(), thresholds);
    voucher
}

async fn claim(w: &World, user: UserId, voucher: VoucherId, by_sms_code: bool) -> Result<OrderId, Failure> {
    let shown = ShownPass { by_sms_code, ..ShownPass::default() };
    w.sales.claim_with_pass(user, voucher, shown, w.now()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_buys_once_it_is_old_enough() {
    let w = idle().await;
    let voucher = sale(&w, Thresholds { account_hours: 72, sms_code: false }).await;
    w.sale_admin.put_room(w.by(), voucher, Some(DEFAULT_ROOM)).await.unwrap();
    let user = w.user(1).await;
    let enter = async || w.sales.enter_room(user, voucher, (None, true), w.now()).await;
    let too_new = |old_enough_in| Refusal::AccountTooNew { old_enough_in };
    assert_eq!(refusal(claim(&w, user, voucher, true).await), too_new(72 * HOUR));
    assert_eq!(refusal(enter().await), too_new(72 * HOUR), "who cannot buy does not wait");
    w.clock.advance(72 * HOUR - MS);
    assert_eq!(refusal(claim(&w, user, voucher, true).await), too_new(MS));
    let unknown = refusal(claim(&w, UserId::new(999), voucher, true).await);
    assert_eq!(unknown, too_new(72 * HOUR), "an unknown user has no age");
    w.clock.advance(MS);
    enter().await.unwrap();
    w.sale_admin.put_room(w.by(), voucher, None).await.unwrap();
    let order = claim(&w, user, voucher, false).await.unwrap();
    // A holder is told so before any threshold.
    let stricter = Thresholds { account_hours: 8_760, sms_code: true };
    w.sale_admin.put_thresholds(w.by(), voucher, stricter).await.unwrap();
    assert_eq!(refusal(claim(&w, user, voucher, false).await), Refusal::AlreadyBought(order));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_session_that_began_with_a_code_buys_where_that_is_asked() {
    let w = idle().await;
    let voucher = sale(&w, Thresholds { account_hours: 0, sms_code: true }).await;
    let user = w.user(1).await;
    assert_eq!(refusal(claim(&w, user, voucher, false).await), Refusal::SmsCodeNeeded);
    claim(&w, user, voucher, true).await.unwrap();
    w.sale_admin.put_thresholds(w.by(), voucher, Thresholds::default()).await.unwrap();
    claim(&w, w.user(2).await, voucher, false).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_joins_the_waiting_list_passes_the_thresholds_too() {
    let w = idle().await;
    let voucher = sale(&w, Thresholds::default()).await;
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(9)).await.unwrap();
    for buyer in 101..=109 {
        w.claim(buyer, voucher).await.unwrap();
    }
    let strict = Thresholds { account_hours: 1, sms_code: true };
    w.sale_admin.put_thresholds(w.by(), voucher, strict).await.unwrap();
    let user = w.user(1).await;
    let join = async |by_sms_code| {
        let shown = ShownPass { by_sms_code, ..ShownPass::default() };
        w.sales.join_waiting_list(user, voucher, shown, w.now()).await
    };
    assert_eq!(refusal(join(true).await), Refusal::AccountTooNew { old_enough_in: HOUR });
    w.clock.advance(HOUR);
    assert_eq!(refusal(join(false).await), Refusal::SmsCodeNeeded);
    join(true).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sets_thresholds_on_the_record() {
    let w = idle().await;
    let voucher = w.sale(9).await;
    assert_eq!(w.sale_admin.thresholds(voucher).await.unwrap(), Thresholds::default());
    let wrong = Thresholds { account_hours: 8_761, sms_code: false };
    let refused = w.sale_admin.put_thresholds(w.by(), voucher, wrong).await;
    assert_eq!(refusal(refused), Refusal::BadValue("accountHours"));
    let some = Thresholds { account_hours: 72, sms_code: true };
    let nowhere = w.sale_admin.put_thresholds(w.by(), VoucherId::new(404), some).await;
    assert_eq!(refusal(nowhere), Refusal::NotFound("sale"));
    assert_eq!(w.sale_admin.put_thresholds(w.by(), voucher, some).await.unwrap(), some);
    let audited = w.audited().await;
    let (_, _, detail) = audited.iter().find(|(action, ..)| action == "sale.thresholds").unwrap();
    assert_eq!(detail["thresholds"]["accountHours"], 72);
}
