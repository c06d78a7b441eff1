//! The demo's two flash sales: an open sale, and a sale opening soon after every start.

use std::time::Duration;

use mallbox_storage::{Actor, NewSale, ShopId, Terms, Timestamp, VoucherId};

use super::values::{DAY, HOUR, voucher_text};
use crate::demo::catalogue::{DemoSale, OPENING_SALE, RUNNING_SALE};
use crate::mall::Mall;
use crate::mall::base::By;
use crate::mall::operator::sales::WindowForm;

const PAY_WITHIN: Duration = Duration::from_secs(15 * 60);

/// Returns a sale open to every buyer now. Adds one if there is none: on the demo's first day, or a week
/// later.
pub(super) async fn running(mall: &Mall, now: Timestamp) -> anyhow::Result<VoucherId> {
    /// More sales than a demo has.
    const SALES_MAX: u32 = 1_000;
    let sales =
        mall.context.storage.catalogue.vouchers.sales(Some(now), VoucherId::new(0), SALES_MAX).await?;
    let running = sales.into_iter().find(|sale| sale.terms.closed(now).is_none() && sale.stock != Some(0));
    match running {
        Some(sale) => Ok(sale.terms.voucher),
        None => add_sale(mall, &RUNNING_SALE, now - HOUR, 7 * DAY).await,
    }
}

/// Returns the sale that opens at `begin`. An opening sale from an earlier start is moved to `begin` if no
/// unit is taken; any other is ended, so that a demo never shows two.
pub(super) async fn opening(mall: &Mall, now: Timestamp, begin: Timestamp) -> anyhow::Result<VoucherId> {
    let by = By { actor: Actor::CommandLine, at: now };
    let mut opening = None;
    for (voucher, terms) in earlier_openings(mall, now).await? {
        if opening.is_none() && is_untouched(mall, voucher).await? {
            let window = WindowForm { begin: Some(begin), end: Some(begin + DAY) };
            mall.sale_admin.put_window(by, voucher, window).await?;
            if terms.paused {
                mall.sale_admin.resume(by, voucher).await?;
            }
            opening = Some(voucher);
        } else {
            mall.sale_admin.end(by, voucher).await?;
        }
    }
    match opening {
        Some(voucher) => Ok(voucher),
        None => add_sale(mall, &OPENING_SALE, begin, DAY).await,
    }
}

/// Returns the opening sales of earlier starts that have not ended.
async fn earlier_openings(mall: &Mall, now: Timestamp) -> anyhow::Result<Vec<(VoucherId, Terms)>> {
    let vouchers = mall.context.storage.catalogue.vouchers.of_shop(ShopId::new(OPENING_SALE.shop_id)).await?;
    let openings = vouchers.into_iter().filter(|voucher| voucher.text.title == OPENING_SALE.title);
    let terms = openings.filter_map(|voucher| Some((voucher.id, voucher.sale?.terms)));
    Ok(terms.filter(|(_, terms)| now < terms.end).collect())
}

/// Returns whether all units of a sale are left, counting pending claims as taken.
async fn is_untouched(mall: &Mall, voucher: VoucherId) -> anyhow::Result<bool> {
    let units = mall.context.storage.selling.sales.units(voucher).await?;
    Ok(units.is_some_and(|units| units.taken == 0 && units.left() != Some(0)))
}

async fn add_sale(
    mall: &Mall,
    sale: &DemoSale,
    begin: Timestamp,
    lasts: Duration,
) -> anyhow::Result<VoucherId> {
    let text = voucher_text(
        sale.shop_id,
        [sale.title, sale.sub_title, sale.rules],
        [sale.pay_value, sale.actual_value],
    );
    let terms =
        NewSale { units: Some(sale.stock), begin, end: begin + lasts, pay_within: PAY_WITHIN, min_level: 0 };
    let voucher =
        mall.context.storage.catalogue.vouchers.insert(&text, Some(&terms), mall.context.now()).await?;
    mall.sales.opened(voucher).await?;
    Ok(voucher)
}
