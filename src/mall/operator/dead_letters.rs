//! Dead letters: replaying and voiding claims that did not become orders.

use mallbox_storage::{
    DeadLetter, DeadReason, DeadState, Order, OrderId, OrderStatus, Page, Phone, ReplayOutcome,
    ReserveOutcome, Timestamp, UserId, VoidOutcome,
};
use serde_json::json;

use super::orders::{FoundOrder, phones};
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{AuditLog, Context, Failure, Refusal};
use crate::mall::selling::terms_lease::HeldTermsLease;
use crate::mall::selling::{FlashSales, Orders};

/// A dead letter with title and phone, for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LetterView {
    /// The dead letter as stored.
    pub letter: DeadLetter,
    /// Title of the voucher, `""` if deleted.
    pub title: String,
    /// Phone of the buyer; `None` for an unknown user.
    pub phone: Option<Phone>,
}

/// Identifies a dead letter: by the order id of the claim, and by the user if several users have the same id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadLetterKey {
    /// Order id of the claim.
    pub order: OrderId,
    /// Buyer; `None` if the order id is unambiguous.
    pub user: Option<UserId>,
}

/// The operators' service for dead letters. Cheap to clone.
///
/// A dead letter's unit is counted twice: in the sales store, where a claim took the unit, and in the
/// database, where a dying claim takes a unit if available. Both are kept consistent. Before the replay of a
/// letter without a unit in the database, a unit is reserved in the sales store. Voiding a letter releases
/// the unit held in the sales store.
#[derive(Clone)]
pub struct DeadLetterAdmin {
    context: Context,
    sales: FlashSales,
    orders: Orders,
    audit: AuditLog,
}

impl DeadLetterAdmin {
    /// Dead letters per page.
    pub const PAGE: u32 = 20;

