//! The expected verdicts: how each rung fails under each trigger. What is not in the table passes.

use crate::findings::Failure;
use crate::findings::Failure::{BooksOff, BoughtTwice, Lost, Oversold, RefusedWhileLeft, Stuck};
use crate::trigger::Trigger;
use crate::trigger::Trigger::{
    FailedOver, Killed, Returned, StoppedBeforeRelease, StoppedBeforeWrite, ThreeAtOnce,
};

/// A rung, a trigger, and all failures that follow.
type Row = (&'static str, Trigger, &'static [Failure]);

/// What is not in the table passes. A lock with a lease fails the stopped holder, whoever wrote it.
const TABLE: [Row; 41] = [
    ("0", ThreeAtOnce, &[Oversold, BoughtTwice]),
    ("0", Killed, &[BooksOff]),
    ("0", FailedOver, &[Oversold, BooksOff]),
    ("0b", ThreeAtOnce, &[BoughtTwice]),
    ("0b", Killed, &[BooksOff]),
    ("0b", FailedOver, &[Oversold, BooksOff]),
    ("0b", Returned, &[RefusedWhileLeft, BooksOff]),
    ("1", ThreeAtOnce, &[Oversold, BoughtTwice]),
    ("1c", ThreeAtOnce, &[RefusedWhileLeft]),
    ("2", ThreeAtOnce, &[BoughtTwice]),
    ("3", ThreeAtOnce, &[BoughtTwice]),
    ("5", ThreeAtOnce, &[BoughtTwice]),
    ("5", StoppedBeforeWrite, &[BoughtTwice]),
    ("6", StoppedBeforeWrite, &[BoughtTwice]),
    ("6", StoppedBeforeRelease, &[BoughtTwice]),
    ("6", Killed, &[Stuck]),
    ("6", FailedOver, &[BoughtTwice]),
    ("6b", StoppedBeforeWrite, &[BoughtTwice]),
    ("6b", StoppedBeforeRelease, &[BoughtTwice]),
    ("6b", FailedOver, &[BoughtTwice]),
    ("6c", StoppedBeforeWrite, &[BoughtTwice]),
    ("6c", StoppedBeforeRelease, &[BoughtTwice]),
    ("6c", FailedOver, &[BoughtTwice]),
    ("7", StoppedBeforeWrite, &[BoughtTwice]),
    ("7", StoppedBeforeRelease, &[BoughtTwice]),
    ("7", FailedOver, &[BoughtTwice]),
    ("8", StoppedBeforeWrite, &[BoughtTwice]),
    ("8", FailedOver, &[BoughtTwice]),
    ("8b", ThreeAtOnce, &[RefusedWhileLeft]),
    ("8b", StoppedBeforeWrite, &[BoughtTwice]),
    ("8b", FailedOver, &[BoughtTwice]),
    ("9", StoppedBeforeWrite, &[BoughtTwice]),
    ("9", FailedOver, &[BoughtTwice]),
    ("9b", StoppedBeforeWrite, &[BoughtTwice]),
    ("10", Killed, &[Lost, BooksOff]),
    ("10", FailedOver, &[Oversold, BooksOff]),
    // The replica also counts order ids anew: an order with an id that is taken is taken for a repetition.
    ("11", FailedOver, &[Lost]),
    ("11b", FailedOver, &[Oversold, BooksOff]),
    ("11c", Killed, &[BoughtTwice, BooksOff]),
    ("11c", FailedOver, &[Oversold, BooksOff]),
    ("14", FailedOver, &[Lost]),
];

/// Returns how a rung fails under a trigger; nothing if it passes.
#[must_use]
pub fn expected(rung: &str, trigger: Trigger) -> &'static [Failure] {
    let row = TABLE.iter().find(|(id, by, _)| *id == rung && *by == trigger);
    row.map_or(&[], |(_, _, failures)| failures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::RUNGS;

    #[test]
    fn every_row_is_about_a_rung_that_its_trigger_can_strike() {
        for (id, trigger, failures) in TABLE {
            assert!(!failures.is_empty(), "{id} passes {trigger:?}: leave the row out");
            let Some(rung) = RUNGS.iter().find(|rung| rung.id == id) else {
                assert!(["13", "14"].contains(&id), "{id} is no rung");
                continue;
            };
            assert!(rung.has(trigger), "{trigger:?} cannot strike rung {id}");
        }
        let keys: std::collections::HashSet<_> = TABLE.iter().map(|(id, by, _)| (id, by)).collect();
        assert_eq!(keys.len(), TABLE.len(), "a row is there twice");
    }

    #[test]
    fn a_lock_with_a_lease_fails_the_stopped_holder_unless_the_database_fences() {
        for rung in RUNGS.iter().filter(|rung| rung.scene.has_lease()) {
            let failures = expected(rung.id, Trigger::StoppedBeforeWrite);
            assert_eq!(failures.is_empty(), rung.id == "9e", "rung {}", rung.id);
        }
    }
}
