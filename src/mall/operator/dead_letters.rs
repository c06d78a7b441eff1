//! The dead letter office: claims that did not become orders are tried again, or given up.

use mallbox_storage::{
    DeadLetter, DeadReason, DeadState, Order, OrderId, OrderStatus, Page, Phone, Replayed, Reservation,
    Timestamp, UserId, Voided,
};
use serde_json::json;

use super::AuditLog;
use super::act::{By, Deed, act};
use super::orders::{FoundOrder, phones};
use crate::mall::sale_turn::Turn;
use crate::mall::{Context, Failure, OrderDesk, Refusal, SaleCounter};

/// A dead letter as an operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LetterView {
    /// The letter.
    pub letter: DeadLetter,
    /// The voucher's title, `""` if the voucher is gone.
    pub title: String,
    /// The buyer's phone; none if the buyer is not known.
    pub phone: Option<Phone>,
}

/// Which dead letter: the order's id it would have had, and whose, should several users have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Which {
    /// The order's id.
    pub order: OrderId,
    /// Whose.
    pub user: Option<UserId>,
}

/// What operators do with dead letters. Cheap to clone.
///
/// A dead letter's unit is in the store's memory, where a claim took it, and in the record, where a dying claim takes one
/// if there is one. Both are kept in step: a letter that holds none in the record has one reserved in memory before it is
/// replayed, and one that is voided gives back what memory has of it.
#[derive(Clone)]
pub struct DeadLetterOffice {
    context: Context,
    counter: SaleCounter,
    desk: OrderDesk,
    audit: AuditLog,
}

impl DeadLetterOffice {
    /// Dead letters a page of the list.
    pub const PAGE: u32 = 20;

    /// The dead letters of this counter's claims, which become orders of this desk.
    #[must_use]
    pub fn new(context: Context, counter: SaleCounter, desk: OrderDesk, audit: AuditLog) -> Self {
        Self { context, counter, desk, audit }
    }

