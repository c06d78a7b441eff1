//! Vouchers from the operator's side: list and edits, on the shelf or not.
//!
//! Reasons and figures: `src/decisions/0006-price-of-a-running-sale.md`.

use std::time::Duration;

use mallbox_storage::{
    Cents, Page, PendingClaims, ShopId, Timestamp, Voucher, VoucherEdit, VoucherFilter, VoucherId,
    VoucherStatus,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::SaleAdmin;
use super::sales::SaleView;
use crate::mall::base::audited_action::{AuditedAction, By, run_audited};
use crate::mall::base::{AuditLog, Context, Failure, Refusal};
use crate::mall::catalogue::vouchers::VoucherForm;
use crate::mall::selling::FlashSales;
use crate::mall::selling::sales::SaleState;

/// A voucher with its sale and shop, for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VoucherView {
    /// The voucher, on the shelf or not.
    pub voucher: Voucher,
    /// The sale; `None` for an ordinary voucher.
    pub sale: Option<SaleView>,
    /// Name of the shop; `None` if deleted.
    pub shop_name: Option<String>,
}

/// The operators' service for vouchers. Cheap to clone.
///
/// An order's price is the voucher's price at the moment of writing the order, shortly after the claim. The
/// price of a sale is therefore fixed while claims are accepted or pending, so that nobody pays a different
/// price. (Exception: a replayed dead letter costs the voucher's price at the time of the replay.)
#[derive(Clone)]
pub struct VoucherAdmin {
    context: Context,
    sales: FlashSales,
    sale_admin: SaleAdmin,
    audit: AuditLog,
}

/// Longest wait for the pending claims of a closed or paused sale to become orders. A request must get its
/// response within 1.5 s.
const PENDING_CLAIMS_TIMEOUT: Duration = Duration::from_millis(800);
/// Interval of polling during the wait.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl VoucherAdmin {
    /// Vouchers per page.
    pub const PAGE: u32 = 20;

    /// Creates the service. `sales` applies changed vouchers to claims.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales, sale_admin: SaleAdmin, audit: AuditLog) -> Self {
        Self { context, sales, sale_admin, audit }
    }

    /// Returns a page of the vouchers of a shop, or of all shops, newest first, and their number.
    ///
    /// # Errors
    /// [`Failure::Store`] if the store fails.
    pub async fn page(
        &self,
        shop: Option<ShopId>,
        number: u32,
        now: Timestamp,
    ) -> Result<(Vec<VoucherView>, u64), Failure> {
        let filter = VoucherFilter { shop, sales_only: false };
        let page = Page::new(number, Self::PAGE);
        let (vouchers, total) = self.context.storage.catalogue.vouchers.page(filter, page).await?;
        let mut views = Vec::with_capacity(vouchers.len());
        for voucher in vouchers {
            views.push(self.view(voucher, now).await?);
        }
        Ok((views, total))
    }

    /// Returns a voucher.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Failure::Store`] if the store fails.
    pub async fn one(&self, voucher: VoucherId, now: Timestamp) -> Result<VoucherView, Failure> {
        self.view(self.get(voucher).await?, now).await
    }

    /// Edits a voucher; `None` in the form keeps a value, and the shop never changes. The next reader sees
    /// the change. A voucher taken off the shelf is no longer sold: immediately in this process, within a
    /// second in other instances. Existing orders stay unchanged.
    ///
    /// # Errors
    /// [`Mistake`](crate::mall::base::InputError) with the field's name; [`Refusal::NotFound`];
    /// [`Refusal::SaleIsOn`] for a new price of an open sale; [`Refusal::NotYet`] while claims are pending;
    /// [`Refusal::SaleChanged`]. Nothing has changed then.
    pub async fn edit(&self, by: By, voucher: VoucherId, form: &VoucherForm) -> Result<VoucherView, Failure> {
        let edit = form.edit()?;
        self.get(voucher).await?;
        let action = AuditedAction {
            action: "voucher.edit",
            subject: format!("voucher {voucher}"),
            detail: audit_detail(&edit),
        };
        let admin = self.clone();
        let edited = run_audited(&self.audit, by, action, async move {
            let until = Instant::now() + PENDING_CLAIMS_TIMEOUT;
            loop {
                match admin.write(voucher, &edit, by.at).await {
                    Err(Failure::Refused(Refusal::NotYet)) if Instant::now() < until => {
                        tokio::time::sleep(POLL_INTERVAL).await;
                    }
                    written => return written,
                }
            }
        })
        .await?;
        self.view(edited, by.at).await
    }

    /// Writes the edit under the sale-terms lease, so that nobody resumes the sale between the check and the
    /// new price.
    async fn write(
        &self,
        voucher: VoucherId,
        edit: &VoucherEdit,
        now: Timestamp,
    ) -> Result<Voucher, Failure> {
        let lease = self.sales.lease_terms().await?;
        let before = self.get(voucher).await?;
        let is_repriced = edit.pay_value.is_some_and(|price| price != before.text.pay_value);
        if let Some(sale) = before.sale.filter(|_| is_repriced) {
            if SaleState::of(&sale.terms, None, now) == SaleState::Open {
                return Err(Refusal::SaleIsOn.into());
            }
            if self.sale_admin.pending(voucher).await? != PendingClaims::default() {
                return Err(Refusal::NotYet.into());
            }
        }
        lease.check()?;
        let vouchers = &self.context.storage.catalogue.vouchers;
        let updated = vouchers.update(voucher, edit, lease.token(), now).await;
        // After an error too: the write is in doubt.
        self.sales.voucher_changed(voucher, before.text.shop).await;
        let updated = lease.accepted(updated?).ok_or(Refusal::SaleChanged)?;
        Ok(updated.ok_or(Refusal::NotFound("voucher"))?)
    }

    async fn get(&self, voucher: VoucherId) -> Result<Voucher, Failure> {
        Ok(self.context.storage.catalogue.vouchers.get(voucher).await?.ok_or(Refusal::NotFound("voucher"))?)
    }

    async fn view(&self, voucher: Voucher, now: Timestamp) -> Result<VoucherView, Failure> {
        let shop_name = self.sale_admin.shop_name(voucher.text.shop, now).await?;
        let sale = self.sale_admin.view(voucher.clone(), now).await?;
        Ok(VoucherView { voucher, sale, shop_name })
    }
}

/// Returns the edit as logged in the audit log.
fn audit_detail(edit: &VoucherEdit) -> Value {
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
