//! One commit after the other, through the page cache and past it: time and CPU per commit, alternately.
//!
//! `cargo bench -p mallbox-storage-wal --bench commit [-- SECONDS]`. The log is in the system's temporary
//! directory (set `TMPDIR` to choose the disk). New segments are filled in the first second, which is not
//! counted, and recycled from then on, as in a mall whose orders keep up.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::time::{Duration, Instant};

use mallbox_storage_wal::{BLOCK_BYTES, Directory, Evidence, Options, Recovery, SyncPoint, Wal, WriteMode};
use rustix::time::{ClockId, clock_gettime};

const OPTIONS: Options = Options { segment_bytes: 4 << 20, spare_segments: 4 };
const EVIDENCE: Evidence = Evidence { log_id: 1, needed_from: 1, kept_from: 1, seen: 0 };
/// Bytes of a record: 32 a claim, for one claim, a block, and 16 blocks.
const BODIES: [usize; 3] = [32, 4_000, 65_000];
const ROUNDS: usize = 3;
const WARM_UP: Duration = Duration::from_secs(1);

fn main() {
    let seconds = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(3);
    println!(
        "{:<10}{:>12}{:>12}{:>14}{:>12}{:>12}",
        "mode", "bytes", "commits/s", "CPU us each", "p50 us", "p99 us"
    );
    for bytes in BODIES {
        for _ in 0..ROUNDS {
            for mode in [WriteMode::Buffered, WriteMode::Direct] {
                run(mode, bytes, Duration::from_secs(seconds));
            }
        }
    }
}

fn run(mode: WriteMode, bytes: usize, span: Duration) {
    let dir = tempfile::tempdir().unwrap();
    if mode == WriteMode::Direct && !Directory::takes_direct_writes(dir.path()).unwrap() {
        println!("direct: this file system takes no direct writes");
        return;
    }
    let directory = Directory::new(dir.path(), mode);
    let mut wal = Recovery::read(&directory, &EVIDENCE).unwrap().open(directory, OPTIONS).unwrap();
    let body = vec![7; bytes];
    commit_for(&mut wal, &body, WARM_UP);
    let cpu = thread_cpu();
    let (mut times, took) = commit_for(&mut wal, &body, span);
    let cpu = thread_cpu() - cpu;
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e6;
    let commits = times.len() as f64;
    println!(
        "{:<10}{:>12}{:>12.0}{:>14.1}{:>12.1}{:>12.1}",
        format!("{mode:?}").to_lowercase(),
        bytes.next_multiple_of(BLOCK_BYTES),
        commits / took.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / commits,
        at(50),
        at(99),
    );
}

/// Commits until the span is over, and releases what is older than 2,000 records.
fn commit_for(wal: &mut Wal<Directory>, body: &[u8], span: Duration) -> (Vec<Duration>, Duration) {
    let (mut times, began) = (Vec::new(), Instant::now());
    while began.elapsed() < span {
        let commit = Instant::now();
        wal.commit(body, SyncPoint::Now).unwrap();
        times.push(commit.elapsed());
        wal.release(wal.last().saturating_sub(2_000)).unwrap();
    }
    (times, began.elapsed())
}

fn thread_cpu() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}
