//! `Orders` against plain maps: random steps from a printed seed, equal results after each, and balanced
//! stock.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mallbox_storage::{
    Claim, DeadReason, Order, OrderCounts, OrderId, OrderStatus, Page, PersistOutcome, Transition,
    TransitionOutcome, UserId, VoucherId,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::selling::orders::{logged, stock};
use crate::world::{NOON, World, claim, letters};

crate::cases! { random_steps_agree_with_plain_maps }

/// Few of each, so that repeats, duplicates and clashes are frequent.
const USERS: u64 = 6;
const NUMBERS: u64 = 40;

/// A model of the documentation of `Orders`, without regard to speed.
struct Model {
    units: BTreeMap<VoucherId, Option<u64>>,
    stock: BTreeMap<VoucherId, Option<u64>>,
    orders: BTreeMap<OrderId, (UserId, VoucherId, OrderStatus)>,
    /// Reason, and whether the dead letter holds a unit.
    dead: BTreeMap<(OrderId, UserId, VoucherId), (DeadReason, bool)>,
}

impl Model {
    fn take(&mut self, voucher: VoucherId) -> bool {
        match self.stock.get_mut(&voucher) {
            Some(Some(0)) | None => false,
            Some(Some(stock)) => {
                *stock -= 1;
                true
            }
            Some(None) => true,
        }
    }

    fn live(&self, voucher: VoucherId, user: UserId) -> Option<OrderId> {
        let of_both = |(owner, of, status): &(UserId, VoucherId, OrderStatus)| {
            (*owner, *of) == (user, voucher) && status.is_live()
        };
        self.orders.iter().find(|(_, order)| of_both(order)).map(|(id, _)| *id)
    }

    fn holding(&self, voucher: VoucherId, user: UserId) -> Option<OrderId> {
        let dead = || {
            let of_both = |key: &(OrderId, UserId, VoucherId)| (key.1, key.2) == (user, voucher);
            let theirs = self.dead.iter().filter(|(key, _)| of_both(key));
            // An order that holds a unit comes first.
            theirs.min_by_key(|(key, (_, holds))| (!holds, key.0)).map(|(key, _)| key.0)
        };
        self.live(voucher, user).or_else(dead)
    }

    fn insert_dead_letter(&mut self, claim: Claim, reason: DeadReason) {
        let key = (claim.order, claim.user, claim.voucher);
        let is_order =
            self.orders.get(&claim.order).is_some_and(|order| (order.0, order.1) == (key.1, key.2));
        if !is_order && !self.dead.contains_key(&key) {
            let holds =
                !matches!(reason, DeadReason::Double | DeadReason::Oversold) && self.take(claim.voucher);
            self.dead.insert(key, (reason, holds));
        }
    }

    /// Persists claims in sequence: stock goes to valid claims first come, first served; duplicates and
    /// clashes follow.
    fn persist(&mut self, claims: &[Claim]) -> Vec<Option<DeadReason>> {
        let deadly: Vec<_> = claims.iter().map(|claim| self.write(*claim)).collect();
        let mut answers = Vec::new();
        for (claim, deadly) in claims.iter().zip(deadly) {
            answers.push(match deadly {
                Some(DeadReason::Oversold) => {
                    self.orders.remove(&claim.order);
                    self.insert_dead_letter(*claim, DeadReason::Oversold);
                    Some(DeadReason::Oversold)
                }
                other => other,
            });
        }
        for (claim, answer) in claims.iter().zip(&answers) {
            if let Some(reason @ (DeadReason::Double | DeadReason::IdClash)) = *answer {
                self.insert_dead_letter(*claim, reason);
            }
        }
        answers
    }

    /// Writes a claim. An `Oversold` claim is written for now, so that later claims of the batch collide with
    /// it.
    fn write(&mut self, claim: Claim) -> Option<DeadReason> {
        if self.orders.contains_key(&claim.order) {
            return Some(DeadReason::IdClash);
        }
        if self.live(claim.voucher, claim.user).is_some() {
            return Some(DeadReason::Double);
        }
        let order = (claim.user, claim.voucher, OrderStatus::Unpaid);
        self.orders.insert(claim.order, order);
        if self.take(claim.voucher) { None } else { Some(DeadReason::Oversold) }
    }

