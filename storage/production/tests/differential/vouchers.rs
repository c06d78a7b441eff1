//! Steps on [`Vouchers`](mallbox_storage::Vouchers).

use std::time::Duration;

use mallbox_storage::{
    Cents, NewSale, Page, ShopId, StockChange, Timestamp, VoucherEdit, VoucherFilter, VoucherId,
    VoucherStatus, VoucherText,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::{Scene, minutes};
use crate::step::Side;

const STATUSES: [VoucherStatus; 3] =
    [VoucherStatus::OnShelf, VoucherStatus::OffShelf, VoucherStatus::Expired];

#[derive(Clone, Debug)]
pub enum VoucherStep {
    Insert(VoucherText, Option<NewSale>, Timestamp),
    Get(VoucherId),
    OfShop(ShopId),
    Sales(Option<Timestamp>, VoucherId, u32),
    Page(VoucherFilter, Page),
    /// The last value says whether a late holder of the lock on terms calls; so do those of the next two.
    Update(VoucherId, VoucherEdit, Timestamp, bool),
    ChangeStock(VoucherId, StockChange, Timestamp, bool),
    StockChange(VoucherId, String),
    PutWindow {
        voucher: VoucherId,
        begin: Timestamp,
        end: Timestamp,
        paused: bool,
        now: Timestamp,
        is_late: bool,
    },
}

impl VoucherStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let voucher = scene.voucher(dice);
        match dice.below(100) {
            0..5 => {
                let is_sale = dice.chance(50);
                Self::insert(dice, scene, is_sale)
            }
            5..20 => Self::Get(voucher),
            20..25 => Self::OfShop(scene.shop(dice)),
            25..35 => {
                let ending_after = dice.chance(50).then(|| scene.instant(dice));
                Self::Sales(ending_after, voucher, dice.pick(&[0, 1, 3, u32::MAX]))
            }
            35..45 => {
                let shop = dice.chance(50).then(|| scene.shop(dice));
                Self::Page(VoucherFilter { shop, sales_only: dice.chance(50) }, scene.page(dice))
            }
            45..52 => Self::Update(voucher, edit(dice, scene), scene.now, dice.chance(25)),
            52..70 => Self::ChangeStock(voucher, change(dice, scene), scene.now, dice.chance(25)),
            70..80 => Self::StockChange(voucher, scene.text(dice)),
            _ => {
                let (begin, end) = (scene.instant(dice), scene.instant(dice));
                let (paused, is_late) = (dice.chance(20), dice.chance(25));
                Self::PutWindow { voucher, begin, end, paused, now: scene.now, is_late }
            }
        }
    }

    /// A new voucher. A sale is open at first.
    pub fn insert(dice: &mut Dice, scene: &Scene, is_sale: bool) -> Self {
        let text = VoucherText {
            shop: scene.shop(dice),
            title: scene.text(dice),
            sub_title: scene.text(dice),
            rules: scene.text(dice),
            pay_value: Cents::new(dice.pick(&[0, 1, 4_750, i64::MAX])),
            actual_value: Cents::new(dice.pick(&[0, -1, 5_000, i64::MIN])),
            status: dice.pick(&STATUSES),
        };
        let sale = is_sale.then(|| NewSale {
            units: scene.units(dice),
            begin: scene.now - minutes(60),
            end: scene.now + minutes(6_000),
            pay_within: dice.pick(&[Duration::ZERO, minutes(1), minutes(15), minutes(60 * 24 * 365)]),
            min_level: dice.pick(&[0, 1, 9]),
        });
        Self::Insert(text, sale, scene.now)
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let vouchers = side.storage.catalogue.vouchers.clone();
        match self {
            Self::Insert(text, sale, now) => said(vouchers.insert(text, sale.as_ref(), *now).await),
            Self::Get(voucher) => said(vouchers.get(*voucher).await),
            Self::OfShop(shop) => said(vouchers.of_shop(*shop).await),
            Self::Sales(ending_after, after, max) => said(vouchers.sales(*ending_after, *after, *max).await),
            Self::Page(filter, page) => said(vouchers.page(*filter, *page).await),
            Self::Update(voucher, edit, now, is_late) => {
                let token = side.terms_token(*is_late);
                said(vouchers.update(*voucher, edit, token, *now).await)
            }
            Self::ChangeStock(voucher, change, now, is_late) => {
                let token = side.terms_token(*is_late);
                said(vouchers.change_stock(*voucher, change, token, *now).await)
            }
            Self::StockChange(voucher, request) => said(vouchers.stock_change(*voucher, request).await),
            Self::PutWindow { voucher, begin, end, paused, now, is_late } => {
                let token = side.terms_token(*is_late);
                said(vouchers.put_window(*voucher, *begin, *end, *paused, token, *now).await)
            }
        }
    }
}

fn edit(dice: &mut Dice, scene: &Scene) -> VoucherEdit {
    VoucherEdit {
        title: dice.chance(50).then(|| scene.text(dice)),
        sub_title: dice.chance(50).then(|| scene.text(dice)),
        rules: dice.chance(50).then(|| scene.text(dice)),
        pay_value: dice.chance(50).then(|| Cents::new(dice.pick(&[0, 1, 4_750, i64::MAX]))),
        actual_value: dice.chance(50).then(|| Cents::new(dice.pick(&[0, -1, 5_000, i64::MIN]))),
        status: dice.chance(50).then(|| dice.pick(&STATUSES)),
    }
}

fn change(dice: &mut Dice, scene: &Scene) -> StockChange {
    let asked = dice.pick(&[-3, -1, 0, 1, 2, 5, i64::MIN, i64::MAX]);
    let by = if dice.chance(80) { asked } else { dice.pick(&[-1, 0, 1]) };
    StockChange { asked, by, request: dice.chance(50).then(|| scene.text(dice)) }
}
