//! Counter sales: staff sell a voucher to a walk-in customer for money in hand.
//!
//! Reasons: `src/decisions/0088-staff.md`.

use mallbox_storage::{Order, OrderId, OrderStatus, Page, UserId, Voucher, VoucherId, VoucherStatus};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::OrderAdmin;
use super::orders::{CounterMethod, CounterMoney, FoundOrder};
use crate::mall::base::idempotency_key::check_idempotency_key;
use crate::mall::base::{AuditLog, AuditedAction, By, Context, Failure, Refusal, StaffRefusal, run_audited};
use crate::mall::selling::orders::CancelMode;
use crate::mall::selling::receipts::Receipt;
use crate::mall::selling::{FlashSales, Orders, Receipts};

/// A counter sale as typed by its seller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterSaleForm {
    /// The voucher, ordinary or of a flash sale.
    pub voucher: VoucherId,
    /// The money taken.
    pub money: CounterMoney,
    /// Idempotency key of the seller for this voucher: 1 to 64 characters, for one sale only.
    pub request: String,
}

/// A completed counter sale.
#[derive(Clone)]
pub struct CounterSale {
    /// The order, paid.
    pub found: FoundOrder,
    /// What the customer takes along.
    pub receipt: Receipt,
    /// Whether an earlier call with the same key had completed the sale, so that nothing changed.
    pub was_sold: bool,
}

/// The service for counter sales. Cheap to clone.
///
/// A sale is a claim or a purchase, and then a payment. The buyer is an id of its own per sale, derived from
/// seller, voucher and idempotency key: whatever an interrupted call left behind, a repeat finds it under
/// this id and continues. Without a repeat, the unpaid order is cancelled after
/// [`WALK_IN_TIME_TO_PAY`](mallbox_storage::WALK_IN_TIME_TO_PAY).
#[derive(Clone)]
pub struct CounterSales {
    context: Context,
    sales: FlashSales,
    orders: Orders,
    order_admin: OrderAdmin,
    receipts: Receipts,
    audit: AuditLog,
}

impl CounterSales {
    /// Creates the service.
    #[must_use]
    pub fn new(
        context: Context,
        sales: FlashSales,
        (orders, order_admin): (Orders, OrderAdmin),
        receipts: Receipts,
        audit: AuditLog,
    ) -> Self {
        Self { context, sales, orders, order_admin, receipts, audit }
    }

    /// Sells one unit of a voucher, and records its payment. A repeat with the same key continues an
    /// interrupted sale, and returns a completed one, with the method of its first call. After the order of
    /// an interrupted sale was cancelled, a repeat sells anew.
    ///
    /// # Errors
    /// [`Refusal::BadValue`] for an invalid key or method; [`Refusal::NotFound`] for a voucher not on the
    /// shelf; [`Refusal::AmountDiffers`]; [`StaffRefusal::SaleDiffers`] for the key of a completed sale with
    /// another amount; the refusals of a claim for a flash sale, such as
    /// [`Refusal::SoldOut`]; [`Refusal::OrderStands`] if the order of the key was refunded since. After
    /// [`Refusal::NotYet`], [`Refusal::Busy`] and [`Failure::Store`] the sale is in doubt: repeat the call
    /// with the same key, or wait until the order is cancelled.
    pub async fn sell(&self, by: By, form: CounterSaleForm) -> Result<CounterSale, Failure> {
        let seller = by.user()?;
        let method = CounterMethod::named(&form.money.method)?.name();
        let request = check_idempotency_key(form.request)?;
        let buyer = buyer(seller, form.voucher, &request);
        // Checked first: an earlier sale stands, even if the voucher has changed since.
        let earlier = self.earlier(buyer).await?;
        if let Some(sold) = earlier.as_ref().filter(|order| is_sold(order)) {
            if form.money.amount != sold.pay_value {
                return Err(StaffRefusal::SaleDiffers.into());
            }
            return self.sold((sold.id, true), (buyer, by)).await;
        }
        let voucher = self.context.storage.catalogue.vouchers.get(form.voucher).await?;
        let voucher = voucher.filter(|voucher| voucher.text.status == VoucherStatus::OnShelf);
        let voucher = voucher.ok_or(Refusal::NotFound("voucher"))?;
        if form.money.amount != voucher.text.pay_value {
            return Err(Refusal::AmountDiffers(voucher.text.pay_value).into());
        }
        let action = AuditedAction {
            action: "voucher.sell",
            subject: format!("voucher {}", form.voucher),
            detail: json!({ "amount": form.money.amount, "method": method }),
        };
        let (counter, money) = (self.clone(), form.money);
        let sold = run_audited(&self.audit, by, action, async move {
            let order = counter.take(earlier, (buyer, by), &voucher).await?;
            // Of concurrent calls with one key, exactly one pays.
            Ok((order, counter.pay(by, order, &money).await?))
        })
        .await?;
        self.sold(sold, (buyer, by)).await
    }

