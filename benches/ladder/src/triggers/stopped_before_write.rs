//! A holder is stopped between check and write for longer than its lease; another instance comes in between.

use super::reach::{VICTIM, reach, wait_for_leases};
use crate::controller::Stage;
use crate::error::LadderError;
use crate::point::Point;
use crate::rungs::LEASE;

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    let point = stage.rung.scene.stop.unwrap_or(Point::Checked);
    stage.instance(0)?.hold(point);
    let first = stage.send(0, VICTIM)?;
    reach(stage, 0, point, 1).await?;
    stage.stop(0)?;
    wait_for_leases(stage).await;
    let mut second = stage.send(1, VICTIM)?;
    // A lock without a lease lets the second request wait until the first is over.
    let between = tokio::time::timeout(LEASE, &mut second).await;
    stage.instance(0)?.let_go(point);
    stage.resume(0)?;
    stage.receive(first).await;
    match between {
        Ok(Ok(reply)) => {
            let known = tokio::spawn(async move { reply });
            stage.receive(known).await;
        }
        _ => {
            stage.receive(second).await;
        }
    }
    Ok(())
}
