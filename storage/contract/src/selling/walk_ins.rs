//! Orders and sessions of users without an account: walk-in customers and staff.

use std::time::Duration;

use mallbox_storage::{
    Claim, ClaimOutcome, Order, OrderId, OrderStatus, Page, PaymentContradictions, PaymentMode,
    PersistOutcome, PurchaseOutcome, ReplayOutcome, Timestamp, TokenHash, Transition, TransitionOutcome,
    UserId, WALK_IN_TIME_TO_PAY,
};

use crate::selling::dead_letters::{insert_dead_claim, replay};
use crate::selling::orders::{persist, stock};
use crate::world::{HOUR, NOON, World, claim};

crate::cases! {
    an_order_of_a_walk_in_is_paid_at_the_counter_whatever_the_mode,
    a_late_order_of_a_walk_in_leaves_time_to_take_the_money,
    a_replayed_letter_of_a_walk_in_waits_at_the_counter,
    a_walk_in_holds_a_unit_as_a_user_does_and_survives_reopening,
    a_cancelled_order_of_a_walk_in_gives_its_unit_back,
    a_payment_of_a_walk_in_earns_no_credits,
    a_purchase_of_a_walk_in_is_recognised_by_its_key,
    a_session_of_staff_is_one_of_its_own_id,
}

const ANNE: UserId = UserId::new(7);

fn walk_in() -> UserId {
    UserId::of_walk_in(0x1234_5678_9ABC_DEF0)
}

async fn set_mode(w: &World, mode: PaymentMode) {
    w.storage.base.upkeep.put_setting(PaymentMode::SETTING, mode.name()).await.unwrap();
}

async fn order(w: &World, order: OrderId) -> Order {
    w.storage.selling.orders.get(order).await.unwrap().unwrap()
}

/// Pays for an order, as the counter does.
async fn pay(w: &World, order: &Order) -> Order {
    let payment = w.storage.selling.payments.start(order.id, order.pay_value, NOON).await.unwrap();
    assert_eq!(payment.gateway, PaymentMode::Counter);
    match w.storage.selling.orders.step(order.id, Transition::Pay(payment.id), NOON + HOUR).await.unwrap() {
        TransitionOutcome::Done(paid) => paid,
        other => panic!("{other:?}"),
    }
}

async fn an_order_of_a_walk_in_is_paid_at_the_counter_whatever_the_mode(w: &World) {
    let voucher = w.sale(Some(20)).await;
    let modes = [PaymentMode::Sandbox, PaymentMode::None, PaymentMode::Webhook, PaymentMode::Counter];
    for (number, mode) in (1..).zip(modes) {
        set_mode(w, mode).await;
        let of_walk_in = Claim { user: UserId::of_walk_in(number), ..claim(voucher, 0, number) };
        let of_account = claim(voucher, number, 100 + number);
        let written = persist(w, &[of_walk_in, of_account]).await;
        assert_eq!(
            written[0],
            PersistOutcome::Written { deadline: Some(NOON + WALK_IN_TIME_TO_PAY) },
            "{mode:?}"
        );
        let bought = order(w, of_walk_in.order).await;
        assert_eq!((bought.status, bought.payment), (OrderStatus::Unpaid, PaymentMode::Counter), "{mode:?}");
        assert_eq!(bought.deadline, NOON + WALK_IN_TIME_TO_PAY);
        assert_eq!(order(w, of_account.order).await.payment, mode);
    }
}

async fn a_late_order_of_a_walk_in_leaves_time_to_take_the_money(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let logged = claim(voucher, walk_in().get(), 1);
    let early = Claim { at: NOON - HOUR / 2, ..logged };
    assert_eq!(
        persist(w, &[early]).await,
        [PersistOutcome::Written { deadline: Some(NOON + Duration::from_secs(300)) }]
    );
}

async fn a_replayed_letter_of_a_walk_in_waits_at_the_counter(w: &World) {
    let voucher = w.sale(Some(5)).await;
    set_mode(w, PaymentMode::None).await;
    let claim = Claim { user: walk_in(), ..claim(voucher, 0, 1) };
    let letter = insert_dead_claim(w, claim, 4).await;
    let ReplayOutcome::Order(revived) = replay(w, &letter).await else { panic!() };
    assert_eq!((revived.status, revived.payment), (OrderStatus::Unpaid, PaymentMode::Counter));
}

