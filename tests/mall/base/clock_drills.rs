//! Drills: a clock that is wrong at a start, one that is set while the mall runs, and both ways back.

use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox::mall::base::ClockRefusal;
use mallbox::mall::base::clock_doubt::ClockDoubt;
use mallbox::mall::{Failure, Refusal};
use mallbox_storage::{OrderId, OrderStatus, Timestamp, UserId, VoucherId};

use super::machine::{DAY, HOUR, Kiosk, MINUTE, Machine, NOON, assert_unsure};

const ANNE: &str = "13900000002";
const EPOCH: Timestamp = Timestamp::from_millis(0);

/// What a mall had before its clock went wrong.
struct Before {
    sale: VoucherId,
    /// A voucher without a sale.
    plain: VoucherId,
    /// An unpaid order of the sale.
    order: OrderId,
    token: String,
    user: UserId,
    /// The mall's time.
    at: Timestamp,
}

impl Before {
    async fn new(kiosk: &Kiosk) -> Self {
        let (sale, plain) = (kiosk.voucher(true).await, kiosk.voucher(false).await);
        let token = kiosk.log_in(ANNE).await;
        let user = kiosk.who(&token).await.unwrap();
        // The mark of the last run is stored once a minute.
        kiosk.pass(MINUTE).await;
        let order = kiosk.claim(1, sale).await.unwrap();
        assert_eq!(kiosk.status(order).await, OrderStatus::Unpaid);
        assert_eq!(kiosk.mark().await, kiosk.now());
        Self { sale, plain, order, token, user, at: kiosk.now() }
    }
}

/// Checks what is refused and what goes on while the clock is unsure. Returns the newest order.
async fn check_unsure(kiosk: &Kiosk, before: &Before) -> OrderId {
    assert!(!kiosk.is_sure());
    assert_eq!(kiosk.now(), before.at, "the mall's time goes on from the last sure time");
    let (mall, now) = (&kiosk.mall, kiosk.now());
    assert_unsure(kiosk.claim(2, before.sale).await);
    assert_unsure(mall.sign_ins.sign(before.user, now).await);
    assert_unsure(mall.sign_ins.make_up(before.user, "2026-11-20", now).await);
    match kiosk.claim(1, before.sale).await {
        Err(Failure::Refused(Refusal::LimitReached(_) | Refusal::AlreadyBought(_))) => {}
        other => panic!("a holder is told of the order: {other:?}"),
    }
    mall.sales.live(before.sale, now).await.unwrap();
    assert_eq!(kiosk.who(&before.token).await, Some(before.user), "the session lives");

    // Everything due has run: an order that has minutes left is not cancelled.
    kiosk.pass(5 * MINUTE).await;
    assert_eq!(kiosk.status(before.order).await, OrderStatus::Unpaid);
    assert_eq!(kiosk.who(&before.token).await, Some(before.user));
    assert_eq!(kiosk.mark().await, before.at + 5 * MINUTE, "time that has passed is sure");
    let bought = kiosk.buy(before.plain).await;
    assert!(bought > before.order, "{bought} after {}", before.order);
    // Elapsed time counts.
    kiosk.pass(10 * MINUTE).await;
    assert_eq!(kiosk.status(before.order).await, OrderStatus::Cancelled);
    bought
}

/// Checks that everything works again.
async fn check_sure(kiosk: &Kiosk, before: &Before, newest: OrderId) {
    assert!(kiosk.is_sure());
    assert_eq!(kiosk.who(&before.token).await, Some(before.user), "the session outlives the correction");
    let order = kiosk.claim(2, before.sale).await.unwrap();
    assert!(order > newest, "{order} after {newest}");
    assert_eq!(kiosk.status(order).await, OrderStatus::Unpaid);
    kiosk.mall.sign_ins.sign(before.user, kiosk.now()).await.unwrap();
    kiosk.pass(MINUTE).await;
    assert_eq!(kiosk.mark().await, kiosk.now());
}

