//! What each trigger does to a run.

mod failed_over;
mod killed;
mod reach;
mod returned;
mod stopped_before_release;
mod stopped_before_write;
mod three_at_once;

pub(crate) use self::reach::UNITS;
use crate::controller::Stage;
use crate::error::LadderError;
use crate::trigger::Trigger;

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
