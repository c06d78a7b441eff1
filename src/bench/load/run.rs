//! A load on its threads, from the first dial to the last response.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use super::crew::Crew;
use super::driver::LoadDriver;
use super::error::LoadError;
use super::report::Report;
use super::script::{Load, Progress, Script};
use super::shape::RATES;
use super::share::Share;
use super::start_line::StartLine;

/// Runs the load on a thread of its own. Returns the script and the report after the end. Blocks: call from a
/// plain thread or `spawn_blocking`.
///
/// # Errors
/// [`LoadError::NoResponse`] if the server is down or sends nothing readable; transient faults are counted in
/// [`Report::errors`] instead. [`LoadError::Setting`] for a field out of range and [`LoadError::Start`] if
/// the machine lacks resources.
///
/// # Panics
/// Propagates a panic of the script.
pub fn run<S: Script>(load: &Load, script: S, progress: &Progress) -> Result<(S, Report), LoadError> {
    let (mut scripts, report) = run_on_threads(load, vec![script], progress)?;
    Ok((scripts.remove(0), report))
}

/// Runs the load on a thread per script, as [`run`]. The threads share the connections and the arrivals
/// evenly, and start together.
///
/// # Errors
/// As [`run`]; the first thread that fails ends the others.
///
/// # Panics
/// As [`run`].
pub fn run_on_threads<S: Script>(
    load: &Load,
    scripts: Vec<S>,
    progress: &Progress,
) -> Result<(Vec<S>, Report), LoadError> {
    check(load, scripts.len())?;
    let line = Arc::new(StartLine::new(scripts.len()));
    let threads = scripts.len();
    let mut running = Vec::with_capacity(scripts.len());
    for (thread, script) in (0..).zip(scripts) {
        let share = Share { number: thread, of: threads };
        let crew = Crew { share, arrivals: load.share.part(share), line: Arc::clone(&line) };
        let (load, own_progress) = (load.clone(), progress.clone());
        let started = thread::Builder::new().name(format!("load-{thread}")).spawn(move || {
            let mut others = StopUnlessEnded { progress: own_progress.clone(), has_ended: false };
            let ended = on_this_thread(load, script, own_progress, crew)?;
            others.has_ended = true;
            Ok(ended)
        });
        match started {
            Ok(started) => running.push(started),
            Err(error) => {
                progress.stop();
                return Err(LoadError::Start(error));
            }
        }
    }
    let ended: Vec<_> = running
        .into_iter()
        .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        .collect();
    let (mut scripts, mut whole) = (Vec::with_capacity(ended.len()), None::<Report>);
    for one in ended {
        let (script, report) = one?;
        scripts.push(script);
        match &mut whole {
            None => whole = Some(report),
            Some(whole) => whole.add(&report),
        }
    }
    whole.map(|whole| (scripts, whole)).ok_or(LoadError::Setting("at least one script is required"))
}

/// Stops the load on drop: nobody waits for a thread that has failed or panicked.
struct StopUnlessEnded {
    progress: Progress,
    has_ended: bool,
}

impl Drop for StopUnlessEnded {
    fn drop(&mut self) {
        if !self.has_ended {
            self.progress.stop();
        }
    }
}

fn on_this_thread<S: Script>(
    load: Load,
    script: S,
    progress: Progress,
    crew: Crew,
) -> Result<(S, Report), LoadError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LoadError::Start)?;
    runtime.block_on(async {
        let driver = LoadDriver::new(load, script, progress, crew)?;
        // A spawned task, although the runtime has no other. Waking the future of `block_on` from its own
        // thread writes to an eventfd; waking a task only pushes to a queue. Unconstrained, because one poll
        // serves all connections and exceeds the budget of one task.
        match tokio::spawn(tokio::task::unconstrained(driver.drive())).await {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(error) => Err(LoadError::Start(io::Error::other(error))),
            },
        }
    })
}

fn check(load: &Load, threads: usize) -> Result<(), LoadError> {
    if load.addresses.is_empty() {
        return Err(LoadError::Setting("at least one address is required"));
    }
    if threads == 0 {
        return Err(LoadError::Setting("at least one script is required"));
    }
    if load.connections < threads {
        return Err(LoadError::Setting("every thread needs a connection"));
    }
    if load.share.number >= load.share.of {
        return Err(LoadError::Setting("the share's number must be below the number of shares"));
    }
    if load.request_timeout.is_zero() {
        return Err(LoadError::Setting("request_timeout must be above 0"));
    }
    if load.shape.as_ref().is_some_and(|shape| !RATES.contains(&shape.peak())) {
        return Err(LoadError::Setting("rate must lie between 0.001 and 10,000,000 requests per second"));
    }
    Ok(())
}
