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
    /// Groups that were written from the number after the last acknowledged one on, and failed.
    attempts: Vec<Vec<Body>>,
}

impl Model {
    /// Notes a group before it is written.
    pub fn attempt(&mut self, group: &[Body]) {
        self.attempts.push(group.to_vec());
    }

    /// Acknowledges the last attempt, whose records name `durable` as durable.
    pub fn acknowledge(&mut self, durable: u64) {
        let group = self.attempts.pop().expect("an attempt precedes");
        self.attempts.clear();
        for body in group {
            self.last += 1;
            self.acknowledged.insert(self.last, body);
            self.named.insert(self.last, durable);
        }
        self.surviving = self.last;
    }

    /// Notes a power cut: only synced records must still be there.
    pub fn lose_unsynced(&mut self) {
        self.surviving = self.surviving.min(self.synced);
    }

    /// Returns the records in doubt, to be written again.
    pub fn in_doubt(&self) -> Vec<Body> {
        self.attempts.last().cloned().unwrap_or_default()
    }

    pub fn synced(&mut self) {
        self.synced = self.last;
    }

    pub fn release(&mut self, number: u64) {
        self.released = self.released.max(number);
        self.acknowledged = self.acknowledged.split_off(&(number + 1));
    }

    /// Compares an undamaged log with the model: acknowledged records must be there, and nothing that was never
    /// written. A power cut may have lost unsynced records, and a flipped bit the last group.
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
        for (number, body) in &self.acknowledged {
            match found.get(number) {
                Some(there) if *there != body => return Err(format!("record {number} is another one")),
                None if *number <= surviving => return Err(format!("record {number} is lost")),
                _ => {}
            }
        }
        let beyond: Vec<&Body> = found.range(self.last + 1..).map(|(_, body)| *body).collect();
        let is_written = |attempt: &Vec<Body>| {
            attempt.len() >= beyond.len() && beyond.iter().zip(attempt).all(|(one, other)| *one == other)
        };
        if !beyond.is_empty() && !self.attempts.iter().any(is_written) {
            return Err(format!("records behind {} were never written", self.last));
        }
        if end < self.last {
            self.acknowledged.split_off(&(end + 1));
            self.attempts.clear();
            self.last = end;
            self.surviving = self.surviving.min(end);
        }
        // The start writes an empty record behind those found.
        let group: Vec<Body> = beyond.into_iter().cloned().chain([Vec::new()]).collect();
        self.attempt(&group);
        Ok(())
    }

    /// Takes over what [`compare`](Self::compare) found, once the log is open.
    pub fn opened(&mut self) {
        let found = self.attempts.last().expect("compared before").len() as u64 - 1;
        self.acknowledge(self.last + found);
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
