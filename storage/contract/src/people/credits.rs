//! `Credits`: each cause counts once, refunds take exactly the order's credits back, and the sum beside the
//! lines is theirs.

use mallbox_storage::{
    Cents, CreditCause, CreditLine, Day, DeleteOutcome, Order, OrderId, OrderStatus, PaidOrders, PaymentMode,
    Phone, RowCheck, SIGN_IN_CREDITS, SetLevelOutcome, Transition, TransitionOutcome, UserId,
};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_sign_in_earns_once_and_a_made_up_day_nothing,
    an_order_earns_when_paid_and_a_refund_takes_its_credits_back,
    an_order_without_a_payment_earns_when_used_and_never_twice,
    an_unpaid_or_cancelled_order_earns_nothing,
    credits_brought_along_count_once,
    lines_are_listed_newest_first_and_of_one_user,
    of_many_earning_at_once_no_credit_is_lost,
    an_unknown_user_earns_nothing,
    a_level_is_set_replaced_and_removed,
    credits_and_level_outlive_the_profile_the_account_and_a_restart,
}

/// Price of an order, worth 47 credits.
const PRICE: Cents = Cents::new(4_750);

async fn user(w: &World, number: u64) -> UserId {
    let phone = Phone::parse(&format!("1390000000{number}")).unwrap();
    w.storage.people.users.find_or_create(&phone, "小鱼", NOON).await.unwrap().id
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

async fn lines(w: &World, user: UserId) -> Vec<CreditLine> {
    w.storage.people.credits.lines(user, None, 100).await.unwrap()
}

async fn sum(w: &World, user: UserId) -> u64 {
    w.storage.people.users.card(user).await.unwrap().unwrap().credits
}

/// Returns causes and amounts, oldest first, and checks numbers, sums and the ledger.
async fn amounts(w: &World, user: UserId) -> Vec<(CreditCause, i64)> {
    let mut lines = lines(w, user).await;
    lines.reverse();
    let mut total = 0;
    for (number, line) in (1..).zip(&lines) {
        total += line.amount;
        assert_eq!((line.number, line.sum), (number, total.unsigned_abs()), "{line:?}");
    }
    assert_eq!(sum(w, user).await, total.unsigned_abs());
    for check in [RowCheck::CreditUser, RowCheck::CreditSum, RowCheck::CreditLine, RowCheck::CreditOrder] {
        let broken = w.storage.operator.ledger.broken(check, 5).await.unwrap();
        assert_eq!(broken.count, 0, "{check:?} {broken:?}");
    }
    lines.into_iter().map(|line| (line.cause, line.amount)).collect()
}

/// Buys an ordinary voucher, unpaid unless the mode has no payment.
async fn buy(w: &World, number: u64, user: UserId, payment: PaymentMode) -> OrderId {
    let order = Order {
        id: OrderId::new(number),
        voucher: w.ordinary_voucher().await,
        user,
        status: payment.first_status(),
        pay_value: PRICE,
        pay_type: 1,
        payment,
        created: NOON,
        deadline: NOON + HOUR,
        paid: None,
        used: None,
        refunded: None,
    };
    let _ = w.storage.selling.orders.insert(&order, None, None).await.unwrap();
    order.id
}

async fn step(w: &World, order: OrderId, step: Transition) -> TransitionOutcome {
    w.storage.selling.orders.step(order, step, NOON + HOUR).await.unwrap()
}

async fn pay(w: &World, order: OrderId) -> TransitionOutcome {
    let payment = w.storage.selling.payments.start(order, PRICE, NOON).await.unwrap();
    step(w, order, Transition::Pay(payment.id)).await
}

async fn a_sign_in_earns_once_and_a_made_up_day_nothing(w: &World) {
    let (anne, signs) = (user(w, 1).await, &w.storage.people.sign_ins);
    assert_eq!(amounts(w, anne).await, []);
    for is_new in [true, false] {
        assert_eq!(signs.sign(anne, day("2026-11-21"), NOON).await.unwrap(), is_new);
    }
    let _ = signs.make_up(anne, day("2026-11-20"), 3).await.unwrap();
    assert!(!signs.sign(anne, day("2026-11-20"), NOON).await.unwrap(), "made up before");
    assert!(signs.sign(anne, day("2026-11-22"), NOON + HOUR).await.unwrap());
    let earned =
        [day("2026-11-21"), day("2026-11-22")].map(|day| (CreditCause::SignIn(day), SIGN_IN_CREDITS));
    assert_eq!(amounts(w, anne).await, earned);
    assert_eq!(lines(w, anne).await[0].at, NOON + HOUR);
}

async fn an_order_earns_when_paid_and_a_refund_takes_its_credits_back(w: &World) {
    let anne = user(w, 1).await;
    let order = buy(w, 1, anne, PaymentMode::Sandbox).await;
    assert!(matches!(pay(w, order).await, TransitionOutcome::Done(_)));
    let earned = (CreditCause::Order(order), 47);
    assert_eq!(amounts(w, anne).await, [earned]);
    assert_eq!(lines(w, anne).await[0].at, NOON + HOUR);
    assert!(matches!(step(w, order, Transition::StartRefund).await, TransitionOutcome::Done(_)));
    assert_eq!(amounts(w, anne).await, [earned], "the money is still here");
    for is_done in [true, false] {
        let finished = step(w, order, Transition::FinishRefund).await;
        assert_eq!(matches!(finished, TransitionOutcome::Done(_)), is_done);
        assert_eq!(amounts(w, anne).await, [earned, (CreditCause::Refund(order), -47)]);
    }
    // At the counter a refund is a single step.
    let order = buy(w, 2, anne, PaymentMode::Counter).await;
    assert!(matches!(pay(w, order).await, TransitionOutcome::Done(_)));
    assert_eq!(sum(w, anne).await, 47);
    assert!(matches!(step(w, order, Transition::StartRefund).await, TransitionOutcome::Done(_)));
    assert_eq!(
        amounts(w, anne).await[2..],
        [(CreditCause::Order(order), 47), (CreditCause::Refund(order), -47)]
    );
}

async fn an_order_without_a_payment_earns_when_used_and_never_twice(w: &World) {
    let anne = user(w, 1).await;
    let order = buy(w, 1, anne, PaymentMode::None).await;
    assert_eq!(amounts(w, anne).await, []);
    for is_done in [true, false] {
        assert_eq!(matches!(step(w, order, Transition::Use).await, TransitionOutcome::Done(_)), is_done);
        assert_eq!(amounts(w, anne).await, [(CreditCause::Order(order), 47)]);
    }
    let paid = buy(w, 2, anne, PaymentMode::Sandbox).await;
    assert!(matches!(pay(w, paid).await, TransitionOutcome::Done(_)));
    assert!(matches!(step(w, paid, Transition::Use).await, TransitionOutcome::Done(_)));
    assert_eq!(amounts(w, anne).await.len(), 2, "earned when paid");
    let unused = buy(w, 3, anne, PaymentMode::None).await;
    assert!(matches!(step(w, unused, Transition::StartRefund).await, TransitionOutcome::Done(_)));
    assert_eq!(amounts(w, anne).await.len(), 2, "nothing to take back");
}

async fn an_unpaid_or_cancelled_order_earns_nothing(w: &World) {
    let anne = user(w, 1).await;
    let orders = [buy(w, 1, anne, PaymentMode::Sandbox).await, buy(w, 2, anne, PaymentMode::Sandbox).await];
    assert!(matches!(step(w, orders[0], Transition::Cancel).await, TransitionOutcome::Done(_)));
    let cancelled = w.storage.selling.orders.cancel(&orders[1..], NOON).await.unwrap();
    assert!(
        matches!(&cancelled[..], [TransitionOutcome::Done(order)] if order.status == OrderStatus::Cancelled)
    );
    assert_eq!(amounts(w, anne).await, []);
}

async fn credits_brought_along_count_once(w: &World) {
    let (anne, credits) = (user(w, 1).await, &w.storage.people.credits);
    assert!(credits.bring_along(anne, 120, NOON).await.unwrap());
    for amount in [120, 7] {
        assert!(!credits.bring_along(anne, amount, NOON + HOUR).await.unwrap());
    }
    assert_eq!(amounts(w, anne).await, [(CreditCause::Imported, 120)]);
}

async fn lines_are_listed_newest_first_and_of_one_user(w: &World) {
    let (anne, ben) = (user(w, 1).await, user(w, 2).await);
    let (signs, credits) = (&w.storage.people.sign_ins, &w.storage.people.credits);
    for day in day("2026-11-01").month().days().take(7) {
        assert!(signs.sign(anne, day, NOON).await.unwrap());
    }
    assert!(credits.bring_along(ben, 3, NOON).await.unwrap());
    let numbers = |lines: Vec<CreditLine>| lines.into_iter().map(|line| line.number).collect::<Vec<_>>();
    for (below, max, expected) in [
        (None, 3, &[7, 6, 5][..]),
        (Some(5), 3, &[4, 3, 2]),
        (Some(2), 3, &[1]),
        (Some(1), 3, &[]),
        (Some(0), 3, &[]),
        (Some(u64::MAX), 1, &[7]),
        (None, 0, &[]),
    ] {
        assert_eq!(numbers(credits.lines(anne, below, max).await.unwrap()), expected, "{below:?} {max}");
    }
    assert_eq!(numbers(credits.lines(ben, None, 9).await.unwrap()), [1]);
    assert_eq!(credits.lines(UserId::new(404), None, 9).await.unwrap(), []);
}

async fn of_many_earning_at_once_no_credit_is_lost(w: &World) {
    const DAYS: i64 = 16;
    let anne = user(w, 1).await;
    let mut calls = JoinSet::new();
    for day in day("2026-01-01").month().days().take(16) {
        for _ in 0..2 {
            let signs = w.storage.people.sign_ins.clone();
            calls.spawn(async move { signs.sign(anne, day, NOON).await.unwrap() });
        }
    }
    let signed = calls.join_all().await.into_iter().filter(|is_new| *is_new).count();
    assert_eq!(signed as i64, DAYS);
    assert_eq!(amounts(w, anne).await.len() as i64, DAYS);
    assert_eq!(sum(w, anne).await.cast_signed(), DAYS * SIGN_IN_CREDITS);
}

async fn an_unknown_user_earns_nothing(w: &World) {
    let (nobody, credits) = (UserId::new(900), &w.storage.people.credits);
    assert!(!credits.bring_along(nobody, 5, NOON).await.unwrap());
    assert!(w.storage.people.sign_ins.sign(nobody, day("2026-11-21"), NOON).await.unwrap());
    let order = buy(w, 1, nobody, PaymentMode::None).await;
    assert!(matches!(step(w, order, Transition::Use).await, TransitionOutcome::Done(_)));
    assert_eq!(lines(w, nobody).await, []);
    assert_eq!(credits.set_level(nobody, Some(1), NOON).await.unwrap(), SetLevelOutcome::NoSuchUser);
    assert_eq!(w.storage.people.users.card(nobody).await.unwrap(), None);
}

async fn a_level_is_set_replaced_and_removed(w: &World) {
    let (anne, people) = (user(w, 1).await, &w.storage.people);
    let mut before = None;
    for level in [Some(3), Some(9), Some(0), None, None] {
        let set = people.credits.set_level(anne, level, NOON).await.unwrap();
        assert_eq!(set, SetLevelOutcome::Done { before });
        let card = people.users.card(anne).await.unwrap().unwrap();
        assert_eq!((card.set_level, card.level, card.granted_level()), (level, 0, level.unwrap_or(0)));
        before = level;
    }
}

async fn credits_and_level_outlive_the_profile_the_account_and_a_restart(w: &World) {
    let w = w.another().await;
    let anne = user(&w, 1).await;
    assert!(w.storage.people.credits.bring_along(anne, 7, NOON).await.unwrap());
    let _ = w.storage.people.credits.set_level(anne, Some(2), NOON).await.unwrap();
    let edit = mallbox_storage::Profile { credits: 900, level: 9, set_level: Some(9), ..Default::default() };
    assert!(w.storage.people.users.put_card(anne, "Anne", "", &edit, NOON).await.unwrap());
    let is_kept = async |w: &World| {
        let card = w.storage.people.users.card(anne).await.unwrap().unwrap();
        assert_eq!((card.credits, card.level, card.set_level), (7, 0, Some(2)));
        assert_eq!(amounts(w, anne).await, [(CreditCause::Imported, 7)]);
    };
    is_kept(&w).await;
    let deleted = w.storage.people.personal_data.delete(anne, PaidOrders::Keep, NOON).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    let set = w.storage.people.credits.set_level(anne, Some(1), NOON).await.unwrap();
    assert_eq!(set, SetLevelOutcome::NoSuchUser, "the account is deleted");
    let w = w.reopen().await;
    is_kept(&w).await;
}
