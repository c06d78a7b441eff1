//! Ten units return after the sale was sold out, and ten new buyers come.

use super::reach::UNITS;
use crate::controller::Stage;
use crate::error::LadderError;
use crate::trace::EventKind;

pub(super) async fn strike(stage: &mut Stage<'_>) -> Result<(), LadderError> {
    // Half as many again as there are units.
    for user in 1..=UNITS + UNITS / 2 {
        stage.buy(0, user).await?;
    }
    stage.settle().await?;
    let buyers = stage.location.orders().await?;
    if buyers.len() as u64 != UNITS {
        return Err(LadderError::NotReached(format!("{} orders to cancel, not {UNITS}", buyers.len())));
    }
    for user in buyers {
        stage.give_back(user).await?;
    }
    stage.note(None, EventKind::UnitsReturned { units: UNITS });
    // Refused while nothing was left: rightly.
    stage.forget_refusals();
    for user in 101..=100 + UNITS {
        stage.buy(0, user).await?;
    }
    Ok(())
}
