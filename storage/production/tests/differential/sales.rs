//! Steps on [`Sales`](mallbox_storage::Sales).

use std::num::NonZeroU8;

use mallbox_storage::{Claim, FencingToken, OrderId, Terms, Timestamp, UserId, VoucherId};

use crate::dice::Dice;
use crate::normal::{claim_answer, said};
use crate::scene::Scene;
use crate::step::Side;

#[derive(Clone, Debug)]
pub enum SaleStep {
    Claim(Claim),
    /// Of a user who says to hold this number of units.
    Further(Claim, u8),
    /// Of everybody, until nothing is left.
    Rush(Vec<Claim>),
    /// Loads the terms in the database.
    PutRecorded(VoucherId),
    /// Sets the units per user, and loads the terms.
    PutPerUser(VoucherId, NonZeroU8, Timestamp),
    /// Loads terms that differ from the database's, perhaps as a late holder of the lock on terms.
    Put(Terms, bool),
    /// Reloads the sale from log and database, as after a restart.
    Reload(VoucherId),
    Forget(VoucherId),
    Release(Claim),
    /// A failed replay of a claim.
    ReserveAndRelease(VoucherId, UserId, OrderId),
    Units(VoucherId),
}

impl SaleStep {
    pub fn roll(dice: &mut Dice, scene: &mut Scene) -> Self {
        match dice.below(100) {
            0..45 => Self::Claim(scene.claim(dice)),
            45..54 => Self::Claim(repeated(dice, scene)),
            54..58 => Self::Further(repeated(dice, scene), small(dice)),
            58..62 => Self::Rush((0..8).map(|_| scene.claim(dice)).collect()),
            62..64 => Self::PutRecorded(scene.voucher(dice)),
            64..66 => {
                let per_user = NonZeroU8::MIN.saturating_add(small(dice));
                Self::PutPerUser(scene.voucher(dice), per_user, scene.now)
            }
            66..74 => Self::Put(terms(dice, scene), dice.chance(25)),
            74..80 => Self::Reload(scene.sale(dice)),
            80..82 => Self::Forget(scene.voucher(dice)),
            82..90 => match scene.old_claim(dice) {
                Some(claim) => Self::Release(claim),
                None => Self::Units(scene.sale(dice)),
            },
            90..94 => {
                let voucher = scene.sale(dice);
                Self::ReserveAndRelease(voucher, scene.user(dice), scene.new_order(voucher))
            }
            _ => Self::Units(scene.voucher(dice)),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let (sales, log) = (side.storage.selling.sales.clone(), side.storage.selling.order_log.clone());
        match self {
            Self::Claim(claim) => {
                let answer = answer(side, claim).await;
                let (found, units) = (log.find(claim.order).await, sales.units(claim.voucher).await);
                format!("{answer}, {}, {}", said(found), said(units))
            }
            Self::Further(claim, holding) => {
                let answer = match sales.claim_further(*claim, *holding, None).await {
                    Ok(answer) => claim_answer(&side.storage, claim, answer).await,
                    error => said(error),
                };
                format!("{answer}, {}", said(sales.units(claim.voucher).await))
            }
            Self::PutPerUser(voucher, per_user, now) => {
                let vouchers = &side.storage.catalogue.vouchers;
                let stored = said(vouchers.put_per_user(*voucher, *per_user, *now).await);
                format!("{stored}, {}", put_recorded(side, *voucher).await)
            }
            Self::Rush(claims) => {
                let mut answers = Vec::new();
                for claim in claims {
                    answers.push(answer(side, claim).await);
                }
                answers.join(", ")
            }
            Self::PutRecorded(voucher) => put_recorded(side, *voucher).await,
            Self::Put(terms, is_late) => {
                // Back ends may forget the tokens of sales that they do not know.
                let is_known = matches!(sales.units(terms.voucher).await, Ok(Some(_)));
                let token = side.terms_token(*is_late && is_known);
                put(side, *terms, token).await
            }
            Self::Reload(voucher) => {
                let forgotten = said(sales.forget(*voucher).await);
                format!("{forgotten}, {}", put_recorded(side, *voucher).await)
            }
            Self::Forget(voucher) => {
                let forgotten = said(sales.forget(*voucher).await);
                format!("{forgotten}, {}", said(sales.units(*voucher).await))
            }
            Self::Release(claim) => {
                let released = said(sales.release(claim.voucher, claim.user, claim.order).await);
                format!("{released}, {}", said(sales.units(claim.voucher).await))
            }
            Self::ReserveAndRelease(voucher, user, order) => {
                let mut answers = Vec::new();
                for _ in 0..2 {
                    answers.push(said(sales.reserve(*voucher, *user, *order).await));
                }
                answers.push(said(sales.units(*voucher).await));
                for _ in 0..2 {
                    answers.push(said(sales.release(*voucher, *user, *order).await));
                }
                answers.push(said(sales.units(*voucher).await));
                answers.join(", ")
            }
            Self::Units(voucher) => said(sales.units(*voucher).await),
        }
    }
}

async fn answer(side: &Side, claim: &Claim) -> String {
    match side.storage.selling.sales.claim(*claim).await {
        Ok(answer) => claim_answer(&side.storage, claim, answer).await,
        error => said(error),
    }
}

async fn put(side: &Side, terms: Terms, token: FencingToken) -> String {
    said(side.storage.selling.sales.put(terms, token).await)
}

async fn put_recorded(side: &mut Side, voucher: VoucherId) -> String {
    match side.storage.catalogue.vouchers.get(voucher).await {
        Ok(found) => match found.and_then(|voucher| voucher.sale) {
            Some(sale) => {
                let token = side.terms_token(false);
                put(side, sale.terms, token).await
            }
            None => "no sale".into(),
        },
        Err(error) => said::<()>(Err(error)),
    }
}

fn small(dice: &mut Dice) -> u8 {
    u8::try_from(dice.below(4)).unwrap()
}

/// Repeats an earlier claim, or makes a new claim of the same user: of another sale, or at another time.
fn repeated(dice: &mut Dice, scene: &mut Scene) -> Claim {
    let Some(old) = scene.old_claim(dice) else { return scene.claim(dice) };
    match dice.below(4) {
        0 => {
            let voucher = scene.voucher(dice);
            Claim { voucher, order: scene.new_order(voucher), at: scene.now, ..old }
        }
        1 => Claim { at: scene.instant(dice), order: scene.new_order(old.voucher), ..old },
        _ => Claim { at: scene.now, ..old },
    }
}

fn terms(dice: &mut Dice, scene: &Scene) -> Terms {
    let voucher = scene.sale(dice);
    let units = scene.units(dice);
    let per_user = NonZeroU8::MIN;
    if dice.chance(60) {
        // Open, mostly.
        let span = crate::scene::minutes(dice.below(600));
        let (begin, end) = (scene.now - span, scene.now + span);
        return Terms {
            voucher,
            begin,
            end,
            paused: dice.chance(10),
            units,
            waiting: dice.chance(5),
            per_user,
        };
    }
    let (begin, end) = (scene.instant(dice), scene.instant(dice));
    Terms { voucher, begin, end, paused: dice.chance(30), units, waiting: dice.chance(5), per_user }
}
