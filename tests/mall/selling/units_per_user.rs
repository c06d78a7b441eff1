//! Several units per user: claims by number, limits, the ledger, and what else asks for units held.

use std::num::NonZeroU8;

use mallbox::mall::base::GuardRefusal;
use mallbox::mall::operator::sales::{DEFAULT_GUARD, DEFAULT_ROOM};
use mallbox::mall::selling::guard::ShownPass;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::{OrderId, UserId, VoucherId};

use super::world::{World, idle, refusal, world};

fn units(number: u8) -> Option<NonZeroU8> {
    NonZeroU8::new(number)
}

async fn sale(w: &World, stock: u64, per_user: u8) -> VoucherId {
    let voucher = w.sale(stock).await;
    w.sale_admin.put_per_user(w.by(), voucher, units(per_user)).await.unwrap();
    voucher
}

async fn claim(w: &World, user: u64, voucher: VoucherId, holding: u8) -> Result<OrderId, Failure> {
    let shown = ShownPass { holding, ..ShownPass::default() };
    w.sales.claim_with_pass(UserId::new(user), voucher, shown, w.now()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_buys_up_to_the_limit_one_by_one_and_the_books_balance() {
    let w = world().await;
    let voucher = sale(&w, 9, 3).await;
    let first = claim(&w, 1, voucher, 0).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, 0).await), Refusal::AlreadyBought(first), "a repeat");
    let second = claim(&w, 1, voucher, 1).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, 1).await), Refusal::AlreadyBought(second));
    let third = claim(&w, 1, voucher, 2).await.unwrap();
    for holding in [3, 4, u8::MAX] {
        let limit = Refusal::LimitReached(units(3).unwrap());
        assert_eq!(refusal(claim(&w, 1, voucher, holding).await), limit);
    }
    assert_eq!(refusal(claim(&w, 1, voucher, 2).await), Refusal::AlreadyBought(third));
    w.drain().await;
    w.assert_balanced().await;
    // The limit of one user is another's stock.
    for holding in 0..3 {
        claim(&w, 2, voucher, holding).await.unwrap();
        claim(&w, 3, voucher, holding).await.unwrap();
    }
    assert_eq!(refusal(claim(&w, 4, voucher, 0).await), Refusal::SoldOut);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_of_one_unit_per_user_is_as_it_was() {
    let w = idle().await;
    let voucher = w.sale(9).await;
    assert_eq!(w.sale_admin.per_user(voucher).await.unwrap(), NonZeroU8::MIN);
    let order = claim(&w, 1, voucher, 0).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, 0).await), Refusal::AlreadyBought(order));
    assert_eq!(refusal(claim(&w, 1, voucher, 1).await), Refusal::LimitReached(NonZeroU8::MIN));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_holds_at_once_and_a_lower_one_takes_nothing_away() {
    let w = world().await;
    let voucher = w.sale(9).await;
    claim(&w, 1, voucher, 0).await.unwrap();
    w.sale_admin.put_per_user(w.by(), voucher, units(2)).await.unwrap();
    claim(&w, 1, voucher, 1).await.unwrap();
    w.sale_admin.put_per_user(w.by(), voucher, units(1)).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, 2).await), Refusal::LimitReached(NonZeroU8::MIN));
    claim(&w, 2, voucher, 0).await.unwrap();
    assert_eq!(refusal(claim(&w, 2, voucher, 1).await), Refusal::LimitReached(NonZeroU8::MIN));
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_of_some_waits_in_the_room_again_and_a_holder_of_all_does_not() {
    let w = idle().await;
    let voucher = sale(&w, 9, 2).await;
    claim(&w, 1, voucher, 0).await.unwrap();
    w.sale_admin.put_room(w.by(), voucher, Some(DEFAULT_ROOM)).await.unwrap();
    let enter = async || w.sales.enter_room(UserId::new(1), voucher, (None, true), w.now()).await;
    enter().await.unwrap();
    w.sale_admin.put_room(w.by(), voucher, None).await.unwrap();
    let second = claim(&w, 1, voucher, 1).await.unwrap();
    w.sale_admin.put_room(w.by(), voucher, Some(DEFAULT_ROOM)).await.unwrap();
    assert_eq!(refusal(enter().await), Refusal::AlreadyBought(second));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_waiting_list_is_for_users_without_a_unit() {
    let w = idle().await;
    let voucher = sale(&w, 1, 2).await;
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(9)).await.unwrap();
    let order = claim(&w, 1, voucher, 0).await.unwrap();
    let join = async |user| {
        w.sales.join_waiting_list(UserId::new(user), voucher, ShownPass::default(), w.now()).await
    };
    assert_eq!(refusal(join(1).await), Refusal::AlreadyBought(order));
    join(2).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, 1).await), Refusal::SoldOut, "units are for those who wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_unit_of_a_guarded_sale_needs_a_pass() {
    let w = idle().await;
    let voucher = sale(&w, 9, 2).await;
    w.sale_admin.put_guard(w.by(), voucher, Some(DEFAULT_GUARD)).await.unwrap();
    let pass_required = Refusal::Guard(GuardRefusal::PassRequired);
    assert_eq!(refusal(claim(&w, 1, voucher, 0).await), pass_required);
    let granted = w.sales.grant_pass(UserId::new(1), voucher, w.now()).await.unwrap();
    let with = async |holding| {
        let (pass, device) = (Some(&*granted.pass), Some(&*granted.device_ticket));
        let shown = ShownPass { pass, device, holding, ..ShownPass::default() };
        w.sales.claim_with_pass(UserId::new(1), voucher, shown, w.now()).await
    };
    let order = with(0).await.unwrap();
    assert_eq!(refusal(with(0).await), Refusal::AlreadyBought(order));
    assert_eq!(refusal(with(1).await), pass_required, "the pass is spent");
    assert_eq!(refusal(claim(&w, 1, voucher, 1).await), pass_required);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sets_the_limit_on_the_record() {
    let w = idle().await;
    let voucher = w.sale(9).await;
    for wrong in [0, 21, u8::MAX] {
        let refused = w.sale_admin.put_per_user(w.by(), voucher, units(wrong)).await;
        assert_eq!(refusal(refused), Refusal::BadValue("perUser"), "{wrong}");
    }
    let nowhere = w.sale_admin.put_per_user(w.by(), VoucherId::new(404), units(2)).await;
    assert_eq!(refusal(nowhere), Refusal::NotFound("sale"));
    for _ in 0..2 {
        assert_eq!(w.sale_admin.put_per_user(w.by(), voucher, units(20)).await.ok(), units(20));
    }
    assert_eq!(w.sale_admin.per_user(voucher).await.ok(), units(20));
    let audited = w.audited().await;
    let (_, _, detail) = audited.iter().find(|(action, ..)| action == "sale.per_user").unwrap();
    assert_eq!(detail["perUser"], 20);
}
