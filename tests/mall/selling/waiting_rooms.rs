//! Waiting rooms: users wait in a fair order, and only those who are admitted may claim.

use std::sync::Arc;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::language::Language;
use mallbox::mall::base::GuardRefusal;
use mallbox::mall::selling::guard::{ShownPass, Visitor};
use mallbox::mall::selling::sales::{ENTER_BEFORE, RoomPlace, RoomStanding, SaleState};
use mallbox::mall::{Failure, FlashSales, Random, Refusal};
use mallbox_storage::{
    ChallengeKind, ChallengeKinds, Guard, NewSale, OrderId, RoomFigures, StoreError, UserId, VoucherId,
    WaitingRoom,
};

use super::world::{MINUTE, NOON, PAY_WITHIN, World, idle, refusal, world};

const SECOND: Duration = Duration::from_secs(1);
const ROOM: WaitingRoom = WaitingRoom { per_second: 2, admission_seconds: 60 };

/// Adds a sale that begins in ten minutes, with a room of two users a second.
async fn sale_to_come(w: &World, units: u64) -> VoucherId {
    let (begin, end) = (NOON + 10 * MINUTE, NOON + 60 * MINUTE);
    let sale = NewSale { units: Some(units), begin, end, pay_within: PAY_WITHIN, min_level: 0 };
    with_room(w, w.sale_like(sale).await).await
}

async fn with_room(w: &World, voucher: VoucherId) -> VoucherId {
    assert_eq!(w.sale_admin.put_room(w.by(), voucher, Some(ROOM)).await.unwrap().room, Some(ROOM));
    voucher
}

async fn enter(w: &World, user: u64, voucher: VoucherId, ticket: Option<&str>) -> Result<RoomPlace, Failure> {
    w.sales.enter_room(UserId::new(user), voucher, (ticket, false), w.now()).await
}

async fn standing(w: &World, user: u64, voucher: VoucherId) -> RoomStanding {
    enter(w, user, voucher, None).await.unwrap().standing
}

/// Returns the admission of a user who is admitted.
async fn admission(w: &World, user: u64, voucher: VoucherId) -> Option<String> {
    match w.sales.room_place(UserId::new(user), voucher, w.now()).await.unwrap().standing {
        RoomStanding::Admitted { admission, .. } => Some(admission),
        _ => None,
    }
}

async fn ahead(w: &World, user: u64, voucher: VoucherId) -> Option<u64> {
    match w.sales.room_place(UserId::new(user), voucher, w.now()).await.unwrap().standing {
        RoomStanding::Waiting { ahead, .. } => ahead,
        other => panic!("user {user}: {other:?}"),
    }
}

fn ticket(place: &RoomPlace) -> String {
    match &place.standing {
        RoomStanding::Waiting { ticket, .. } => ticket.clone(),
        other => panic!("{other:?}"),
    }
}

async fn claim(w: &World, user: u64, voucher: VoucherId, admission: &str) -> Result<OrderId, Failure> {
    let shown = ShownPass { admission: Some(admission), ..ShownPass::default() };
    w.sales.claim_with_pass(UserId::new(user), voucher, shown, w.now()).await
}

fn required() -> Refusal {
    Refusal::Guard(GuardRefusal::AdmissionRequired)
}

/// Advances the clock in halves of a second until everybody is admitted. Returns the users by admission.
async fn order_of_admission(w: &World, users: std::ops::RangeInclusive<u64>, voucher: VoucherId) -> Vec<u64> {
    let mut admitted = Vec::new();
    while admitted.len() < users.clone().count() {
        for user in users.clone() {
            if !admitted.contains(&user) && admission(w, user, voucher).await.is_some() {
                admitted.push(user);
            }
        }
        w.advance(SECOND / 2).await;
    }
    admitted
}

