//! The [`WaitingRooms`] port: a sorted set of who waits, with a script per visit.

use async_trait::async_trait;
use mallbox_storage::{
    RETURN_GRACE, RoomEntry, RoomFigures, RoomFlow, RoomRank, RoomState, RoomView, StoreError, Timestamp,
    UserId, VoucherId, WaitingRooms,
};

use super::keys::Keys;
use super::link::{Idempotence, Link};
use super::script::{LEAVE_ROOM, VISIT_ROOM};
use crate::spans::millis;

/// Waiting rooms in Redis.
pub(super) struct RedisWaitingRooms {
    pub(super) link: Link,
    pub(super) keys: Keys,
}

/// Returns a rank as an argument; an empty text for none.
fn rank_arg(rank: Option<RoomRank>) -> String {
    rank.map(|rank| rank.get().to_string()).unwrap_or_default()
}

fn unreadable(reply: &[String]) -> StoreError {
    StoreError::Corrupt { op: VISIT, key: format!("reply {reply:?}") }
}

/// Reads the reply of `visit_room.lua`.
fn view(reply: &[String]) -> Option<RoomView> {
    let (waiting, state) = reply.split_first()?;
    let waiting = waiting.parse().ok()?;
    let state = match state {
        [] => RoomState::Outside,
        [name, rank, ahead] if name == "waiting" => {
            RoomState::Waiting { rank: RoomRank::new(rank.parse().ok()?)?, ahead: ahead.parse().ok()? }
        }
        [name, until] if name == "admitted" => {
            RoomState::Admitted { until: Timestamp::from_millis(until.parse().ok()?) }
        }
        _ => return None,
    };
    Some(RoomView { state, waiting })
}

const VISIT: &str = "waiting_rooms.visit";

#[async_trait]
impl WaitingRooms for RedisWaitingRooms {
    async fn visit(
        &self,
        flow: &RoomFlow,
        user: UserId,
        entry: Option<RoomEntry>,
        now: Timestamp,
    ) -> Result<RoomView, StoreError> {
        let call = VISIT_ROOM
            .on(self.keys.room(flow.voucher))
            .arg(user.get())
            .arg(now.as_millis())
            .arg(flow.begin.as_millis())
            .arg(flow.room.per_second.max(1))
            .arg(millis(flow.room.admission()))
            .arg(i32::from(flow.admits))
            .arg(rank_arg(entry.map(|entry| entry.fresh)))
            .arg(rank_arg(entry.and_then(|entry| entry.shown)))
            .arg(millis(RETURN_GRACE))
            .arg(millis(flow.kept_for));
        let reply: Vec<String> = self.link.run(VISIT, Idempotence::Safe, call).await?;
        view(&reply).ok_or_else(|| unreadable(&reply))
    }

    async fn leave(&self, voucher: VoucherId, user: UserId) -> Result<(), StoreError> {
        let call = LEAVE_ROOM.on(self.keys.room(voucher)).arg(user.get());
        let _: i64 = self.link.run("waiting_rooms.leave", Idempotence::Safe, call).await?;
        Ok(())
    }

    async fn figures(&self, voucher: VoucherId) -> Result<RoomFigures, StoreError> {
        const OP: &str = "waiting_rooms.figures";
        let [room, waiting, _] = self.keys.room(voucher);
        let (mut count, mut read) = (redis::cmd("ZCARD"), redis::cmd("HGET"));
        count.arg(waiting);
        read.arg(room).arg("admitted");
        let (waiting, admitted) = tokio::try_join!(
            self.link.query::<u64>(OP, Idempotence::Safe, &count),
            self.link.query::<Option<u64>>(OP, Idempotence::Safe, &read),
        )?;
        Ok(RoomFigures { waiting, admitted: admitted.unwrap_or_default() })
    }

    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError> {
        let mut command = redis::cmd("UNLINK");
        command.arg(&self.keys.room(voucher));
        let _: i64 = self.link.query("waiting_rooms.forget", Idempotence::Safe, &command).await?;
        Ok(())
    }
}