    fn step(&mut self, order: OrderId, step: Transition) -> Option<bool> {
        let (_, voucher, status) = self.orders.get_mut(&order)?;
        let (from, to) = match step {
            Transition::Pay(_) => (OrderStatus::Unpaid, OrderStatus::Paid),
            Transition::Cancel => (OrderStatus::Unpaid, OrderStatus::Cancelled),
            Transition::Use => (OrderStatus::Paid, OrderStatus::Used),
            Transition::StartRefund => (OrderStatus::Paid, OrderStatus::Refunding),
            Transition::FinishRefund => (OrderStatus::Refunding, OrderStatus::Refunded),
        };
        if *status != from {
            return Some(false);
        }
        *status = to;
        if !to.is_live()
            && let Some(Some(stock)) = self.stock.get_mut(voucher)
        {
            *stock += 1;
        }
        Some(true)
    }

    fn count(&self, voucher: VoucherId) -> OrderCounts {
        let mut counts = OrderCounts::default();
        for (_, of, status) in self.orders.values() {
            if *of == voucher {
                match status {
                    OrderStatus::Pending => panic!("never written"),
                    OrderStatus::Unpaid => counts.unpaid += 1,
                    OrderStatus::Paid => counts.paid += 1,
                    OrderStatus::Used => counts.used += 1,
                    OrderStatus::Cancelled => counts.cancelled += 1,
                    OrderStatus::Refunding => counts.refunding += 1,
                    OrderStatus::Refunded => counts.refunded += 1,
                }
            }
        }
        let held = self.dead.iter().filter(|((_, _, of), (_, holds))| *of == voucher && *holds);
        counts.dead_letters = held.count() as u64;
        counts
    }
}

async fn random_steps_agree_with_plain_maps(w: &World) {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut units = BTreeMap::new();
    for of_sale in [Some(4), Some(12), None] {
        units.insert(w.sale(of_sale).await, of_sale);
    }
    let vouchers: Vec<_> = units.keys().copied().collect();
    let mut model = Model { stock: units.clone(), units, orders: BTreeMap::new(), dead: BTreeMap::new() };
    for _ in 0..1500 {
        let mut any = || {
            let voucher = vouchers[random.random_range(0..vouchers.len())];
            claim(voucher, random.random_range(1..=USERS), random.random_range(0..NUMBERS))
        };
        let one = any();
        let batch: Vec<_> = (0..random_size(one.order)).map(|_| any()).collect();
        match random.random_range(0..10) {
            0..4 => persist(w, &mut model, &batch).await,
            4 => {
                w.storage
                    .selling
                    .orders
                    .insert_dead_letter(&logged(one), DeadReason::Refused, "", NOON)
                    .await
                    .unwrap();
                model.insert_dead_letter(one, DeadReason::Refused);
            }
            5 => step(w, &mut model, one.order, None).await,
            6 => step(w, &mut model, one.order, Some(Transition::Cancel)).await,
            7 => step(w, &mut model, one.order, Some(Transition::Use)).await,
            8 => step(w, &mut model, one.order, Some(Transition::StartRefund)).await,
            _ => step(w, &mut model, one.order, Some(Transition::FinishRefund)).await,
        }
        compare(w, &model, one).await;
    }
    compare_lists(w, &model).await;
}

fn random_size(order: OrderId) -> u64 {
    1 + (order.get() >> 4) % 5
}

