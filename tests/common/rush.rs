//! A load on a running mall, until stopped or until the script ends.

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox::bench::load::{self, Load, LoadError, Progress, Report, Script, Shape, Share};

use mallbox_test_patience::{self as patience, Deadline};

use super::dice::Dice;

/// Longer than any response should take: a lost request was lost by the crash.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of a load with an end, on a busy machine.
const LOAD_TIMEOUT: Duration = Duration::from_secs(180);

/// A running load.
pub struct Rush<S> {
    progress: Progress,
    thread: JoinHandle<Result<(S, Report), LoadError>>,
}

impl<S: Script> Rush<S> {
    /// Starts immediately, on a dedicated thread.
    pub fn start(address: SocketAddr, connections: usize, script: S) -> Self {
        Self::at_rate(None, vec![address], connections, script)
    }

    /// Starts with the connections distributed over several instances.
    pub fn on_all(addresses: Vec<SocketAddr>, connections: usize, script: S) -> Self {
        Self::at_rate(None, addresses, connections, script)
    }

    /// Starts with `rate` requests a second.
    pub fn paced(rate: f64, address: SocketAddr, connections: usize, script: S) -> Self {
        Self::at_rate(Some(rate), vec![address], connections, script)
    }

    fn at_rate(rate: Option<f64>, addresses: Vec<SocketAddr>, connections: usize, script: S) -> Self {
        let progress = Progress::default();
        let shared = progress.clone();
        let request_timeout = patience::scaled(RESPONSE_TIMEOUT);
        let load = Load {
            addresses,
            connections,
            stop_at: None,
            request_timeout,
            shape: rate.map(Shape::constant),
            share: Share::WHOLE,
        };
        let thread = std::thread::spawn(move || load::run(&load, script, &shared));
        Self { progress, thread }
    }

    /// Waits for the first `answers` responses, or for the time limit.
    pub fn wait_for(&self, answers: u64) {
        let deadline = Deadline::after(RESPONSE_TIMEOUT);
        while self.progress.answered() < answers && !deadline.is_over() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the number of responses so far.
    pub fn answered(&self) -> u64 {
        self.progress.answered()
    }

    /// Waits until a random moment: among the first `answers` responses, while units are still sold, or
    /// later.
    pub fn go_on_for_a_while(&self, dice: &mut Dice, answers: u64) {
        if dice.chance(60) {
            self.wait_for(dice.below(answers));
        } else {
            self.wait_for(dice.below(50));
            std::thread::sleep(dice.millis(0, 600));
        }
    }

    /// Stops the load and returns the report, for a server that stays up or shuts down gracefully.
    pub fn report(self) -> anyhow::Result<Report> {
        self.progress.stop();
        Ok(self.thread.join().ok().context("the load panicked")??.1)
    }

    /// Stops the load after the death of the server: requests still without a response are lost. Returns the
    /// number of responses.
    pub fn end(self) -> anyhow::Result<u64> {
        self.progress.stop();
        match self.thread.join().ok().context("the load panicked")? {
            // A killed server refuses connections.
            Ok(_) | Err(LoadError::NoResponse { .. }) => Ok(self.progress.answered()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Runs a script to its end on a mall that stays up. No request may be lost.
pub fn run_to_the_end<S: Script>(address: SocketAddr, connections: usize, script: S) -> anyhow::Result<S> {
    let stop_at = Some(Instant::now() + patience::scaled(LOAD_TIMEOUT));
    let addresses = vec![address];
    let load = Load {
        addresses,
        connections,
        stop_at,
        request_timeout: patience::scaled(RESPONSE_TIMEOUT),
        shape: None,
        share: Share::WHOLE,
    };
    let (script, report) = load::run(&load, script, &Progress::default())?;
    ensure!(report.errors.total() == 0, "requests were lost while the mall was up: {:?}", report.errors);
    ensure!(stop_at > Some(Instant::now()), "the crowd was not done after {} s", LOAD_TIMEOUT.as_secs());
    Ok(script)
}
