//! The situation that triggers bring a run into.

use std::time::Duration;

use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::rungs::LEASE;
use crate::trace::EventKind;

/// Units of the sale.
pub(crate) const UNITS: u64 = 10;
/// Time limit for a request to reach a point.
pub(super) const REACH_MAX: Duration = Duration::from_secs(10);
/// Time after the end of a lease at which Redis has surely dropped it.
const LEASE_MARGIN: Duration = Duration::from_millis(150);
/// The user whom a trigger strikes.
pub(super) const VICTIM: u64 = 1;

/// Waits until `number` requests or workers of an instance are held at `point`.
pub(super) async fn reach(
    stage: &Stage<'_>,
    instance: usize,
    point: Point,
    number: usize,
) -> Result<(), LadderError> {
    if stage.instance(instance)?.holds(point, number, REACH_MAX).await {
        return Ok(());
    }
    Err(LadderError::NotReached(format!("no request of instance {instance} reached {point:?}")))
}

/// Waits until every lease that began before has ended.
pub(super) async fn wait_for_leases(stage: &Stage<'_>) {
    tokio::time::sleep(LEASE + LEASE_MARGIN).await;
    stage.note(None, EventKind::LeaseOver);
}
