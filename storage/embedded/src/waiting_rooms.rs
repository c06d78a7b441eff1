//! The [`WaitingRooms`] port, in memory. After a restart users return with the ranks that they show.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use indexset::BTreeSet;
use mallbox_storage::{
    RETURN_GRACE, RoomEntry, RoomFigures, RoomFlow, RoomRank, RoomState, RoomView, StoreError, Timestamp,
    UserId, VoucherId, WaitingRooms,
};
use parking_lot::Mutex;

/// Credit of one admission.
const ADMISSION: u64 = 1_000;

/// Waiting rooms in memory.
#[derive(Default)]
pub(crate) struct EmbeddedWaitingRooms(Mutex<HashMap<VoucherId, Arc<Mutex<Room>>>>);

struct Room {
    /// Users who wait, in the order of admission. Tells a user's place without a walk.
    waiting: BTreeSet<(RoomRank, UserId)>,
    places: HashMap<UserId, Place>,
    /// Admissions that may take place, in thousandths.
    credit: u64,
    /// Instant up to which credit has accrued.
    credited: Timestamp,
    created: Timestamp,
    /// Nobody is admitted before this instant: users return after a restart.
    closed: Timestamp,
    admitted: u64,
}

#[derive(Clone, Copy)]
enum Place {
    Waiting(RoomRank),
    Admitted { until: Timestamp },
    Left,
}

impl EmbeddedWaitingRooms {
    fn room(&self, voucher: VoucherId) -> Option<Arc<Mutex<Room>>> {
        self.0.lock().get(&voucher).map(Arc::clone)
    }
}

impl Room {
    fn new(now: Timestamp) -> Self {
        Self {
            waiting: BTreeSet::new(),
            places: HashMap::new(),
            credit: ADMISSION,
            credited: now,
            created: now,
            closed: now,
            admitted: 0,
        }
    }

    fn enter(&mut self, user: UserId, entry: RoomEntry, now: Timestamp) {
        let rank = match self.places.get(&user) {
            Some(Place::Waiting(_)) => return,
            Some(Place::Admitted { until }) if now < *until => return,
            Some(Place::Admitted { .. } | Place::Left) => entry.fresh,
            None => {
                if entry.shown.is_some() {
                    self.closed = self.created + RETURN_GRACE;
                }
                entry.shown.unwrap_or(entry.fresh)
            }
        };
        self.waiting.insert((rank, user));
        self.places.insert(user, Place::Waiting(rank));
    }

    fn admit(&mut self, flow: &RoomFlow, now: Timestamp) {
        let since = std::mem::replace(&mut self.credited, now).max(flow.begin);
        let is_closed = now < self.closed && self.closed.since(now) <= RETURN_GRACE;
        if !flow.admits || now < flow.begin || is_closed {
            return;
        }
        let rate = u64::from(flow.room.per_second.max(1));
        // At most the admissions of a second.
        let elapsed_ms = u64::try_from(now.since(since).as_millis()).unwrap_or(u64::MAX).min(1_000);
        self.credit = (self.credit + elapsed_ms * rate).min(ADMISSION * rate);
        let until = now + flow.room.admission();
        while self.credit >= ADMISSION
            && let Some((_, user)) = self.waiting.pop_first()
        {
            self.credit -= ADMISSION;
            self.admitted += 1;
            self.places.insert(user, Place::Admitted { until });
        }
    }

    fn state(&self, user: UserId, now: Timestamp) -> RoomState {
        match self.places.get(&user) {
            Some(Place::Waiting(rank)) => {
                RoomState::Waiting { rank: *rank, ahead: self.waiting.rank(&(*rank, user)) as u64 }
            }
            Some(Place::Admitted { until }) if now < *until => RoomState::Admitted { until: *until },
            Some(Place::Admitted { .. } | Place::Left) | None => RoomState::Outside,
        }
    }
}

#[async_trait]
impl WaitingRooms for EmbeddedWaitingRooms {
    async fn visit(
        &self,
        flow: &RoomFlow,
        user: UserId,
        entry: Option<RoomEntry>,
        now: Timestamp,
    ) -> Result<RoomView, StoreError> {
        let room = match (self.room(flow.voucher), entry) {
            (Some(room), _) => room,
            (None, None) => return Ok(RoomView { state: RoomState::Outside, waiting: 0 }),
            (None, Some(_)) => {
                let new = || Arc::new(Mutex::new(Room::new(now)));
                Arc::clone(self.0.lock().entry(flow.voucher).or_insert_with(new))
            }
        };
        let mut room = room.lock();
        if let Some(entry) = entry {
            room.enter(user, entry, now);
        }
        room.admit(flow, now);
        Ok(RoomView { state: room.state(user, now), waiting: room.waiting.len() as u64 })
    }

    async fn leave(&self, voucher: VoucherId, user: UserId) -> Result<(), StoreError> {
        if let Some(room) = self.room(voucher) {
            let mut room = room.lock();
            if let Some(Place::Waiting(rank)) = room.places.insert(user, Place::Left) {
                room.waiting.remove(&(rank, user));
            }
        }
        Ok(())
    }

    async fn figures(&self, voucher: VoucherId) -> Result<RoomFigures, StoreError> {
        Ok(self.room(voucher).map_or_else(RoomFigures::default, |room| {
            let room = room.lock();
            RoomFigures { waiting: room.waiting.len() as u64, admitted: room.admitted }
        }))
    }

    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError> {
        self.0.lock().remove(&voucher);
        Ok(())
    }
}
