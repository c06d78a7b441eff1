//! What each trigger does to a run.

mod failed_over;
mod killed;
mod returned;
mod stopped_before_release;
mod stopped_before_write;
mod three_at_once;

use std::time::Duration;

use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::rungs::LEASE;
use crate::trigger::Trigger;

/// Units of the sale.
pub(crate) const UNITS: u64 = 10;
/// Time limit for a request to reach a point.
const REACH_MAX: Duration = Duration::from_secs(10);
/// Time after the end of a lease at which Redis has surely dropped it.
const LEASE_MARGIN: Duration = Duration::from_millis(150);
/// The user whom a trigger strikes.
const VICTIM: u64 = 1;

/// Does to a run what the trigger says.
pub(crate) async fn strike(trigger: Trigger, stage: &mut Stage<'_>) -> Result<(), LadderError> {
    match trigger {
        Trigger::ThreeAtOnce => three_at_once::strike(stage).await,
        Trigger::StoppedBeforeWrite => stopped_before_write::strike(stage).await,
        Trigger::StoppedBeforeRelease => stopped_before_release::strike(stage).await,
        Trigger::Killed => killed::strike(stage).await,
        Trigger::FailedOver => failed_over::strike(stage).await,
        Trigger::Returned => returned::strike(stage).await,
    }
}

/// Waits until `number` requests or workers of an instance are held at `point`.
async fn reach(stage: &Stage<'_>, instance: usize, point: Point, number: usize) -> Result<(), LadderError> {
    if stage.instance(instance)?.holds(point, number, REACH_MAX).await {
        return Ok(());
    }
    Err(LadderError::NotReached(format!("no request of instance {instance} reached {point:?}")))
}

/// Waits until every lease that began before has ended.
async fn wait_for_leases(stage: &Stage<'_>) {
    tokio::time::sleep(LEASE + LEASE_MARGIN).await;
    stage.note(None, crate::trace::EventKind::LeaseOver);
}
