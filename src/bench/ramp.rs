//! The highest rate that a server keeps up with: doubled until it misses the goal, narrowed down, confirmed.

use std::ops::RangeInclusive;

/// Rates to try, in requests per second.
const RATES: RangeInclusive<f64> = 1.0..=10_000_000.0;
/// The search ends when the lowest rate that misses the goal is no more than this above the highest that
/// meets it.
const PRECISION: f64 = 1.05;
/// A rate that fails its confirmation is lowered by this factor, so often.
const STEP_BACK: f64 = 0.9;
const STEPS_BACK_MAX: usize = 10;

/// How a trial ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// The server kept up.
    Met,
    /// The server did not keep up.
    Missed,
    /// The load generator was the limit: nothing is known of the server.
    GeneratorBound,
    /// There are too few claims left for the trial.
    OutOfClaims,
}

/// What ended a search, if not the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Generator,
    Claims,
}

impl Verdict {
    /// Returns what limits the search so far: a rate that the server misses is below every earlier limit.
    fn limit_after(self, before: Option<Limit>) -> Option<Limit> {
        match self {
            Self::Met => before,
            Self::Missed => None,
            Self::GeneratorBound => Some(Limit::Generator),
            Self::OutOfClaims => Some(Limit::Claims),
        }
    }
}

/// Length of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    Normal,
    /// Twice as long.
    Confirming,
}

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Found {
    /// Highest rate that met the goal, also for twice as long; `None` if no rate did.
    pub(super) rate: Option<f64>,
    /// What ended the search, if not the server.
    pub(super) limit: Option<Limit>,
}

/// Searches from a rate upwards. A rate counts as missed only if it misses twice: on a shared machine, one
/// trial in a row is often disturbed.
///
/// # Errors
/// That of the first trial that fails.
pub(super) fn search<E>(
    from: f64,
    mut trial: impl FnMut(f64, Length) -> Result<Verdict, E>,
) -> Result<Found, E> {
    let mut twice = |rate, length| match trial(rate, length)? {
        Verdict::Missed => trial(rate, length),
        other => Ok(other),
    };
    let (mut low, mut high) = (None, None);
    let mut rate = rounded(from);
    let mut limit = None;
    while RATES.contains(&rate) && (low.is_none() || high.is_none()) {
        let verdict = twice(rate, Length::Normal)?;
        limit = verdict.limit_after(limit);
        match verdict {
            Verdict::Met => low = Some(rate),
            // Of a rate beyond the generator only this is known: a lower one may tell more.
            Verdict::Missed | Verdict::GeneratorBound => high = Some(rate),
            Verdict::OutOfClaims => break,
        }
        let next = rounded(if high.is_none() { rate * 2.0 } else { rate / 2.0 });
        if next == rate {
            break;
        }
        rate = next;
    }
    while let (Some(met), Some(missed)) = (low, high)
        && missed / met > PRECISION
    {
        let middle = rounded((met * missed).sqrt());
        if middle <= met || middle >= missed {
            break;
        }
        let verdict = twice(middle, Length::Normal)?;
        limit = verdict.limit_after(limit);
        match verdict {
            Verdict::Met => low = Some(middle),
            Verdict::Missed | Verdict::GeneratorBound => high = Some(middle),
            Verdict::OutOfClaims => break,
        }
    }
    for _ in 0..STEPS_BACK_MAX {
        let Some(rate) = low else { break };
        let verdict = twice(rate, Length::Confirming)?;
        limit = verdict.limit_after(limit);
        match verdict {
            Verdict::Met => return Ok(Found { rate: low, limit }),
            Verdict::Missed | Verdict::GeneratorBound => {}
            Verdict::OutOfClaims => break,
        }
        low = Some(rounded(rate * STEP_BACK)).filter(|lower| *lower < rate && RATES.contains(lower));
    }
    Ok(Found { rate: None, limit })
}

/// Rounds a rate to three digits.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.abs().max(1.0).log10().floor() - 2.0).max(1.0);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Searches on a server that keeps up below `capacity`; trial numbers in `disturbed` miss anyway.
    fn found(capacity: f64, from: f64, disturbed: &[usize]) -> (Found, usize) {
        let mut trials = 0;
        let found = search(from, |rate, _| {
            trials += 1;
            let is_met = rate <= capacity && !disturbed.contains(&trials);
            Ok::<_, Infallible>(if is_met { Verdict::Met } else { Verdict::Missed })
        });
        (found.unwrap(), trials)
    }

    #[test]
    fn the_rate_is_found_within_five_percent_from_below_and_above() {
        for (capacity, from) in [(12_345.0, 1_000.0), (12_345.0, 100_000.0), (37.0, 1_000.0), (1e6, 5.0)] {
            let (found, trials) = found(capacity, from, &[]);
            let rate = found.rate.unwrap();
            assert!(
                rate <= capacity && rate * PRECISION * 1.01 >= capacity,
                "{capacity} from {from}: {rate}"
            );
            assert!(trials < 45 && found.limit.is_none(), "{trials} trials");
        }
    }

    #[test]
    fn one_disturbed_trial_decides_nothing() {
        let undisturbed = found(12_345.0, 1_000.0, &[]).0;
        for disturbed in 1..6 {
            assert_eq!(found(12_345.0, 1_000.0, &[disturbed]).0, undisturbed, "trial {disturbed}");
        }
    }

    #[test]
    fn a_rate_that_fails_its_confirmation_is_lowered() {
        let found = search(1_000.0, |rate, length| {
            let capacity = if length == Length::Confirming { 9_000.0 } else { 10_000.0 };
            Ok::<_, Infallible>(if rate <= capacity { Verdict::Met } else { Verdict::Missed })
        });
        let rate = found.unwrap().rate.unwrap();
        assert!((8_000.0..=9_000.0).contains(&rate), "{rate}");
    }

    #[test]
    fn a_server_that_never_meets_the_goal_has_no_rate() {
        assert_eq!(found(0.0, 1_000.0, &[]).0, Found { rate: None, limit: None });
    }

    #[test]
    fn a_generator_at_its_limit_is_said_to_be() {
        let found = search(1_000.0, |rate, _| {
            Ok::<_, Infallible>(if rate > 5_000.0 { Verdict::GeneratorBound } else { Verdict::Met })
        });
        let found = found.unwrap();
        let rate = found.rate.unwrap();
        assert!((4_750.0..=5_000.0).contains(&rate) && found.limit == Some(Limit::Generator), "{found:?}");
    }

    #[test]
    fn a_search_without_claims_ends() {
        let found = search(1_000.0, |rate, _| {
            Ok::<_, Infallible>(if rate > 5_000.0 { Verdict::OutOfClaims } else { Verdict::Met })
        });
        assert_eq!(found, Ok(Found { rate: Some(4_000.0), limit: Some(Limit::Claims) }));
        let none = search(1_000.0, |_, _| Ok::<_, Infallible>(Verdict::OutOfClaims));
        assert_eq!(none, Ok(Found { rate: None, limit: Some(Limit::Claims) }));
    }

    #[test]
    fn an_error_ends_the_search() {
        assert_eq!(search(1_000.0, |rate, _| Err::<Verdict, _>(rate)), Err(1_000.0));
    }
}
