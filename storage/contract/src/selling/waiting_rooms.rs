//! `WaitingRooms`: one place per user, admission by rank and at a rate.

use std::collections::BTreeMap;
use std::time::Duration;

use mallbox_storage::{
    RETURN_GRACE, RoomEntry, RoomFigures, RoomFlow, RoomRank, RoomState, RoomView, Timestamp, UserId,
    VoucherId, WaitingRoom,
};
use tokio::task::JoinSet;

use crate::dice::Dice;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    users_are_admitted_by_rank_at_the_rate,
    nobody_is_admitted_before_the_begin_or_while_the_sale_admits_nobody,
    no_more_accrues_than_the_admissions_of_a_second,
    what_is_left_of_a_second_is_for_who_comes_next,
    a_user_has_one_place_and_keeps_it,
    who_leaves_gives_the_place_up,
    who_does_not_act_in_time_enters_anew,
    a_lost_room_admits_nobody_until_others_may_have_returned,
    a_clock_set_back_stops_no_admissions,
    rooms_do_not_share_and_are_forgotten,
    a_room_behaves_like_its_model,
    a_rush_admits_each_user_once,
}

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// A room that opened at noon, with a minute to act.
fn flow(voucher: u64, per_second: u32) -> RoomFlow {
    let room = WaitingRoom { per_second, admission_seconds: 60 };
    RoomFlow { voucher: VoucherId::new(voucher), room, begin: NOON, admits: true, kept_for: HOUR }
}

fn ranked(rank: u64) -> RoomEntry {
    RoomEntry { fresh: RoomRank::new(rank).unwrap(), shown: None }
}

fn shown(rank: u64, fresh: u64) -> RoomEntry {
    RoomEntry { shown: RoomRank::new(rank), ..ranked(fresh) }
}

fn waiting(rank: u64, ahead: u64) -> RoomState {
    RoomState::Waiting { rank: RoomRank::new(rank).unwrap(), ahead }
}

async fn visit(w: &World, flow: &RoomFlow, user: u64, entry: Option<RoomEntry>, now: Timestamp) -> RoomView {
    w.storage.selling.waiting_rooms.visit(flow, UserId::new(user), entry, now).await.unwrap()
}

async fn state(w: &World, flow: &RoomFlow, user: u64, now: Timestamp) -> RoomState {
    visit(w, flow, user, None, now).await.state
}

async fn figures(w: &World, flow: &RoomFlow) -> (u64, u64) {
    let RoomFigures { waiting, admitted } =
        w.storage.selling.waiting_rooms.figures(flow.voucher).await.unwrap();
    (waiting, admitted)
}

async fn users_are_admitted_by_rank_at_the_rate(w: &World) {
    let flow = flow(1, 2);
    let before = NOON - SECOND;
    // Drawn ranks against the order of arrival; the largest ranks of both kinds.
    let last = RoomRank::arrived(Duration::MAX, u64::MAX).get();
    let ranks = [last, 900, 20, 300, RoomRank::drawn(u64::MAX).get()];
    for (user, rank) in (1..).zip(ranks) {
        let view = visit(w, &flow, user, Some(ranked(rank)), before).await;
        let ahead = ranks[..usize::try_from(user - 1).unwrap()].iter().filter(|other| **other < rank).count();
        assert_eq!(view, RoomView { state: waiting(rank, ahead as u64), waiting: user });
    }
    let until = |at: Timestamp| RoomState::Admitted { until: at + 60 * SECOND };
    // One at once, then every half second.
    assert_eq!(state(w, &flow, 3, NOON).await, until(NOON));
    assert_eq!(state(w, &flow, 4, NOON).await, waiting(300, 0));
    assert_eq!(state(w, &flow, 4, NOON + 499 * MS).await, waiting(300, 0));
    let half = NOON + SECOND / 2;
    assert_eq!(state(w, &flow, 4, half).await, until(half));
    assert_eq!(state(w, &flow, 2, half).await, waiting(900, 0));
    assert_eq!((state(w, &flow, 1, half).await, figures(w, &flow).await), (waiting(last, 2), (3, 2)));
    let later = half + SECOND;
    // A visit of anybody admits who is due.
    assert_eq!(state(w, &flow, 99, later).await, RoomState::Outside);
    for user in [2, 5] {
        assert_eq!(state(w, &flow, user, later).await, until(later), "user {user}");
    }
    assert_eq!((state(w, &flow, 1, later).await, figures(w, &flow).await), (waiting(last, 0), (1, 4)));
}

