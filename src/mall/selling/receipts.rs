//! Receipts: codes that buyers show at the counter and operators redeem.

mod code;
mod text;

use std::sync::Arc;

use mallbox_storage::{Order, OrderId, OrderStatus, Shop, Timestamp, UserId, Voucher};
use tokio::sync::OnceCell;

use super::Orders;
use crate::mall::base::kept_secret::kept_secret;
use crate::mall::base::{Context, Failure, Random, Refusal};

pub use code::ReceiptCode;
pub use text::receipt_text;

/// Name of the setting that holds the secret behind the mall's codes. The secret is never disclosed.
const SECRET: &str = "receipt secret";

/// A paid order as shown at the counter.
#[derive(Clone)]
pub struct Receipt {
    /// The order: paid, or already used.
    pub order: Order,
    /// Voucher bought by the order.
    pub voucher: Voucher,
    /// Shop of the voucher, from a cached copy; `None` if deleted.
    pub shop: Option<Shop>,
    /// Code that the counter types or scans.
    pub code: ReceiptCode,
}

/// Issues receipts and verifies their codes. Cheap to clone.
#[derive(Clone)]
pub struct Receipts {
    context: Context,
    orders: Orders,
    random: Arc<Random>,
    secret: Arc<OnceCell<String>>,
}

impl Receipts {
    /// Creates the service for `orders`. The mall's secret is created on first use.
    #[must_use]
    pub fn new(context: Context, orders: Orders, random: Arc<Random>) -> Self {
        Self { context, orders, random, secret: Arc::default() }
    }

    /// Returns the receipt of the user's order.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for an unpaid or refunded order; [`Refusal::NotFound`]; [`Failure::Store`] if
    /// the store fails.
    pub async fn of(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<Receipt, Failure> {
        let order = self.orders.queries().look_up(order).await?.filter(|order| order.user == user);
        let order = order.ok_or(Refusal::NotFound("order"))?;
        if !matches!(order.status, OrderStatus::Paid | OrderStatus::Used) {
            return Err(Refusal::OrderStands(order.status as u8).into());
        }
        self.receipt(order, now).await
    }

    /// Returns the receipt of any user's order that is paid and not used.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for any other status; [`Refusal::NotFound`]; [`Failure::Store`] if the store
    /// fails.
    pub(in crate::mall) async fn of_paid(&self, order: OrderId, now: Timestamp) -> Result<Receipt, Failure> {
        let order = self.orders.queries().look_up(order).await?.ok_or(Refusal::NotFound("order"))?;
        if order.status != OrderStatus::Paid {
            return Err(Refusal::OrderStands(order.status as u8).into());
        }
        self.receipt(order, now).await
    }

    async fn receipt(&self, order: Order, now: Timestamp) -> Result<Receipt, Failure> {
        let voucher = self.context.storage.catalogue.vouchers.get(order.voucher).await?;
        let voucher = voucher.ok_or(Refusal::NotFound("voucher"))?;
        let shop = self.context.copies.shops.get(voucher.text.shop, now).await?;
        let code = self.code_of(order.id).await?;
        Ok(Receipt { order, voucher, shop, code })
    }

    /// Returns the code of a paid or used order, without reading the order.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub(in crate::mall) async fn code_of(&self, order: OrderId) -> Result<ReceiptCode, Failure> {
        Ok(ReceiptCode::of(order, self.secret().await?))
    }

    /// Verifies a typed or scanned code and returns its order id.
    ///
    /// # Errors
    /// [`Refusal::ReceiptMistyped`] for malformed input; [`Refusal::NotFound`] for a code not issued by this
    /// mall; [`Failure::Store`] if the store fails.
    pub async fn read(&self, typed: &str) -> Result<OrderId, Failure> {
        let code = ReceiptCode::read(typed).ok_or(Refusal::ReceiptMistyped)?;
        let order = code.order();
        if ReceiptCode::of(order, self.secret().await?) == code {
            Ok(order)
        } else {
            Err(Refusal::NotFound("receipt").into())
        }
    }

    async fn secret(&self) -> Result<&str, Failure> {
        let upkeep = &*self.context.storage.base.upkeep;
        let kept = self.secret.get_or_try_init(|| kept_secret(upkeep, SECRET, || self.random.secret()));
        Ok(kept.await.map_err(Failure::Store)?)
    }
}
