//! What a buyer shows at the counter, and how the counter knows it.

mod code;

use std::sync::Arc;

use mallbox_storage::{Order, OrderId, OrderStatus, Shop, Timestamp, UserId, Voucher};
use tokio::sync::OnceCell;

use super::{Context, Failure, OrderDesk, Random, Refusal};

pub use code::ReceiptCode;

/// The setting under which the mall keeps the secret that its codes rest on. It is never told.
const SECRET: &str = "receipt secret";

/// One's paid order, as it is shown at the counter.
#[derive(Clone)]
pub struct Receipt {
    /// The order: paid, or used already.
    pub order: Order,
    /// Of what.
    pub voucher: Voucher,
    /// Where, from a copy, if the shop is still there.
    pub shop: Option<Shop>,
    /// What the counter types or scans.
    pub code: ReceiptCode,
}

/// Makes receipts and reads their codes. Cheap to clone.
#[derive(Clone)]
pub struct ReceiptBook {
    context: Context,
    desk: OrderDesk,
    random: Arc<Random>,
    secret: Arc<OnceCell<String>>,
}

impl ReceiptBook {
    /// Of the orders that this desk keeps. The mall's secret is made when it is first needed.
    #[must_use]
    pub fn new(context: Context, desk: OrderDesk, random: Arc<Random>) -> Self {
        Self { context, desk, random, secret: Arc::default() }
    }

    /// The receipt of one's order.
    ///
    /// # Errors
    /// [`Refusal::OrderStands`] for an order that is not paid, or whose money went back; [`Refusal::NotFound`]; or the store
    /// is in trouble.
    pub async fn of(&self, user: UserId, order: OrderId, now: Timestamp) -> Result<Receipt, Failure> {
        let order = self.desk.look_up(order).await?.filter(|order| order.user == user);
        let order = order.ok_or(Refusal::NotFound("order"))?;
        if !matches!(order.status, OrderStatus::Paid | OrderStatus::Used) {
            return Err(Refusal::OrderStands(order.status as u8).into());
        }
        let voucher = self.context.storage.vouchers.get(order.voucher).await?;
        let voucher = voucher.ok_or(Refusal::NotFound("voucher"))?;
        let shop = self.context.copies.shops.get(voucher.text.shop, now).await?;
        let code = ReceiptCode::of(order.id, self.secret().await?);
        Ok(Receipt { order, voucher, shop, code })
    }

    /// The order whose code this is.
    ///
    /// # Errors
    /// [`Refusal::ReceiptMistyped`] for what can be no code; [`Refusal::NotFound`] for one that this mall has not made; or the
    /// store is in trouble.
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
        let upkeep = &self.context.storage.upkeep;
        let kept = self.secret.get_or_try_init(|| async {
            match upkeep.setting(SECRET).await? {
                Some(kept) => Ok(kept),
                None => upkeep.keep_setting(SECRET, &self.random.secret()).await,
            }
        });
        Ok(kept.await.map_err(Failure::Store)?)
    }
}
