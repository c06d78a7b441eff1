//! Vouchers: a shop's offers, and adding vouchers and sales.

use std::ops::RangeInclusive;
use std::time::Duration;

use mallbox_storage::{
    Cents, NewSale, ShopId, Timestamp, Voucher, VoucherEdit, VoucherId, VoucherStatus, VoucherText,
};

use crate::mall::base::{Context, Failure, InputError, Refusal, clean_text};
use crate::mall::selling::FlashSales;

/// A voucher as listed on a shop's page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedVoucher {
    /// Text, prices and terms of the voucher.
    pub voucher: Voucher,
    /// Stock of the flash sale; `None` for an ordinary voucher.
    pub left: Option<RemainingStock>,
}

/// Remaining stock of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemainingStock {
    /// Number of units left.
    Units(u64),
    /// Units without limit.
    Unlimited,
}

/// An operator's edit of a voucher. `None` leaves a field unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VoucherForm {
    /// Shop of the voucher. Required for a new voucher, fixed afterwards.
    pub shop: Option<ShopId>,
    /// Title, 1 to 255 characters. Required for a new voucher.
    pub title: Option<String>,
    /// Subtitle, at most 255 characters.
    pub sub_title: Option<String>,
    /// Rules, at most 1024 characters.
    pub rules: Option<String>,
    /// Price in cents. Required for a new voucher.
    pub pay_value: Option<i64>,
    /// Face value in cents. Required for a new voucher.
    pub actual_value: Option<i64>,
    /// Visibility. The default of a new voucher is on the shelf.
    pub status: Option<VoucherStatus>,
}

/// Terms of a new sale, as entered by an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SaleForm {
    /// Units, 1 or more; -1 = unlimited. Required.
    pub stock: Option<i64>,
    /// First instant at which claims are accepted. Required.
    pub begin: Option<Timestamp>,
    /// First instant at which claims are no longer accepted; after `begin` and in the future. Required.
    pub end: Option<Timestamp>,
    /// Time to pay, from a second to 30 days. Defaults to the mall's setting.
    pub pay_within: Option<Duration>,
    /// Minimum member level, 0 to 9.
    pub min_level: u8,
}

/// The voucher service for readers and operators.
pub struct Vouchers {
    context: Context,
    sales: FlashSales,
}

/// Largest integer that JavaScript represents exactly.
pub(in crate::mall) const JS_INTEGER_MAX: i64 = (1 << 53) - 1;
/// Range of the time to pay.
const PAY_WITHIN: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(30 * 86_400);

impl Vouchers {
    /// Creates the service. `sales` opens new sales.
    #[must_use]
    pub fn new(context: Context, sales: FlashSales) -> Self {
        Self { context, sales }
    }

    /// Returns the vouchers on a shop's shelf, ended sales included. An unknown shop has none.
    ///
    /// The stock of a sale is live. For an ended sale that has left memory, the stock is the database's of
    /// some seconds ago.
    ///
    /// # Errors
    /// [`Refusal::Busy`] while the database is slow; [`Failure::Store`] if the store fails.
    pub async fn of_shop(&self, shop: ShopId, now: Timestamp) -> Result<Vec<ListedVoucher>, Failure> {
        let vouchers = self.sales.on_shelf(shop, now).await?;
        let mut offers = Vec::with_capacity(vouchers.len());
        for voucher in vouchers {
            let left = match &voucher.sale {
                Some(sale) => Some(self.left(voucher.id, sale.stock).await?),
                None => None,
            };
            offers.push(ListedVoucher { voucher, left });
        }
        Ok(offers)
    }

    async fn left(&self, voucher: VoucherId, in_record: Option<u64>) -> Result<RemainingStock, Failure> {
        let live = self.context.storage.selling.sales.units(voucher).await?;
        let left = live.map_or(in_record, |units| units.left());
        Ok(left.map_or(RemainingStock::Unlimited, RemainingStock::Units))
    }

    /// Adds an ordinary voucher.
    ///
    /// # Errors
    /// [`InputError::Missing`], [`InputError::OutOfRange`] with the field's name; [`Refusal::NotFound`] for
    /// an unknown shop.
    pub async fn add(&self, form: &VoucherForm, now: Timestamp) -> Result<VoucherId, Failure> {
        let text = form.checked()?;
        self.check_shop(text.shop).await?;
        let added = self.context.storage.catalogue.vouchers.insert(&text, None, now).await;
        // After an error too: the write is in doubt.
        self.sales.shelf_changed(text.shop).await;
        Ok(added?)
    }

