//! Levels: credits of orders open a sale for members, refunds close it again, and operators set levels.

use mallbox::mall::operator::levels::UserLevel;
use mallbox::mall::people::Levels;
use mallbox::mall::{LevelAdmin, Refusal};
use mallbox_storage::{NewSale, PaymentMode, UserId, VoucherId};

use super::world::{MINUTE, PAY_WITHIN, World, refusal, world};

/// Credits of an order at the world's price.
const OF_ORDER: u64 = 47;

/// A mall whose level 1 needs the credits of one order, and level 2 those of two.
async fn mall() -> (World, LevelAdmin) {
    let w = world().await;
    let levels = LevelAdmin::new(w.context.clone(), w.audit.clone());
    levels.put_table(vec![0, OF_ORDER, 2 * OF_ORDER], w.by()).await.unwrap();
    (w, levels)
}

async fn members_sale(w: &World, min_level: u8) -> VoucherId {
    let (begin, end) = (w.now() - MINUTE, w.now() + 60 * MINUTE);
    w.sale_like(NewSale { units: Some(9), begin, end, pay_within: PAY_WITHIN, min_level }).await
}

async fn is_refused(w: &World, user: UserId, sale: VoucherId) -> bool {
    match w.sales.claim(user, sale, w.now()).await {
        Ok(_) => false,
        refused => {
            assert_eq!(refusal(refused), Refusal::LevelTooLow);
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_order_opens_a_sale_for_members_and_its_refund_closes_it() {
    let (w, _) = mall().await;
    let (open, members) = (w.sale(9).await, members_sale(&w, 1).await);
    let [stays, leaves] = [w.user(1).await, w.user(2).await];
    for user in [stays, leaves] {
        assert!(is_refused(&w, user, members).await, "and the cache holds the user without credits");
        let order = w.order(user.get(), open).await;
        assert!(is_refused(&w, user, members).await, "the order is unpaid");
        w.orders.pay(user, order, w.now()).await.unwrap();
        if user == leaves {
            w.orders.refund(user, order, w.now()).await.unwrap();
        }
    }
    assert!(!is_refused(&w, stays, members).await);
    assert!(is_refused(&w, leaves, members).await);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_without_a_payment_earns_when_it_is_used() {
    let (w, _) = mall().await;
    w.context.set_payment_mode(PaymentMode::None).await.unwrap();
    let (open, members) = (w.sale(9).await, members_sale(&w, 1).await);
    let user = w.user(1).await;
    let order = w.order(user.get(), open).await;
    assert!(is_refused(&w, user, members).await);
    for _ in 0..2 {
        w.orders.redeem(order, w.now()).await.unwrap();
    }
    assert!(!is_refused(&w, user, members).await);
    let own = Levels::new(w.context.clone()).of(user, w.now()).await.unwrap();
    assert_eq!(
        (own.level, own.credits, own.next, own.missing()),
        (1, OF_ORDER, Some(2 * OF_ORDER), OF_ORDER)
    );
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_set_by_an_operator_holds_until_it_is_removed_or_a_higher_one_is_earned() {
    let (w, levels) = mall().await;
    let user = w.user(1).await;
    let [first, second] = [members_sale(&w, 1).await, members_sale(&w, 2).await];
    assert!(is_refused(&w, user, first).await);
    let set = levels.set(user, Some(1), w.by()).await.unwrap();
    assert_eq!(set, UserLevel { level: 1, credits: 0, earned: 0, imported: 0, set: Some(1) });
    assert!(!is_refused(&w, user, first).await);
    assert!(is_refused(&w, user, second).await);
    assert!(w.storage.people.credits.bring_along(user, 200, w.now()).await.unwrap());
    let is = levels.set(user, Some(0), w.by()).await.unwrap();
    assert_eq!((is.level, is.earned), (2, 2), "earned");
    assert!(!is_refused(&w, user, second).await);
    assert_eq!(levels.set(user, None, w.by()).await.unwrap().set, None);

    assert_eq!(refusal(levels.set(user, Some(10), w.by()).await), Refusal::BadValue("level"));
    assert_eq!(refusal(levels.set(UserId::new(99), Some(1), w.by()).await), Refusal::NotFound("user"));
    let actions: Vec<_> = w.audited().await.into_iter().map(|(action, ..)| action).collect();
    let expected = ["levels.set", "user.level", "user.level", "user.level", "user.level"];
    let done: Vec<_> = actions.iter().filter(|action| action.contains("level")).take(5).collect();
    assert_eq!(done, expected);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_table_changes_every_level_at_once_and_a_wrong_table_changes_nothing() {
    let (w, levels) = mall().await;
    let user = w.user(1).await;
    assert!(w.storage.people.credits.bring_along(user, 30, w.now()).await.unwrap());
    let members = members_sale(&w, 1).await;
    assert!(is_refused(&w, user, members).await);
    for wrong in [vec![], vec![1], vec![0, 5, 5], (0..11).collect()] {
        assert_eq!(refusal(levels.put_table(wrong, w.by()).await), Refusal::BadValue("credits"));
    }
    assert!(is_refused(&w, user, members).await);
    levels.put_table(vec![0, 30], w.by()).await.unwrap();
    assert_eq!(levels.table(w.now()).await.unwrap().credits(), [0, 30]);
    assert!(!is_refused(&w, user, members).await);
}
