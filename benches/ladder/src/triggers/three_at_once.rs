//! Every buyer sends three requests at once, and they meet between check and write. Later buyers find the
//! rest.

use std::time::Duration;

use super::reach::{REACH_MAX, UNITS};
use crate::controller::{SentRequest, Stage};
use crate::error::LadderError;

/// Buyers of the meeting: fewer than units, so that a unit too many for one of them is seen in every run.
const BUYERS: u64 = UNITS - 1;
/// Buyers after the meeting: more than there are units left.
const LATER: std::ops::RangeInclusive<u64> = 101..=106;
/// Requests of a buyer.
const REQUESTS: usize = 3;
/// The meeting ends when nobody came for so long.
const QUIET: Duration = Duration::from_millis(400);
/// A slow meeting lasts longer than others wait for a lock.
const SLOW: Duration = Duration::from_millis(900);
const LOOK_PAUSE: Duration = Duration::from_millis(10);

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    let meet = stage.rung.scene.meet;
    for instance in stage.instances() {
        if let Some(point) = meet {
            instance.hold(point);
        }
    }
    let sent = send(stage, 1..=BUYERS)?;
    if let Some(point) = meet {
        let quiet = if stage.rung.scene.is_slow { SLOW } else { QUIET };
        let all = sent.len();
        let (mut known, mut since) = (0, tokio::time::Instant::now());
        while known < all && (known == 0 || since.elapsed() < quiet) {
            if known == 0 && since.elapsed() > REACH_MAX {
                return Err(LadderError::NotReached(format!("no request reached {point:?}")));
            }
            tokio::time::sleep(LOOK_PAUSE).await;
            let held = stage.instances().map(|instance| instance.held(point)).sum();
            if held > known {
                (known, since) = (held, tokio::time::Instant::now());
            }
        }
        for instance in stage.instances() {
            instance.let_go(point);
        }
    }
    for request in sent {
        stage.receive(request).await;
    }
    for request in send(stage, LATER)? {
        stage.receive(request).await;
    }
    Ok(())
}

/// Sends the requests of all buyers at once, those of a buyer to different instances.
fn send(stage: &Stage<'_>, buyers: std::ops::RangeInclusive<u64>) -> Result<Vec<SentRequest>, LadderError> {
    let instances = usize::from(stage.rung.instances);
    let requests = buyers.flat_map(|user| (0..REQUESTS).map(move |request| (request % instances, user)));
    requests.map(|(instance, user)| stage.send(instance, user)).collect()
}