async fn nobody_is_admitted_before_the_begin_or_while_the_sale_admits_nobody(w: &World) {
    let open = flow(1, 1_000);
    for user in 1..=3 {
        visit(w, &open, user, Some(ranked(user)), NOON - HOUR).await;
    }
    assert_eq!(state(w, &open, 1, NOON - MS).await, waiting(1, 0));
    let shut = RoomFlow { admits: false, ..open };
    for now in [NOON, NOON + SECOND, NOON + HOUR] {
        assert_eq!(state(w, &shut, 1, now).await, waiting(1, 0));
    }
    // Nothing has accrued meanwhile.
    let slow = RoomFlow { room: WaitingRoom { per_second: 1, ..open.room }, ..open };
    assert!(matches!(state(w, &slow, 1, NOON + HOUR).await, RoomState::Admitted { .. }));
    assert_eq!(state(w, &slow, 2, NOON + HOUR).await, waiting(2, 0));
    assert!(matches!(state(w, &slow, 2, NOON + HOUR + SECOND).await, RoomState::Admitted { .. }));
}

async fn no_more_accrues_than_the_admissions_of_a_second(w: &World) {
    let flow = flow(1, 5);
    visit(w, &flow, 1, Some(ranked(1)), NOON).await;
    for user in 2..=20 {
        visit(w, &flow, user, Some(ranked(user)), NOON).await;
    }
    assert_eq!(figures(w, &flow).await, (19, 1));
    state(w, &flow, 20, NOON + HOUR).await;
    assert_eq!(figures(w, &flow).await, (14, 6));
    // A lower rate holds at once.
    let slower = RoomFlow { room: WaitingRoom { per_second: 2, ..flow.room }, ..flow };
    state(w, &slower, 20, NOON + 2 * HOUR).await;
    assert_eq!(figures(w, &flow).await, (12, 8));
}

async fn what_is_left_of_a_second_is_for_who_comes_next(w: &World) {
    let flow = flow(1, 2);
    visit(w, &flow, 1, Some(ranked(1)), NOON).await;
    for user in 2..=4 {
        visit(w, &flow, user, Some(ranked(user)), NOON + SECOND).await;
    }
    assert_eq!(figures(w, &flow).await, (1, 3));
    // Thousandths count, too.
    assert_eq!(state(w, &flow, 4, NOON + SECOND + 250 * MS).await, waiting(4, 0));
    assert!(matches!(state(w, &flow, 4, NOON + SECOND + 500 * MS).await, RoomState::Admitted { .. }));
}

async fn a_user_has_one_place_and_keeps_it(w: &World) {
    let flow = RoomFlow { admits: false, ..flow(1, 1) };
    visit(w, &flow, 1, Some(ranked(50)), NOON).await;
    for entry in [None, Some(ranked(1)), Some(ranked(90)), Some(shown(1, 2))] {
        let view = visit(w, &flow, 1, entry, NOON + SECOND).await;
        assert_eq!(view, RoomView { state: waiting(50, 0), waiting: 1 }, "{entry:?}");
    }
    let open = RoomFlow { admits: true, ..flow };
    let admitted = RoomState::Admitted { until: NOON + 2 * SECOND + 60 * SECOND };
    for _ in 0..3 {
        assert_eq!(visit(w, &open, 1, Some(ranked(1)), NOON + 2 * SECOND).await.state, admitted);
    }
    assert_eq!(figures(w, &flow).await, (0, 1));
}

