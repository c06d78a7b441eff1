//! One history of a log from a seed: writes, failing calls, crashes, starts, flipped bits.

use std::cell::RefCell;
use std::rc::Rc;

use mallbox_storage_wal::{BLOCK_BYTES, Evidence, Options, Recovery, Repair, SyncPoint, Wal, WalError};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::disk::{Crash, Disk, Faults};
use crate::medium::Simulated;
use crate::model::Model;

const LOG_ID: u64 = 0x6d61_6c6c;
/// Upper bound on attempts to start: by then the disk of the simulation works again.
const STARTS_MAX: usize = 60;

/// What happened in a run.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    pub commits: u64,
    pub failed_commits: u64,
    pub crashes: u64,
    pub failed_starts: u64,
    pub torn_tails: u64,
    pub flips: u64,
    pub damaged: u64,
    pub rebuilt_manifests: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.commits += other.commits;
        self.failed_commits += other.failed_commits;
        self.crashes += other.crashes;
        self.failed_starts += other.failed_starts;
        self.torn_tails += other.torn_tails;
        self.flips += other.flips;
        self.damaged += other.damaged;
        self.rebuilt_manifests += other.rebuilt_manifests;
    }
}

/// A finished run.
pub struct Outcome {
    pub counts: Counts,
    /// Each call of the disk, if wanted.
    pub trace: Option<String>,
    /// What was lost, invented or wrongly named.
    pub failure: Option<String>,
}

/// Runs the history of a seed.
pub fn run(seed: u64, is_traced: bool) -> Outcome {
    let mut run = Run::new(seed, is_traced);
    let failure = run.live().err();
    let trace = run.disk.borrow_mut().trace.take();
    Outcome { counts: run.counts, trace, failure }
}

struct Run {
    chance: SmallRng,
    disk: Rc<RefCell<Disk>>,
    options: Options,
    sync: SyncPoint,
    faults: Faults,
    model: Model,
    has_flips: bool,
    counts: Counts,
}

impl Run {
    fn new(seed: u64, is_traced: bool) -> Self {
        let mut chance = SmallRng::seed_from_u64(seed);
        let disk = Disk::new(chance.random(), chance.random_bool(0.5), is_traced);
        let blocks: u64 = chance.random_range(2..12);
        let options =
            Options { segment_bytes: blocks * BLOCK_BYTES as u64, spare_segments: chance.random_range(0..3) };
        let sync = if chance.random_bool(0.75) { SyncPoint::Now } else { SyncPoint::Later };
        let faults = match chance.random_range(0..3) {
            0 => Faults::default(),
            1 => Faults { io: 0.03, full: 0.0 },
            _ => Faults { io: 0.01, full: 0.3 },
        };
        let disk = Rc::new(RefCell::new(disk));
        let (model, counts) = (Model::default(), Counts::default());
        Self { chance, disk, options, sync, faults, model, has_flips: false, counts }
    }

    /// Runs some lives of the log, each ended by a crash.
    fn live(&mut self) -> Result<(), String> {
        let lives = self.chance.random_range(1..7);
        for life in 0..lives {
            let Some(mut wal) = self.start()? else { return Ok(()) };
            self.write_for_a_while(&mut wal)?;
            drop(wal);
            let crash = if self.chance.random_bool(0.6) { Crash::Power } else { Crash::Process };
            self.crash(crash);
            if life + 1 == lives || !self.chance.random_bool(0.15) {
                continue;
            }
            if self.disk.borrow_mut().flip_bit().is_some() {
                self.has_flips = true;
                self.counts.flips += 1;
            }
        }
        self.start().map(drop)
    }

    fn crash(&mut self, crash: Crash) {
        self.counts.crashes += 1;
        self.disk.borrow_mut().restart(crash);
        if crash == Crash::Power {
            self.model.lose_unsynced();
        }
    }