    /// Returns the newest order of a walk-in customer.
    async fn earlier(&self, buyer: UserId) -> Result<Option<Order>, Failure> {
        Ok(self.context.storage.selling.orders.of_user(buyer, Page::new(1, 1)).await?.pop())
    }

    /// Returns an unpaid order of the buyer, or one that a concurrent call has paid: the earlier one, or a
    /// new one.
    async fn take(
        &self,
        earlier: Option<Order>,
        (buyer, by): (UserId, By),
        voucher: &Voucher,
    ) -> Result<OrderId, Failure> {
        let cancelled = match earlier {
            Some(order) if order.status == OrderStatus::Unpaid => return Ok(order.id),
            Some(order) if order.status != OrderStatus::Cancelled => {
                return Err(Refusal::OrderStands(order.status as u8).into());
            }
            cancelled => cancelled.map(|order| order.id),
        };
        match voucher.sale {
            Some(_) => self.sales.claim_at_counter(buyer, voucher.id, by.at).await,
            None => self.orders.buy_at_counter((buyer, cancelled), voucher, by.at).await,
        }
    }

    /// Records the payment of the order. An order that has another price than its voucher had is cancelled.
    /// Returns whether the payment was recorded before.
    async fn pay(&self, by: By, order: OrderId, money: &CounterMoney) -> Result<bool, Failure> {
        match self.order_admin.pay_at_counter(by, order, money).await {
            Err(Failure::Refused(Refusal::AmountDiffers(price))) => {
                self.orders.cancel_or_refund(order, CancelMode::Cancel, by.at).await?;
                Err(Refusal::AmountDiffers(price).into())
            }
            paid => Ok(paid?.was_recorded),
        }
    }

    async fn sold(
        &self,
        (order, was_sold): (OrderId, bool),
        (buyer, by): (UserId, By),
    ) -> Result<CounterSale, Failure> {
        let receipt = self.receipts.of(buyer, order, by.at).await?;
        Ok(CounterSale { found: self.order_admin.one(order).await?, receipt, was_sold })
    }
}

fn is_sold(order: &Order) -> bool {
    matches!(order.status, OrderStatus::Paid | OrderStatus::Used)
}

/// Returns the walk-in customer of a sale: the same for a repeat, and another one for every other sale.
fn buyer(seller: UserId, voucher: VoucherId, request: &str) -> UserId {
    let digest = Sha256::new()
        .chain_update(b"counter sale:")
        .chain_update(seller.get().to_be_bytes())
        .chain_update(voucher.get().to_be_bytes())
        .chain_update(request)
        .finalize();
    UserId::of_walk_in(digest.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeat_has_the_same_buyer_and_no_other_sale_has() {
        let (anne, bob, voucher) = (UserId::of_staff(1), UserId::of_staff(2), VoucherId::new(7));
        let one = buyer(anne, voucher, "one");
        assert!(one.is_walk_in());
        assert_eq!(buyer(anne, voucher, "one"), one);
        for other in
            [buyer(bob, voucher, "one"), buyer(anne, VoucherId::new(8), "one"), buyer(anne, voucher, "two")]
        {
            assert!(other.is_walk_in() && other != one);
        }
    }
}
