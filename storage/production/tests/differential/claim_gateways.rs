//! Steps on [`ClaimGateways`](mallbox_storage::ClaimGateways) and
//! [`ClaimBatches`](mallbox_storage::ClaimBatches).

use std::collections::BTreeSet;

use mallbox_storage::{
    AddGatewayOutcome, ClaimBatch, ClaimGatewayId, NewClaimGateway, Timestamp, TokenHash, VoucherId,
};

use crate::dice::Dice;
use crate::normal::said;
use crate::scene::{Scene, minutes};
use crate::step::Side;

/// Names of gateways; some differ only for who compares bytes. The mall cuts off blanks at the end, which
/// MySQL would not compare.
const NAMES: [&str; 5] = ["erp", "ERP", "é", "e\u{301}", "a\0b"];
/// Names of requests, which are compared byte by byte.
const REQUESTS: [&str; 4] = ["7", "7 ", "a", "A"];
/// Gateways, by the order in which they were made: a database may leave out ids.
const GATEWAYS: u64 = 5;
/// Gateways that may have valid tokens at once.
const MOST: u32 = 4;

#[derive(Clone, Debug)]
pub enum ClaimGatewayStep {
    Add(NewClaimGateway, u32, Timestamp),
    List,
    OfToken(TokenHash, Timestamp),
    Remove(u64),
    PruneGateways(Timestamp),
    Batch(u64, &'static str),
    Put { gateway: u64, batch: ClaimBatch },
    PruneBatches(Timestamp, u32),
}

impl ClaimGatewayStep {
    pub fn roll(dice: &mut Dice, scene: &Scene) -> Self {
        let (now, gateway) = (scene.now, dice.below(GATEWAYS));
        let request = dice.pick(&REQUESTS);
        match dice.below(100) {
            0..25 => {
                let sales: BTreeSet<VoucherId> = (0..dice.below(3)).map(|_| scene.voucher(dice)).collect();
                let gateway = NewClaimGateway {
                    name: dice.pick(&NAMES).to_owned(),
                    token: token(dice),
                    operator: scene.user(dice),
                    sales,
                    expires: now + minutes(dice.below(120)),
                };
                Self::Add(gateway, dice.pick(&[0, 1, MOST, u32::MAX]), now)
            }
            25..35 => Self::List,
            35..45 => Self::OfToken(token(dice), scene.instant(dice)),
            45..52 => Self::Remove(gateway),
            52..55 => Self::PruneGateways(now - minutes(30)),
            55..68 => Self::Batch(gateway, request),
            68..95 => {
                let batch = ClaimBatch {
                    gateway: ClaimGatewayId::new(0),
                    request: request.to_owned(),
                    claims_hash: [u8::from(dice.chance(50)); 32],
                    created: scene.instant(dice),
                    revision: dice.pick(&[0, 1, 1, 2, 2, 3, u32::MAX]),
                    outcomes: scene.text(dice),
                    is_finished: dice.chance(20),
                };
                Self::Put { gateway, batch }
            }
            // Which of several equally old batches goes first is not promised.
            _ => Self::PruneBatches(now - minutes(10), dice.pick(&[0, u32::MAX])),
        }
    }

    pub async fn take(&self, side: &mut Side) -> String {
        let storage = side.storage.clone();
        let (gateways, batches) = (&storage.selling.claim_gateways, &storage.selling.claim_batches);
        let id = |number: u64, side: &Side| {
            let made = usize::try_from(number).ok().and_then(|number| side.gateways.get(number));
            made.copied().unwrap_or(ClaimGatewayId::new(0))
        };
        match self {
            Self::Add(gateway, most, now) => {
                let added = gateways.add(gateway, *most, *now).await;
                if let Ok(AddGatewayOutcome::Added(id)) = added {
                    side.gateways.push_front(id);
                    return "added".to_owned();
                }
                said(added)
            }
            Self::List => {
                let listed = gateways.list().await.map(|mut all| {
                    all.iter_mut().for_each(|gateway| gateway.id = ClaimGatewayId::new(0));
                    all
                });
                said(listed)
            }
            Self::OfToken(token, now) => {
                let found = gateways.of_token(*token, *now).await;
                said(found.map(|found| found.map(|gateway| (gateway.name, gateway.sales, gateway.expires))))
            }
            Self::Remove(number) => said(gateways.remove(id(*number, side)).await),
            Self::PruneGateways(before) => said(gateways.prune(*before).await),
            Self::Batch(number, request) => {
                let found = batches.get(id(*number, side), request).await;
                said(found.map(|found| {
                    found.map(|batch| ClaimBatch { gateway: ClaimGatewayId::new(*number), ..batch })
                }))
            }
            Self::Put { gateway, batch } => {
                let batch = ClaimBatch { gateway: id(*gateway, side), ..batch.clone() };
                said(batches.put(&batch).await)
            }
            Self::PruneBatches(before, max) => said(batches.prune(*before, *max).await),
        }
    }
}

/// One of a few tokens, so that gateways collide.
fn token(dice: &mut Dice) -> TokenHash {
    TokenHash([u8::try_from(dice.below(4)).unwrap(); 32])
}
