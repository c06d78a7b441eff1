//! A kill of everything in the middle of a sale, and what is left of the claims that were accepted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::settings::CompareBench;
use super::subject::{DRAIN_TIMEOUT, Subject};
use crate::bench::drive::{Arrivals, load_of, make_claims};
use crate::bench::load::Progress;
use crate::bench::rush::Claims;
use crate::bench::watch;

/// Part of the users whose claims are answered before the kill.
const BEFORE_KILL: u64 = 4;
/// Longest wait for these answers.
const SALE_TIMEOUT: Duration = Duration::from_secs(20);

/// What is left after the kill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AfterKill {
    /// Claims accepted before the kill.
    pub(super) accepted: u64,
    /// Accepted claims whose users hold no unit afterwards.
    pub(super) lost: u64,
    /// Second orders of a user, and orders beyond those of accepted claims and of claims in doubt.
    pub(super) unmatched: u64,
    /// From the begin of the restart to the last order.
    pub(super) recovery: Duration,
}

impl AfterKill {
    /// Whether every accepted claim became one order, and nothing else did.
    pub(super) fn is_exact(self) -> bool {
        self.lost == 0 && self.unmatched == 0
    }
}

/// Kills the mall and the bench's own servers in the middle of a sale, starts them again, and stops the mall
/// once all orders are written. Servers that the bench did not start run on.
pub(super) fn measure(bench: &CompareBench, subject: &mut Subject) -> anyhow::Result<AfterKill> {
    let sale = subject.last_sale();
    let claims = Claims::new(Arc::clone(&subject.mall.crowd.tokens), &[sale]).remembered();
    let load = load_of(&bench.generator, &subject.mall.addresses, &Arrivals::Closed);
    let progress = Progress::default();
    let threads = bench.generator.threads;
    let driven = std::thread::scope(|scope| {
        let driver = scope.spawn(|| make_claims(&load, threads, &claims, &progress));
        let began = Instant::now();
        while progress.answered() < bench.users as u64 / BEFORE_KILL && began.elapsed() < SALE_TIMEOUT {
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(subject, &progress)?;
        let driven = driver.join().map_err(|_| anyhow::anyhow!("the load panicked"))?;
        driven.context("the load ended before the kill")
    })?;
    let outcomes = driven.outcomes;
    if outcomes.accepted == 0 {
        bail!("no claim was accepted before the kill");
    }
    // An error of a mall whose servers are gone leaves a claim in doubt as well.
    let in_doubt = outcomes.lost + outcomes.rejected;
    if driven.next >= bench.users && in_doubt == 0 {
        bail!("every claim was answered before the kill: pass more --users");
    }
    let began = Instant::now();
    if let Some(servers) = &mut subject.servers {
        servers.restart()?;
    }
    subject.mall.restart()?;
    watch::drained(&subject.mall.addresses, DRAIN_TIMEOUT)?;
    let recovery = began.elapsed();
    subject.mall.stop()?;
    let buyers: HashSet<_> = claims.buyers().collect();
    if buyers.len() as u64 != outcomes.accepted {
        bail!("{} claims were accepted of {} users", outcomes.accepted, buyers.len());
    }
    let (holders, orders) = subject.mall.holdings(sale)?;
    let of_buyers = holders.iter().filter(|user| buyers.contains(user)).count() as u64;
    let of_others = holders.len() as u64 - of_buyers;
    let second_orders = orders.saturating_sub(holders.len() as u64);
    Ok(AfterKill {
        accepted: outcomes.accepted,
        lost: outcomes.accepted - of_buyers,
        unmatched: second_orders + of_others.saturating_sub(in_doubt),
        recovery,
    })
}

/// Kills all processes at once, and stops the load.
fn kill(subject: &mut Subject, progress: &Progress) -> anyhow::Result<()> {
    let Subject { mall, servers, .. } = subject;
    std::thread::scope(|scope| {
        if let Some(servers) = servers {
            scope.spawn(|| servers.kill());
        }
        let killed = mall.kill();
        progress.stop();
        killed
    })
}
