//! Waiting rooms: the ranks of users, and the tokens of users who wait or are admitted.
//!
//! A ticket keeps the place of a user who waits through a restart of the mall. An admission is shown with the
//! claim, so that a claim asks no store whether the user is admitted.

use mallbox_storage::{RoomEntry, RoomRank, SaleRecord, StoreError, Timestamp, UserId, VoucherId};

use super::token::{Fields, Purpose, Token};
use super::{Guards, number_of};
use crate::mall::base::{Failure, GuardRefusal};

/// Bytes of a ticket: rank and expiry.
const TICKET_BYTES: usize = 16;
/// Bytes of an admission: expiry.
const ADMISSION_BYTES: usize = 8;

impl Guards {
    /// Returns a random number.
    pub(in crate::mall::selling) fn draw(&self) -> u64 {
        self.random.seed()
    }

    /// Returns the ranks of a user who enters with or without a ticket. Before the begin of the sale the rank
    /// is drawn by a secret: equal at every call, so that nothing is gained by entering again.
    pub(in crate::mall::selling) async fn room_entry(
        &self,
        user: UserId,
        sale: &SaleRecord,
        ticket: Option<&str>,
        now: Timestamp,
    ) -> Result<RoomEntry, StoreError> {
        let (begin, voucher) = (sale.terms.begin, sale.terms.voucher);
        let key = self.keys.current(begin).await?;
        let drawn = number_of(&key, b"room", user, voucher);
        let fresh =
            if now < begin { RoomRank::drawn(drawn) } else { RoomRank::arrived(now.since(begin), drawn) };
        Ok(RoomEntry { fresh, shown: self.shown_rank(user, voucher, ticket, now).await? })
    }

    /// Writes a ticket.
    pub(in crate::mall::selling) async fn room_ticket(
        &self,
        (user, voucher): (UserId, VoucherId),
        rank: RoomRank,
        (expires, now): (Timestamp, Timestamp),
    ) -> Result<String, StoreError> {
        let mut fields = [0; TICKET_BYTES];
        fields[..8].copy_from_slice(&rank.get().to_be_bytes());
        fields[8..].copy_from_slice(&expires.as_millis().to_be_bytes());
        let key = self.keys.current(now).await?;
        Ok(Token::seal(&key, Purpose::RoomTicket, &fields, &bound(user, voucher)))
    }

    /// Writes an admission until an instant.
    pub(in crate::mall::selling) async fn admission(
        &self,
        (user, voucher): (UserId, VoucherId),
        (until, now): (Timestamp, Timestamp),
    ) -> Result<String, StoreError> {
        let key = self.keys.current(now).await?;
        Ok(Token::seal(&key, Purpose::Admission, &until.as_millis().to_be_bytes(), &bound(user, voucher)))
    }

    /// Checks the admission to a sale with a waiting room.
    ///
    /// # Errors
    /// [`GuardRefusal::AdmissionRequired`]; [`Failure::Store`] if a key cannot be read.
    pub(in crate::mall::selling) async fn check_admission(
        &self,
        user: UserId,
        sale: &SaleRecord,
        shown: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        if sale.room.is_none() || self.is_admitted(user, sale.terms.voucher, shown, now).await? {
            return Ok(());
        }
        Err(GuardRefusal::AdmissionRequired.into())
    }

    async fn is_admitted(
        &self,
        user: UserId,
        voucher: VoucherId,
        shown: Option<&str>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(token) = shown.and_then(Token::<ADMISSION_BYTES>::parse) else { return Ok(false) };
        let Some(key) = self.keys.of_token(token.key(), now).await? else { return Ok(false) };
        let until = token.open(&key, Purpose::Admission, &bound(user, voucher));
        Ok(until.is_some_and(|until| now.as_millis() < i64::from_be_bytes(*until)))
    }

    /// Returns the rank of a ticket that is genuine, the user's and valid.
    async fn shown_rank(
        &self,
        user: UserId,
        voucher: VoucherId,
        ticket: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<RoomRank>, StoreError> {
        let Some(token) = ticket.and_then(Token::<TICKET_BYTES>::parse) else { return Ok(None) };
        let Some(key) = self.keys.of_token(token.key(), now).await? else { return Ok(None) };
        let rank = token.open(&key, Purpose::RoomTicket, &bound(user, voucher)).and_then(|fields| {
            let mut fields = Fields::of(fields);
            let rank = RoomRank::new(u64::from_be_bytes(fields.next()?))?;
            (now.as_millis() < i64::from_be_bytes(fields.next()?)).then_some(rank)
        });
        Ok(rank)
    }
}

/// To whom a ticket or an admission belongs, as the bytes that the token is bound to.
fn bound(user: UserId, voucher: VoucherId) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&user.get().to_be_bytes());
    bytes[8..].copy_from_slice(&voucher.get().to_be_bytes());
    bytes
}
