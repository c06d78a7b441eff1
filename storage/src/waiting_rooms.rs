//! Waiting rooms of busy sales: who is admitted, and when.
//!
//! Reasons and figures: `src/decisions/0058-waiting-rooms.md`.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{StoreError, Timestamp, UserId, VoucherId};

/// The waiting room of a sale, as an operator sets it. Claims need an admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingRoom {
    /// Users admitted per second, at least one.
    pub per_second: u32,
    /// Time within which an admitted user has to act, in seconds.
    pub admission_seconds: u16,
}

impl WaitingRoom {
    /// Returns the time within which an admitted user has to act.
    #[must_use]
    pub fn admission(&self) -> Duration {
        Duration::from_secs(self.admission_seconds.into())
    }
}

/// A place in the order of admission: smaller is earlier. Users who came before the begin of the sale have
/// drawn ranks, which all precede those of users who came later. An exact number in every store, below 2^53.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoomRank(u64);

impl RoomRank {
    /// First rank after the begin.
    const ARRIVED: u64 = 1 << 52;
    /// Bits below the milliseconds of an arrival: the order of users who arrive in the same millisecond.
    const TIE_BITS: u32 = 20;

    /// Returns the rank of a user who came before the begin. `random` decides.
    #[must_use]
    pub fn drawn(random: u64) -> Self {
        Self(random % Self::ARRIVED)
    }

    /// Returns the rank of a user who came this long after the begin. `random` decides between users of the
    /// same millisecond. After 49 days ranks rise no further.
    #[must_use]
    pub fn arrived(after_begin: Duration, random: u64) -> Self {
        let ms = u32::try_from(after_begin.as_millis()).unwrap_or(u32::MAX);
        let tie = random % (1 << Self::TIE_BITS);
        Self(Self::ARRIVED + (u64::from(ms) << Self::TIE_BITS) + tie)
    }

    /// Creates a rank from a number that [`get`](Self::get) returned. `None` for any other number.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        (number < 1 << 53).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// How a room admits users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomFlow {
    /// Voucher of the sale.
    pub voucher: VoucherId,
    /// Users admitted per second, and time to act.
    pub room: WaitingRoom,
    /// Nobody is admitted before this instant.
    pub begin: Timestamp,
    /// Whether users are admitted at present: not while the sale is paused or sold out.
    pub admits: bool,
    /// Time from now for which the store keeps the room without a further visit, by any clock.
    pub kept_for: Duration,
}

/// Ranks of a user who enters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomEntry {
    /// RoomRank of a user who is not in the room.
    pub fresh: RoomRank,
    /// Rank of an earlier visit, shown by the user. Takes effect only if the room has lost the user, as an
    /// embedded room does in a restart.
    pub shown: Option<RoomRank>,
}

/// A user's state in a room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoomState {
    /// Not in the room: never entered, left, or had time to act and did not.
    Outside,
    /// Waits.
    Waiting {
        /// The user's rank.
        rank: RoomRank,
        /// Number of users who are admitted first.
        ahead: u64,
    },
    /// May act until this instant (exclusive).
    Admitted {
        /// End of the admission.
        until: Timestamp,
    },
}

/// A room as a user sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomView {
    /// The user's state.
    pub state: RoomState,
    /// Number of users who wait.
    pub waiting: u64,
}

/// Figures of a room.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RoomFigures {
    /// Number of users who wait.
    pub waiting: u64,
    /// Number of admissions so far.
    pub admitted: u64,
}

/// Time from the first visit for which a room that lost users admits nobody: others who were ahead return.
pub const RETURN_GRACE: Duration = Duration::from_secs(5);

/// Waiting rooms of sales, shared by all instances.
///
/// - A user has one place per room. Users are admitted by rank, equal ranks in any order.
/// - **Flow**: every visit admits who is due, so that a room needs no job. Admissions accrue at
///   `per_second`, up to the admissions of one second, from one at the first visit. None accrue before the
///   begin or while `admits` is false.
/// - **Restarts**: a room may lose its users at any time. They return by their next visits with the ranks
///   that they show; from the first such visit on nobody is admitted until [`RETURN_GRACE`] after the first
///   visit of the new room.
/// - A user whose admission has ended, or who left, may enter again with the fresh rank. A rank shown then
///   has no effect.
/// - A clock set back stops admissions for no longer than until the next visit.
#[async_trait]
pub trait WaitingRooms: Send + Sync {
    /// Admits who is due, after `entry` has put the user into the room. Without an entry, a user outside
    /// stays outside. Idempotent, apart from the time that passes.
    ///
    /// # Errors
    /// Any [`StoreError`]: the visit may have taken effect; call again.
    async fn visit(
        &self,
        flow: &RoomFlow,
        user: UserId,
        entry: Option<RoomEntry>,
        now: Timestamp,
    ) -> Result<RoomView, StoreError>;

    /// Gives a user's place up, and the state of an admission. Idempotent.
    ///
    /// # Errors
    /// Any [`StoreError`]: the user may have left; call again.
    async fn leave(&self, voucher: VoucherId, user: UserId) -> Result<(), StoreError>;

    /// Returns the figures of a room; zeros if nobody has entered.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn figures(&self, voucher: VoucherId) -> Result<RoomFigures, StoreError>;

    /// Drops a room.
    ///
    /// # Errors
    /// Any [`StoreError`]: the room may be dropped; call again.
    async fn forget(&self, voucher: VoucherId) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::SaleSetting as _;

    #[test]
    fn drawn_ranks_precede_arrivals_which_ascend_in_time() {
        let ms = Duration::from_millis;
        let ranks = [
            RoomRank::drawn(u64::MAX),
            RoomRank::arrived(ms(0), 0),
            RoomRank::arrived(ms(0), 1),
            RoomRank::arrived(ms(0), (1 << 20) - 1),
            RoomRank::arrived(ms(1), 1 << 20),
            RoomRank::arrived(ms(u64::from(u32::MAX)), 3),
            RoomRank::arrived(Duration::MAX, 4),
        ];
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
        for rank in ranks {
            assert_eq!(RoomRank::new(rank.get()), Some(rank));
        }
        assert_eq!(RoomRank::drawn(1 << 52), RoomRank::drawn(0));
        assert_eq!((RoomRank::new(1 << 53), RoomRank::new(u64::MAX)), (None, None));
    }

    #[test]
    fn a_room_is_stored_as_text_by_names() {
        let room = WaitingRoom { per_second: 200, admission_seconds: 120 };
        let text = r#"{"perSecond":200,"admissionSeconds":120}"#;
        assert_eq!((room.to_row(), WaitingRoom::in_row(text)), (text.to_owned(), Some(room)));
        for wrong in [r#"{"perSecond":200}"#, r#"{"perSecond":-1,"admissionSeconds":120}"#, ""] {
            assert_eq!(WaitingRoom::in_row(wrong), None, "{wrong}");
        }
    }
}
