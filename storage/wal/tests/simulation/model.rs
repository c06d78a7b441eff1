//! What a log must contain: the records that its owner was told of, and those in doubt.

use std::collections::BTreeMap;

use mallbox_storage_wal::{Damage, Record};

type Body = Vec<u8>;

/// The owner's view of a log.
#[derive(Default, Debug)]
pub struct Model {
    /// Acknowledged records that were not released.
    acknowledged: BTreeMap<u64, Body>,
    /// Number of the last acknowledged record.
    pub last: u64,
    /// Number of the last record that survives a power cut.
    synced: u64,
    /// Number of the last record that must still be there.
    surviving: u64,
    /// Number of the last released record.
    pub released: u64,
    /// What each acknowledged record names as durable.
    named: BTreeMap<u64, u64>,
    /// Records written since the last sync: their numbers and bodies. One that failed may be found after a
    /// power cut that lost records acknowledged later.
    attempts: Vec<(u64, Body)>,
    /// Former attempts. Where a bit is flipped in the record that superseded one, it stands in.
    superseded: Vec<(u64, Body)>,
    /// Records in doubt that the last start found.
    found: Vec<Body>,
}

impl Model {
    /// Notes a record before it is written.
    pub fn attempt(&mut self, body: &[u8]) {
        self.attempts.push((self.last + 1, body.to_vec()));
    }

    /// Acknowledges the last attempt, which names `durable` as durable.
    pub fn acknowledge(&mut self, durable: u64) {
        let (_, body) = self.attempts.last().expect("an attempt precedes").clone();
        self.push(body, durable);
    }

    fn push(&mut self, body: Body, durable: u64) {
        self.last += 1;
        self.acknowledged.insert(self.last, body);
        self.named.insert(self.last, durable);
        self.surviving = self.last;
    }

    /// Notes a power cut: only synced records must still be there.
    pub fn lose_unsynced(&mut self) {
        self.surviving = self.surviving.min(self.synced);
    }

    pub fn synced(&mut self) {
        self.synced = self.last;
        self.superseded.extend(self.attempts.extract_if(.., |(number, _)| *number <= self.last));
    }

    pub fn release(&mut self, number: u64) {
        self.released = self.released.max(number);
        self.acknowledged = self.acknowledged.split_off(&(number + 1));
    }

    /// Compares an undamaged log with the model: acknowledged records must be there, and nothing that was
    /// never written. A power cut may have lost unsynced records, and a flipped bit the last record.
    ///
    /// # Errors
    /// Says what is lost or invented.
    pub fn compare(&mut self, found: &[Record], last: u64, has_flips: bool) -> Result<(), String> {
        let found: BTreeMap<u64, &Body> = found
            .iter()
            .filter(|record| record.number > self.released)
            .map(|record| (record.number, &record.body))
            .collect();
        let end = found.last_key_value().map_or(self.released, |(number, _)| *number);
        if found.len() as u64 != end - self.released || last != end {
            return Err(format!("records up to {last} have gaps: {:?}", found.keys()));
        }
        let surviving = if has_flips { self.surviving.min(self.confirmed()) } else { self.surviving };
        if let Some(lost) = self.acknowledged.keys().find(|number| **number <= surviving && **number > end) {
            return Err(format!("record {lost} is lost"));
        }
        let is_written = |number: u64, body: &Body| {
            let record = (number, body.clone());
            self.acknowledged.get(&number) == Some(body)
                || ((number > surviving || has_flips) && self.attempts.contains(&record))
                || (has_flips && self.superseded.contains(&record))
        };
        if let Some(number) =
            found.iter().find(|(number, body)| !is_written(**number, body)).map(|found| found.0)
        {
            return Err(format!("record {number} was never written so"));
        }
        // What a power cut lost, or replaced by an earlier attempt, stays so.
        let differs = |number: &u64| self.acknowledged.get(number) != found.get(number).copied();
        if let Some(first) = self.acknowledged.keys().copied().find(differs) {
            self.acknowledged.split_off(&first);
            self.last = first - 1;
            self.surviving = self.surviving.min(self.last);
        }
        // The start writes an empty record behind those found.
        self.attempts.push((end + 1, Vec::new()));
        self.found = found.range(self.last + 1..).map(|(_, body)| (*body).clone()).collect();
        Ok(())
    }

    /// Takes over what [`compare`](Self::compare) found, once the log is open.
    pub fn opened(&mut self) {
        // What the entry names is at least what was named before.
        let durable = self.confirmed();
        for body in std::mem::take(&mut self.found).into_iter().chain([Vec::new()]) {
            self.push(body, durable);
        }
        self.synced();
    }

    /// Returns the number up to which no flipped bit goes unnoticed: surviving records name these as durable,
    /// or the owner does.
    fn confirmed(&self) -> u64 {
        let named = self.named.range(..=self.surviving).next_back();
        named.map_or(0, |(_, durable)| *durable).max(self.released)
    }

    /// Checks that damage is only named after a flipped bit, and that each missing record is named.
    ///
    /// # Errors
    /// Says which record is missing and not named, or that nothing explains the damage.
    pub fn explain(&self, damage: &[Damage], found: &[Record], has_flips: bool) -> Result<(), String> {
        let named = |number: u64| {
            damage.iter().any(|damage| match damage {
                Damage::Records(numbers) => numbers.contains(&number),
                _ => true,
            })
        };
        let is_there = |number: u64| found.iter().any(|record| record.number == number);
        let confirmed = self.acknowledged.range(..=self.confirmed());
        let unnamed =
            confirmed.map(|(number, _)| *number).find(|number| !is_there(*number) && !named(*number));
        if let Some(number) = unnamed {
            return Err(format!("record {number} is lost, and not named: {damage:?}"));
        }
        if has_flips { Ok(()) } else { Err(format!("nothing explains {damage:?}")) }
    }
}