async fn persist(w: &World, model: &mut Model, claims: &[Claim]) {
    let known = |claim: &Claim| {
        let key = (claim.order, claim.user, claim.voucher);
        let order = model.orders.get(&claim.order).map(|order| (order.0, order.1));
        model.dead.contains_key(&key) || order == Some((claim.user, claim.voucher))
    };
    // Repeats of a claim are known to change nothing; the rest goes through the model.
    let mut seen = BTreeSet::new();
    let mut repeats = Vec::new();
    let mut fresh = Vec::new();
    for claim in sorted(claims) {
        let repeat = known(&claim) || !seen.insert((claim.order, claim.user, claim.voucher));
        repeats.push(repeat);
        if !repeat {
            fresh.push(claim);
        }
    }
    let mut expected = model.persist(&fresh).into_iter();
    let logged: Vec<_> = sorted(claims).into_iter().map(logged).collect();
    let answers = w.storage.selling.orders.persist(&logged, NOON).await.unwrap();
    for (answer, repeat) in answers.iter().zip(repeats) {
        let expected = if repeat {
            PersistOutcome::Repeat
        } else {
            match expected.next().unwrap() {
                None => PersistOutcome::Written { deadline: Some(NOON + Duration::from_secs(900)) },
                Some(reason) => PersistOutcome::DeadLetter(reason),
            }
        };
        assert_eq!(*answer, expected, "{claims:?}");
    }
}

/// Sorts claims as the log hands them out: oldest first.
fn sorted(claims: &[Claim]) -> Vec<Claim> {
    let mut claims = claims.to_vec();
    claims.sort_by_key(|claim| claim.order);
    claims
}

/// `None`: pay.
async fn step(w: &World, model: &mut Model, order: OrderId, step: Option<Transition>) {
    let step = match step {
        Some(step) => step,
        None if !model.orders.contains_key(&order) => return,
        None => {
            let payment =
                w.storage.selling.payments.start(order, mallbox_storage::Cents::new(1), NOON).await.unwrap();
            Transition::Pay(payment.id)
        }
    };
    let answer = w.storage.selling.orders.step(order, step, NOON).await.unwrap();
    let done = match answer {
        TransitionOutcome::Done(_) => Some(true),
        TransitionOutcome::Stands(_) => Some(false),
        TransitionOutcome::Unknown => None,
    };
    assert_eq!(done, model.step(order, step), "{order} {step:?}");
}

async fn compare(w: &World, model: &Model, one: Claim) {
    let held = w.storage.selling.orders.holding(one.voucher, one.user).await.unwrap();
    assert_eq!(held, model.holding(one.voucher, one.user));
    let counts = w.storage.selling.orders.count(one.voucher).await.unwrap();
    assert_eq!(counts, model.count(one.voucher));
    let stock = stock(w, one.voucher).await;
    assert_eq!(stock, model.stock[&one.voucher]);
    if let (Some(units), Some(stock)) = (model.units[&one.voucher], stock) {
        assert_eq!(units, stock + counts.held(), "the books of {}", one.voucher);
    }
}

async fn compare_lists(w: &World, model: &Model) {
    let orders = &w.storage.selling.orders;
    for user in (1..=USERS).map(UserId::new) {
        let list = orders.of_user(user, Page::new(1, 1000)).await.unwrap();
        let plain = |order: &Order| (order.id, order.voucher, order.status);
        let of_user = model.orders.iter().rev().filter(|(_, order)| order.0 == user);
        let expected: Vec<_> = of_user.map(|(id, order)| (*id, order.1, order.2)).collect();
        assert_eq!(list.iter().map(plain).collect::<Vec<_>>(), expected);
    }
    let unpaid = orders.unpaid(OrderId::new(0), 1000).await.unwrap();
    let expected = model.orders.iter().filter(|(_, order)| order.2 == OrderStatus::Unpaid).map(|(id, _)| *id);
    assert_eq!(unpaid.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let letters = letters(w).await;
    let found: BTreeMap<_, _> = letters
        .iter()
        .map(|letter| {
            ((letter.order, letter.user, letter.voucher), (letter.reason.as_str(), letter.holds_unit))
        })
        .collect();
    let expected = model.dead.iter().map(|(key, (reason, holds))| (*key, (reason.code(), *holds)));
    assert_eq!(found, expected.collect());
    assert_eq!(letters.len(), model.dead.len());
}
