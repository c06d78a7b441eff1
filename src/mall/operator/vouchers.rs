//! Vouchers from the operator's side: all there are, on the shelf or not, and what is told about them.

use std::time::Duration;

use mallbox_storage::{
    Cents, Page, PendingClaims, ShopId, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId,
    VoucherStatus,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::act::{By, Deed, act};
use super::sales::SaleView;
use super::{AuditLog, SaleOffice};
use crate::mall::sales::SaleState;
use crate::mall::vouchers::VoucherForm;
use crate::mall::{Context, Failure, Refusal, SaleCounter};

/// A voucher as its operator sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VoucherView {
    /// The voucher, on the shelf or not.
    pub voucher: Voucher,
    /// Its sale, if it is one.
    pub sale: Option<SaleView>,
    /// Its shop's name, if there still is one.
    pub shop_name: Option<String>,
}

/// What operators do with vouchers. Cheap to clone.
///
/// An order costs what its voucher cost when the order was written, which is a moment after the claim. So that nobody pays
/// another price than the one they bought at, the price of a sale stays while claims are taken, and while any wait to be
/// orders. (A dead letter that is replayed is written then, and costs what the voucher costs then.)
#[derive(Clone)]
pub struct VoucherOffice {
    context: Context,
    counter: SaleCounter,
    sales: SaleOffice,
    audit: AuditLog,
}

/// How long it is waited for claims of a sale that is held to become orders: a call answers within 1.5 s.
const PATIENCE: Duration = Duration::from_millis(800);
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl VoucherOffice {
    /// Vouchers a page of the list.
    pub const PAGE: u32 = 20;

    /// The vouchers that this counter sells.
    #[must_use]
    pub fn new(context: Context, counter: SaleCounter, sales: SaleOffice, audit: AuditLog) -> Self {
        Self { context, counter, sales, audit }
    }

    /// A page of the vouchers of a shop, or of all, newest first; and how many there are.
    ///
    /// # Errors
    /// Only if the store is in trouble.
    pub async fn page(
        &self,
        shop: Option<ShopId>,
        number: u32,
        now: Timestamp,
    ) -> Result<(Vec<VoucherView>, u64), Failure> {
        let filter = VoucherFilter { shop, sales_only: false };
        let page = Page::new(number, Self::PAGE);
        let (vouchers, total) = self.context.storage.vouchers.page(filter, page).await?;
        let mut views = Vec::with_capacity(vouchers.len());
        for voucher in vouchers {
            views.push(self.view(voucher, now).await?);
        }
        Ok((views, total))
    }

    /// One voucher.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], or the store is in trouble.
    pub async fn one(&self, voucher: VoucherId, now: Timestamp) -> Result<VoucherView, Failure> {
        self.view(self.get(voucher).await?, now).await
    }

    /// Changes what a form names of a voucher; its shop never changes. The next reader sees it, and one that is taken off
    /// the shelf is sold no more: at once here, within a second at other instances. Orders stay as they are.
    ///
    /// # Errors
    /// [`Mistake`](crate::mall::Mistake) with the value's name; [`Refusal::NotFound`]; [`Refusal::SaleIsOn`] for the price
    /// of a sale that takes claims, and [`Refusal::NotYet`] while claims of it still wait to be orders: nothing changed then.
    pub async fn edit(&self, by: By, voucher: VoucherId, form: &VoucherForm) -> Result<VoucherView, Failure> {
        let edit = form.edit()?;
        self.get(voucher).await?;
        let deed =
            Deed { action: "voucher.edit", subject: format!("voucher {voucher}"), detail: told(&edit) };
        let office = self.clone();
        let edited = act(&self.audit, by, deed, async move {
            let until = Instant::now() + PATIENCE;
            loop {
                match office.write(voucher, &edit, by.at).await {
                    Err(Failure::Refused(Refusal::NotYet)) if Instant::now() < until => {
                        tokio::time::sleep(LOOK_EVERY).await;
                    }
                    written => return written,
                }
            }
        })
        .await?;
        self.view(edited, by.at).await
    }

    /// Writes the edit, in one's turn: nobody lets a sale go on between the look at it and the other price.
    async fn write(
        &self,
        voucher: VoucherId,
        edit: &VoucherEdit,
        now: Timestamp,
    ) -> Result<Voucher, Failure> {
        let turn = self.counter.turn().await?;
        let before = self.get(voucher).await?;
        let is_repriced = edit.pay_value.is_some_and(|price| price != before.text.pay_value);
        if let Some(sale) = before.sale.filter(|_| is_repriced) {
            if SaleState::of(&sale.terms, None, now) == SaleState::Open {
                return Err(Refusal::SaleIsOn.into());
            }
            if self.sales.pending(voucher).await? != PendingClaims::default() {
                return Err(Refusal::NotYet.into());
            }
        }
        turn.check()?;
        let updated = self.context.storage.vouchers.update(voucher, edit, now).await;
        // Also if no answer came: it may have been written.
        self.counter.voucher_changed(voucher, before.text.shop).await;
        Ok(updated?.ok_or(Refusal::NotFound("voucher"))?)
    }

    async fn get(&self, voucher: VoucherId) -> Result<Voucher, Failure> {
        Ok(self.context.storage.vouchers.get(voucher).await?.ok_or(Refusal::NotFound("voucher"))?)
    }

    async fn view(&self, voucher: Voucher, now: Timestamp) -> Result<VoucherView, Failure> {
        let shop_name = self.sales.shop_name(voucher.text.shop, now).await?;
        let sale = self.sales.view(voucher.clone(), now).await?;
        Ok(VoucherView { voucher, sale, shop_name })
    }
}

/// What the audit log says of an edit.
fn told(edit: &VoucherEdit) -> Value {
    let VoucherEdit { title, sub_title, rules, pay_value, actual_value, status } = edit;
    let status = status.map(|status| match status {
        VoucherStatus::OnShelf => "on the shelf",
        VoucherStatus::OffShelf => "off the shelf",
        VoucherStatus::Expired => "expired",
    });
    let (pay_value, actual_value) = (pay_value.map(Cents::get), actual_value.map(Cents::get));
    let all = [
        ("title", json!(title)),
        ("subTitle", json!(sub_title)),
        ("rules", json!(rules)),
        ("payValue", json!(pay_value)),
        ("actualValue", json!(actual_value)),
        ("status", json!(status)),
    ];
    all.into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
