//! Maintenance and health of a back end.

use std::time::Duration;

use async_trait::async_trait;

use crate::{StoreError, Timestamp};

/// Durability of a call that has returned, from weakest to strongest. The command line offers the last three
/// for a directory; servers follow their own configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Durability {
    /// Data is lost together with the memory that holds it. In a directory: for a disposable mall. Nothing
    /// requests an fsync, and the files are complete only after [`Upkeep::close`]; then they may be copied,
    /// and a copy opens with all data. (sled syncs its own file on open, on close and after each half
    /// megabyte; in a directory in memory, as below `/dev/shm`, the sync costs nothing.)
    Memory,
    /// Written every 200 ms in a directory, every second by servers. A crash may lose the changes of the last
    /// moments.
    Relaxed,
    /// Changes survive the end of the process that stores them, but not a crash of its machine.
    Process,
    /// Changes survive a power cut.
    Power,
}

impl Durability {
    /// Returns the name used on the command line, in the banner and in `/readyz`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Process => "process",
            Self::Relaxed => "relaxed",
            Self::Memory => "memory",
        }
    }
}

/// Health of a back end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Health {
    /// Kind of back end: `embedded` or `production`.
    pub backend: &'static str,
    /// Durability in force; on servers, the durability of the weakest server.
    pub durability: Durability,
    /// The components of the back end.
    pub parts: Vec<PartHealth>,
    /// State of the database's pages; `None` if the database checks them itself, or not at all.
    pub pages: Option<PageFindings>,
    /// Clock of the servers, for comparison with the mall's; `None` if there is none or it cannot be read.
    pub clock: Option<Timestamp>,
    /// What the opening recovered after a run that was not stopped in order; `None` after a clean stop.
    /// Always `None` on servers, which recover by themselves.
    pub recovery: Option<Recovery>,
}

/// What the opening of a directory recovered after a run that was not stopped in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// Time from the lock on the directory to the end of the recovery.
    pub took: Duration,
    /// Commits of the order log that were read again, because not all of their claims were known to be
    /// settled.
    pub commits: u64,
    /// Claims of these commits that are neither orders nor dead letters yet, and wait for the workers.
    pub claims: u64,
    /// Whether SQLite's quick check read the whole database. A database of 256 MiB or more is not read.
    pub is_database_checked: bool,
}

impl Health {
    /// Returns all current problems, in text for the operator; empty if healthy.
    pub fn troubles(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(|part| &part.troubles)
    }

    /// Returns what is to be mended soon although everything works.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(|part| &part.warnings)
    }

    /// Returns the components that are servers, with their addresses (without user and password); empty for a
    /// directory.
    pub fn servers(&self) -> impl Iterator<Item = (&PartHealth, &str)> {
        self.parts.iter().filter_map(|part| Some((part, part.address.as_deref()?)))
    }
}

/// What comparisons of the database's pages with their checksums found since the mall was opened. A page is 4
/// KiB.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageFindings {
    /// Pages that do not match their checksum.
    pub damaged: u64,
    /// Pages of which one flipped bit was repaired.
    pub repaired: u64,
    /// Pages that another program changed while the mall was stopped, or whose damage was accepted; taken as
    /// they are.
    pub changed: u64,
}

/// Component of a back end, with its health.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartHealth {
    /// Name of the component: `disk`, `order log` or `SQLite`; `Redis` or `MySQL`.
    pub name: &'static str,
    /// Address of a server, without user and password.
    pub address: Option<String>,
    /// Durability in the component's own terms; `None` if the component promises none by itself.
    pub durability: Option<&'static str>,
    /// Current problems, in text for the operator.
    pub troubles: Vec<String>,
    /// What is to be mended soon although everything works, in text for the operator.
    pub warnings: Vec<String>,
    /// Circuit breakers before the component: one per server, or one per master of a cluster; empty for a
    /// directory.
    pub circuits: Vec<CircuitHealth>,
}

/// State of a server's circuit breaker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CircuitHealth {
    /// Address of the server, without user and password.
    pub node: String,
    /// State of the breaker.
    pub state: CircuitState,
    /// Number of times the breaker has opened since the start.
    pub opened: u64,
    /// Calls rejected by the breaker since the start.
    pub refused: u64,
}

/// State of a circuit breaker, ordered from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CircuitState {
    /// All calls pass.
    Closed,
    /// A few trial calls pass: the server responds to probes again.
    HalfOpen,
    /// No call passes: the server does not respond.
    Open,
}

impl CircuitState {
    /// Returns the name used in `/readyz`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::HalfOpen => "half-open",
            Self::Open => "open",
        }
    }
}

/// Maintenance and health of a whole back end.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Returns the current health.
    async fn health(&self) -> Health;

    /// Frees expired data and retries failed work. Called about once a second; results of other calls do not
    /// depend on sweeping.
    ///
    /// # Errors
    /// Any [`StoreError`]: some work remains; the next call continues.
    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Returns a persistent setting of the mall, such as its time zone.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Stores a setting, replacing the former value.
    ///
    /// # Errors
    /// Any [`StoreError`]: nothing changed, or the response was lost; call again.
    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// Inserts a setting if absent. Returns the stored value; of concurrent calls, the first wins.
    ///
    /// # Errors
    /// Any [`StoreError`]: call again.
    async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError>;

    /// Reads every page of the database, in small steps beside other calls, and compares it with its
    /// checksum. Returns all findings since the mall was opened; `None` as in [`Health::pages`]. Reads about
    /// 1 GiB/s.
    ///
    /// # Errors
    /// Any [`StoreError`]: some pages could not be read.
    async fn check_pages(&self) -> Result<Option<PageFindings>, StoreError> {
        Ok(None)
    }

    /// Returns the names of the back end's writing threads that take up no task within `patience`; empty
    /// while all do, whether or not their writes succeed. Always empty for servers, which are processes of
    /// their own.
    async fn stalled_threads(&self, _patience: Duration) -> Vec<&'static str> {
        Vec::new()
    }

    /// Flushes pending writes, marks the shutdown as clean and releases the files. Later calls fail.
    ///
    /// # Errors
    /// Any [`StoreError`]: the shutdown is not marked as clean. Changes already acknowledged are durable all
    /// the same.
    async fn close(&self) -> Result<(), StoreError>;
}
