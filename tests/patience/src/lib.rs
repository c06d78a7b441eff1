//! Time limits of tests that adapt to the machine: every limit is written for an idle machine and multiplied
//! by [`slowness`] before a test fails.
//!
//! The machine is measured when a limit is about to decide, by a fixed amount of work on the waiting thread.
//! A machine that becomes busy in the middle of a run is therefore noticed, an idle one keeps strict limits,
//! and a successful wait measures nothing.
//!
//! Reasons and figures: `src/decisions/0030-time-limits-of-tests.md`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Wall time of [`work`] in an unoptimised build on an idle core; 25 ms on the machine the limits were
/// written for.
const WORK_IDLE: Duration = Duration::from_millis(30);
/// Long enough for the scheduler to preempt the thread several times.
const WORK_STEPS: u64 = 5_000_000;
/// A higher factor counts as an outlier of one measurement.
const SLOWNESS_MAX: f64 = 40.0;
/// Lifetime of a measurement, so that a test with many limits does not keep a core busy.
pub const MEASUREMENT_TTL: Duration = Duration::from_secs(2);

/// Returns `limit` times [`slowness`], for timeouts set in advance, such as a socket's.
#[must_use]
pub fn scaled(limit: Duration) -> Duration {
    limit.mul_f64(slowness())
}

/// Returns whether `elapsed` is within `limit` on the current machine. Measures the machine only if an idle
/// one would fail.
#[must_use]
pub fn is_within(elapsed: Duration, limit: Duration) -> bool {
    elapsed < limit || elapsed < scaled(limit)
}

/// Repeats a call until success, for `limit` at most. Returns the last error.
///
/// For preconditions of a test rather than its subject: on a busy machine the product's own timeouts may
/// expire.
pub fn until_ok<T, E>(limit: Duration, mut call: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    const PAUSE: Duration = Duration::from_millis(100);
    let deadline = Deadline::after(limit);
    loop {
        match call() {
            Err(_) if !deadline.is_over() => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
}

/// Deadline of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    began: Instant,
    limit: Duration,
}

impl Deadline {
    /// Returns a deadline `limit` from now, measured on an idle machine.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    /// Returns whether the deadline has passed. Measures the machine only if the deadline would have passed
    /// on an idle one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !is_within(self.began.elapsed(), self.limit)
    }

    /// Returns the time since the wait began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the remaining time on the machine in its current state, for calls that take a timeout.
    #[must_use]
    pub fn left(&self) -> Duration {
        scaled(self.limit).saturating_sub(self.began.elapsed())
    }
}

/// Returns the factor by which the machine has been slower than an idle one during the process: 1 or more.
///
/// The highest measurement counts. Otherwise a load that pauses during a measurement would end a wait delayed
/// by the load itself.
#[must_use]
pub fn slowness() -> f64 {
    static LATEST: Mutex<Option<(Instant, f64)>> = Mutex::new(None);
    let mut latest = LATEST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match *latest {
        Some((at, slowness)) if at.elapsed() < MEASUREMENT_TTL => slowness,
        before => {
            let slowness = before.map_or(1.0, |(_, slowness)| slowness).max(measure());
            *latest = Some((Instant::now(), slowness));
            slowness
        }
    }
}

/// Returns whether the machine is at least twice as slow as an idle one: requests may have exceeded time
/// limits of the mall.
#[must_use]
pub fn is_busy() -> bool {
    slowness() >= 2.0
}

/// Compares the wall time of fixed work with an idle machine's, and with the CPU time of the thread: an
/// optimised build does the work faster and shares the core just as much.
fn measure() -> f64 {
    let (began, cpu_began) = (Instant::now(), thread_cpu());
    work();
    let (wall, cpu) = (began.elapsed(), thread_cpu().saturating_sub(cpu_began));
    let idle = WORK_IDLE.min(cpu.max(Duration::from_millis(1)));
    (wall.as_secs_f64() / idle.as_secs_f64()).clamp(1.0, SLOWNESS_MAX)
}

fn work() {
    let mut state = 1_u64;
    for step in 0..WORK_STEPS {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
    }
}

fn thread_cpu() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}