async fn who_leaves_gives_the_place_up(w: &World) {
    let flow = flow(1, 1);
    let rooms = &w.storage.selling.waiting_rooms;
    rooms.leave(flow.voucher, UserId::new(1)).await.unwrap();
    for user in 1..=4 {
        visit(w, &flow, user, Some(ranked(user)), NOON).await;
    }
    for user in [1, 3, 3, 77] {
        rooms.leave(flow.voucher, UserId::new(user)).await.unwrap();
    }
    assert_eq!(figures(w, &flow).await, (2, 1));
    for user in [1, 3, 77] {
        assert_eq!(state(w, &flow, user, NOON).await, RoomState::Outside, "user {user}");
    }
    assert_eq!(state(w, &flow, 4, NOON).await, waiting(4, 1));
    // The earlier rank is gone, also if shown.
    assert_eq!(visit(w, &flow, 3, Some(shown(3, 9)), NOON).await.state, waiting(9, 2));
    assert!(matches!(state(w, &flow, 2, NOON + SECOND).await, RoomState::Admitted { .. }));
}

async fn who_does_not_act_in_time_enters_anew(w: &World) {
    let flow = flow(1, 1);
    let end = NOON + 60 * SECOND;
    visit(w, &flow, 1, Some(ranked(1)), NOON).await;
    assert_eq!(state(w, &flow, 1, end - MS).await, RoomState::Admitted { until: end });
    let shut = RoomFlow { admits: false, ..flow };
    assert_eq!(state(w, &shut, 1, end).await, RoomState::Outside);
    assert_eq!(visit(w, &shut, 1, Some(shown(1, 9)), end).await.state, waiting(9, 0));
    let again = RoomState::Admitted { until: end + 60 * SECOND };
    assert_eq!(state(w, &flow, 1, end).await, again);
    assert_eq!(figures(w, &flow).await, (0, 2));
}

async fn a_lost_room_admits_nobody_until_others_may_have_returned(w: &World) {
    let flow = flow(1, 10);
    // The first visit of the new room, by a user who was not in the old one.
    visit(w, &flow, 1, Some(ranked(1_000)), NOON + HOUR).await;
    let first = NOON + HOUR;
    assert_eq!(figures(w, &flow).await, (0, 1));
    assert_eq!(visit(w, &flow, 2, Some(shown(20, 2_000)), first + SECOND).await.state, waiting(20, 0));
    assert_eq!(visit(w, &flow, 3, Some(shown(10, 3_000)), first + 2 * SECOND).await.state, waiting(10, 0));
    let open = first + RETURN_GRACE;
    // Admissions accrue from then on, too.
    for now in [open - MS, open + 98 * MS] {
        assert_eq!(state(w, &flow, 2, now).await, waiting(20, 1));
    }
    assert!(matches!(state(w, &flow, 3, open + 99 * MS).await, RoomState::Admitted { .. }));
    assert_eq!(state(w, &flow, 2, open + 99 * MS).await, waiting(20, 0));
    // Later, a shown rank stops nobody.
    visit(w, &flow, 4, Some(shown(1, 9)), open + 2 * SECOND).await;
    assert_eq!(figures(w, &flow).await, (0, 4));
}

async fn a_clock_set_back_stops_no_admissions(w: &World) {
    let flow = flow(1, 1);
    visit(w, &flow, 1, Some(shown(1, 1)), NOON + 3 * HOUR).await;
    visit(w, &flow, 2, Some(ranked(2)), NOON + 3 * HOUR).await;
    assert_eq!(
        state(w, &flow, 1, NOON + HOUR).await,
        RoomState::Admitted { until: NOON + HOUR + 60 * SECOND }
    );
    assert_eq!(state(w, &flow, 2, NOON + HOUR).await, waiting(2, 0));
    assert!(matches!(state(w, &flow, 2, NOON + HOUR + SECOND).await, RoomState::Admitted { .. }));
}

