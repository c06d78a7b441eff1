//! Waiting lists: units that become free go to the users who wait, in order, and the ledger balances.

use std::sync::Arc;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::base::WaitingRefusal;
use mallbox::mall::operator::sales::{StockForm, WindowForm};
use mallbox::mall::selling::guard::ShownPass;
use mallbox::mall::{Failure, LevelAdmin, Refusal, Settings};
use mallbox_storage::{
    ChallengeKind, ChallengeKinds, DeadReason, Guard, LastOperator, Limit, NewSale, NewWave, OrderId,
    OrderStatus, RightsChange, RightsOutcome, UserId, VoucherEdit, VoucherId, VoucherStatus, WaitingPlace,
    WaitingState,
};

use super::world::{MINUTE, PAY_WITHIN, World, refusal, terms_token, with_settings, world};

const SECOND: Duration = Duration::from_secs(1);

/// Adds a sale of these units with a list of up to 100 users, and sells the units to users from 1 on.
async fn sold_out(w: &World, units: u64) -> (VoucherId, Vec<OrderId>) {
    let voucher = w.sale(units).await;
    let list = w.sale_admin.put_waiting_list(w.by(), voucher, Some(100)).await.unwrap();
    assert_eq!((list.max, list.waiting), (Some(100), 0));
    let mut orders = Vec::new();
    for user in 1..=units {
        orders.push(w.order(user, voucher).await);
    }
    (voucher, orders)
}

async fn join(w: &World, user: UserId, voucher: VoucherId) -> Result<WaitingPlace, Failure> {
    w.sales.join_waiting_list(user, voucher, ShownPass::default(), w.now()).await
}

/// Registers users, with ids above those of the buyers, who are not registered.
async fn registered(w: &World, count: u64) -> Vec<UserId> {
    const BUYERS_MAX: usize = 20;
    let mut users = Vec::new();
    for number in 0..BUYERS_MAX as u64 + count {
        users.push(w.user(number).await);
    }
    users.split_off(BUYERS_MAX)
}

/// Registers users who all join.
async fn waiting(w: &World, voucher: VoucherId, count: u64) -> Vec<UserId> {
    let users = registered(w, count).await;
    for user in &users {
        join(w, *user, voucher).await.unwrap();
    }
    users
}

async fn place(w: &World, user: UserId, voucher: VoucherId) -> WaitingPlace {
    w.sales.waiting_place(user, voucher).await.unwrap().unwrap()
}

async fn is_waited_for(w: &World, voucher: VoucherId) -> bool {
    w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().terms.waiting
}

async fn states(w: &World, users: &[UserId], voucher: VoucherId) -> Vec<WaitingState> {
    let mut states = Vec::new();
    for user in users {
        states.push(place(w, *user, voucher).await.entry.state);
    }
    states
}

