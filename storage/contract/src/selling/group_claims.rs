//! `Sales::claim_further`: claims that arrive together are decided one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Claim, ClaimOutcome, OrderId, Pass, SaleUnits, UserId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::selling::units_per_user::sale;
use crate::world::{NOON, World, claim};

crate::cases! {
    claims_of_all_kinds_that_arrive_together_are_decided_one_by_one,
}

const USERS: u64 = 20;
const PER_USER: u8 = 3;
const UNITS: u64 = 40;

/// A call, and its expected or possible outcomes.
#[derive(Clone, Copy, Debug)]
enum Call {
    Claim {
        claim: Claim,
        holding: u8,
        pass: Option<Pass>,
    },
    /// A claim with a pass that has expired.
    Expired {
        claim: Claim,
        pass: Pass,
    },
    /// A claim before the sale opens.
    Early(Claim),
    Held {
        user: UserId,
    },
}

async fn claims_of_all_kinds_that_arrive_together_are_decided_one_by_one(w: &World) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    let voucher = sale(w, Some(UNITS), PER_USER).await;
    let terms = w.terms(voucher).await;
    let sales = &w.storage.selling.sales;
    let epoch = sales.pass_epoch(voucher).await.unwrap();
    let (mut accepted, mut spent) = (BTreeMap::<u64, BTreeSet<OrderId>>::new(), BTreeSet::new());
    let mut number = 0;
    for round in 0..6 {
        let calls: Vec<Call> = (0..120)
            .map(|_| {
                let user = dice.random_range(1..=USERS);
                number += 1;
                let claim = claim(voucher, user, number);
                // A pass is its user's; each user has some of each round.
                let nonce = user * 1_000 + round * 10 + dice.random_range(0..4);
                let pass = Pass { nonce, epoch, expires: NOON + Duration::from_secs(60) };
                match dice.random_range(0..12) {
                    0 => Call::Held { user: UserId::new(user) },
                    1 => Call::Early(Claim { at: terms.begin - Duration::from_millis(1), ..claim }),
                    2 => Call::Expired { claim, pass: Pass { expires: NOON, ..pass } },
                    3..=6 => Call::Claim { claim, holding: dice.random_range(0..PER_USER), pass: Some(pass) },
                    _ => Call::Claim { claim, holding: dice.random_range(0..PER_USER), pass: None },
                }
            })
            .collect();
        let running = calls.iter().map(|call| {
            let (sales, call) = (Arc::clone(sales), *call);
            tokio::spawn(async move {
                match call {
                    Call::Claim { claim, holding, pass } => {
                        sales.claim_further(claim, holding, pass).await.map(Some)
                    }
                    Call::Expired { claim, pass } => {
                        sales.claim_further(claim, PER_USER - 1, Some(pass)).await.map(Some)
                    }
                    Call::Early(claim) => sales.claim_further(claim, PER_USER - 1, None).await.map(Some),
                    Call::Held { user } => {
                        let held = sales.held(voucher, user, PER_USER - 1).await;
                        held.map(|held| held.map(ClaimOutcome::AlreadyBought))
                    }
                }
            })
        });
        let running: Vec<_> = running.collect();
        let mut outcomes = Vec::new();
        for call in running {
            outcomes.push(call.await.unwrap().unwrap());
        }
        for (call, outcome) in calls.iter().zip(&outcomes) {
            if let (Call::Claim { claim, pass, .. }, Some(ClaimOutcome::Accepted)) = (call, outcome) {
                assert!(accepted.entry(claim.user.get()).or_default().insert(claim.order), "{call:?}");
                assert!(pass.is_none_or(|pass| spent.insert(pass.nonce)), "spent twice: {call:?}");
            }
        }
        for (call, outcome) in calls.iter().zip(&outcomes) {
            let holds =
                |user: &UserId, order| accepted.get(&user.get()).is_some_and(|own| own.contains(order));
            let is_possible = match (call, outcome) {
                (Call::Claim { claim, .. }, Some(ClaimOutcome::Accepted)) => holds(&claim.user, &claim.order),
                (Call::Claim { .. }, Some(ClaimOutcome::SoldOut)) => true,
                (Call::Claim { pass: Some(pass), .. }, Some(ClaimOutcome::PassRefused)) => {
                    spent.contains(&pass.nonce)
                }
                (Call::Expired { .. }, Some(ClaimOutcome::PassRefused | ClaimOutcome::SoldOut))
                | (Call::Early(_), Some(ClaimOutcome::NotOpen))
                | (Call::Held { .. }, None) => true,
                (
                    Call::Claim { claim: Claim { user, .. }, .. }
                    | Call::Expired { claim: Claim { user, .. }, .. }
                    | Call::Early(Claim { user, .. })
                    | Call::Held { user },
                    Some(ClaimOutcome::AlreadyBought(order)),
                ) => holds(user, order),
                _ => false,
            };
            assert!(is_possible, "{call:?}: {outcome:?}");
        }
        assert!(accepted.values().all(|own| own.len() <= usize::from(PER_USER)), "{accepted:?}");
    }
    let orders: BTreeSet<OrderId> = accepted.into_values().flatten().collect();
    let taken = orders.len() as u64;
    assert_eq!(taken, UNITS, "720 calls for 40 units");
    let units = sales.units(voucher).await.unwrap();
    assert_eq!(units, Some(SaleUnits { units: Some(UNITS), taken }));
    let logged = w.persist_all().await;
    assert_eq!(logged.iter().map(|logged| logged.claim.order).collect::<BTreeSet<_>>(), orders);
    assert_eq!(logged.len() as u64, taken);
}