/// Starts a mall anew with a wrong clock, and sets the clock right afterwards.
async fn wrong_at_a_start(wall: Timestamp, is_expected: fn(ClockDoubt) -> bool) {
    let machine = Machine::new(NOON);
    let kiosk = Kiosk::found(&machine).await;
    let before = Before::new(&kiosk).await;
    let kiosk = kiosk.restart_at(wall).await;
    assert!(kiosk.state().doubt().is_some_and(is_expected), "{:?}", kiosk.state());
    let newest = check_unsure(&kiosk, &before).await;
    // The mark does not follow the wrong clock over another start either.
    let mark = kiosk.mark().await;
    let kiosk = kiosk.restart_at(wall).await;
    assert_eq!((kiosk.is_sure(), kiosk.now(), kiosk.mark().await), (false, mark, mark));

    // NTP sets the clock: two days have passed in truth.
    kiosk.machine.set(NOON + 2 * DAY);
    check_sure(&kiosk, &before, newest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_1970_at_boot() {
    wrong_at_a_start(EPOCH, |doubt| doubt == ClockDoubt::BeforeRelease).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_a_day_back() {
    wrong_at_a_start(NOON - DAY, |doubt| matches!(doubt, ClockDoubt::Behind(_))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_ten_years_ahead() {
    wrong_at_a_start(NOON + 3_650 * DAY, |doubt| matches!(doubt, ClockDoubt::Ahead(_))).await;
}

/// Sets the clock of a running mall, and back.
async fn set_while_running(wall: Timestamp) {
    let machine = Machine::new(NOON);
    let kiosk = Kiosk::found(&machine).await;
    let before = Before::new(&kiosk).await;
    machine.set(wall);
    let newest = check_unsure(&kiosk, &before).await;
    machine.set(before.at + 15 * MINUTE);
    check_sure(&kiosk, &before, newest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_a_jump_back_while_running() {
    set_while_running(NOON - 3 * DAY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_a_jump_ahead_while_running() {
    set_while_running(NOON + 30 * DAY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drill_1970_while_running() {
    set_while_running(EPOCH).await;
}

/// A shop that was closed for five hundred days: the clock is right, and an operator says so.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_confirms_a_clock_that_is_right() {
    let machine = Machine::new(NOON);
    let kiosk = Kiosk::found(&machine).await;
    let before = Before::new(&kiosk).await;
    let late = NOON + 500 * DAY;
    let kiosk = kiosk.restart_at(late).await;
    let newest = check_unsure(&kiosk, &before).await;
    let admin = &kiosk.mall.clock_admin;
    let reading = admin.reading();
    assert_eq!((reading.mall, reading.machine), (before.at + 15 * MINUTE, late + 15 * MINUTE));

    // A time that the clock does not show is not confirmed.
    let moved = admin.confirm(kiosk.by(), NOON).await;
    assert!(
        matches!(moved, Err(Failure::Refused(Refusal::Clock(ClockRefusal::Moved)))),
        "{:?}",
        moved.map(|reading| reading.state)
    );
    assert!(!kiosk.is_sure());

    machine.pass(MINUTE);
    admin.confirm(kiosk.by(), reading.machine).await.unwrap();
    assert_eq!((kiosk.is_sure(), kiosk.now()), (true, late + 16 * MINUTE));
    assert_eq!(kiosk.mark().await, late + 16 * MINUTE, "stored at once");
    let audited = kiosk.mall.audit.page(None, 10).await.unwrap();
    assert!(audited.iter().any(|entry| entry.action == "clock.confirm"), "{audited:?}");

    let ended = kiosk.claim(2, before.sale).await;
    assert!(matches!(ended, Err(Failure::Refused(Refusal::Ended))), "{ended:?}");
    let sale = kiosk.voucher(true).await;
    let order = kiosk.claim(2, sale).await.unwrap();
    assert!(order > newest);
    // Another start has nothing to doubt.
    let kiosk = kiosk.restart_at(late + HOUR).await;
    assert!(kiosk.is_sure());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_clock_is_confirmed_by_nobody() {
    let machine = Machine::new(NOON);
    let kiosk = Kiosk::found(&machine).await.restart_at(EPOCH).await;
    let refused = kiosk.mall.clock_admin.confirm(kiosk.by(), EPOCH).await;
    assert!(matches!(refused, Err(Failure::Refused(Refusal::Clock(ClockRefusal::BeforeRelease)))));
    assert!(!kiosk.is_sure());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unsure_clock_follows_a_time_that_another_instance_stored() {
    let machine = Machine::new(NOON);
    let kiosk = Kiosk::found(&machine).await;
    Before::new(&kiosk).await;
    let late = NOON + 500 * DAY;
    let kiosk = kiosk.restart_at(late).await;
    // The job that stores the time has run: it would overwrite a time stored while it runs.
    kiosk.pass(MINUTE).await;
    assert!(!kiosk.is_sure());
    let upkeep = &kiosk.mall.context.storage.base.upkeep;
    upkeep.put_setting("clock: last run ms", &late.as_millis().to_string()).await.unwrap();
    kiosk.pass(MINUTE).await;
    assert_eq!((kiosk.is_sure(), kiosk.now()), (true, late + 2 * MINUTE));
}

/// New York sets its clocks from 02:00 to 01:00 on 2026-11-01, at 06:00 UTC: the machine's clock counts UTC,
/// and does not jump.
#[tokio::test(flavor = "multi_thread")]
async fn drill_the_end_of_daylight_saving_time() {
    let before_end = Timestamp::from_millis(1_793_512_800_000) - 2 * MINUTE;
    let machine = Machine::new(before_end);
    let kiosk = Kiosk::found_in(&machine, TimeZone::get("America/New_York").unwrap()).await;
    let sale = kiosk.voucher(true).await;
    let token = kiosk.log_in(ANNE).await;
    let user = kiosk.who(&token).await.unwrap();
    let mut newest = OrderId::new(0);
    for buyer in 1..=4 {
        kiosk.pass(MINUTE).await;
        assert!(kiosk.is_sure());
        let order = kiosk.claim(buyer, sale).await.unwrap();
        assert!(order > newest, "{order} after {newest}");
        newest = order;
        kiosk.mall.sign_ins.sign(user, kiosk.now()).await.unwrap();
    }
    assert_eq!(kiosk.mall.sign_ins.streak(user, kiosk.now()).await.unwrap(), 1, "one day");
    let kiosk = kiosk.restart_at(before_end + 3 * MINUTE + Duration::from_secs(1)).await;
    assert!(kiosk.is_sure() && kiosk.who(&token).await == Some(user));
}