    /// Creates the service for claims of `sales`, replayed as `orders`.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales, orders: Orders, audit: AuditLog) -> Self {
        Self { context, sales, orders, audit }
    }

    /// Returns a page of the dead letters in a state, or of all, latest death first, and their number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(
        &self,
        state: Option<DeadState>,
        number: u32,
    ) -> Result<(Vec<LetterView>, u64), Failure> {
        let page = Page::new(number, Self::PAGE);
        let (letters, total) = self.context.storage.selling.dead_letters.page(state, page).await?;
        let mut views = Vec::with_capacity(letters.len());
        for letter in letters {
            views.push(self.view(letter).await?);
        }
        Ok((views, total))
    }

    /// Replays a dead letter as an order with a fresh deadline. A repeat returns the order in its current
    /// state.
    ///
    /// # Errors
    /// [`Refusal::StillDead`] with the reason: the attempt is counted and nothing else has changed.
    /// [`Refusal::DeadLetterStands`] for a voided letter; [`Refusal::NotFound`]; [`Refusal::BadValue`] if
    /// several letters have this order id and no user is given. After [`Failure::Store`] a repeat resumes the
    /// replay.
    pub async fn replay(&self, by: By, which: DeadLetterKey) -> Result<FoundOrder, Failure> {
        let letter = self.one(which).await?;
        let (admin, user) = (self.clone(), letter.user);
        let replayed = run_audited(&self.audit, by, audited("dead-letter.replay", &letter), async move {
            let lease = admin.sales.lease_terms().await?;
            admin.make_order(&lease, &letter, by.at).await
        });
        let view = self.orders.queries().view(replayed.await?).await?;
        Ok(FoundOrder { view, phone: phones(&self.context.storage, &[user]).await?.remove(&user) })
    }

    /// Voids a dead letter: the unit can be bought again, also by the same user. A repeat succeeds.
    ///
    /// # Errors
    /// [`Refusal::DeadLetterStands`] for a replayed letter, whose order can be voided; [`Refusal::NotFound`];
    /// [`Refusal::BadValue`] if several letters have this order id and no user is given. After
    /// [`Failure::Store`] a repeat resumes the step.
    pub async fn void(&self, by: By, which: DeadLetterKey) -> Result<LetterView, Failure> {
        let letter = self.one(which).await?;
        let admin = self.clone();
        let voided = run_audited(&self.audit, by, audited("dead-letter.void", &letter), async move {
            let lease = admin.sales.lease_terms().await?;
            admin.void_letter(&lease, &letter, by.at).await
        });
        self.view(voided.await?).await
    }

    async fn one(&self, which: DeadLetterKey) -> Result<DeadLetter, Failure> {
        let mut letters = self.context.storage.selling.dead_letters.of_order(which.order).await?;
        letters.retain(|letter| which.user.is_none_or(|user| user == letter.user));
        let letter = letters.pop().ok_or(Refusal::NotFound("dead letter"))?;
        if letters.is_empty() { Ok(letter) } else { Err(Refusal::BadValue("user").into()) }
    }

    /// Reserves a unit and replays the letter. The caller holds the sale-terms lease, so that the sale is not
    /// loaded between the two steps.
    async fn make_order(
        &self,
        lease: &HeldTermsLease,
        letter: &DeadLetter,
        now: Timestamp,
    ) -> Result<Order, Failure> {
        let storage = &self.context.storage;
        let reserved = self.reserve(lease, letter, now).await?;
        let replayed = storage.selling.dead_letters.replay(letter.id, now).await;
        if reserved == ReserveOutcome::Taken && !matches!(replayed, Ok(ReplayOutcome::Order(_))) {
            let _ = storage.selling.sales.release(letter.voucher, letter.user, letter.order).await?;
        }
        let refusal = match replayed? {
            ReplayOutcome::Order(order) => {
                if order.status == OrderStatus::Unpaid {
                    storage.selling.deadlines.set(&[(order.id, order.deadline)]).await?;
                }
                return Ok(order);
            }
            ReplayOutcome::Refused(reason, words) => Refusal::StillDead(reason, words),
            ReplayOutcome::Voided => Refusal::DeadLetterStands(DeadState::Voided),
            ReplayOutcome::Unknown => Refusal::NotFound("dead letter"),
        };
        Err(refusal.into())
    }

    /// Reserves a unit in the sales store for a letter without a unit in the database.
    async fn reserve(
        &self,
        lease: &HeldTermsLease,
        letter: &DeadLetter,
        now: Timestamp,
    ) -> Result<ReserveOutcome, Failure> {
        if letter.holds_unit || letter.state != DeadState::Open {
            return Ok(ReserveOutcome::Held);
        }
        // Loads the sale first, if claims could load it later.
        self.sales.sync_to_store(lease, letter.voucher, now).await?;
        let sales = &self.context.storage.selling.sales;
        match sales.reserve(letter.voucher, letter.user, letter.order).await? {
            ReserveOutcome::SoldOut => {
                Err(Refusal::StillDead(DeadReason::Oversold, "no unit is left".to_owned()).into())
            }
            reserved => Ok(reserved),
        }
    }

    async fn void_letter(
        &self,
        lease: &HeldTermsLease,
        letter: &DeadLetter,
        now: Timestamp,
    ) -> Result<DeadLetter, Failure> {
        let storage = &self.context.storage;
        match storage.selling.dead_letters.void(letter.id, now).await? {
            VoidOutcome::Void(letter) => {
                let _ = storage.selling.sales.release(letter.voucher, letter.user, letter.order).await?;
                // An oversold letter had a unit in the sales store but none in the database.
                self.sales.sync_to_store(lease, letter.voucher, now).await?;
                Ok(letter)
            }
            VoidOutcome::Replayed(_) => Err(Refusal::DeadLetterStands(DeadState::Replayed).into()),
            VoidOutcome::Unknown => Err(Refusal::NotFound("dead letter").into()),
        }
    }

    async fn view(&self, letter: DeadLetter) -> Result<LetterView, Failure> {
        let storage = &self.context.storage;
        let voucher = storage.catalogue.vouchers.get(letter.voucher).await?;
        let phone = phones(storage, &[letter.user]).await?.remove(&letter.user);
        Ok(LetterView { title: voucher.map(|voucher| voucher.text.title).unwrap_or_default(), phone, letter })
    }
}

fn audited(action: &'static str, letter: &DeadLetter) -> AuditedAction {
    let DeadLetter { order, user, voucher, reason, holds_unit, .. } = letter;
    let detail = json!({
        "user": user.get(), "voucher": voucher.get(), "reason": reason, "holdsUnit": holds_unit,
    });
    AuditedAction { action, subject: format!("dead letter {order}"), detail }
}
