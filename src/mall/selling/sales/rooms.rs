//! Waiting rooms: entering, waiting and being admitted.
//!
//! Reasons and figures: `src/decisions/0058-waiting-rooms.md`.

mod pacing;

use std::time::Duration;

use mallbox_storage::{RoomFlow, RoomState, RoomView, SaleRecord, Timestamp, UserId, VoucherId, WaitingRoom};

use super::{EVICT_AFTER_END, FlashSales, Inner, LiveSale, SaleState};
use crate::mall::base::{Failure, GuardRefusal, Refusal};

/// Time before the begin of a sale from which users enter the waiting room.
pub const ENTER_BEFORE: Duration = Duration::from_secs(60 * 60);
/// Time for which a ticket outlives the visit at which it is to be shown.
const TICKET_GRACE: Duration = Duration::from_secs(5 * 60);

/// A user's place in the waiting room of a sale.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RoomPlace {
    /// Where the user stands.
    pub standing: RoomStanding,
    /// Number of users who wait.
    pub waiting: u64,
    /// State of the sale.
    pub sale: LiveSale,
}

/// Where a user stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoomStanding {
    /// Outside: never entered, left, or did not act in time.
    Outside,
    /// Waits.
    Waiting {
        /// Number of users who are admitted first; `None` before the begin, which draws the order.
        ahead: Option<u64>,
        /// Estimated time to the admission; `None` before the begin, and while nobody is admitted.
        wait: Option<Duration>,
        /// Time after which the client asks again.
        poll_in: Duration,
        /// Keeps the place through a restart of the mall.
        ticket: String,
    },
    /// May claim.
    Admitted {
        /// To be shown with the claim.
        admission: String,
        /// Time until the admission is void.
        ends_in: Duration,
    },
}

impl FlashSales {
    /// Puts a user into the waiting room of a sale, or returns the place of a user who waits. Idempotent.
    /// `by_sms_code`: whether the session began with an SMS code.
    ///
    /// # Errors
    /// [`GuardRefusal::NoRoom`]; [`Refusal::NotOpen`] earlier than [`ENTER_BEFORE`] the begin;
    /// [`Refusal::Clock`], [`Refusal::Ended`], [`Refusal::AlreadyBought`], and as a claim by a user below a
    /// threshold. After [`Failure::Store`] a repeat resolves the doubt.
    pub async fn enter_room(
        &self,
        user: UserId,
        voucher: VoucherId,
        (ticket, by_sms_code): (Option<&str>, bool),
        now: Timestamp,
    ) -> Result<RoomPlace, Failure> {
        let inner = &*self.inner;
        let known = inner.known(voucher, now).await?;
        let (sale, room) = (&known.sale, room_of(&known.sale, now)?);
        inner.context.require_sure_clock()?;
        if sale.terms.begin.since(now) > ENTER_BEFORE {
            return Err(Refusal::NotOpen.into());
        }
        // With a ticket the user has passed these checks, which the claim repeats.
        if ticket.is_none() {
            let sales = &inner.context.storage.selling.sales;
            if let Some(order) = sales.held(voucher, user, u8::MAX).await? {
                return Err(Refusal::AlreadyBought(order).into());
            }
            inner.check_buyer(user, sale, by_sms_code, now).await?;
        }
        let entry = inner.guards.room_entry(user, sale, ticket, now).await?;
        inner.visit_room((sale, room), user, Some(entry), now).await
    }

    /// Returns the place of a user in the waiting room of a sale.
    ///
    /// # Errors
    /// [`GuardRefusal::NoRoom`], [`Refusal::Ended`]; [`Failure::Store`] if the store fails.
    pub async fn room_place(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<RoomPlace, Failure> {
        let known = self.inner.known(voucher, now).await?;
        let room = room_of(&known.sale, now)?;
        self.inner.visit_room((&known.sale, room), user, None, now).await
    }

    /// Gives the place of a user up. Idempotent. An admission that the user has stays valid.
    ///
    /// # Errors
    /// As [`room_place`](Self::room_place).
    pub async fn leave_room(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<RoomPlace, Failure> {
        let known = self.inner.known(voucher, now).await?;
        let room = room_of(&known.sale, now)?;
        self.inner.context.storage.selling.waiting_rooms.leave(voucher, user).await?;
        self.inner.visit_room((&known.sale, room), user, None, now).await
    }

    /// Returns an admission for a user who has not waited, for tests of malls with waiting rooms.
    ///
    /// # Errors
    /// As [`room_place`](Self::room_place).
    pub async fn grant_admission(
        &self,
        user: UserId,
        voucher: VoucherId,
        now: Timestamp,
    ) -> Result<String, Failure> {
        let known = self.inner.known(voucher, now).await?;
        let until = now + room_of(&known.sale, now)?.admission();
        Ok(self.inner.guards.admission((user, voucher), (until, now)).await?)
    }
}

impl Inner {
    async fn visit_room(
        &self,
        (sale, room): (&SaleRecord, WaitingRoom),
        user: UserId,
        entry: Option<mallbox_storage::RoomEntry>,
        now: Timestamp,
    ) -> Result<RoomPlace, Failure> {
        let (live, _) = self.live(sale, now).await?;
        let terms = &sale.terms;
        let admits = match live.state {
            SaleState::Open => true,
            // Joining the waiting list takes an admission as a claim does.
            SaleState::SoldOut => live.has_waiting_list,
            SaleState::NotOpen | SaleState::Paused | SaleState::Ended => false,
        };
        let kept_for = terms.end.since(now).saturating_add(EVICT_AFTER_END);
        let flow = RoomFlow { voucher: terms.voucher, room, begin: terms.begin, admits, kept_for };
        let RoomView { state, waiting } =
            self.context.storage.selling.waiting_rooms.visit(&flow, user, entry, now).await?;
        let holder = (user, terms.voucher);
        let standing = match state {
            RoomState::Outside => RoomStanding::Outside,
            RoomState::Admitted { until } => RoomStanding::Admitted {
                admission: self.guards.admission(holder, (until, now)).await?,
                ends_in: until.since(now),
            },
            RoomState::Waiting { rank, ahead } => {
                let opens_in = terms.begin.since(now);
                let wait = pacing::wait(ahead, room.per_second);
                let poll = pacing::Poll { due_in: opens_in.saturating_add(wait), waiting, admits };
                let poll_in = poll.interval(self.context.settings.polls, self.guards.draw());
                let expires = now + poll_in + TICKET_GRACE;
                let has_begun = opens_in.is_zero();
                RoomStanding::Waiting {
                    ahead: has_begun.then_some(ahead),
                    wait: (has_begun && admits).then_some(wait),
                    poll_in,
                    ticket: self.guards.room_ticket(holder, rank, (expires, now)).await?,
                }
            }
        };
        Ok(RoomPlace { standing, waiting, sale: live })
    }
}

/// Returns the waiting room of a sale that has not ended.
fn room_of(sale: &SaleRecord, now: Timestamp) -> Result<WaitingRoom, Failure> {
    let room = sale.room.ok_or(GuardRefusal::NoRoom)?;
    if now >= sale.terms.end { Err(Refusal::Ended.into()) } else { Ok(room) }
}
