//! Claims: accepted and refused.

use std::time::Duration;

use mallbox::mall::selling::sales::SaleState;
use mallbox::mall::{Refusal, Settings};
use mallbox_storage::{Limit, NewSale, OrderId, OrderStatus, ShopId, UserId, VoucherId};
use mallbox_storage_contract::samples;

use super::watched::CountingVouchers;
use super::world::{
    MINUTE, NOON, PAY_WITHIN, World, idle, refusal, terms_token, until, with_settings, world,
};

fn opens_in(minutes: u64, units: u64) -> NewSale {
    NewSale {
        units: Some(units),
        begin: NOON + MINUTE * u32::try_from(minutes).unwrap(),
        end: NOON + MINUTE * 60,
        pay_within: PAY_WITHIN,
        min_level: 0,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_becomes_an_order_with_a_deadline() {
    let w = world().await;
    let voucher = w.sale(3).await;
    let order = w.order(7, voucher).await;
    let found = w.storage.selling.orders.get(order).await.unwrap().unwrap();
    assert_eq!(
        (found.status, found.user, found.deadline),
        (OrderStatus::Unpaid, UserId::new(7), NOON + PAY_WITHIN)
    );
    assert_eq!(w.storage.selling.deadlines.next().await.unwrap(), Some(NOON + PAY_WITHIN));
    assert_eq!(refusal(w.claim(7, voucher).await), Refusal::AlreadyBought(order));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rush_sells_exactly_the_units_once_to_each() {
    let w = std::sync::Arc::new(world().await);
    let voucher = w.sale(200).await;
    let mut rush = tokio::task::JoinSet::new();
    for number in 0..1_200 {
        let w = std::sync::Arc::clone(&w);
        rush.spawn(async move { w.claim_patiently(number % 400, voucher).await });
    }
    let answers = rush.join_all().await;
    let sold: Vec<_> = answers.iter().flatten().copied().collect();
    let mut orders: std::collections::BTreeSet<_> = sold.iter().copied().collect();
    assert_eq!(orders.len(), sold.len(), "one order was given to two");
    for answer in answers.into_iter().filter(Result::is_err) {
        match refusal(answer) {
            Refusal::AlreadyBought(order) => drop(orders.insert(order)),
            other => assert_eq!(other, Refusal::SoldOut),
        }
    }
    assert_eq!(orders.len(), 200);
    w.drain().await;
    assert_eq!(w.storage.selling.orders.count(voucher).await.unwrap().unpaid, 200);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_taken_up_at_its_first_instant_and_refused_from_its_last() {
    let w = world().await;
    let voucher = w.sale_like(opens_in(30, 5)).await;
    let live = async || w.sales.live(voucher, w.now()).await.unwrap();
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::NotOpen);
    assert_eq!((live().await.state, live().await.stock), (SaleState::NotOpen, Some(5)));
    w.advance(MINUTE * 30 - Duration::from_millis(1)).await;
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::NotOpen);
    w.advance(Duration::from_millis(1)).await;
    w.claim(1, voucher).await.unwrap();
    assert_eq!((live().await.state, live().await.stock), (SaleState::Open, Some(4)));
    w.advance(MINUTE * 30).await;
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::Ended);
    assert_eq!(live().await.state, SaleState::Ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_that_only_the_record_knows_holds_claims_after_a_second() {
    let w = world().await;
    let sale = opens_in(0, 5);
    let voucher = w.sale_like(sale).await;
    w.claim(1, voucher).await.unwrap();
    let pause = async || {
        let put = w
            .storage
            .catalogue
            .vouchers
            .put_window(voucher, sale.begin, sale.end, true, terms_token(&w.storage).await, w.now())
            .await;
        put.unwrap().done().unwrap().unwrap();
    };
    pause().await;
    w.claim(2, voucher).await.unwrap();
    w.clock.advance(Duration::from_secs(1));
    assert_eq!(refusal(w.claim(3, voucher).await), Refusal::Paused, "the copy is no longer young");
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().state, SaleState::Paused);
    // A change by an operator takes effect without delay.
    w.sale_admin.resume(w.by(), voucher).await.unwrap();
    w.claim(3, voucher).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_out_sale_says_so_to_others_and_names_the_order_to_its_buyers() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let order = w.claim(1, voucher).await.unwrap();
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::SoldOut);
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::AlreadyBought(order));
    let live = w.sales.live(voucher, w.now()).await.unwrap();
    assert_eq!((live.state, live.stock), (SaleState::SoldOut, Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlimited_sale_never_ends_for_want_of_units() {
    let w = world().await;
    let voucher = w.sale(None).await;
    for user in 1..=50 {
        w.claim(user, voucher).await.unwrap();
    }
    let live = w.sales.live(voucher, w.now()).await.unwrap();
    assert_eq!((live.state, live.stock), (SaleState::Open, None));
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_for_members_asks_for_the_level() {
    let w = world().await;
    let voucher = w.sale_like(NewSale { min_level: 3, ..opens_in(0, 5) }).await;
    assert_eq!(refusal(w.sales.claim(w.user(1).await, voucher, w.now()).await), Refusal::LevelTooLow);
    for (number, level, may) in [(2, 2, false), (3, 3, true)] {
        let user = w.user(number).await;
        let _ = w.storage.people.credits.set_level(user, Some(level), w.now()).await.unwrap();
        assert_eq!(w.sales.claim(user, voucher, w.now()).await.is_ok(), may, "level {level}");
    }
    assert_eq!(refusal(w.claim(999, voucher).await), Refusal::LevelTooLow, "an unknown user has no level");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_is_of_one_user_in_one_sale_and_counts_only_what_could_be_bought() {
    let limit = Limit { count: 2, per: MINUTE };
    let w = with_settings(Settings { claim_limit: Some(limit), ..Settings::default() }).await;
    let (voucher, other) = (w.sale(Some(1)).await, w.sale(Some(1)).await);
    let later = w.sale_like(opens_in(3_600, 5)).await;
    w.claim(9, voucher).await.unwrap();
    for _ in 0..3 {
        assert_eq!(refusal(w.claim(1, VoucherId::new(77)).await), Refusal::UnknownSale);
        assert_eq!(refusal(w.claim(1, later).await), Refusal::NotOpen);
    }
    for _ in 0..2 {
        assert_eq!(refusal(w.claim(1, voucher).await), Refusal::SoldOut);
    }
    let Refusal::RateLimited { retry_after } = refusal(w.claim(1, voucher).await) else {
        panic!("the third claim within the minute was not limited")
    };
    assert!(retry_after <= MINUTE / 2 && !retry_after.is_zero(), "{retry_after:?}");
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::SoldOut, "others are not");
    assert!(w.claim(1, other).await.is_ok(), "nor in another sale");
    w.clock.advance(retry_after);
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::SoldOut);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_too_long_refuses_claims_until_it_is_shorter() {
    let limits = Settings::default().without_limits();
    let mut w = with_settings(Settings { max_backlog: 3, ..limits }).await;
    let voucher = w.sale(None).await;
    let mut user = 0;
    let mut refused = false;
    for _ in 0..100 {
        user += 1;
        refused = w.claim(user, voucher).await.is_err_and(|error| refusal::<()>(Err(error)) == Refusal::Busy);
        if refused {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(refused, "a hundred claims went past a limit of three");
    w.start_workers();
    until("claims are taken again", async || w.claim(1_000, voucher).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn before_2022_nothing_is_sold() {
    let w = idle().await;
    let voucher = w.sale_like(NewSale { begin: NOON - MINUTE * 60 * 24 * 3_000, ..opens_in(0, 5) }).await;
    w.clock.set(mallbox_storage::Timestamp::from_millis(1_640_995_199_999));
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::Busy);
    w.clock.set(mallbox_storage::Timestamp::from_millis(1_640_995_200_000));
    w.claim(1, voucher).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_asked_at_most_once_per_id_and_second() {
    let w = idle().await;
    let known = w.sale(None).await;
    let watched = CountingVouchers::over(&w.storage.catalogue.vouchers);
    let mut context = w.context.clone();
    context.storage.catalogue.vouchers = watched.clone();
    let sales = mallbox::mall::FlashSales::new(context);
    let round = async |expected: u64| {
        let mut claims = tokio::task::JoinSet::new();
        for number in 0..2_000_u64 {
            let (sales, now) = (sales.clone(), w.now());
            let voucher = if number % 2 == 0 { known } else { VoucherId::new(1_000 + number % 20) };
            claims.spawn(async move { sales.claim(UserId::new(number), voucher, now).await.is_ok() });
        }
        claims.join_all().await;
        assert_eq!(watched.reads(), expected);
    };
    // Ten ids without a sale, and one with a sale.
    round(11).await;
    round(11).await;
    w.clock.advance(Duration::from_millis(999));
    round(11).await;
    w.clock.advance(Duration::from_millis(1));
    round(22).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_open_as_soon_as_the_store_knows_it_even_if_it_was_asked_for_too_early() {
    let w = idle().await;
    let next = VoucherId::new(1);
    assert_eq!(refusal(w.claim(1, next).await), Refusal::UnknownSale);
    let voucher = w.record(Some(opens_in(0, 5))).await;
    assert_eq!(voucher, next);
    let sale = w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap();
    // A change made directly in the store, behind the mall's back.
    let _ =
        w.storage.selling.sales.put(sale.terms, terms_token(&w.storage).await).await.unwrap().done().unwrap();
    w.claim(1, voucher).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_only_the_record_knows_is_put_when_it_is_claimed() {
    let w = world().await;
    let voucher = w.record(Some(opens_in(0, 40))).await;
    let mut rush = tokio::task::JoinSet::new();
    for user in 0..80 {
        let (sales, now) = (w.sales.clone(), w.now());
        rush.spawn(async move { sales.claim(UserId::new(user), voucher, now).await.is_ok() });
    }
    assert_eq!(rush.join_all().await.into_iter().filter(|sold| *sold).count(), 40);
    w.drain().await;
    w.assert_balanced().await;
    let ordinary = w.record(None).await;
    assert_eq!(refusal(w.claim(1, ordinary).await), Refusal::UnknownSale);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_long_over_leaves_memory_and_can_still_be_shown() {
    let w = world().await;
    let voucher = w.sale_like(opens_in(0, 5)).await;
    w.order(1, voucher).await;
    w.advance(MINUTE * 90).await;
    assert!(w.storage.selling.sales.units(voucher).await.unwrap().is_some(), "it ended half an hour ago");
    w.advance(MINUTE * 31).await;
    assert_eq!(w.storage.selling.sales.units(voucher).await.unwrap(), None);
    let live = w.sales.live(voucher, w.now()).await.unwrap();
    // The only order was cancelled at its deadline.
    assert_eq!((live.state, live.stock), (SaleState::Ended, Some(5)));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_do_not_use_up_the_days_numbers() {
    let w = idle().await;
    let voucher = w.sale(1).await;
    let zero = w.claim(1, voucher).await.unwrap();
    for user in 2..1_000 {
        assert_eq!(refusal(w.claim(user, voucher).await), Refusal::SoldOut);
    }
    let other = w.sale(2).await;
    let (first, second) = (w.claim(1, other).await.unwrap(), w.claim(2, other).await.unwrap());
    // The ids of one second hide the count by the same offset.
    let count = |order: OrderId| (order.get() >> 4).wrapping_sub(zero.get() >> 4) & OrderId::MAX_COUNT;
    assert_eq!([count(first), count(second)], [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_malls_in_one_process_share_nothing() {
    let (one, other) = (world().await, world().await);
    let (first, second) = (one.sale(1).await, other.sale(1).await);
    assert_eq!(first, second, "the same id in both");
    let order = one.claim(1, first).await.unwrap();
    assert_eq!(other.claim(1, second).await.unwrap(), order, "the same number in both");
    for w in [&one, &other] {
        w.drain().await;
    }
    one.orders.pay(UserId::new(1), order, one.now()).await.unwrap();
    assert_eq!(other.status(order).await, OrderStatus::Unpaid);
    other.advance(MINUTE * 20).await;
    assert_eq!(other.status(order).await, OrderStatus::Cancelled);
    assert_eq!((one.now(), one.status(order).await), (NOON, OrderStatus::Paid));
    assert_eq!((one.left(first).await, other.left(second).await), (0, 1));
    for w in [&one, &other] {
        w.assert_balanced().await;
    }
}

async fn shop(w: &World) -> ShopId {
    w.storage.catalogue.shops.insert(&samples::shop(), w.now()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_names_the_shop_and_an_unknown_sale_has_none() {
    let w = idle().await;
    assert_eq!(shop(&w).await, ShopId::new(1));
    let voucher = w.sale(5).await;
    let page = w.sales.page(voucher, w.now()).await.unwrap();
    assert_eq!(page.shop.unwrap().text.name, "茶馆");
    assert_eq!(page.sale.terms.voucher, voucher);
    for unknown in [0, 99, i64::MAX as u64 + 1, u64::MAX] {
        let unknown = VoucherId::new(unknown);
        assert_eq!(refusal(w.sales.page(unknown, w.now()).await), Refusal::UnknownSale);
        assert_eq!(refusal(w.sales.live(unknown, w.now()).await), Refusal::UnknownSale);
    }
}