    /// A page of the dead letters in a state, or of all, the last that died first; and how many there are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn page(
        &self,
        state: Option<DeadState>,
        number: u32,
    ) -> Result<(Vec<LetterView>, u64), Failure> {
        let page = Page::new(number, Self::PAGE);
        let (letters, total) = self.context.storage.dead_letters.page(state, page).await?;
        let mut views = Vec::with_capacity(letters.len());
        for letter in letters {
            views.push(self.view(letter).await?);
        }
        Ok((views, total))
    }

    /// Tries again to make a dead letter an order, with a fresh deadline. Again is no error: the order as it is.
    ///
    /// # Errors
    /// [`Refusal::StillDead`]: why not; it counts as an attempt, and nothing else changed. [`Refusal::DeadLetterStands`]
    /// if it was voided, [`Refusal::NotFound`], [`Refusal::BadValue`] if several have this id and no user is named; or the
    /// store is in trouble: a repeat goes on.
    pub async fn replay(&self, by: By, which: Which) -> Result<FoundOrder, Failure> {
        let letter = self.one(which).await?;
        let (office, user) = (self.clone(), letter.user);
        let replayed = act(&self.audit, by, deed("dead-letter.replay", &letter), async move {
            let turn = office.counter.turn().await?;
            office.make_order(&turn, &letter, by.at).await
        });
        let view = self.desk.view(replayed.await?).await?;
        Ok(FoundOrder { view, phone: phones(&self.context.storage, &[user]).await?.remove(&user) })
    }

    /// Gives a dead letter up: its unit can be bought again, by its user too. Again is no error.
    ///
    /// # Errors
    /// [`Refusal::DeadLetterStands`] if it was replayed: its order can be voided; [`Refusal::NotFound`],
    /// [`Refusal::BadValue`] if several have this id and no user is named; or the store is in trouble: a repeat goes on.
    pub async fn void(&self, by: By, which: Which) -> Result<LetterView, Failure> {
        let letter = self.one(which).await?;
        let office = self.clone();
        let voided = act(&self.audit, by, deed("dead-letter.void", &letter), async move {
            let turn = office.counter.turn().await?;
            office.give_up(&turn, &letter, by.at).await
        });
        self.view(voided.await?).await
    }

    async fn one(&self, which: Which) -> Result<DeadLetter, Failure> {
        let mut letters = self.context.storage.dead_letters.of_order(which.order).await?;
        letters.retain(|letter| which.user.is_none_or(|user| user == letter.user));
        let letter = letters.pop().ok_or(Refusal::NotFound("dead letter"))?;
        if letters.is_empty() { Ok(letter) } else { Err(Refusal::BadValue("user").into()) }
    }

    /// In one's turn, so that its sale is not loaded between the two steps.
    async fn make_order(&self, turn: &Turn, letter: &DeadLetter, now: Timestamp) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        let reserved = self.reserve(turn, letter, now).await?;
        let replayed = storage.dead_letters.replay(letter.id, now).await;
        if reserved == Reservation::Taken && !matches!(replayed, Ok(Replayed::Order(_))) {
            let _ = storage.sales.release(letter.voucher, letter.user, letter.order).await?;
        }
        let refusal = match replayed? {
            Replayed::Order(order) => {
                if order.status == OrderStatus::Unpaid {
                    storage.deadlines.set(&[(order.id, order.deadline)]).await?;
                }
                return Ok(order);
            }
            Replayed::Refused(reason, words) => Refusal::StillDead(reason, words),
            Replayed::Voided => Refusal::DeadLetterStands(DeadState::Voided),
            Replayed::Unknown => Refusal::NotFound("dead letter"),
        };
        Err(refusal.into())
    }

    /// A unit in memory for a letter whose unit is not in the record.
    async fn reserve(
        &self,
        turn: &Turn,
        letter: &DeadLetter,
        now: Timestamp,
    ) -> Result<Reservation, Failure> {
        if letter.holds_unit || letter.state != DeadState::Open {
            return Ok(Reservation::Held);
        }
        // Into memory with the sale, if claims may bring it there later.
        self.counter.tell(turn, letter.voucher, now).await?;
        let sales = &self.context.storage.sales;
        match sales.reserve(letter.voucher, letter.user, letter.order).await? {
            Reservation::SoldOut => {
                Err(Refusal::StillDead(DeadReason::Oversold, "no unit is left".to_owned()).into())
            }
            reserved => Ok(reserved),
        }
    }

    async fn give_up(&self, turn: &Turn, letter: &DeadLetter, now: Timestamp) -> Result<DeadLetter, Failure> {
        let storage = &self.context.storage;
        match storage.dead_letters.void(letter.id, now).await? {
            Voided::Void(letter) => {
                let _ = storage.sales.release(letter.voucher, letter.user, letter.order).await?;
                // An oversold one had a unit in memory that the record never had.
                self.counter.tell(turn, letter.voucher, now).await?;
                Ok(letter)
            }
            Voided::Replayed(_) => Err(Refusal::DeadLetterStands(DeadState::Replayed).into()),
            Voided::Unknown => Err(Refusal::NotFound("dead letter").into()),
        }
    }

    async fn view(&self, letter: DeadLetter) -> Result<LetterView, Failure> {
        let storage = &self.context.storage;
        let voucher = storage.vouchers.get(letter.voucher).await?;
        let phone = phones(storage, &[letter.user]).await?.remove(&letter.user);
        Ok(LetterView { title: voucher.map(|voucher| voucher.text.title).unwrap_or_default(), phone, letter })
    }
}

fn deed(action: &'static str, letter: &DeadLetter) -> Deed {
    let DeadLetter { order, user, voucher, reason, holds_unit, .. } = letter;
    let detail = json!({
        "user": user.get(), "voucher": voucher.get(), "reason": reason, "holdsUnit": holds_unit,
    });
    Deed { action, subject: format!("dead letter {order}"), detail }
}