    /// Adds a flash-sale voucher. On return, claims are accepted from `begin` on.
    ///
    /// # Errors
    /// As [`add`](Self::add). If the store fails after the database write, the sale is on the shelf all the
    /// same. The first claim or the next start opens the sale.
    pub async fn add_sale(
        &self,
        form: &VoucherForm,
        sale: &SaleForm,
        now: Timestamp,
    ) -> Result<VoucherId, Failure> {
        let text = form.checked()?;
        let sale = sale.checked(self.context.settings.pay_within, now)?;
        self.check_shop(text.shop).await?;
        let added = self.context.storage.catalogue.vouchers.insert(&text, Some(&sale), now).await;
        self.sales.shelf_changed(text.shop).await;
        let voucher = added?;
        // Not just `Sales::put`: a lookup that began before the insert could still report the sale as unknown
        // to a claim.
        self.sales.opened(voucher).await?;
        Ok(voucher)
    }

    async fn check_shop(&self, shop: ShopId) -> Result<(), Failure> {
        match self.context.storage.catalogue.shops.get(shop).await? {
            Some(_) => Ok(()),
            None => Err(Refusal::NotFound("shop").into()),
        }
    }
}

impl VoucherForm {
    /// Validates the edit of an existing voucher.
    ///
    /// # Errors
    /// [`InputError::Missing`] for an empty title, [`InputError::OutOfRange`] with the field's name.
    pub fn edit(&self) -> Result<VoucherEdit, InputError> {
        let title = self.title.as_deref().map(clean_text::line);
        if title.as_deref() == Some("") {
            return Err(InputError::Missing("title"));
        }
        Ok(VoucherEdit {
            title: within("title", title, 255)?,
            sub_title: within("subTitle", self.sub_title.as_deref().map(clean_text::line), 255)?,
            rules: within("rules", self.rules.as_deref().map(clean_text::lines), 1024)?,
            pay_value: cents("payValue", self.pay_value)?,
            actual_value: cents("actualValue", self.actual_value)?,
            status: self.status,
        })
    }

    /// Validates a new voucher.
    fn checked(&self) -> Result<VoucherText, InputError> {
        let VoucherEdit { title, sub_title, rules, pay_value, actual_value, status } = self.edit()?;
        Ok(VoucherText {
            title: title.ok_or(InputError::Missing("title"))?,
            shop: self.shop.ok_or(InputError::Missing("shopId"))?,
            sub_title: sub_title.unwrap_or_default(),
            rules: rules.unwrap_or_default(),
            pay_value: pay_value.ok_or(InputError::Missing("payValue"))?,
            actual_value: actual_value.ok_or(InputError::Missing("actualValue"))?,
            status: status.unwrap_or(VoucherStatus::OnShelf),
        })
    }
}

impl SaleForm {
    fn checked(&self, pay_within: Duration, now: Timestamp) -> Result<NewSale, InputError> {
        let units = match self.stock.ok_or(InputError::Missing("stock"))? {
            -1 => None,
            units @ 1..=JS_INTEGER_MAX => Some(units.unsigned_abs()),
            _ => return Err(InputError::OutOfRange("stock")),
        };
        let begin = self.begin.ok_or(InputError::Missing("beginTime"))?;
        let end = self.end.ok_or(InputError::Missing("endTime"))?;
        // Storage accepts ended sales as well: the import keeps the original times.
        if end <= begin.max(now) {
            return Err(InputError::OutOfRange("endTime"));
        }
        if self.min_level > 9 {
            return Err(InputError::OutOfRange("minLevel"));
        }
        if self.pay_within.is_some_and(|span| !PAY_WITHIN.contains(&span)) {
            return Err(InputError::OutOfRange("payWithinSeconds"));
        }
        let pay_within = self.pay_within.unwrap_or(pay_within);
        Ok(NewSale { units, begin, end, pay_within, min_level: self.min_level })
    }
}

fn within(name: &'static str, text: Option<String>, most_chars: usize) -> Result<Option<String>, InputError> {
    text.map(|text| clean_text::within(name, text, most_chars)).transpose()
}

