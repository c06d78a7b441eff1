//! The receipt printer: one job at a time, each on a thread of its own.
//!
//! A silent printer holds up that thread only: neither the runtime nor a stop of the mall waits for it.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{OrderId, Timestamp};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::address::PrinterAddress;
use super::job_error::JobError;
use super::options::PrinterOptions;
use super::{device, network};
use crate::mall::base::PrinterRefusal;

/// Longest wait for the jobs before, in real time: as long as one of them can take.
pub const TURN_TIMEOUT: Duration = JOB_TIMEOUT;
/// Longest wait for a job, in real time. The limits of its steps add up to less; resolving a host's name has
/// no limit of its own.
pub const JOB_TIMEOUT: Duration = Duration::from_millis(8_500);

/// The receipt printer of a mall. Cheap to clone.
#[derive(Clone)]
pub struct Printer {
    options: Arc<PrinterOptions>,
    turn: Arc<tokio::sync::Mutex<()>>,
    last: Arc<Mutex<Option<LastJob>>>,
}

/// The last job of a printer since the start of the mall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastJob {
    /// Instant of the request, by the mall's clock.
    pub at: Timestamp,
    /// Order of the receipt; `None` for a test page.
    pub order: Option<OrderId>,
    /// Whether the job was printed, or why not.
    pub outcome: Result<(), PrinterRefusal>,
}

impl Printer {
    /// Creates a printer. Opens nothing.
    #[must_use]
    pub fn new(options: PrinterOptions) -> Self {
        Self { options: Arc::new(options), turn: Arc::default(), last: Arc::default() }
    }

    /// Returns the options of the printer.
    #[must_use]
    pub fn options(&self) -> &PrinterOptions {
        &self.options
    }

    /// Returns the last job, if any.
    #[must_use]
    pub fn last(&self) -> Option<LastJob> {
        *self.last.lock()
    }

    pub(super) fn set_last(&self, job: LastJob) {
        *self.last.lock() = Some(job);
    }

    /// Prints a job after all jobs before it. If the caller is cancelled, a job that began goes on.
    ///
    /// # Errors
    /// [`PrinterRefusal`]: the job did not print, or only in part.
    pub async fn print(&self, job: Vec<u8>) -> Result<(), PrinterRefusal> {
        let turn = Arc::clone(&self.turn).lock_owned();
        let turn = timeout(TURN_TIMEOUT, turn).await.map_err(|_| PrinterRefusal::Busy)?;
        let (report, outcome) = oneshot::channel();
        let options = Arc::clone(&self.options);
        let thread = std::thread::Builder::new().name("printer".to_owned());
        let started = thread.spawn(move || {
            let result = run(&options.address, &job);
            if let Err(error) = &result {
                tracing::warn!(printer = %options.address, %error, "could not print");
            }
            drop(turn);
            // Nobody waits any more after JOB_TIMEOUT.
            let _ = report.send(result.map_err(|error| error.refusal));
        });
        if let Err(error) = started {
            tracing::error!(%error, "could not start a thread to print");
            return Err(PrinterRefusal::Failed);
        }
        match timeout(JOB_TIMEOUT, outcome).await {
            Ok(Ok(outcome)) => outcome,
            // The thread panicked, which the log tells.
            Ok(Err(_)) => Err(PrinterRefusal::Failed),
            Err(_) => Err(PrinterRefusal::Silent),
        }
    }
}

fn run(address: &PrinterAddress, job: &[u8]) -> Result<(), JobError> {
    match address {
        PrinterAddress::Network { host, port } => network::print(host, *port, job),
        PrinterAddress::Device(path) => device::print(path, job),
    }
}
