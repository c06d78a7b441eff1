//! Time limits of tests, which follow the machine: every limit is written for an idle machine and is multiplied by
//! [`slowness`] before a test fails.
//!
//! The machine is measured when a limit is about to decide, by a fixed amount of work on the waiting thread. So a machine that
//! becomes busy in the middle of a run is noticed, an idle one keeps its strict limits, and a wait that succeeds measures
//! nothing.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Wall time of [`work`] in an unoptimised build on an idle core, which is 25 ms on the machine the limits were written on.
const WORK_IDLE: Duration = Duration::from_millis(30);
/// Long enough for the scheduler to give the core to others several times.
const WORK_STEPS: u64 = 5_000_000;
/// A factor beyond this is a hiccup of one measurement.
const SLOWNESS_MAX: f64 = 40.0;
/// A measurement is used again for this time: a test that sets many limits does not burn a core.
pub const MEASUREMENT_TTL: Duration = Duration::from_secs(2);

/// Returns `limit` times [`slowness`]: for timeouts that are set beforehand, such as of a socket.
#[must_use]
pub fn scaled(limit: Duration) -> Duration {
    limit.mul_f64(slowness())
}

/// Returns whether `elapsed` is within `limit` on this machine. Measures the machine only if an idle one would say no.
#[must_use]
pub fn is_within(elapsed: Duration, limit: Duration) -> bool {
    elapsed < limit || elapsed < scaled(limit)
}

/// Repeats a call until it succeeds, for `limit` at most. Returns the last error.
///
/// For what a test needs and does not examine: the product's own time limits may pass on a busy machine.
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

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    began: Instant,
    limit: Duration,
}

impl Deadline {
    /// A wait from now on, of `limit` on an idle machine.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    /// Returns whether the wait is over. Measures the machine only if it would be over on an idle one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !is_within(self.began.elapsed(), self.limit)
    }

    /// Returns the time since the wait began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns the rest of the wait on the machine as it is now: for calls that take a timeout.
    #[must_use]
    pub fn left(&self) -> Duration {
        scaled(self.limit).saturating_sub(self.began.elapsed())
    }
}

/// Returns how many times slower than an idle machine this one has been in this process: 1 or more.
///
/// The highest measurement counts. A load that pauses for the moment of a measurement would otherwise end a wait that it has
/// held up all the while.
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

/// Returns whether the machine is at least twice as slow as an idle one: requests may have outlasted time limits of the mall.
#[must_use]
pub fn is_busy() -> bool {
    slowness() >= 2.0
}

/// Compares the wall time of fixed work with that of an idle machine, and with the CPU time that this thread got: an
/// optimised build does the work faster and shares the core all the same.
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