#[tokio::test(flavor = "multi_thread")]
async fn only_admitted_users_claim_and_they_are_admitted_at_the_rate() {
    let w = world().await;
    let voucher = sale_to_come(&w, 9).await;
    let place = enter(&w, 1, voucher, None).await.unwrap();
    let RoomStanding::Waiting { ahead: None, wait: None, poll_in, .. } = place.standing else {
        panic!("{place:?}")
    };
    assert!((Duration::from_secs(15)..Duration::from_secs(45)).contains(&poll_in), "{poll_in:?}");
    assert_eq!((place.waiting, place.sale.state, place.sale.has_room), (1, SaleState::NotOpen, true));
    for user in 2..=4 {
        enter(&w, user, voucher, None).await.unwrap();
    }
    w.advance(10 * MINUTE).await;
    let mut first = Vec::new();
    for user in 1..=4 {
        if let Some(admission) = admission(&w, user, voucher).await {
            first.push((user, admission));
        }
    }
    let [(lucky, admitted)] = &first[..] else { panic!("{first:?}") };
    let late = enter(&w, 5, voucher, None).await.unwrap();
    let RoomStanding::Waiting { ahead, wait, poll_in, .. } = late.standing else { panic!("{late:?}") };
    assert_eq!((ahead, wait, late.waiting), (Some(3), Some(2 * SECOND), 4));
    assert!((2 * SECOND..=3 * SECOND).contains(&poll_in), "{poll_in:?}");

    let other = if *lucky == 1 { 2 } else { 1 };
    assert_eq!(refusal(w.claim(*lucky, voucher).await), required());
    assert_eq!(refusal(claim(&w, other, voucher, admitted).await), required(), "another user's admission");
    for wrong in [
        "",
        "any",
        &admitted[1..],
        &format!("{admitted}A"),
        &ticket(&enter(&w, 5, voucher, None).await.unwrap()),
    ] {
        assert_eq!(refusal(claim(&w, *lucky, voucher, wrong).await), required(), "{wrong}");
    }
    let elsewhere = with_room(&w, w.sale(9).await).await;
    assert_eq!(refusal(claim(&w, *lucky, elsewhere, admitted).await), required(), "another sale's admission");
    let bought = claim(&w, *lucky, voucher, admitted).await.unwrap();
    assert_eq!(refusal(w.claim(*lucky, voucher).await), Refusal::AlreadyBought(bought), "without admission");
    assert_eq!(refusal(enter(&w, *lucky, voucher, None).await), Refusal::AlreadyBought(bought));

    w.advance(SECOND).await;
    let mut next = 0;
    for user in (1..=5).filter(|user| user != lucky) {
        next += usize::from(admission(&w, user, voucher).await.is_some());
    }
    assert_eq!(next, 2, "two a second");
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admission_ends_after_its_time_and_the_user_waits_anew() {
    let w = idle().await;
    let voucher = with_room(&w, w.sale(9).await).await;
    let RoomStanding::Admitted { admission, ends_in } = standing(&w, 1, voucher).await else { panic!() };
    assert_eq!(ends_in, MINUTE);
    for user in 2..=400 {
        enter(&w, user, voucher, None).await.unwrap();
    }
    w.advance(MINUTE - SECOND / 1_000).await;
    assert_eq!(
        standing(&w, 1, voucher).await,
        RoomStanding::Admitted { admission: admission.clone(), ends_in: SECOND / 1_000 }
    );
    w.advance(SECOND / 1_000).await;
    assert_eq!(refusal(claim(&w, 1, voucher, &admission).await), required());
    let place = w.sales.room_place(UserId::new(1), voucher, w.now()).await.unwrap();
    assert_eq!(place.standing, RoomStanding::Outside);
    enter(&w, 1, voucher, None).await.unwrap();
    let waiting = w.sale_admin.room(voucher).await.unwrap().figures.waiting;
    assert_eq!(ahead(&w, 1, voucher).await, Some(waiting - 1), "behind everybody");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_before_the_begin_is_drawn_and_afterwards_that_of_arrival() {
    let w = idle().await;
    let voucher = sale_to_come(&w, 9).await;
    for user in 1..=30 {
        enter(&w, user, voucher, None).await.unwrap();
    }
    // Entering again draws the same.
    for user in 1..=10 {
        w.sales.leave_room(UserId::new(user), voucher, w.now()).await.unwrap();
        enter(&w, user, voucher, None).await.unwrap();
    }
    w.advance(10 * MINUTE).await;
    let mut drawn = Vec::new();
    for user in 1..=30 {
        drawn.push(standing(&w, user, voucher).await);
    }
    for user in 31..=40 {
        enter(&w, user, voucher, None).await.unwrap();
        w.clock.advance(SECOND / 1_000);
    }
    let order = order_of_admission(&w, 1..=40, voucher).await;
    assert_eq!(order[30..], (31..=40).collect::<Vec<_>>());
    let early = &order[..30];
    assert!(!early.is_sorted(), "{early:?}");
    // Of 30 places, fewer than a quarter are those of arrival.
    let kept = early.iter().zip(1..).filter(|(user, place)| **user == *place).count();
    assert!(kept < 8, "{early:?}");
}

/// Restarts the mall. Servers keep the room, unless they lose their memory, too.
async fn without_its_rooms(w: World, voucher: VoucherId) -> World {
    let w = w.restart().await;
    w.storage.selling.waiting_rooms.forget(voucher).await.unwrap();
    w
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_keeps_the_place_through_a_restart() {
    let mut w = idle().await;
    let voucher = sale_to_come(&w, 9).await;
    w.advance(10 * MINUTE).await;
    enter(&w, 100, voucher, None).await.unwrap();
    let mut tickets = Vec::new();
    for user in 1..=6 {
        w.clock.advance(SECOND / 100);
        tickets.push((user, ticket(&enter(&w, user, voucher, None).await.unwrap())));
    }
    w = without_its_rooms(w, voucher).await;
    w.clock.advance(SECOND / 10);
    let stranger = enter(&w, 200, voucher, None).await.unwrap();
    assert!(matches!(stranger.standing, RoomStanding::Admitted { .. }), "the room is new: {stranger:?}");
    enter(&w, 201, voucher, Some(&tickets[0].1)).await.unwrap();
    for (user, ticket) in tickets.iter().rev() {
        enter(&w, *user, voucher, Some(ticket)).await.unwrap();
    }
    for (place, (user, _)) in (0..).zip(&tickets) {
        assert_eq!(ahead(&w, *user, voucher).await, Some(place), "user {user}");
    }
    assert_eq!(ahead(&w, 201, voucher).await, Some(6), "another user's ticket");
    w.advance(4 * SECOND).await;
    assert_eq!(admission(&w, 1, voucher).await, None, "others may return");
    w.advance(2 * SECOND).await;
    assert!(admission(&w, 1, voucher).await.is_some());
    // The ticket of a user who left, and one that has expired.
    w.sales.leave_room(UserId::new(5), voucher, w.now()).await.unwrap();
    enter(&w, 5, voucher, Some(&tickets[4].1)).await.unwrap();
    assert!(ahead(&w, 5, voucher).await.unwrap() >= ahead(&w, 201, voucher).await.unwrap());
    w = without_its_rooms(w, voucher).await;
    w.advance(20 * MINUTE).await;
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    enter(&w, 300, voucher, None).await.unwrap();
    w.clock.advance(SECOND);
    enter(&w, 6, voucher, Some(&tickets[5].1)).await.unwrap();
    assert_eq!(ahead(&w, 6, voucher).await, Some(1), "an expired ticket");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_admitted_while_there_is_nothing_to_buy() {
    let w = world().await;
    for user in 1..=3 {
        assert_eq!(w.user(user).await.get(), user);
    }
    let voucher = with_room(&w, w.sale(1).await).await;
    let RoomStanding::Admitted { admission: first, .. } = standing(&w, 1, voucher).await else { panic!() };
    let order = claim(&w, 1, voucher, &first).await.unwrap();
    w.drain().await;
    let place = enter(&w, 2, voucher, None).await.unwrap();
    w.advance(10 * SECOND).await;
    let RoomStanding::Waiting { wait: None, ahead: Some(0), .. } = place.standing else {
        panic!("{place:?}")
    };
    assert_eq!((place.sale.state, place.sale.stock), (SaleState::SoldOut, Some(0)));
    assert_eq!(admission(&w, 2, voucher).await, None);
    // With a waiting list, users are admitted to join it.
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(5)).await.unwrap();
    w.advance(2 * SECOND).await;
    let shown = admission(&w, 2, voucher).await.unwrap();
    let shown = ShownPass { admission: Some(&shown), ..ShownPass::default() };
    let without = w.sales.join_waiting_list(UserId::new(2), voucher, ShownPass::default(), w.now()).await;
    assert_eq!(refusal(without), required());
    w.sales.join_waiting_list(UserId::new(2), voucher, shown, w.now()).await.unwrap();
    w.sales.leave_waiting_list(UserId::new(2), voucher, w.now()).await.unwrap();
    w.sale_admin.put_waiting_list(w.by(), voucher, None).await.unwrap();

    enter(&w, 3, voucher, None).await.unwrap();
    w.advance(2 * SECOND).await;
    let is_waiting = admission(&w, 3, voucher).await.is_none();
    w.orders.cancel(UserId::new(1), order, w.now()).await.unwrap();
    w.advance(3 * SECOND).await;
    assert!(is_waiting && admission(&w, 3, voucher).await.is_some(), "the unit has returned");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guarded_sale_gives_challenges_to_admitted_users_alone() {
    let w = idle().await;
    let voucher = with_room(&w, w.sale(9).await).await;
    let kinds = ChallengeKinds::one(ChallengeKind::Work);
    let guard = Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 0 };
    w.sale_admin.put_guard(w.by(), voucher, Some(guard)).await.unwrap();
    let RoomStanding::Admitted { admission, .. } = standing(&w, 1, voucher).await else { panic!() };
    let visitor = Visitor { user: UserId::new(1), device: None, address: None, admission: None, pass: None };
    let spoken = (Language::Zh, w.now());
    assert_eq!(refusal(w.sales.challenge(visitor, voucher, None, spoken).await), required());
    let visitor = Visitor { admission: Some(&admission), ..visitor };
    w.sales.challenge(visitor, voucher, None, spoken).await.unwrap();
    // Both are needed.
    let granted = w.sales.grant_pass(UserId::new(1), voucher, w.now()).await.unwrap();
    let shown =
        ShownPass { pass: Some(&granted.pass), device: Some(&granted.device_ticket), ..ShownPass::default() };
    let claim = async |shown| w.sales.claim_with_pass(UserId::new(1), voucher, shown, w.now()).await;
    assert_eq!(refusal(claim(shown).await), required());
    let bare = ShownPass { admission: Some(&admission), ..ShownPass::default() };
    assert_eq!(refusal(claim(bare).await), Refusal::Guard(GuardRefusal::PassRequired));
    claim(ShownPass { admission: Some(&admission), ..shown }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_buy_does_not_wait() {
    let w = idle().await;
    let plain = w.sale(9).await;
    assert_eq!(refusal(enter(&w, 1, plain, None).await), Refusal::Guard(GuardRefusal::NoRoom));
    assert_eq!(refusal(enter(&w, 1, VoucherId::new(404), None).await), Refusal::UnknownSale);
    let begin = NOON + ENTER_BEFORE + SECOND;
    let sale = NewSale { units: Some(9), begin, end: begin + MINUTE, pay_within: PAY_WITHIN, min_level: 3 };
    let voucher = with_room(&w, w.sale_like(sale).await).await;
    let user = w.user(1).await.get();
    assert_eq!(refusal(enter(&w, user, voucher, None).await), Refusal::NotOpen);
    w.clock.advance(SECOND);
    assert_eq!(refusal(enter(&w, user, voucher, None).await), Refusal::LevelTooLow);
    let user = w.user(2).await.get();
    let _ = w.storage.people.credits.set_level(UserId::new(user), Some(3), w.now()).await.unwrap();
    enter(&w, user, voucher, None).await.unwrap();
    w.clock.set(begin + MINUTE);
    assert_eq!(refusal(enter(&w, user, voucher, None).await), Refusal::Ended);
    w.advance(61 * MINUTE).await;
    w.sales.evict_ended(w.now()).await.unwrap();
    let figures = w.storage.selling.waiting_rooms.figures(voucher).await.unwrap();
    assert_eq!(figures, RoomFigures::default(), "the room of an ended sale is dropped");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sets_and_removes_a_room() {
    let w = idle().await;
    let voucher = with_room(&w, w.sale(9).await).await;
    for user in 1..=3 {
        enter(&w, user, voucher, None).await.unwrap();
    }
    let settings = w.sale_admin.room(voucher).await.unwrap();
    assert_eq!((settings.room, settings.figures), (Some(ROOM), RoomFigures { waiting: 2, admitted: 1 }));
    for (room, field) in [
        (WaitingRoom { per_second: 0, ..ROOM }, "perSecond"),
        (WaitingRoom { per_second: 10_001, ..ROOM }, "perSecond"),
        (WaitingRoom { admission_seconds: 29, ..ROOM }, "admissionSeconds"),
        (WaitingRoom { admission_seconds: 1_801, ..ROOM }, "admissionSeconds"),
    ] {
        let refused = refusal(w.sale_admin.put_room(w.by(), voucher, Some(room)).await);
        assert_eq!(refused, Refusal::BadValue(field));
    }
    let nowhere = w.sale_admin.put_room(w.by(), VoucherId::new(404), Some(ROOM)).await;
    assert_eq!(refusal(nowhere), Refusal::NotFound("sale"));
    assert_eq!(refusal(w.claim(2, voucher).await), required());
    for _ in 0..2 {
        let removed = w.sale_admin.put_room(w.by(), voucher, None).await.unwrap();
        assert_eq!((removed.room, removed.figures), (None, RoomFigures::default()));
    }
    w.claim(2, voucher).await.unwrap();
    let audited = w.audited().await;
    let of_rooms: Vec<_> = audited.iter().filter(|(action, ..)| action == "sale.waiting_room").collect();
    assert_eq!(of_rooms.len(), 3, "{audited:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_costs_no_place() {
    let w = idle().await;
    let voucher = with_room(&w, w.sale(9).await).await;
    let (context, faults) = w.faulty();
    let sales = FlashSales::with_random(context, Arc::new(Random::seeded(8)));
    let enter = async |user| sales.enter_room(UserId::new(user), voucher, (None, false), w.now()).await;
    let is_away = |failed: Failure| matches!(failed, Failure::Store(StoreError::Unavailable { .. }));
    faults.add(Fault::at_port("waiting_rooms.visit").error().times(1)).unwrap();
    assert!(is_away(enter(1).await.unwrap_err()));
    for user in 1..=2 {
        faults.add(Fault::at_port("waiting_rooms.visit").lose_answer().times(1)).unwrap();
        assert!(is_away(enter(user).await.unwrap_err()));
    }
    assert!(matches!(enter(1).await.unwrap().standing, RoomStanding::Admitted { .. }));
    let place = enter(2).await.unwrap();
    assert!(matches!(place.standing, RoomStanding::Waiting { ahead: Some(0), .. }), "{place:?}");
    assert_eq!(w.sale_admin.room(voucher).await.unwrap().figures, RoomFigures { waiting: 1, admitted: 1 });
}