async fn rooms_do_not_share_and_are_forgotten(w: &World) {
    let (one, other) = (flow(1, 1), flow(2, 1));
    assert_eq!(figures(w, &one).await, (0, 0));
    for user in 1..=3 {
        visit(w, &one, user, Some(ranked(user)), NOON).await;
    }
    assert_eq!(state(w, &other, 2, NOON).await, RoomState::Outside);
    visit(w, &other, 2, Some(ranked(7)), NOON).await;
    assert_eq!((figures(w, &one).await, figures(w, &other).await), ((2, 1), (0, 1)));
    for _ in 0..2 {
        w.storage.selling.waiting_rooms.forget(one.voucher).await.unwrap();
    }
    assert_eq!((figures(w, &one).await, figures(w, &other).await), ((0, 0), (0, 1)));
    assert_eq!(state(w, &one, 2, NOON).await, RoomState::Outside);
}

/// Plain model of a room whose users all wait: the order is that of a map.
async fn a_room_behaves_like_its_model(w: &World) {
    let mut dice = Dice::from_environment("waiting rooms");
    let open = flow(1, 7);
    let shut = RoomFlow { admits: false, ..open };
    let rooms = &w.storage.selling.waiting_rooms;
    let mut model: BTreeMap<(u64, u64), ()> = BTreeMap::new();
    let mut ranks: BTreeMap<u64, u64> = BTreeMap::new();
    let mut now = NOON;
    for _ in 0..600 {
        let user = 1 + dice.below(80);
        match dice.below(10) {
            0..6 => {
                let rank = dice.below(1 << 53);
                ranks.entry(user).or_insert_with(|| {
                    model.insert((rank, user), ());
                    rank
                });
                let view = visit(w, &shut, user, Some(ranked(rank)), now).await;
                let kept = ranks[&user];
                let ahead = model.range(..(kept, user)).count() as u64;
                let expected = RoomView { state: waiting(kept, ahead), waiting: model.len() as u64 };
                assert_eq!(view, expected);
            }
            6..8 => {
                rooms.leave(open.voucher, UserId::new(user)).await.unwrap();
                if let Some(rank) = ranks.remove(&user) {
                    model.remove(&(rank, user));
                }
            }
            _ => {
                now = now + HOUR;
                let before = figures(w, &open).await.1;
                // All credit accrues in one second; the room of 7 a second admits at most 7.
                visit(w, &shut, 0, None, now - SECOND).await;
                visit(w, &open, 0, None, now).await;
                let admitted = usize::try_from(figures(w, &open).await.1 - before).unwrap();
                assert_eq!(admitted, model.len().min(7));
                for _ in 0..admitted {
                    let ((_, user), ()) = model.pop_first().unwrap();
                    ranks.remove(&user);
                    assert!(matches!(state(w, &shut, user, now).await, RoomState::Admitted { .. }));
                    // Otherwise the user would stay admitted for a while.
                    rooms.leave(open.voucher, UserId::new(user)).await.unwrap();
                }
            }
        }
        assert_eq!(figures(w, &open).await.0, model.len() as u64);
    }
}

async fn a_rush_admits_each_user_once(w: &World) {
    let flow = flow(1, 100);
    let mut visits = JoinSet::new();
    for number in 0..400u64 {
        let rooms = std::sync::Arc::clone(&w.storage.selling.waiting_rooms);
        visits.spawn(async move {
            let user = UserId::new(number % 100);
            rooms.visit(&flow, user, Some(ranked(number)), NOON + SECOND).await.unwrap()
        });
    }
    let views = visits.join_all().await;
    assert!(views.iter().all(|view| view.state != RoomState::Outside));
    assert_eq!(figures(w, &flow).await, (99, 1));
    for user in 0..100 {
        visit(w, &flow, user, Some(ranked(user)), NOON + 3 * SECOND).await;
    }
    assert_eq!(figures(w, &flow).await, (0, 100));
}