fn cents(name: &'static str, value: Option<i64>) -> Result<Option<Cents>, InputError> {
    match value {
        Some(cents) if !(0..=JS_INTEGER_MAX).contains(&cents) => Err(InputError::OutOfRange(name)),
        value => Ok(value.map(Cents::new)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> VoucherForm {
        VoucherForm {
            shop: Some(ShopId::new(1)),
            title: Some("100元代金券".to_owned()),
            pay_value: Some(8000),
            actual_value: Some(10_000),
            ..VoucherForm::default()
        }
    }

    fn sale() -> SaleForm {
        let at = Timestamp::from_millis;
        SaleForm { stock: Some(100), begin: Some(at(1000)), end: Some(at(2000)), ..SaleForm::default() }
    }

    const QUARTER: Duration = Duration::from_secs(900);
    const NOW: Timestamp = Timestamp::from_millis(1_500);

    #[test]
    fn a_voucher_needs_title_shop_and_values() {
        let text = form().checked().unwrap();
        assert_eq!((text.pay_value.get(), text.actual_value.get()), (8000, 10_000));
        assert_eq!(text.status, VoucherStatus::OnShelf);
        for (name, form) in [
            ("title", VoucherForm { title: None, ..form() }),
            ("title", VoucherForm { title: Some(" \n ".into()), ..form() }),
            ("shopId", VoucherForm { shop: None, ..form() }),
            ("payValue", VoucherForm { pay_value: None, ..form() }),
            ("actualValue", VoucherForm { actual_value: None, ..form() }),
        ] {
            assert_eq!(form.checked(), Err(InputError::Missing(name)));
        }
    }

    #[test]
    fn a_voucher_keeps_to_its_ranges() {
        for (name, form) in [
            ("title", VoucherForm { title: Some("x".repeat(256)), ..form() }),
            ("subTitle", VoucherForm { sub_title: Some("x".repeat(256)), ..form() }),
            ("rules", VoucherForm { rules: Some("x".repeat(1025)), ..form() }),
            ("payValue", VoucherForm { pay_value: Some(-1), ..form() }),
            ("payValue", VoucherForm { pay_value: Some(1 << 53), ..form() }),
            ("actualValue", VoucherForm { actual_value: Some(i64::MIN), ..form() }),
        ] {
            assert_eq!(form.checked(), Err(InputError::OutOfRange(name)));
        }
        assert!(
            VoucherForm { pay_value: Some(0), actual_value: Some(JS_INTEGER_MAX), ..form() }
                .checked()
                .is_ok()
        );
    }

    #[test]
    fn an_edit_changes_what_it_names_and_keeps_to_the_same_ranges() {
        assert_eq!(VoucherForm::default().edit(), Ok(VoucherEdit::default()));
        let form = VoucherForm { sub_title: Some("  ".into()), pay_value: Some(0), ..VoucherForm::default() };
        let edit = form.edit().unwrap();
        assert_eq!((edit.sub_title.as_deref(), edit.pay_value.map(Cents::get)), (Some(""), Some(0)));
        let blank = VoucherForm { title: Some(" \n ".into()), ..VoucherForm::default() };
        assert_eq!(blank.edit(), Err(InputError::Missing("title")));
    }

    #[test]
    fn rules_keep_their_lines_and_titles_do_not() {
        let form = VoucherForm {
            title: Some("100元 <3\n代金券".into()),
            rules: Some("全场通用\n无需预约".into()),
            ..form()
        };
        let text = form.checked().unwrap();
        assert_eq!(text.title, "100元 <3 代金券");
        assert_eq!(text.rules, "全场通用\n无需预约");
    }

    #[test]
    fn a_sale_needs_stock_and_a_window() {
        let checked = sale().checked(QUARTER, NOW).unwrap();
        assert_eq!((checked.units, checked.pay_within, checked.min_level), (Some(100), QUARTER, 0));
        let form = SaleForm { pay_within: Some(Duration::from_mins(5)), min_level: 3, ..sale() };
        let checked = form.checked(QUARTER, NOW).unwrap();
        assert_eq!((checked.pay_within, checked.min_level), (Duration::from_mins(5), 3));
        assert_eq!(SaleForm { stock: Some(-1), ..sale() }.checked(QUARTER, NOW).unwrap().units, None);
        for (mistake, sale) in [
            (InputError::Missing("stock"), SaleForm { stock: None, ..sale() }),
            (InputError::OutOfRange("stock"), SaleForm { stock: Some(0), ..sale() }),
            (InputError::OutOfRange("stock"), SaleForm { stock: Some(-2), ..sale() }),
            (InputError::OutOfRange("stock"), SaleForm { stock: Some(JS_INTEGER_MAX + 1), ..sale() }),
            (InputError::Missing("beginTime"), SaleForm { begin: None, ..sale() }),
            (InputError::Missing("endTime"), SaleForm { end: None, ..sale() }),
            (InputError::OutOfRange("endTime"), SaleForm { end: sale().begin, ..sale() }),
            (InputError::OutOfRange("minLevel"), SaleForm { min_level: 10, ..sale() }),
            (
                InputError::OutOfRange("payWithinSeconds"),
                SaleForm { pay_within: Some(Duration::ZERO), ..sale() },
            ),
            (
                InputError::OutOfRange("payWithinSeconds"),
                SaleForm { pay_within: Some(Duration::MAX), ..sale() },
            ),
        ] {
            assert_eq!(sale.checked(QUARTER, NOW), Err(mistake));
        }
    }
}
