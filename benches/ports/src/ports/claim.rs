//! Claims of a flash sale: accepted, sold out and already bought, after a number of buyers.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mallbox_storage::{ClaimOutcome, VoucherId};

use crate::bench::{Bench, Row};
use crate::claims::{TOKEN, claim, drain, expect_claim, fill, terms};
use crate::error::{BenchError, ensure};
use crate::load::{Load, drive};
use crate::mall::{Keep, Mall};
use crate::part::Draft;
use crate::settings::{Settings, Side};

const SALE: VoucherId = VoucherId::new(1);
/// The sale of the rush, in another partition.
const RUSH: VoucherId = VoucherId::new(2);
/// Units of the rush, and users who each claim twice.
const RUSH_UNITS: u64 = 100;
const RUSH_USERS: u64 = 1_000;
/// Buyers per second while a sale is filled, for the estimate.
const FILLED_PER_S: [f64; 2] = [30_000.0, 8_000.0];

pub(crate) fn parts(settings: &Settings) -> Vec<Draft> {
    let sizes: &[u64] = settings.pick(&[1_000, 10_000], &[1_000, 10_000, 100_000, 1_000_000, 10_000_000]);
    let measurements = 3 * settings.callers().len();
    let each = |side: Side, size: u64| {
        let filled = size as f64 / FILLED_PER_S[usize::from(side == Side::Servers)];
        let seconds = filled + measurements as f64 * settings.span().as_secs_f64() * 1.2 + 2.0;
        Draft { side: Some(side), size, measurements, seconds }
    };
    sizes.iter().flat_map(|size| settings.sides.iter().map(|side| each(*side, *size))).collect()
}

pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    let mall = bench.own_mall(Keep::Durably).await?;
    let buyers = bench.part.size;
    let sales = Arc::clone(&mall.storage.selling.sales);
    let _ = sales.put(terms(SALE, None), TOKEN).await?;
    fill(&mall.storage, SALE, buyers).await?;
    let memory = mall.memory().await?;
    let rush = rush(&mall, bench.settings.threads).await?;

    let mut claims = buyers;
    for callers in bench.settings.callers() {
        let load = Load::span(callers, bench.settings.span());
        let (first, ports) = (claims, Arc::clone(&sales));
        let timed = drive(load, move |number| {
            let (number, ports) = (first + number, Arc::clone(&ports));
            async move {
                let claim = claim(SALE, number + 1, number)?;
                expect_claim(&ports, claim, |outcome| outcome == ClaimOutcome::Accepted).await
            }
        })
        .await?;
        claims += timed.done;
        let taken = sales.units(SALE).await?.map(|units| units.taken);
        ensure(taken == Some(claims), || format!("{taken:?} units are taken after {claims} claims"))?;
        let note = format!("{}; {rush}", mall.durability());
        publish(
            bench,
            &mall,
            Row {
                operation: "accepted",
                callers: Some(callers),
                timed: Some(&timed),
                memory,
                note,
                ..Row::default()
            },
        );
    }
    refusals(bench, &mall, buyers..claims).await?;
    let pending = drain(&mall.storage.selling.order_log).await?;
    let orders: HashSet<_> = pending.iter().map(|logged| logged.claim.order).collect();
    let accepted = claims - buyers;
    ensure(orders.len() as u64 == accepted && pending.len() as u64 == accepted, || {
        format!(
            "{accepted} accepted claims, {} in the log, {} of them different",
            pending.len(),
            orders.len()
        )
    })?;
    mall.close().await
}

/// Measures claims that are refused: of users who never bought, and of the users behind `pending` claims.
/// (The fill's claims were settled without orders in the database, where an embedded mall looks settled
/// claims up.)
async fn refusals(bench: &mut Bench, mall: &Mall, pending: Range<u64>) -> Result<(), BenchError> {
    let (claims, buyers) = (pending.end, pending.end - pending.start);
    let sales = Arc::clone(&mall.storage.selling.sales);
    let _ = sales.put(terms(SALE, Some(claims)), TOKEN).await?;
    type Refused = fn(ClaimOutcome) -> bool;
    let kinds: [(&str, u64, u64, Refused); 2] = [
        ("sold out", claims + 1, 1_000_000_000, |outcome| outcome == ClaimOutcome::SoldOut),
        ("already bought", pending.start + 1, buyers, |outcome| {
            matches!(outcome, ClaimOutcome::AlreadyBought(_))
        }),
    ];
    for callers in bench.settings.callers() {
        for (operation, first, users, is_right) in kinds {
            let ports = Arc::clone(&sales);
            let timed = drive(Load::span(callers, bench.settings.span()), move |number| {
                let ports = Arc::clone(&ports);
                // Users in no order of memory.
                let user = first + number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % users;
                async move { expect_claim(&ports, claim(SALE, user, claims + number)?, is_right).await }
            })
            .await?;
            let note = mall.durability().to_owned();
            publish(
                bench,
                mall,
                Row { operation, callers: Some(callers), timed: Some(&timed), note, ..Row::default() },
            );
        }
    }
    let taken = sales.units(SALE).await?.map(|units| units.taken);
    ensure(taken == Some(claims), || format!("refused claims changed the units: {taken:?}, not {claims}"))
}

/// Lets more users than there are units claim twice each at once, and checks that every unit was sold once,
/// to another user. Returns a sentence.
async fn rush(mall: &Mall, callers: usize) -> Result<String, BenchError> {
    let sales = Arc::clone(&mall.storage.selling.sales);
    let _ = sales.put(terms(RUSH, Some(RUSH_UNITS)), TOKEN).await?;
    let accepted = Arc::new(AtomicU64::new(0));
    let (ports, count) = (Arc::clone(&sales), Arc::clone(&accepted));
    drive(Load::count(callers, 2 * RUSH_USERS, Duration::MAX), move |number| {
        let (ports, count) = (Arc::clone(&ports), Arc::clone(&count));
        async move {
            let outcome = ports.claim(claim(RUSH, 1 + number / 2, number)?).await?;
            count.fetch_add(u64::from(outcome == ClaimOutcome::Accepted), Ordering::Relaxed);
            Ok(())
        }
    })
    .await?;
    let sold = drain(&mall.storage.selling.order_log).await?;
    let users: HashSet<_> = sold.iter().map(|logged| logged.claim.user).collect();
    let counts = [accepted.load(Ordering::Relaxed), sold.len() as u64, users.len() as u64];
    ensure(counts == [RUSH_UNITS; 3], || {
        format!("{RUSH_UNITS} units in a rush, but accepted, sold and buyers are {counts:?}")
    })?;
    Ok(format!("in a rush of {RUSH_USERS} users with two claims each, {RUSH_UNITS} units sold once each"))
}

fn publish(bench: &mut Bench, mall: &Mall, row: Row<'_>) {
    bench.publish(Row { back_end: mall.side.back_end(), ..row });
}
