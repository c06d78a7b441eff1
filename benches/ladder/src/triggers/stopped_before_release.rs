//! A holder is stopped between its work and its release for longer than its lease. Its lock has a new holder
//! when it goes on, and a third request of the user comes then.

use std::time::{Duration, Instant};

use super::reach::{UNITS, VICTIM, reach, wait_for_leases};
use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::rungs::LEASE;
use crate::trace::EventKind;

/// Time that the third request has to come in beside the second.
const BESIDE_MAX: Duration = Duration::from_millis(700);
const LOOK_PAUSE: Duration = Duration::from_millis(5);

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    let point = stage.rung.scene.release.unwrap_or(Point::Releasing);
    // The first request finds nothing left, so that its user has no order yet.
    stage.location.open_sale(&stage.location.redis(), 0).await?;
    stage.instance(0)?.hold(point);
    let first = stage.send(0, VICTIM)?;
    reach(stage, 0, point, 1).await?;
    stage.stop(0)?;
    wait_for_leases(stage).await;
    stage.location.add_units(UNITS).await?;
    stage.note(None, EventKind::UnitsReturned { units: UNITS });
    stage.instance(1)?.hold(Point::Checked);
    let began = Instant::now();
    let second = stage.send(1, VICTIM)?;
    // Waits only as long as a lock without a lease keeps the second request out.
    let has_come = stage.instance(1)?.holds(Point::Checked, 1, BESIDE_MAX).await;
    stage.instance(0)?.let_go(point);
    stage.resume(0)?;
    stage.receive(first).await;
    if !has_come {
        reach(stage, 1, Point::Checked, 1).await?;
    }
    let third = stage.send(1, VICTIM)?;
    let asked = Instant::now();
    while stage.instance(1)?.held(Point::Checked) < 2 && !third.is_finished() && asked.elapsed() < BESIDE_MAX
    {
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    if has_come && began.elapsed() >= LEASE {
        return Err(LadderError::NotReached("the machine stalled for longer than a lease".to_owned()));
    }
    stage.instance(1)?.let_go(Point::Checked);
    stage.receive(second).await;
    stage.receive(third).await;
    Ok(())
}
