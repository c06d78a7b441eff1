//! What each trigger does to a mall. A mall has no points at which it waits: the triggers strike between
//! replies.

use std::time::Duration;

use anyhow::bail;
use mallbox_bench_ladder::{Reply, Trigger};

use super::stage::{MallStage, SentClaim, UNITS};

/// Users who claim at once, more than there are units.
const RUSH: std::ops::RangeInclusive<u64> = 1..=UNITS + UNITS / 2;
/// Requests of a user.
const REQUESTS: usize = 3;
/// Users after the trigger.
const LATER: std::ops::RangeInclusive<u64> = 21..=20 + UNITS;
/// Claims accepted before a kill or a failover.
const BEFORE: u64 = UNITS / 2;
/// A user who claims before Redis fails over.
const FIRST: u64 = 40;
/// Time for which an instance is stopped: longer than the leases of the other rungs.
const STOPPED: Duration = Duration::from_millis(1_200);

/// Does to a mall what the trigger says.
pub(super) fn strike(trigger: Trigger, stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    match trigger {
        Trigger::ThreeAtOnce => three_at_once(stage),
        Trigger::StoppedBeforeWrite => stopped(stage),
        Trigger::StoppedBeforeRelease => bail!("a claim holds no lock that could be released late"),
        Trigger::Killed => killed(stage),
        Trigger::FailedOver => failed_over(stage),
        Trigger::Returned => returned(stage),
    }
}

fn three_at_once(stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    let sent = send_rush(stage)?;
    sent.into_iter().for_each(|claim| drop(stage.receive(claim)));
    Ok(())
}

/// Sends the requests of all users at once, those of a user to different instances.
fn send_rush(stage: &MallStage<'_>) -> anyhow::Result<Vec<SentClaim>> {
    let instances = stage.instances();
    RUSH.flat_map(|user| (0..REQUESTS).map(move |request| (request % instances, user)))
        .map(|(instance, user)| stage.send(instance, user))
        .collect()
}

/// Stops an instance in the middle of a rush; the same users claim at the other one meanwhile.
fn stopped(stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    let mut sent: Vec<_> = RUSH.map(|user| stage.send(0, user)).collect::<Result<_, _>>()?;
    stage.stop(0)?;
    under_way(&sent)?;
    sent.extend(RUSH.map(|user| stage.send(1, user)).collect::<Result<Vec<_>, _>>()?);
    std::thread::sleep(STOPPED);
    stage.resume(0)?;
    sent.into_iter().for_each(|claim| drop(stage.receive(claim)));
    // A call to a server that waited for the stopped instance may be over its time limit. The mall then asks
    // the user to try again.
    for user in stage.failed_users() {
        stage.insist(1, user)?;
    }
    Ok(())
}

/// Fails unless a claim is under way.
fn under_way(sent: &[SentClaim]) -> anyhow::Result<()> {
    if sent.iter().all(SentClaim::is_finished) {
        bail!("every claim had its reply before the trigger struck");
    }
    Ok(())
}

/// Kills the mall with accepted claims behind it and others under way.
fn killed(stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    for user in 1..=BEFORE {
        stage.buy(0, user)?;
    }
    let sent: Vec<_> = LATER.map(|user| stage.send(0, user)).collect::<Result<_, _>>()?;
    under_way(&sent)?;
    stage.kill_and_restart()?;
    sent.into_iter().for_each(|claim| drop(stage.receive(claim)));
    for user in (1..=BEFORE).chain(LATER) {
        stage.insist(0, user)?;
    }
    Ok(())
}

/// Loses the claims that were accepted while the replica was cut off and the database silent.
fn failed_over(stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    // What a claim reads of the database is in the mall's caches then, as it is in the middle of a sale.
    stage.buy(0, FIRST)?;
    stage.warm(0, 1..=BEFORE)?;
    stage.cut_off()?;
    for user in 1..=BEFORE {
        let reply = stage.buy(0, user)?;
        if reply != Some(Reply::Accepted) {
            bail!("a claim was not accepted while the database was silent: {reply:?}");
        }
    }
    stage.fail_over()?;
    for user in LATER {
        stage.insist(1, user)?;
    }
    Ok(())
}

fn returned(stage: &mut MallStage<'_>) -> anyhow::Result<()> {
    for user in RUSH {
        stage.buy(0, user)?;
    }
    let cancelled = stage.give_all_back()?;
    if cancelled != UNITS {
        bail!("{cancelled} orders were cancelled, not {UNITS}");
    }
    for user in LATER {
        stage.buy(0, user)?;
    }
    Ok(())
}
