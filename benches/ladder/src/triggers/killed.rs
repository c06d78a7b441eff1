//! An instance is killed at its worst step, started again, and asked again.

use std::time::{Duration, Instant};

use super::reach::{VICTIM, reach, wait_for_leases};
use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::reply::Reply;
use crate::scene::Victim;

/// Buyers whose claims are accepted before the worker is killed.
const ACCEPTED: u64 = 5;
/// Buyers after the kill.
const LATER: std::ops::RangeInclusive<u64> = 101..=104;
/// Time after which a user who is still refused counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(3);
const AGAIN_PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    match stage.rung.scene.victim {
        Victim::Request(point) => kill_request(stage, point).await?,
        Victim::Worker(point) => kill_worker(stage, point).await?,
    }
    for user in LATER {
        stage.buy(0, user).await?;
    }
    Ok(())
}

async fn kill_request(stage: &mut Stage<'_>, point: Point) -> Result<(), LadderError> {
    stage.instance(0)?.hold(point);
    let first = stage.send(0, VICTIM)?;
    reach(stage, 0, point, 1).await?;
    stage.kill_and_restart(0).await?;
    stage.receive(first).await;
    if stage.rung.scene.has_lease() {
        wait_for_leases(stage).await;
    }
    let began = Instant::now();
    while !matches!(stage.buy(0, VICTIM).await?, Some(Reply::Accepted | Reply::AlreadyBought)) {
        if began.elapsed() > STUCK_AFTER {
            stage.is_stuck(VICTIM);
            break;
        }
        tokio::time::sleep(AGAIN_PAUSE).await;
    }
    Ok(())
}

async fn kill_worker(stage: &mut Stage<'_>, point: Point) -> Result<(), LadderError> {
    stage.instance(0)?.hold(point);
    for user in 1..=ACCEPTED {
        stage.buy(0, user).await?;
    }
    reach(stage, 0, point, 1).await?;
    stage.kill_and_restart(0).await
}
