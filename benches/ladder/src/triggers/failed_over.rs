//! Redis fails over to a replica that lacks the newest writes.

use std::time::{Duration, Instant};

use super::reach::{UNITS, VICTIM, reach};
use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::rungs::LEASE;
use crate::scene::{InRedis, Victim};

const LOOK_PAUSE: Duration = Duration::from_millis(5);
/// Claims that the replica lacks.
const UNREPLICATED: u64 = UNITS / 2;

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    stage.cut_replication().await?;
    if stage.rung.scene.in_redis == InRedis::Stock { lose_stock(stage).await } else { lose_lock(stage).await }
}

/// The replica lacks the lock of a holder that is between check and write.
async fn lose_lock(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    let point = stage.rung.scene.stop.unwrap_or(Point::Checked);
    for instance in stage.instances() {
        instance.hold(point);
    }
    let first = stage.send(0, VICTIM)?;
    let began = Instant::now();
    reach(stage, 0, point, 1).await?;
    stage.fail_over()?;
    let second = stage.send(1, VICTIM)?;
    // A request that the lock keeps out does not reach the point.
    while stage.instance(1)?.held(point) == 0 && !second.is_finished() && began.elapsed() < LEASE / 4 * 3 {
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    if began.elapsed() >= LEASE {
        return Err(LadderError::NotReached("the machine stalled for longer than a lease".to_owned()));
    }
    for instance in stage.instances() {
        instance.let_go(point);
    }
    stage.receive(first).await;
    stage.receive(second).await;
    Ok(())
}

/// The replica lacks claims that were accepted; their worker has not written them yet.
async fn lose_stock(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    let worker = matches!(stage.rung.scene.victim, Victim::Worker(_)).then_some(Point::Dequeued);
    if let Some(point) = worker {
        stage.instance(0)?.hold(point);
    }
    for user in 1..=UNREPLICATED {
        stage.buy(0, user).await?;
        if user == 1
            && let Some(point) = worker
        {
            // The worker has the first message in hand, the others wait in Redis.
            reach(stage, 0, point, 1).await?;
        }
    }
    stage.fail_over()?;
    if let Some(point) = worker {
        stage.instance(0)?.let_go(point);
    }
    for user in 101..=100 + UNITS {
        stage.buy(0, user).await?;
    }
    Ok(())
}