async fn a_walk_in_holds_a_unit_as_a_user_does_and_survives_reopening(w: &World) {
    let w = w.another().await;
    let voucher = w.sale(Some(2)).await;
    let first = claim(voucher, walk_in().get(), 1);
    let sales = &w.storage.selling.sales;
    assert_eq!(sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    let again = Claim { order: OrderId::compose(NOON, 2, voucher).unwrap(), ..first };
    assert_eq!(sales.claim(again).await.unwrap(), ClaimOutcome::AlreadyBought(first.order));
    assert_eq!(sales.claim(claim(voucher, ANNE.get(), 3)).await.unwrap(), ClaimOutcome::Accepted);
    let other = claim(voucher, UserId::of_walk_in(1).get(), 4);
    assert_eq!(sales.claim(other).await.unwrap(), ClaimOutcome::SoldOut);
    w.persist_all().await;
    let w = w.reopen().await;
    assert_eq!(w.storage.selling.orders.holding(voucher, walk_in()).await.unwrap(), Some(first.order));
    let listed = w.storage.selling.orders.of_user(walk_in(), Page::new(1, 9)).await.unwrap();
    assert_eq!(
        listed.iter().map(|order| (order.id, order.user)).collect::<Vec<_>>(),
        [(first.order, walk_in())]
    );
    assert_eq!(stock(&w, voucher).await, Some(0));
}

async fn a_cancelled_order_of_a_walk_in_gives_its_unit_back(w: &World) {
    let voucher = w.sale(Some(1)).await;
    let first = claim(voucher, walk_in().get(), 1);
    let sales = &w.storage.selling.sales;
    assert_eq!(sales.claim(first).await.unwrap(), ClaimOutcome::Accepted);
    w.persist_all().await;
    let cancelled =
        w.storage.selling.orders.step(first.order, Transition::Cancel, NOON + HOUR).await.unwrap();
    assert!(matches!(cancelled, TransitionOutcome::Done(_)), "{cancelled:?}");
    assert_eq!(stock(w, voucher).await, Some(1));
    assert_eq!(w.storage.selling.outbox.open(9).await.unwrap().len(), 1);
}

async fn a_payment_of_a_walk_in_earns_no_credits(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let bought = claim(voucher, walk_in().get(), 1);
    persist(w, &[bought]).await;
    let paid = pay(w, &order(w, bought.order).await).await;
    assert_eq!((paid.status, paid.paid), (OrderStatus::Paid, Some(NOON + HOUR)));
    assert_eq!(w.storage.people.credits.lines(walk_in(), None, 9).await.unwrap(), []);
    assert_eq!(w.storage.people.users.card(walk_in()).await.unwrap(), None);
    assert_eq!(w.storage.people.users.get(walk_in()).await.unwrap(), None);
    let refund = w.storage.selling.orders.step(bought.order, Transition::StartRefund, NOON + HOUR).await;
    assert!(
        matches!(refund.unwrap(), TransitionOutcome::Done(order) if order.status == OrderStatus::Refunded)
    );
    let faults = w.storage.selling.payments.faults().await.unwrap();
    assert_eq!(faults, PaymentContradictions::default());
    assert_eq!(w.storage.people.credits.lines(walk_in(), None, 9).await.unwrap(), []);
}

async fn a_purchase_of_a_walk_in_is_recognised_by_its_key(w: &World) {
    let voucher = w.ordinary_voucher().await;
    let orders = &w.storage.selling.orders;
    let bought = |number| Order {
        id: OrderId::compose(NOON, number, voucher).unwrap(),
        voucher,
        user: walk_in(),
        status: OrderStatus::Unpaid,
        pay_value: mallbox_storage::Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::Counter,
        created: NOON,
        deadline: NOON + WALK_IN_TIME_TO_PAY,
        paid: None,
        used: None,
        refunded: None,
    };
    let first = bought(1);
    assert_eq!(orders.insert(&first, Some("one"), None).await.unwrap(), PurchaseOutcome::Bought(first.id));
    assert_eq!(
        orders.insert(&bought(2), Some("one"), None).await.unwrap(),
        PurchaseOutcome::Bought(first.id)
    );
    assert_eq!(orders.requested(walk_in(), voucher, "one").await.unwrap(), Some(first.id));
    assert_eq!(orders.requested(ANNE, voucher, "one").await.unwrap(), None);
    assert_eq!(pay(w, &first).await.status, OrderStatus::Paid);
}

async fn a_session_of_staff_is_one_of_its_own_id(w: &World) {
    let sessions = &w.storage.people.sessions;
    let (token, ttl) = (TokenHash([7; 32]), Duration::from_secs(300));
    let now = Timestamp::from_millis(NOON.as_millis());
    let person = UserId::of_staff(3);
    sessions.begin(token, &mallbox_storage::NewSession::of(person, ttl), now).await.unwrap();
    let live = sessions.find(token, Duration::ZERO, now).await.unwrap().unwrap();
    assert_eq!(live.user, person);
    assert_eq!(sessions.end_all(UserId::of_staff(4)).await.unwrap(), 0);
    assert_eq!(sessions.end_all(UserId::new(3)).await.unwrap(), 0);
    assert_eq!(sessions.end_all(person).await.unwrap(), 1);
    assert_eq!(sessions.find(token, Duration::ZERO, now).await.unwrap(), None);
}
