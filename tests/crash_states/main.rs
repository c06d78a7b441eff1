//! All kinds of disks that a power cut could leave, built from recorded writes: each one opens, its ledger
//! balances, and every acknowledged effect persists.
//!
//! `tests/power_cut/` copies the disk of a running mall: the kernel decided what had reached it. Here the
//! real binary runs on a file system that records every write, sync, rename and removal, and the crash model
//! of `tests/write_recorder/` builds the disks that *any* kernel could have left: at each sync and between
//! them, with any subset of the blocks, lengths and names that no sync covers. The recorded runs are an
//! import, sales with clients through a stop and a kill, and starts on some of the disks built before.
//!
//! `MALLBOX_STATES` sets the number of states (50,000 by hand), `MALLBOX_SEED` repeats a plan, and
//! `MALLBOX_KEEP=DIR` keeps the states that broke a promise. `MALLBOX_DURABILITY=process`, which acknowledges
//! without waiting for the disk, proves the test able to fail. So does `MALLBOX_WITHOUT_SYNCS=NAME`, which
//! leaves all syncs of the files and directories out whose names begin so, such as `segment-`, `wal` or
//! `mall.sqlite-wal`: what a mall that forgot them would leave.

#[path = "../common/mod.rs"]
mod common;

mod alarms;
mod enumeration;
mod marks;
mod opened;
mod recorded;

use anyhow::ensure;
use mallbox_test_write_recorder::{Disk, Plan};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use common::dice::{Dice, number_from};
use enumeration::Enumeration;
use recorded::{Recorded, Site};

/// States without `MALLBOX_STATES`.
const STATES: u64 = 300;
/// One in this number of states is served by the binary.
const SERVED_EVERY: u64 = 100;
const SERVED_EVERY_BY_HAND: u64 = 1_000;
/// States of one set of recorded runs. A set must be enumerated before its sessions expire, after 30 minutes.
const STATES_PER_ROUND: u64 = 5_000;
/// States of one recorded recovery.
const STATES_PER_RECOVERY: u64 = 150;

#[test]
#[cfg_attr(
    not(feature = "fuse-tests"),
    ignore = "needs root and /dev/fuse; tests/run turns it on where they are there"
)]
fn every_state_after_a_power_cut_opens_with_all_that_was_acknowledged() -> anyhow::Result<()> {
    let states = number_from("MALLBOX_STATES");
    let mut dice = Dice::from_environment("crash_states");
    let site = Site::new()?;
    let served_every = if states.is_some() { SERVED_EVERY_BY_HAND } else { SERVED_EVERY };
    let mut enumeration = Enumeration::new(&site, served_every)?;
    let mut left = states.unwrap_or(STATES);
    while left > 0 {
        let count = left.min(STATES_PER_ROUND);
        round(&mut enumeration, count, &mut dice)?;
        left -= count;
    }
    for (warning, count) in enumeration.alarms.warnings() {
        println!("crash_states: {count} warnings: {warning}");
    }
    println!("crash_states: {}", enumeration.tally);
    ensure!(enumeration.tally.failures == 0, "promises were broken; what each state showed is above");
    Ok(())
}

/// Records a set of runs, and checks `count` of their states.
fn round(enumeration: &mut Enumeration<'_>, count: u64, dice: &mut Dice) -> anyhow::Result<()> {
    let site = enumeration.site;
    let import = without_syncs(recorded::import(site)?);
    enumeration.run(&import, count / 10, dice)?;
    let selling = without_syncs(recorded::selling(site, dice)?);
    enumeration.run(&selling, count * 6 / 10, dice)?;
    let of_recoveries = count - count / 10 - count * 6 / 10;
    let recoveries = of_recoveries.div_ceil(STATES_PER_RECOVERY);
    for number in 0..recoveries {
        let recovery = without_syncs(recover(site, &selling, dice)?);
        let from = of_recoveries * number / recoveries;
        enumeration.run(&recovery, of_recoveries * (number + 1) / recoveries - from, dice)?;
    }
    Ok(())
}

/// Leaves the syncs out that `MALLBOX_WITHOUT_SYNCS` names.
fn without_syncs(mut recorded: Recorded) -> Recorded {
    if let Ok(prefix) = std::env::var("MALLBOX_WITHOUT_SYNCS") {
        let (trace, count) = recorded.trace.without_syncs_of(|name| name.starts_with(&prefix));
        println!("crash_states: {}, {count} syncs of {prefix} left out", recorded.name);
        recorded.trace = trace;
    }
    recorded
}

/// Cuts a run at a random position, and records the start on what is left.
fn recover(site: &Site, of: &Recorded, dice: &mut Dice) -> anyhow::Result<Recorded> {
    let cut = dice.below(of.trace.events.len() as u64);
    let cut = usize::try_from(cut)?;
    let mut disk = Disk::of(&of.trace.start);
    of.trace.events[..cut].iter().for_each(|event| disk.advance(event));
    let mut random = StdRng::seed_from_u64(dice.below(u64::MAX));
    let image = disk.cut(Plan::random(&mut random), &mut random);
    recorded::recovery(site, of, cut, image)
}