    /// Starts the log, though crashes and failing calls may interrupt each attempt. `None` if damage was
    /// named, as it should.
    fn start(&mut self) -> Result<Option<Wal<Simulated>>, String> {
        for attempt in 0..STARTS_MAX {
            let is_troubled = attempt < STARTS_MAX / 2;
            self.disk.borrow_mut().faults = if is_troubled { self.faults } else { Faults::default() };
            if is_troubled && self.chance.random_bool(0.3) {
                self.disk.borrow_mut().crash_within(12);
            }
            if let Some(started) = self.try_start()? {
                return Ok(started);
            }
            self.counts.failed_starts += 1;
            if self.disk.borrow().is_crashed() {
                let crash = if self.chance.random_bool(0.6) { Crash::Power } else { Crash::Process };
                self.crash(crash);
            }
        }
        Err("the log does not start on a disk that works".to_owned())
    }

    /// Returns `None` if a call failed, `Some(None)` if damage was named.
    fn try_start(&mut self) -> Result<Option<Option<Wal<Simulated>>>, String> {
        let medium = Simulated(Rc::clone(&self.disk));
        let released = self.model.released;
        let evidence =
            Evidence { log_id: LOG_ID, needed_from: released + 1, kept_from: released + 1, seen: released };
        let Ok(recovery) = Recovery::read(&medium, &evidence) else { return Ok(None) };
        self.disk.borrow_mut().note(format_args!("{:?} {:?}", recovery.damage, recovery.repairs));
        if !recovery.damage.is_empty() {
            self.counts.damaged += 1;
            self.model.explain(&recovery.damage, &recovery.records, self.has_flips)?;
            return Ok(Some(None));
        }
        self.model.compare(&recovery.records, recovery.last, self.has_flips)?;
        let Ok(wal) = recovery.open(medium, self.options) else { return Ok(None) };
        for repair in &recovery.repairs {
            match repair {
                Repair::Manifest => self.counts.rebuilt_manifests += 1,
                Repair::TornTail { .. } => self.counts.torn_tails += 1,
            }
        }
        self.model.opened();
        if wal.last() != self.model.last {
            return Err(format!("opened at {}, not at {}", wal.last(), self.model.last));
        }
        Ok(Some(Some(wal)))
    }

    fn write_for_a_while(&mut self, wal: &mut Wal<Simulated>) -> Result<(), String> {
        let steps = self.chance.random_range(0..25);
        self.disk.borrow_mut().faults = self.faults;
        if self.chance.random_bool(0.7) {
            self.disk.borrow_mut().crash_within(60);
        }
        for _ in 0..steps {
            if self.disk.borrow().is_crashed() {
                break;
            }
            match self.chance.random_range(0..10) {
                0 => {
                    let number = self.chance.random_range(self.model.released..=self.model.last);
                    self.model.release(number);
                    let _ = wal.release(number);
                }
                1 => drop(wal.prepare()),
                2 => {
                    if wal.sync().is_ok() {
                        self.model.synced();
                    }
                }
                _ => self.commit(wal)?,
            }
        }
        Ok(())
    }

    fn commit(&mut self, wal: &mut Wal<Simulated>) -> Result<(), String> {
        let length = self.chance.random_range(0..3 * BLOCK_BYTES);
        let length = if self.chance.random_bool(0.5) { length } else { length.min(40) };
        let body: Vec<u8> = (0..length).map(|_| self.chance.random()).collect();
        self.model.attempt(&body);
        let durable = wal.durable();
        match wal.commit(&body, self.sync) {
            Ok(()) => {
                self.counts.commits += 1;
                self.model.acknowledge(durable);
                if self.sync == SyncPoint::Now {
                    self.model.synced();
                }
                Ok(())
            }
            Err(WalError::Io(_)) => {
                self.counts.failed_commits += 1;
                Ok(())
            }
            Err(error @ WalError::TooLong { .. }) => Err(error.to_string()),
        }
    }
}
