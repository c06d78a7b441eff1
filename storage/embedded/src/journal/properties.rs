//! Properties of the log's records for arbitrary bytes: checked on random input by the tests, and by the
//! fuzzer.

use std::collections::BTreeMap;

use mallbox_storage::{Claim, OrderId, Timestamp, UserId, VoucherId};

use super::codec::{self, Part};
use super::contents::{LogEvidence, sorted_out};

/// A reader of bytes from the front; yields zeros after the end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let length = N.min(self.0.len());
        let (front, rest) = self.0.split_at(length);
        taken[..length].copy_from_slice(front);
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    fn number(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn claim(&mut self) -> Claim {
        Claim {
            order: OrderId::new(self.number()),
            voucher: VoucherId::new(self.number()),
            user: UserId::new(self.number()),
            at: Timestamp::from_millis(i64::from_le_bytes(self.take())),
        }
    }
}

pub(crate) fn any_record_is_refused_or_is_what_would_be_written(bytes: &[u8]) {
    let (key, value) = bytes.split_at(bytes.len().min(10));
    is_refused_or_canonical(key, value);
}

/// Random input does not pass the checksum; the checks behind the checksum must hold as well.
pub(crate) fn a_record_with_a_right_checksum_is_too(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let key: [u8; 10] = bytes.take();
    let mut value = bytes.0.to_vec();
    value.extend(codec::checksum(&key, &value).to_le_bytes());
    is_refused_or_canonical(&key, &value);
}

fn is_refused_or_canonical(key: &[u8], value: &[u8]) {
    let Ok(part) = codec::decode(key, value) else { return };
    let (key_again, value_again) = codec::encode_part(part.commit, part.part, part.parts, &part.claims);
    assert_eq!((key_again.as_slice(), value_again.as_slice()), (key, value), "{part:?}");
}

pub(crate) fn no_damage_makes_another_claim(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let (commit, which, at, damage) = (bytes.number(), bytes.byte(), bytes.number(), bytes.take::<4>());
    let mut claims = Vec::new();
    while !bytes.0.is_empty() {
        claims.push(bytes.claim());
    }
    let parts: Vec<_> = codec::encode(commit, &claims).collect();
    let mut read = Vec::new();
    for (key, value) in &parts {
        read.extend(codec::decode(key, value).expect("what was written is read back").claims);
    }
    assert_eq!(read, claims);

    let (key, value) = &parts[usize::from(which) % parts.len()];
    let mut spoilt = [key.as_slice(), value].concat();
    let at = usize::try_from(at % spoilt.len() as u64).unwrap_or_default();
    for (byte, mask) in spoilt[at..].iter_mut().zip(damage) {
        *byte ^= mask;
    }
    let is_spoilt = spoilt != [key.as_slice(), value].concat();
    assert!(codec::decode(&spoilt[..10], &spoilt[10..]).is_err() == is_spoilt, "{damage:?} at {at}");
    let cut = &value[..at.min(value.len() - 1)];
    assert!(codec::decode(key, cut).is_err(), "cut off at {at}");
}

/// Checks a log of complete, torn and missing commits against a database that has seen some of the commits.
pub(crate) fn what_is_found_was_written_and_what_was_written_is_found(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let first = bytes.number();
    let near = |offset: u8| first.saturating_add(u64::from(offset % 16));
    let applied = near(bytes.byte());
    let seen = near(bytes.byte());
    let mut parts = BTreeMap::new();
    while !bytes.0.is_empty() {
        let [commit, part, of, count] = bytes.take();
        let (commit, parts_there) = (near(commit), u16::from(of % 4) + 1);
        let part = u16::from(part) % parts_there;
        let claims: Vec<Claim> = (0..count % 3).map(|_| bytes.claim()).collect();
        parts.insert((commit, part), Part { commit, part, parts: parts_there, claims });
    }
    let mut written: BTreeMap<u64, Vec<Claim>> = BTreeMap::new();
    for part in parts.values() {
        written.entry(part.commit).or_default().extend(&part.claims);
    }
    let is_whole = |commit: u64| {
        let mut mine = parts.range((commit, 0)..=(commit, u16::MAX)).map(|(_, part)| part);
        mine.clone().all(|part| usize::from(part.parts) == mine.clone().count()) && mine.next().is_some()
    };
    let witness = LogEvidence { applied, seen, ..LogEvidence::default() };
    let (content, faults) = sorted_out(parts.clone().into_values(), &witness);
    for (commit, claims) in &content.commits {
        assert!(*commit > applied && (is_whole(*commit) || !faults.is_empty()));
        assert_eq!(written.get(commit), Some(claims), "claims of commit {commit} were made up");
    }
    for commit in written.keys().filter(|commit| **commit > applied && is_whole(**commit)) {
        assert!(content.commits.contains_key(commit), "commit {commit} is lost");
    }
    if faults.is_empty() {
        assert!(content.last_commit.max(applied) >= seen && content.last_commit < u64::MAX);
        let expected = (applied..).skip(1).take(content.commits.len());
        assert!(content.commits.keys().copied().eq(expected), "there is a gap above {applied}");
    }
}
