//! The retry queue under a hundred thousand callers at once.
//!
//! Every caller submits a task whose only segment fails four times (two panics, two results missing) and
//! passes the fifth time. The mall's clock is moved by hand. In the end every task has passed once, and the
//! queue is empty.
//!
//! `cargo bench -p mallbox --bench retries [-- TASKS]`, 100,000 tasks by default

#[path = "../tests/mall/base/fails_four_times.rs"]
mod fails_four_times;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::mall::base::chores::Chores;
use mallbox::mall::base::retry::{FirstTry, RetryPolicy, RetryQueue, Segment, Submission, Work};
use mallbox::mall::{Clock as _, Context, ManualClock, Settings};
use mallbox_storage::{RetryLimits, Timestamp};
use tokio::task::JoinSet;

use fails_four_times::FailsFourTimes;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const KIND: &str = "bench";

fn main() {
    let tasks = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    fails_four_times::silence();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(tasks));
}

async fn measure(tasks: u64) {
    let dir = tempfile::tempdir().expect("a place for temporary files");
    let options = mallbox_storage_embedded::EmbeddedOptions::new(dir.path().join("mall"));
    let storage = mallbox_storage_embedded::open(options).await.expect("an empty directory opens");
    let clock = Arc::new(ManualClock::new(NOON));
    let context = Context::new(storage, clock.clone(), TimeZone::UTC, Arc::new(Settings::default()));
    let segment = Arc::new(FailsFourTimes::default());
    let policy = RetryPolicy {
        limits: RetryLimits { tasks, bytes: 1 << 30 },
        concurrency: 512,
        breaker: None,
        ..RetryPolicy::default()
    };
    let work = Work::new(KIND, vec![segment.clone() as Arc<dyn Segment>], policy);
    let queue = RetryQueue::new(context, vec![work]);
    let chores = Chores::new(clock.clone(), queue.chores());

    let began = Instant::now();
    let mut callers = JoinSet::new();
    for number in 0..tasks {
        let queue = queue.clone();
        let payload: Arc<[u8]> = vec![7; 64].into();
        callers.spawn(async move {
            queue.submit(KIND, Submission { key: number.to_string(), group: None, payload }).await
        });
    }
    let outcomes = callers.join_all().await;
    let reported = outcomes.iter().filter(|outcome| matches!(outcome, Ok(FirstTry::Retries(_)))).count();
    println!("{reported} of {tasks} callers were told after {:.1?}", began.elapsed());
    for seconds in [10, 100, 100, 1_000] {
        let began = Instant::now();
        clock.advance(Duration::from_secs(seconds));
        chores.run_all_due(clock.now()).await;
        println!("{} runs so far; this round {:.1?}", segment.runs.load(Ordering::Relaxed), began.elapsed());
    }
    let counts = queue.metrics().await.expect("the store responds").remove(0).counts;
    let passed = segment.passed.load(Ordering::Relaxed);
    println!("{passed} passed in {:.1?}; open {}, failed {}", began.elapsed(), counts.open, counts.failed);
    println!("highest resident memory: {} MiB", peak_mib().unwrap_or(0));
    assert_eq!((passed, segment.runs.load(Ordering::Relaxed)), (tasks, tasks * 5));
    assert_eq!((counts.open, counts.failed), (0, 0));
}

/// Reads the highest resident memory from Linux's `/proc`.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1024)
}
