//! The ports by name, and how each is planned and measured.

use crate::bench::Bench;
use crate::error::BenchError;
use crate::part::{Draft, Part};
use crate::ports;
use crate::settings::Settings;

macro_rules! ports {
    ($($module:ident $name:literal $about:literal)*) => {
        /// Names of the ports, each with a line about what is measured.
        pub const PORTS: &[(&str, &str)] = &[$(($name, $about)),*];

        fn drafts(port: &str, settings: &Settings) -> Vec<Draft> {
            match port {
                $($name => ports::$module::parts(settings),)*
                _ => Vec::new(),
            }
        }

        /// Measures the part.
        pub(crate) async fn measure(bench: &mut Bench) -> Result<(), BenchError> {
            match &*bench.part.port {
                $($name => ports::$module::measure(bench).await,)*
                other => Err(BenchError::Wrong(format!("no port is named {other}"))),
            }
        }
    };
}

ports! {
    claim "claim" "claims of a flash sale: accepted, sold out and already bought, by number of buyers"
    order_log "order-log" "accepted claims: hand-out, acknowledgement, and replay after a consumer died"
    geo "geo" "places within 5 km, beside GEOSEARCH; every result is compared"
    sign_ins "sign-ins" "daily sign-ins, beside SETBIT per user and month and per day"
    visitors "visitors" "unique visitors and the error of the estimate, beside PFADD and PFCOUNT"
    feed "feed" "feeds: a page from the inbox, a page pulled from the database, push to all fans"
    likes "likes" "likes of one note and of many, beside ZADD"
    follows "follows" "follows in common and new follows, beside SINTER"
    votes "votes" "votes for one review and for many, beside INCR and UPDATE"
    sessions "sessions" "sessions: begin, find, end"
    rate_limits "rate-limits" "rate limits of one key and of many, beside INCR with EXPIRE"
    ids "ids" "unique ids: AUTO_INCREMENT, INCR, blocks, a counter, UUID v4 and v7"
    locks "locks" "locks: acquire and release, hand-over, fairness under 64 waiters"
    deadlines "deadlines" "payment deadlines: the delay queue beside a job that polls a table"
    cache "cache" "cache strategies under a stampede, with the loads of the database counted"
}

/// Returns the parts of a run of these ports, in the order of measuring. An unknown name has none.
#[must_use]
pub fn plan(names: &[&str], settings: &Settings) -> Vec<Part> {
    let parts = |name: &&str| {
        let port = (*name).to_owned();
        let part = move |Draft { side, size, measurements, seconds }| Part {
            port: port.clone(),
            side,
            size,
            measurements,
            seconds,
        };
        drafts(name, settings).into_iter().map(part)
    };
    names.iter().flat_map(parts).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::settings::{Effort, Side};

    fn settings(effort: Effort, sides: &[Side]) -> Settings {
        Settings { effort, threads: 64, sides: sides.to_vec() }
    }

    fn all() -> Vec<&'static str> {
        PORTS.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn every_port_has_parts_with_names_of_their_own_on_every_side() {
        for effort in [Effort::Quick, Effort::Full] {
            for side in [Side::Directory, Side::Servers] {
                let parts = plan(&all(), &settings(effort, &[side]));
                let ids: BTreeSet<String> = parts.iter().map(Part::id).collect();
                assert_eq!(ids.len(), parts.len(), "{ids:?}");
                for name in all() {
                    let of_port = parts.iter().filter(|part| part.port == name);
                    assert!(of_port.clone().count() > 0, "{name} is not measured on {side:?}");
                    assert!(of_port.clone().all(|part| part.measurements > 0 && part.seconds > 0.0));
                    assert!(of_port.clone().all(|part| part.side.is_none_or(|of_part| of_part == side)));
                }
            }
        }
        assert!(plan(&["nothing"], &settings(Effort::Full, &[Side::Directory])).is_empty());
    }

    #[test]
    fn a_quick_run_is_estimated_at_five_minutes_at_most_and_a_full_run_has_the_great_sizes() {
        let both = [Side::Directory, Side::Servers];
        let seconds = |parts: &[Part]| parts.iter().map(|part| part.seconds).sum::<f64>();
        assert!(seconds(&plan(&all(), &settings(Effort::Quick, &both))) <= 300.0);
        let full = plan(&all(), &settings(Effort::Full, &both));
        assert!(seconds(&full) > 1_800.0, "{}", seconds(&full));
        let greatest = |port: &str| full.iter().filter(|part| part.port == port).map(|part| part.size).max();
        assert_eq!(
            [greatest("claim"), greatest("visitors"), greatest("geo")],
            [Some(10_000_000), Some(10_000_000), Some(1_000_000)]
        );
    }
}