async fn cancel(w: &World, user: u64, order: OrderId) {
    w.orders.cancel(UserId::new(user), order, w.now()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_returned_unit_goes_to_the_first_who_waits_with_time_to_pay() {
    let w = world().await;
    let (voucher, orders) = sold_out(&w, 2).await;
    let users = waiting(&w, voucher, 3).await;
    w.advance(MINUTE).await;
    cancel(&w, 1, orders[0]).await;
    assert_eq!(refusal(w.claim(9, voucher).await), Refusal::SoldOut, "nobody overtakes who waits");
    let live = w.sales.live(voucher, w.now()).await.unwrap();
    assert_eq!((live.stock, live.has_waiting_list), (Some(0), true));
    w.advance(SECOND).await;
    use WaitingState::{Promoted, Waiting};
    assert_eq!(states(&w, &users, voucher).await, [Promoted, Waiting, Waiting]);
    let order = place(&w, users[0], voucher).await.entry.order.unwrap();
    let order = w.storage.selling.orders.get(order).await.unwrap().unwrap();
    assert_eq!((order.user, order.status), (users[0], OrderStatus::Unpaid));
    assert_eq!(order.deadline, w.now() + PAY_WITHIN, "its own time to pay");
    assert_eq!(place(&w, users[1], voucher).await.ahead, 0);
    w.assert_balanced().await;
    // Not paid in time: the next in the list.
    w.advance(PAY_WITHIN).await;
    w.advance(SECOND).await;
    assert_eq!(w.status(order.id).await, OrderStatus::Cancelled);
    assert_eq!(
        states(&w, &users, voucher).await,
        [Promoted, Promoted, Promoted],
        "user 2 did not pay either"
    );
    w.advance(SECOND).await;
    assert!(!is_waited_for(&w, voucher).await);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn added_units_and_waves_serve_the_list_before_they_are_on_sale() {
    let w = world().await;
    let (voucher, _) = sold_out(&w, 1).await;
    let users = waiting(&w, voucher, 3).await;
    let wave = NewWave { at: w.now() + MINUTE, units: 1 };
    w.sale_admin.put_waves(w.by(), voucher, vec![wave]).await.unwrap();
    assert_eq!(refusal(w.claim(9, voucher).await), Refusal::SoldOut, "the wave is for the list");
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().next_wave, None);
    w.advance(MINUTE).await;
    assert_eq!(refusal(w.claim(9, voucher).await), Refusal::SoldOut);
    w.advance(SECOND).await;
    use WaitingState::{Promoted, Waiting};
    assert_eq!(states(&w, &users, voucher).await, [Promoted, Waiting, Waiting]);
    w.sale_admin.restock(w.by(), voucher, StockForm { add: Some(5), request: None }).await.unwrap();
    assert_eq!(refusal(w.claim(9, voucher).await), Refusal::SoldOut);
    w.advance(SECOND).await;
    assert_eq!(states(&w, &users, voucher).await, [Promoted; 3]);
    w.advance(SECOND).await;
    assert_eq!(w.left(voucher).await, 3);
    w.order(9, voucher).await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_sold_out_sale_with_a_list_is_waited_for() {
    let w = world().await;
    let voucher = w.sale(1).await;
    let user = w.user(1).await;
    let refused = |failure: WaitingRefusal| Refusal::WaitingList(failure);
    assert_eq!(refusal(join(&w, user, voucher).await), refused(WaitingRefusal::NoList));
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(1)).await.unwrap();
    assert_eq!(refusal(join(&w, user, voucher).await), refused(WaitingRefusal::UnitsLeft));
    let order = w.order(7, voucher).await;
    assert_eq!(refusal(join(&w, UserId::new(7), voucher).await), Refusal::AlreadyBought(order));
    assert_eq!(join(&w, user, voucher).await.unwrap().ahead, 0);
    assert_eq!(refusal(join(&w, w.user(2).await, voucher).await), refused(WaitingRefusal::Full));
    w.sale_admin.put_waiting_list(w.by(), voucher, None).await.unwrap();
    assert_eq!(refusal(join(&w, w.user(2).await, voucher).await), refused(WaitingRefusal::NoList));
    assert_eq!(join(&w, user, voucher).await.unwrap().waiting, 1, "who waits keeps the place");
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    assert_eq!(refusal(join(&w, w.user(2).await, voucher).await), Refusal::Paused);
    let unknown = VoucherId::new(999);
    assert_eq!(refusal(join(&w, user, unknown).await), Refusal::UnknownSale);
    let unlimited = w.sale(None).await;
    let put = w.sale_admin.put_waiting_list(w.by(), unlimited, Some(1)).await;
    assert_eq!(refusal(put), Refusal::Unlimited);
    let put = w.sale_admin.put_waiting_list(w.by(), voucher, Some(10_001)).await;
    assert_eq!(refusal(put), Refusal::BadValue("max"));
    let audited: Vec<_> = w.audited().await.into_iter().map(|(action, ..)| action).collect();
    assert_eq!(audited.iter().filter(|action| *action == "sale.waiting_list").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_claims_and_the_pass_hold_for_the_list_too() {
    let limit = Limit { count: 3, per: MINUTE };
    let settings = Settings { claim_limit: Some(limit), ..Settings::default().without_limits() };
    let mut w = with_settings(settings).await;
    w.start_workers();
    let (voucher, _) = sold_out(&w, 1).await;
    let users = registered(&w, 2).await;
    let user = users[0];
    for _ in 0..3 {
        join(&w, user, voucher).await.unwrap();
    }
    assert!(matches!(refusal(join(&w, user, voucher).await), Refusal::RateLimited { .. }));
    w.advance(MINUTE).await;
    let kinds = ChallengeKinds::new(&[ChallengeKind::Work]).unwrap();
    let guard = Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 0 };
    w.sale_admin.put_guard(w.by(), voucher, Some(guard)).await.unwrap();
    let other = users[1];
    assert!(matches!(refusal(join(&w, other, voucher).await), Refusal::Guard(_)));
    let granted = w.sales.grant_pass(other, voucher, w.now()).await.unwrap();
    let shown =
        ShownPass { pass: Some(&granted.pass), device: Some(&granted.device_ticket), ..ShownPass::default() };
    for _ in 0..2 {
        let joined = w.sales.join_waiting_list(other, voucher, shown, w.now()).await.unwrap();
        assert_eq!(joined.ahead, 1, "the pass stays unspent");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_buy_any_more_is_passed_over() {
    let w = world().await;
    let (voucher, orders) = sold_out(&w, 2).await;
    let users = waiting(&w, voucher, 4).await;
    let left = w.sales.leave_waiting_list(users[1], voucher, w.now()).await.unwrap().unwrap();
    assert_eq!((left.entry.state, left.waiting), (WaitingState::Left, 3));
    let block = RightsChange::Block { reason: "resold units".to_owned() };
    let blocked =
        w.storage.people.users.put_rights(users[0], &block, LastOperator::Stays, w.now()).await.unwrap();
    assert!(matches!(blocked, RightsOutcome::Done(_)));
    cancel(&w, 1, orders[0]).await;
    cancel(&w, 2, orders[1]).await;
    w.advance(SECOND).await;
    use WaitingState::{Dropped, Left, Promoted};
    assert_eq!(states(&w, &users, voucher).await, [Dropped, Left, Promoted, Promoted]);
    w.advance(SECOND).await;
    assert!(!is_waited_for(&w, voucher).await);
    assert_eq!(w.storage.selling.outbox.open(10).await.unwrap(), []);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_level_counts_when_the_turn_comes() {
    let w = world().await;
    let hour = MINUTE * 60;
    let voucher = w
        .sale_like(NewSale {
            units: Some(1),
            begin: w.now() - hour,
            end: w.now() + hour,
            pay_within: PAY_WITHIN,
            min_level: 1,
        })
        .await;
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(100)).await.unwrap();
    let (holder, user) = (w.user(1).await, w.user(2).await);
    let levels = LevelAdmin::new(w.context.clone(), w.audit.clone());
    let level = async |user, level| {
        levels.set(user, level, w.by()).await.unwrap();
    };
    level(holder, Some(1)).await;
    assert_eq!(refusal(join(&w, user, voucher).await), Refusal::LevelTooLow);
    level(user, Some(1)).await;
    let order = w.sales.claim(holder, voucher, w.now()).await.unwrap();
    w.drain().await;
    join(&w, user, voucher).await.unwrap();
    level(user, None).await;
    cancel(&w, holder.get(), order).await;
    w.advance(SECOND).await;
    assert_eq!(place(&w, user, voucher).await.entry.state, WaitingState::Dropped);
    w.advance(SECOND).await;
    assert_eq!(w.left(voucher).await, 1);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_holds_the_list_and_the_end_expires_it() {
    let w = world().await;
    let (voucher, orders) = sold_out(&w, 2).await;
    let users = waiting(&w, voucher, 2).await;
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    cancel(&w, 1, orders[0]).await;
    w.advance(SECOND).await;
    assert_eq!(states(&w, &users, voucher).await, [WaitingState::Waiting; 2]);
    w.sale_admin.resume(w.by(), voucher).await.unwrap();
    w.advance(SECOND).await;
    use WaitingState::{Expired, Promoted, Waiting};
    assert_eq!(states(&w, &users, voucher).await, [Promoted, Waiting]);
    let window = WindowForm { end: Some(w.now() + MINUTE), ..WindowForm::default() };
    w.sale_admin.put_window(w.by(), voucher, window).await.unwrap();
    w.clock.advance(MINUTE);
    cancel(&w, 2, orders[1]).await;
    w.advance(Duration::ZERO).await;
    w.advance(SECOND).await;
    assert_eq!(states(&w, &users, voucher).await, [Promoted, Expired], "nobody is promoted after the end");
    assert!(!is_waited_for(&w, voucher).await);
    assert_eq!(refusal(join(&w, users[1], voucher).await), Refusal::Ended);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_voucher_off_the_shelf_holds_its_list() {
    let w = world().await;
    let (voucher, orders) = sold_out(&w, 1).await;
    let users = waiting(&w, voucher, 1).await;
    let put = async |status| {
        let edit = VoucherEdit { status: Some(status), ..VoucherEdit::default() };
        w.storage
            .catalogue
            .vouchers
            .update(voucher, &edit, terms_token(&w.storage).await, w.now())
            .await
            .unwrap()
            .done()
            .unwrap();
        w.advance(SECOND).await;
        states(&w, &users, voucher).await
    };
    cancel(&w, 1, orders[0]).await;
    assert_eq!(put(VoucherStatus::OffShelf).await, [WaitingState::Waiting]);
    assert_eq!(put(VoucherStatus::OnShelf).await, [WaitingState::Promoted]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_a_crash_left_behind_is_finished_once() {
    let w = world().await;
    let (voucher, orders) = sold_out(&w, 1).await;
    let users = waiting(&w, voucher, 2).await;
    cancel(&w, 1, orders[0]).await;
    // The process dies between the reservation and the order.
    let (context, faults) = w.faulty();
    let (chores, _) = w.chores_of(context);
    faults.add(Fault::at_port("waiting_lists.promote").error()).unwrap();
    w.clock.advance(SECOND);
    chores.run_all_due(w.now()).await;
    drop((chores, faults));
    let entry = place(&w, users[0], voucher).await.entry;
    assert_eq!(entry.state, WaitingState::Offered);
    let order = entry.order.unwrap();
    assert_eq!(w.left(voucher).await, 0, "reserved");
    let left = w.sales.leave_waiting_list(users[0], voucher, w.now()).await.unwrap().unwrap();
    assert_eq!(left.entry.state, WaitingState::Offered, "too late to leave");
    w.assert_balanced().await;
    let mut w = w.restart().await;
    w.start_workers();
    assert_eq!(refusal(w.claim(9, voucher).await), Refusal::SoldOut);
    w.advance(SECOND).await;
    assert_eq!(place(&w, users[0], voucher).await.entry.order, Some(order));
    use WaitingState::{Promoted, Waiting};
    assert_eq!(states(&w, &users, voucher).await, [Promoted, Waiting]);
    assert_eq!(w.status(order).await, OrderStatus::Unpaid);
    w.advance(SECOND).await;
    assert_eq!(w.left(voucher).await, 0);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_call_fails_the_list_is_served_once_by_the_next_run() {
    for call in [
        "waiting_lists.waited_for",
        "waiting_lists.head",
        "waiting_lists.offer",
        "waiting_lists.promote",
        "waiting_lists.close",
        "sales.reserve",
        "sales.units",
        "sequences.next",
        "deadlines.set",
    ] {
        let w = world().await;
        let (voucher, orders) = sold_out(&w, 1).await;
        let users = waiting(&w, voucher, 1).await;
        cancel(&w, 1, orders[0]).await;
        let (context, faults) = w.faulty();
        let (chores, _) = w.chores_of(context);
        for lost in [false, true] {
            let fault = Fault::at_port(call);
            let fault = if lost { fault.lose_answer() } else { fault.error() };
            faults.add(fault.times(1)).unwrap();
        }
        for _ in 0..6 {
            w.clock.advance(SECOND);
            chores.run_all_due(w.now()).await;
        }
        assert_eq!(faults.cancel_all(), 0, "{call} was called");
        assert_eq!(states(&w, &users, voucher).await, [WaitingState::Promoted], "{call}");
        assert!(!is_waited_for(&w, voucher).await, "{call}");
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_instances_serve_a_list_once() {
    let w = Arc::new(world().await);
    let (voucher, orders) = sold_out(&w, 8).await;
    let users = waiting(&w, voucher, 12).await;
    for (user, order) in (1..).zip(&orders) {
        cancel(&w, user, *order).await;
    }
    let instances = [(); 3].map(|()| w.chores_of(w.context.clone()).0);
    w.clock.advance(SECOND);
    let now = w.now();
    let [first, second, third] = &instances;
    tokio::join!(first.run_all_due(now), second.run_all_due(now), third.run_all_due(now));
    let states = states(&w, &users, voucher).await;
    assert_eq!(states[..8], [WaitingState::Promoted; 8]);
    assert_eq!(states[8..], [WaitingState::Waiting; 4]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rush_of_joins_and_returned_units_oversells_nothing() {
    const USERS: u64 = 30;
    let w = Arc::new(world().await);
    let (voucher, orders) = sold_out(&w, 10).await;
    let users = registered(&w, USERS).await;
    let joins: Vec<_> = users
        .iter()
        .map(|&user| {
            let w = Arc::clone(&w);
            tokio::spawn(async move { join(&w, user, voucher).await.map(drop) })
        })
        .collect();
    let claims: Vec<_> = (1_000..1_030)
        .map(|user| {
            let w = Arc::clone(&w);
            tokio::spawn(async move { w.claim(user, voucher).await.is_ok() })
        })
        .collect();
    for (user, order) in (1..).zip(&orders) {
        cancel(&w, user, *order).await;
    }
    let mut waits = 0_u64;
    for call in joins {
        match call.await.unwrap() {
            Ok(()) => waits += 1,
            Err(Failure::Refused(Refusal::WaitingList(WaitingRefusal::UnitsLeft))) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    let mut bought = 0_u64;
    for call in claims {
        bought += u64::from(call.await.unwrap());
    }
    for _ in 0..3 {
        w.advance(SECOND).await;
    }
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!(counts.unpaid, bought + waits.min(10 - bought), "{bought} bought, {waits} waited");
    assert_eq!(counts.dead_letters, 0);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promotion_is_an_event_with_its_acceptance() {
    use std::collections::BTreeSet;

    use mallbox_storage::{EventKind, EventTarget, NewSubscriber, SubscribeOutcome};

    let w = world().await;
    let (voucher, orders) = sold_out(&w, 1).await;
    let users = waiting(&w, voucher, 1).await;
    let subscriber =
        NewSubscriber { name: "log".to_owned(), target: EventTarget::Log, kinds: BTreeSet::new() };
    let made = w.storage.base.event_subscribers.subscribe(&subscriber, 1, w.now()).await.unwrap();
    assert!(matches!(made, SubscribeOutcome::Subscribed(_)));
    cancel(&w, 1, orders[0]).await;
    w.advance(SECOND).await;
    let order = place(&w, users[0], voucher).await.entry.order.unwrap();
    w.storage.base.events.number(100, w.now()).await.unwrap();
    let page = w.storage.base.events.after(0, 100).await.unwrap();
    let kinds: Vec<_> =
        page.events.iter().filter(|event| event.subject == order.get()).map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::OrderAccepted, EventKind::WaitingPromoted]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_the_database_has_not_is_not_handed_on() {
    let w = world().await;
    let (voucher, _) = sold_out(&w, 1).await;
    let users = waiting(&w, voucher, 1).await;
    let entry = place(&w, users[0], voucher).await.entry;
    let order = OrderId::compose(w.now(), 77_777, voucher).unwrap();
    let lists = &w.storage.selling.waiting_lists;
    assert!(lists.offer(entry.number, order, w.now()).await.unwrap());
    let outcome = lists.promote(entry.number, order, true, w.now()).await.unwrap();
    assert_eq!(outcome, mallbox_storage::PromoteOutcome::Postponed(DeadReason::Oversold));
    w.advance(SECOND).await;
    assert_eq!(states(&w, &users, voucher).await, [WaitingState::Waiting]);
    w.assert_balanced().await;
}
