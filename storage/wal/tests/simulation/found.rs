//! Mistakes that the histories found in the design, each as a history of its own.

use std::cell::RefCell;
use std::rc::Rc;

use mallbox_storage_wal::{BLOCK_BYTES, Evidence, Options, Recovery, SyncPoint, Wal};

use crate::disk::{Crash, Disk};
use crate::medium::Simulated;

const EVIDENCE: Evidence = Evidence { log_id: 7, needed_from: 1, kept_from: 1, seen: 0 };
/// Two entries of a block each fill a segment.
const OPTIONS: Options = Options { segment_bytes: 2 * BLOCK_BYTES as u64, spare_segments: 1 };
/// Number of disks on which each history runs: what a power cut leaves differs.
const DISKS: u64 = 200;
/// The same for a history that needs a torn header, which one crash in 140 leaves.
const DISKS_FOR_TORN_HEADERS: u64 = 20 * DISKS;

/// Runs a history on disks of both kinds.
fn on_each_disk(history: impl Fn(&Rc<RefCell<Disk>>)) {
    on_disks(DISKS, history);
}

/// Runs a history on so many disks of each kind.
fn on_disks(disks: u64, history: impl Fn(&Rc<RefCell<Disk>>)) {
    for seed in 0..disks {
        for is_direct in [false, true] {
            history(&Rc::new(RefCell::new(Disk::new(seed, is_direct, false))));
        }
    }
}

fn read(disk: &Rc<RefCell<Disk>>) -> Recovery {
    read_with(disk, &EVIDENCE)
}

fn read_with(disk: &Rc<RefCell<Disk>>, evidence: &Evidence) -> Recovery {
    let recovery = Recovery::read(&Simulated(Rc::clone(disk)), evidence).unwrap();
    assert_eq!(recovery.damage, []);
    recovery
}

fn open(disk: &Rc<RefCell<Disk>>) -> Wal<Simulated> {
    read(disk).open(Simulated(Rc::clone(disk)), OPTIONS).unwrap()
}

/// Returns the bodies of all records but the empty ones, which starts write.
fn bodies(recovery: &Recovery) -> Vec<&[u8]> {
    recovery.records.iter().map(|record| &record.body[..]).filter(|body| !body.is_empty()).collect()
}

/// A process that ended before it synced the directory left a manifest that a power cut undid, with a segment
/// that the next process had written to.
#[test]
fn manifest_that_is_not_yet_durable_is_made_so_before_a_segment_is_used() {
    on_each_disk(|disk| {
        let mut wal = open(disk);
        wal.commit(b"one", SyncPoint::Now).unwrap();
        // The new segment, then the manifest, and then the directory.
        disk.borrow_mut().crash_at_call("sync_dir", 2);
        wal.commit(b"two", SyncPoint::Now).unwrap_err();
        disk.borrow_mut().restart(Crash::Process);
        open(disk).commit(b"three", SyncPoint::Now).unwrap();
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read(disk)), [&b"one"[..], b"three"]);
    });
}

/// A start that was cut short had copied some records of the tail, and the copies superseded all of them.
#[test]
fn tail_that_is_partly_written_again_is_still_whole() {
    on_each_disk(|disk| {
        let mut wal = open(disk);
        for body in [&b"one"[..], b"two", b"three", b"four"] {
            wal.commit(body, SyncPoint::Later).unwrap();
        }
        wal.sync().unwrap();
        disk.borrow_mut().restart(Crash::Process);
        disk.borrow_mut().crash_at_call("write_at", 1);
        read(disk).open(Simulated(Rc::clone(disk)), OPTIONS).unwrap_err();
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read(disk)), [&b"one"[..], b"two", b"three", b"four"]);
    });
}

/// After a failed sync the second one succeeded, and had written nothing.
#[test]
fn records_are_written_again_after_a_failed_sync() {
    on_each_disk(|disk| {
        let mut wal = open(disk);
        wal.commit(b"one", SyncPoint::Later).unwrap();
        disk.borrow_mut().fail_call("sync", 1);
        wal.sync().unwrap_err();
        wal.sync().unwrap();
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read(disk)), [&b"one"[..]]);
    });
}

/// The number of a failed record was used again in the same segment, and the failed one was found first.
#[test]
fn failed_record_does_not_stand_in_for_the_one_with_its_number() {
    on_each_disk(|disk| {
        let mut wal = open(disk);
        for call in ["write_at", "sync", "write"] {
            disk.borrow_mut().fail_call(call, 1);
            while wal.commit(b"failed", SyncPoint::Now).is_ok() {}
            wal.commit(b"written instead", SyncPoint::Now).unwrap();
            let last = wal.last();
            let recovery = read(disk);
            let found = recovery.records.iter().find(|record| record.number == last).unwrap();
            assert_eq!(found.body, b"written instead", "after a failed {call}");
        }
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read(disk)).last(), Some(&&b"written instead"[..]));
    });
}

/// A record in doubt, which a start had not found, was found after a later power cut.
#[test]
fn record_in_doubt_is_decided_once_by_the_next_start() {
    on_each_disk(|disk| {
        let mut wal = open(disk);
        wal.commit(b"one", SyncPoint::Now).unwrap();
        disk.borrow_mut().crash_at_call("sync", 1);
        let _ = wal.commit(b"in doubt", SyncPoint::Now);
        disk.borrow_mut().restart(Crash::Process);
        let decided = read(disk);
        drop(decided.open(Simulated(Rc::clone(disk)), OPTIONS).unwrap());
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read(disk)), bodies(&decided));
    });
}

/// A start wrote over the sole record of the newest epoch, in vain. The next start could not read that epoch
/// and took it again, in another segment, and a power cut brought the record back.
#[test]
fn epoch_that_cannot_be_read_is_not_taken_again() {
    on_disks(DISKS_FOR_TORN_HEADERS, |disk| {
        open(disk).prepare().unwrap();
        disk.borrow_mut().restart(Crash::Process);
        let released = Evidence { needed_from: 2, kept_from: 2, seen: 1, ..EVIDENCE };
        let start = || read_with(disk, &released).open(Simulated(Rc::clone(disk)), OPTIONS);
        disk.borrow_mut().crash_at_call("write_at", 1);
        start().unwrap_err();
        disk.borrow_mut().restart(Crash::Process);
        let mut wal = start().unwrap();
        wal.commit(b"one", SyncPoint::Now).unwrap();
        disk.borrow_mut().restart(Crash::Power);
        assert_eq!(bodies(&read_with(disk, &released)), [b"one"]);
    });
}
