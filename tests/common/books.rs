//! Whether what is on the disk keeps the promises, read through the ports.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{OrderId, OrderStatus, Page, PaymentFaults, Storage, UserId};

use super::audit::first;
use super::ledger::{Claim, Ledger, Outcome, Step};

/// More orders than anybody has.
const ALL: u32 = 100_000;
/// The only one: nobody else has the mall open.
const WORKER: &str = "check";

/// What was found on the disk.
#[derive(Clone, Copy, Default, Debug)]
pub struct Found {
    /// Units that somebody holds.
    pub live: u64,
    /// Accepted claims that were not in the record yet.
    pub pending: u64,
    /// Claims without an answer that are there all the same.
    pub unanswered_but_there: u64,
    /// Units left.
    pub left: u64,
}

/// Whether an order may stand there after this step.
pub fn fits(step: Option<(Step, Outcome)>, status: OrderStatus) -> bool {
    use OrderStatus::{Cancelled, Paid, Pending, Unpaid};
    match step {
        None => matches!(status, Pending | Unpaid),
        Some((Step::Pay, Outcome::Done)) => status == Paid,
        Some((Step::Cancel, Outcome::Done)) => status == Cancelled,
        Some((Step::Pay, Outcome::Unknown)) => matches!(status, Pending | Unpaid | Paid),
        Some((Step::Cancel, Outcome::Unknown)) => matches!(status, Pending | Unpaid | Cancelled),
    }
}

/// Holds the ledger against a mall that nobody else has open.
pub async fn check(storage: &Storage, ledger: &Ledger) -> anyhow::Result<Found> {
    ensure!(
        ledger.surprised == 0,
        "{} answers that no mall may give:\n{}",
        ledger.surprised,
        first(&ledger.surprises)
    );
    let mut waiting = waiting(storage, ledger).await?;
    let mut found =
        Found { pending: waiting.values().map(|orders| orders.len() as u64).sum(), ..Found::default() };
    let mut faults = Vec::new();
    for (number, person) in ledger.people.iter().enumerate() {
        let mut there = HashMap::new();
        for order in storage.orders.of_user(person.id, Page::new(1, ALL)).await? {
            if order.voucher == ledger.sale {
                there.insert(order.id, order.status);
            }
        }
        for order in waiting.remove(&person.id).unwrap_or_default() {
            there.insert(order, OrderStatus::Pending);
        }
        check_person(ledger, number, &there, &mut found, &mut faults);
    }
    for (person, orders) in &waiting {
        faults.push(format!("user {person}, who is not in the crowd, waits for {orders:?}"));
    }
    ensure!(faults.is_empty(), "{} promises are broken:\n{}", faults.len(), first(&faults));
    check_sums(storage, ledger, &mut found).await?;
    Ok(found)
}

fn check_person(
    ledger: &Ledger,
    number: usize,
    there: &HashMap<OrderId, OrderStatus>,
    found: &mut Found,
    faults: &mut Vec<String>,
) {
    let user = ledger.people[number].id;
    let mut promised = HashSet::new();
    for (order, step) in ledger.orders(number) {
        if !promised.insert(order) {
            faults.push(format!("user {user} was promised order {order} twice"));
        }
        match there.get(&order) {
            None => faults.push(format!("order {order} of user {user} ({step:?}) is lost")),
            Some(status) if !fits(step, *status) => {
                faults.push(format!("order {order} of user {user} is {status:?} after {step:?}"));
            }
            Some(_) => {}
        }
    }
    let unanswered = there.keys().filter(|order| !promised.contains(order)).count() as u64;
    let may_be_there = ledger.tries[number].last().is_some_and(|last| last.claim == Claim::Unknown);
    if unanswered > u64::from(may_be_there) {
        faults.push(format!("user {user} has {there:?} but was only promised {promised:?}"));
    }
    let live = there.values().filter(|status| status.is_live()).count() as u64;
    if live > 1 {
        faults.push(format!("user {user} holds {live} units: {there:?}"));
    }
    found.live += live;
    found.unanswered_but_there += unanswered;
}

/// Claims of the sale that are in the log and not in the record, by user.
async fn waiting(storage: &Storage, ledger: &Ledger) -> anyhow::Result<HashMap<UserId, Vec<OrderId>>> {
    let mut waiting = HashMap::<UserId, Vec<OrderId>>::new();
    // From an earlier check.
    storage.order_log.reclaim(WORKER).await?;
    loop {
        let taken = storage.order_log.take(WORKER, 10_000, std::time::Duration::ZERO).await?;
        if taken.is_empty() {
            return Ok(waiting);
        }
        for claim in taken.into_iter().map(|logged| logged.claim) {
            // What was settled just before the crash may be handed out again.
            if claim.voucher == ledger.sale && storage.orders.get(claim.order).await?.is_none() {
                waiting.entry(claim.user).or_default().push(claim.order);
            }
        }
    }
}

/// Stock, counts and payments of the sale, each against the orders that were found one by one.
async fn check_sums(storage: &Storage, ledger: &Ledger, found: &mut Found) -> anyhow::Result<()> {
    let voucher = storage.vouchers.get(ledger.sale).await?.context("the sale is gone")?;
    let sale = voucher.sale.context("the sale is no sale any more")?;
    let count = storage.orders.count(ledger.sale).await?;
    ensure!(count.dead_letters == 0 && count.doubles == 0, "there are dead letters or doubles: {count:?}");
    let held = count.held() + found.pending;
    ensure!(held == found.live, "orders hold {held} units, people {}", found.live);
    ensure!(found.live <= ledger.units, "{} units of {} are sold", found.live, ledger.units);
    let stock = ledger.units - count.held();
    ensure!(sale.stock == Some(stock), "the record's stock is {:?} and should be {stock}", sale.stock);
    let units = storage.sales.put(sale.terms).await?;
    found.left = ledger.units - found.live;
    ensure!(
        units.left() == Some(found.left) && units.taken == found.live,
        "memory would say {units:?}, {} are taken",
        found.live
    );
    let faults = storage.payments.faults().await?;
    ensure!(faults == PaymentFaults::default(), "payments and orders disagree: {faults:?}");
    let now = SystemClock.now();
    let open = storage.payments.unsettled(now + std::time::Duration::from_secs(1), ALL).await?;
    let unknown = ledger.promises().unknown;
    ensure!(open.len() as u64 <= unknown, "{} payments are open, {unknown} steps have no answer", open.len());
    Ok(())
}
