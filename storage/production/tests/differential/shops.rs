//! Steps on [`Shops`](mallbox_storage::Shops).

use mallbox_storage::{Page, ShopId, ShopOrder, ShopText, ShopType, ShopTypeEdit, ShopTypeId, Timestamp};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::Scene;
use crate::step::Side;

/// Names that differ in case only, where case does not count.
const NAMES: [&str; 4] = ["Noodles", "NOODLES 面", "noodles", "Ss"];

#[derive(Clone, Debug)]
pub enum ShopStep {
    Types,
    PutType(ShopType, Timestamp),
    InsertType(String, String, i64, Timestamp),
    UpdateType(ShopTypeId, ShopTypeEdit, Timestamp),
    Get(ShopId),
    Insert(ShopText, Timestamp),
    Update(ShopId, ShopText, Timestamp),
    OfType(Option<ShopTypeId>, ShopOrder, Page),
    ByName(String, Page),
    Among(Vec<ShopId>, ShopOrder, Page),
    Places(ShopId, u32),
}

impl ShopStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        match dice.below(100) {
            0..10 => Self::Types,
            10..20 => {
                // Stored ids are below 2^63.
                let id = ShopTypeId::new(1 + dice.below(4));
                let sort = dice.pick(&[-1, 0, 0, 7, i64::MAX, i64::MIN]);
                let kind = ShopType { id, name: scene.text(dice), icon: scene.text(dice), sort };
                Self::PutType(kind, scene.now)
            }
            20..22 => Self::InsertType(scene.text(dice), scene.text(dice), dice.pick(&[0, 7]), scene.now),
            22..25 => {
                let (name, icon) =
                    (dice.chance(50).then(|| scene.text(dice)), dice.chance(50).then(|| scene.text(dice)));
                let edit = ShopTypeEdit { name, icon, sort: dice.pick(&[None, Some(-1), Some(i64::MAX)]) };
                Self::UpdateType(scene.shop_type(dice), edit, scene.now)
            }
            25..30 => Self::Get(scene.shop(dice)),
            30..45 => Self::Insert(text(dice, scene), scene.now),
            45..60 => Self::Update(scene.shop(dice), text(dice, scene), scene.now),
            60..80 => {
                let kind = dice.chance(60).then(|| scene.shop_type(dice));
                Self::OfType(kind, order(dice), scene.page(dice))
            }
            80..88 => {
                let shops = (0..dice.below(6)).map(|_| scene.shop(dice)).collect();
                Self::Among(shops, order(dice), scene.page(dice))
            }
            88..92 => Self::Places(scene.shop(dice), dice.pick(&[0, 1, 3, 1_000])),
            _ => Self::ByName(name(dice, scene), scene.page(dice)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let shops = &side.storage.catalogue.shops;
        match self {
            Self::Types => said(shops.types().await),
            Self::PutType(kind, now) => said(shops.put_type(kind, *now).await),
            Self::InsertType(name, icon, sort, now) => said(shops.insert_type(name, icon, *sort, *now).await),
            Self::UpdateType(kind, edit, now) => said(shops.update_type(*kind, edit, *now).await),
            Self::Get(shop) => said(shops.get(*shop).await),
            Self::Insert(text, now) => said(shops.insert(text, *now).await),
            Self::Update(shop, text, now) => said(shops.update(*shop, text, *now).await),
            Self::OfType(kind, order, page) => said(shops.of_type(*kind, *order, *page).await),
            Self::ByName(part, page) => said(shops.by_name(part, 7, *page).await),
            Self::Among(ids, order, page) => said(shops.among(ids, *order, *page).await),
            Self::Places(after, max) => said(shops.places(*after, *max).await),
        }
    }
}

fn order(dice: &mut Dice) -> ShopOrder {
    dice.pick(&[ShopOrder::Id, ShopOrder::Comments, ShopOrder::Score])
}

fn name(dice: &mut Dice, scene: &Scene) -> String {
    if dice.chance(50) { dice.pick(&NAMES).to_owned() } else { scene.text(dice) }
}

fn text(dice: &mut Dice, scene: &Scene) -> ShopText {
    ShopText {
        name: name(dice, scene),
        kind: scene.shop_type(dice),
        images: scene.text(dice),
        area: scene.text(dice),
        address: scene.text(dice),
        x: dice.pick(&[0.0, -0.0, 120.149_993, 180.0, -180.0, 0.1 + 0.2, f64::MIN_POSITIVE]),
        y: dice.pick(&[0.0, 30.334_229, 90.0, -90.0]),
        avg_price: dice.pick(&[None, Some(0), Some(80), Some(-1), Some(i64::MAX)]),
        open_hours: scene.text(dice),
        sold: dice.pick(&[0, 4_215, i64::MAX]),
        comments: dice.pick(&[0, 3, 3, i64::MAX]),
        score: dice.pick(&[0, 37, 37, i64::MIN]),
    }
}
