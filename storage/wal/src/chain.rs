//! The chain of records over all segments: which records count, where the log ends, and what is missing.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use super::segment::{Contents, Record};

/// Damage of a log: something that was durable and cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Durable records are missing or unreadable.
    Records(RangeInclusive<u64>),
    /// A segment that the manifest names does not exist.
    Segment(String),
    /// Two files claim to be the same use of a segment.
    Epoch(u64),
    /// A segment contains records of another log.
    Foreign(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records(numbers) if numbers.start() == numbers.end() => {
                write!(formatter, "record {} is missing or unreadable", numbers.start())
            }
            Self::Records(numbers) => {
                write!(
                    formatter,
                    "records {} to {} are missing or unreadable",
                    numbers.start(),
                    numbers.end()
                )
            }
            Self::Segment(name) => write!(formatter, "segment {name} is missing"),
            Self::Epoch(epoch) => write!(formatter, "two segments are of epoch {epoch}"),
            Self::Foreign(name) => write!(formatter, "segment {name} contains records of another log"),
        }
    }
}

/// The records that count, and what is missing.
#[derive(Default, Debug)]
pub(crate) struct Chain {
    /// Readable records, ascending; without gaps from the first needed one on, unless there is damage.
    pub(crate) records: Vec<Record>,
    /// Number of the last record; the number before the first needed record if there is none.
    pub(crate) last: u64,
    /// The highest number known to be durable.
    pub(crate) durable: u64,
    /// Number of readable records cut off behind a torn one.
    pub(crate) cut: usize,
    pub(crate) damage: Vec<Damage>,
}

/// Puts the records of all segments in order.
///
/// Records from `needed_from` to the highest number that is known to be durable, by the records or by `seen`,
/// must be there. The first gap above is the torn tail: nothing behind the gap was acknowledged.
pub(crate) fn chain(mut segments: Vec<Contents>, needed_from: u64, seen: u64) -> Chain {
    segments.retain(|segment| segment.epoch > 0);
    segments.sort_by_key(|segment| segment.epoch);
    let named = segments.iter().map(|segment| segment.durable).max().unwrap_or(0);
    let durable = named.max(seen).max(needed_from.saturating_sub(1));
    let mut chain = Chain { durable, ..Chain::default() };
    for pair in segments.windows(2) {
        if pair[0].epoch == pair[1].epoch {
            chain.damage.push(Damage::Epoch(pair[0].epoch));
        }
    }
    let mut found = valid(segments);
    chain.damage.extend(missing(&found, needed_from, durable).map(Damage::Records));
    let mut end = durable;
    while found.contains_key(&(end + 1)) {
        end += 1;
    }
    chain.cut = found.split_off(&(end + 1)).len();
    chain.last = end;
    chain.records = found.into_iter().map(|(number, body)| Record { number, body }).collect();
    chain
}

/// Returns the bodies of the records that no later epoch supersedes, by number.
fn valid(segments: Vec<Contents>) -> BTreeMap<u64, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut below = u64::MAX;
    for segment in segments.into_iter().rev() {
        let records = segment.records.into_iter().filter(|record| record.number < below);
        found.extend(records.map(|record| (record.number, record.body)));
        below = below.min(segment.first);
    }
    found
}

/// Returns the ranges of missing numbers from `from` to `to`.
fn missing(
    found: &BTreeMap<u64, Vec<u8>>,
    from: u64,
    to: u64,
) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
    let there = found.range(from..).map(|(number, _)| *number).take_while(move |number| *number <= to);
    let ends = there.chain([to.saturating_add(1)]);
    let mut next = from;
    ends.filter_map(move |number| {
        let gap = (next < number).then(|| next..=number - 1);
        next = number.saturating_add(1);
        gap
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a segment whose records each name the number before as durable.
    fn segment(epoch: u64, first: u64, numbers: &[u64]) -> Contents {
        let records =
            numbers.iter().map(|number| Record { number: *number, body: epoch.to_le_bytes()[..1].to_vec() });
        let durable = numbers.last().map_or(0, |last| last - 1);
        Contents { epoch, first, records: records.collect(), durable, is_foreign: false }
    }

    fn numbers(chain: &Chain) -> Vec<u64> {
        chain.records.iter().map(|record| record.number).collect()
    }

    #[test]
    fn segments_form_one_chain_in_the_order_of_their_epochs() {
        let segments = vec![segment(3, 5, &[5, 6]), segment(2, 1, &[1, 2, 3, 4])];
        let chain = chain(segments, 1, 0);
        assert_eq!(
            (numbers(&chain), chain.last, chain.durable, chain.cut),
            (vec![1, 2, 3, 4, 5, 6], 6, 5, 0)
        );
        assert_eq!(chain.damage, []);
    }

    #[test]
    fn later_epoch_supersedes_records_from_its_first_number_on() {
        let segments = vec![segment(1, 1, &[1, 2, 3]), segment(2, 3, &[3, 4])];
        let chain = chain(segments, 1, 0);
        assert_eq!(numbers(&chain), [1, 2, 3, 4]);
        assert_eq!(chain.records[2].body, [2]);
        assert_eq!(chain.damage, []);
    }

    #[test]
    fn superseded_record_does_not_stand_in_for_an_unreadable_one() {
        // Record 3 of epoch 2 is unreadable; record 4 names 3 as durable.
        let chain = chain(vec![segment(1, 1, &[1, 2, 3]), segment(2, 3, &[4])], 1, 0);
        assert_eq!(chain.damage, [Damage::Records(3..=3)]);
    }

    #[test]
    fn records_behind_a_torn_one_are_cut_off() {
        let mut pipelined = segment(1, 1, &[1, 2, 4]);
        pipelined.durable = 2;
        let chain = chain(vec![pipelined], 1, 0);
        assert_eq!((numbers(&chain), chain.last, chain.cut, chain.damage), (vec![1, 2], 2, 1, vec![]));
    }

    #[test]
    fn missing_durable_records_are_damage_whoever_knows_of_them() {
        let by_records = chain(vec![segment(1, 1, &[1, 4, 7])], 1, 0);
        assert_eq!(by_records.damage, [Damage::Records(2..=3), Damage::Records(5..=6)]);
        let by_witness = chain(vec![segment(1, 1, &[1, 2])], 1, 4);
        assert_eq!(by_witness.damage, [Damage::Records(3..=4)]);
        assert_eq!(by_witness.last, 4, "their numbers are used");
    }

    #[test]
    fn records_below_the_first_needed_may_be_missing() {
        let chain = chain(vec![segment(4, 10, &[12, 13])], 12, 11);
        assert_eq!((numbers(&chain), chain.damage), (vec![12, 13], vec![]));
    }

    #[test]
    fn empty_log_ends_before_the_first_needed_record() {
        let chain = chain(vec![Contents::default()], 9, 8);
        assert_eq!((chain.last, chain.damage), (8, vec![]));
    }

    #[test]
    fn copied_segment_is_damage() {
        let segments = vec![segment(2, 1, &[1]), segment(2, 1, &[1])];
        assert_eq!(chain(segments, 1, 0).damage, [Damage::Epoch(2)]);
    }

    #[test]
    fn damage_names_what_is_missing() {
        let texts = [Damage::Records(4..=4), Damage::Records(4..=9), Damage::Segment("segment-2".to_owned())]
            .map(|damage| damage.to_string());
        assert_eq!(
            texts,
            [
                "record 4 is missing or unreadable",
                "records 4 to 9 are missing or unreadable",
                "segment segment-2 is missing"
            ]
        );
    }
}
