//! An operator's decisions about dead letters: the ledger balances, in memory and in the database.

use mallbox::mall::Refusal;
use mallbox::mall::operator::dead_letters::DeadLetterKey;
use mallbox::mall::operator::sales::StockForm;
use mallbox_storage::{DeadReason, DeadState, OrderId, OrderStatus, UserId, VoucherId};

use super::world::{MINUTE, NOON, PAY_WITHIN, World, idle, refusal, world};

fn which(order: OrderId) -> DeadLetterKey {
    DeadLetterKey { order, user: None }
}

/// Makes the database refuse the orders of user 13, whose claim becomes a dead letter. 9 of 10 units are
/// left.
async fn refused(w: &World) -> (VoucherId, OrderId) {
    let voucher = w.sale(10).await;
    w.ground().refuse_rows("orders", "NEW.user_id = 13", "poison");
    let order = w.claim(13, voucher).await.unwrap();
    w.drain().await;
    (voucher, order)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_claim_is_replayed_once_the_record_takes_it() {
    let w = world().await;
    let (voucher, order) = refused(&w).await;
    let (letters, total) = w.dead_letter_admin.page(Some(DeadState::Open), 1).await.unwrap();
    let view = &letters[0];
    assert_eq!((total, view.letter.order, view.letter.attempts, view.letter.holds_unit), (1, order, 5, true));
    assert_eq!((view.title.as_str(), &view.phone), ("一百元代金券", &None));
    match refusal(w.dead_letter_admin.replay(w.by(), which(order)).await) {
        Refusal::StillDead(DeadReason::Refused, words) => assert!(words.contains("poison"), "{words}"),
        other => panic!("{other:?}"),
    }
    w.assert_balanced().await;
    w.ground().accept_rows("orders");
    w.clock.advance(MINUTE * 60);
    for _ in 0..2 {
        let replayed = w.dead_letter_admin.replay(w.by(), which(order)).await.unwrap().view.order;
        assert_eq!((replayed.id, replayed.status), (order, OrderStatus::Unpaid));
        assert_eq!((replayed.created, replayed.deadline), (NOON, w.now() + PAY_WITHIN));
    }
    assert_eq!(w.left(voucher).await, 9);
    assert_eq!(refusal(w.claim(13, voucher).await), Refusal::AlreadyBought(order));
    let stands = Refusal::DeadLetterStands(DeadState::Replayed);
    assert_eq!(refusal(w.dead_letter_admin.void(w.by(), which(order)).await), stands);
    w.assert_balanced().await;
    // Expires like any other order.
    w.advance(PAY_WITHIN).await;
    assert_eq!((w.status(order).await, w.left(voucher).await), (OrderStatus::Cancelled, 10));
    w.assert_balanced().await;
    let audited = w.audited().await;
    assert_eq!(audited[0].0, "dead-letter.replay");
    assert_eq!((&audited[0].1, &audited[0].2["user"]), (&format!("dead letter {order}"), &13.into()));
    assert_eq!(audited[1].2["ended"], "refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voided_letter_gives_its_unit_and_the_right_to_buy_back() {
    let w = world().await;
    let (voucher, order) = refused(&w).await;
    w.ground().accept_rows("orders");
    assert_eq!(refusal(w.claim(13, voucher).await), Refusal::AlreadyBought(order));
    for _ in 0..2 {
        let view = w.dead_letter_admin.void(w.by(), which(order)).await.unwrap();
        assert_eq!((view.letter.state, view.letter.holds_unit), (DeadState::Voided, false));
        assert_eq!(w.left(voucher).await, 10);
    }
    let stands = Refusal::DeadLetterStands(DeadState::Voided);
    assert_eq!(refusal(w.dead_letter_admin.replay(w.by(), which(order)).await), stands);
    w.assert_balanced().await;
    w.order(13, voucher).await;
    w.assert_balanced().await;
    assert_eq!(w.dead_letter_admin.page(Some(DeadState::Open), 1).await.unwrap().1, 0);
    let nobody = which(OrderId::new(404));
    let unknown = Refusal::NotFound("dead letter");
    assert_eq!(refusal(w.dead_letter_admin.void(w.by(), nobody).await), unknown);
    assert_eq!(refusal(w.dead_letter_admin.replay(w.by(), nobody).await), unknown);
}

/// Makes ten users buy again after the stock memory lost their first orders: their second claims are dead
/// letters beside live orders.
async fn doubles() -> (World, VoucherId, Vec<OrderId>, Vec<OrderId>) {
    let mut w = world().await;
    let voucher = w.sale(100).await;
    let (first, second) = w.buy_around_a_wipe(voucher, 1..=10, 1..=10).await;
    (w, voucher, first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn voiding_a_double_leaves_the_live_order_and_a_ledger_that_balances() {
    let (w, voucher, first, second) = doubles().await;
    // The stock memory did not know the first ten orders, and gave their units to the second claims.
    assert_eq!(w.left(voucher).await, 90);
    w.assert_balanced().await;
    for order in &second {
        w.dead_letter_admin.void(w.by(), which(*order)).await.unwrap();
    }
    assert_eq!(w.left(voucher).await, 90, "that one is the live order's");
    w.assert_balanced().await;
    for (order, user) in first.iter().zip(1..) {
        assert_eq!(refusal(w.claim(user, voucher).await), Refusal::AlreadyBought(*order));
        w.orders.cancel(UserId::new(user), *order, w.now()).await.unwrap();
    }
    assert_eq!(w.left(voucher).await, 100);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_kept_a_unit_beside_the_order_of_its_user() {
    let (w, voucher, first, second) = doubles().await;
    let w = w.restart().await;
    w.rebuild(voucher).await;
    assert_eq!(w.left(voucher).await, 90, "memory that was built anew has one for each user");
    w.assert_balanced().await;
    for ((user, live), double) in (1..).zip(&first).zip(&second) {
        let still =
            Refusal::StillDead(DeadReason::Double, "the user already has a live order in this sale".into());
        assert_eq!(refusal(w.dead_letter_admin.replay(w.by(), which(*double)).await), still);
        w.orders.cancel(UserId::new(user), *live, w.now()).await.unwrap();
        w.assert_balanced().await;
        if user % 2 == 0 {
            w.dead_letter_admin.void(w.by(), which(*double)).await.unwrap();
        } else {
            w.dead_letter_admin.replay(w.by(), which(*double)).await.unwrap();
            w.orders.cancel(UserId::new(user), *double, w.now()).await.unwrap();
        }
        w.assert_balanced().await;
    }
    assert_eq!(w.left(voucher).await, 100);
}

/// Makes ten claims, of which the database accepts only seven.
async fn oversold() -> (World, VoucherId, Vec<OrderId>) {
    let mut w = idle().await;
    let voucher = w.sale(10).await;
    for user in 1..=10 {
        w.claim(user, voucher).await.unwrap();
    }
    w.ground().sql("UPDATE sales SET stock = 7, initial = 7");
    w.start_workers();
    w.drain().await;
    let (letters, total) = w.dead_letter_admin.page(None, 1).await.unwrap();
    assert_eq!(total, 3);
    (w, voucher, letters.into_iter().map(|view| view.letter.order).collect())
}

async fn add(w: &World, voucher: VoucherId, add: i64) {
    let form = StockForm { add: Some(add), request: None };
    w.sale_admin.restock(w.by(), voucher, form).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn oversold_claims_become_orders_once_there_is_stock_for_them() {
    for restarts in [false, true] {
        let (mut w, voucher, dead) = oversold().await;
        if restarts {
            w = w.restart().await;
        }
        let replayed = w.dead_letter_admin.replay(w.by(), which(dead[0])).await;
        assert!(matches!(refusal(replayed), Refusal::StillDead(DeadReason::Oversold, _)));
        add(&w, voucher, 3).await;
        for order in &dead {
            w.dead_letter_admin.replay(w.by(), which(*order)).await.unwrap();
        }
        assert_eq!(
            (w.left(voucher).await, w.storage.selling.orders.count(voucher).await.unwrap().unpaid),
            (0, 10)
        );
        assert_eq!(refusal(w.claim(11, voucher).await), Refusal::SoldOut);
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn oversold_claims_that_are_voided_leave_nothing_to_sell() {
    for restarts in [false, true] {
        let (mut w, voucher, dead) = oversold().await;
        if restarts {
            w = w.restart().await;
        }
        for order in &dead {
            w.dead_letter_admin.void(w.by(), which(*order)).await.unwrap();
        }
        assert_eq!(refusal(w.claim(11, voucher).await), Refusal::SoldOut);
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_letters_with_one_id_the_user_says_which() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let order = w.order(1, voucher).await;
    for user in [2, 3] {
        w.ground().sql(&format!(
            "INSERT INTO dead_letters
               (order_id, user_id, voucher_id, claimed_ms, reason, detail, holds_unit, buried_ms, attempts)
             VALUES ({order}, {user}, {voucher}, 0, 'ID_CLASH', '', 0, 0, 1)"
        ));
    }
    assert_eq!(refusal(w.dead_letter_admin.void(w.by(), which(order)).await), Refusal::BadValue("user"));
    let clash = DeadLetterKey { order, user: Some(UserId::new(3)) };
    let replayed = refusal(w.dead_letter_admin.replay(w.by(), clash).await);
    assert!(matches!(replayed, Refusal::StillDead(DeadReason::IdClash, _)), "{replayed:?}");
    let voided = w.dead_letter_admin.void(w.by(), clash).await.unwrap();
    assert_eq!((voided.letter.user, voided.letter.state), (UserId::new(3), DeadState::Voided));
    let other = DeadLetterKey { order, user: Some(UserId::new(9)) };
    assert_eq!(refusal(w.dead_letter_admin.void(w.by(), other).await), Refusal::NotFound("dead letter"));
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    w.assert_balanced().await;
}
