//! What a back end needs done to it.

use async_trait::async_trait;

use crate::{StoreError, Timestamp};

/// How far an answer can be trusted, from the least to the most. The command line offers the last three for a directory; on
/// servers, their own configuration decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Durability {
    /// An answer is lost with what keeps it in its memory. In a directory: for a mall that is thrown away. Nothing asks
    /// for its bytes to reach the disk, and the files are whole only after [`Upkeep::close`]: then they may be copied, and
    /// a copy opens with everything in it. (sled syncs its own file when it is opened, closed, or has filled half a
    /// megabyte; in a directory that is in memory, as below `/dev/shm`, that costs nothing.)
    Memory,
    /// Written every 200 ms in a directory, every second by servers: an answer of the last moments may be lost in a crash.
    Relaxed,
    /// An answer survives the end of the process that keeps it, not of its machine.
    Process,
    /// An answer survives a power cut.
    Power,
}

impl Durability {
    /// The word on the command line, in the banner and in `/readyz`.
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

/// How a back end is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Health {
    /// `embedded` or `production`.
    pub backend: &'static str,
    /// What is in force; on servers, what the weakest of them does.
    pub durability: Durability,
    /// What it rests on, each by itself.
    pub parts: Vec<PartHealth>,
    /// The servers' own clock, to be compared with the mall's; `None` if there is none, or it cannot be asked.
    pub clock: Option<Timestamp>,
}

impl Health {
    /// What does not work at present, in words for the operator; nothing when all is well.
    pub fn troubles(&self) -> impl Iterator<Item = &String> {
        self.parts.iter().flat_map(|part| &part.troubles)
    }

    /// The parts that are servers, and where they are, without user and password; none in a directory.
    pub fn servers(&self) -> impl Iterator<Item = (&PartHealth, &str)> {
        self.parts.iter().filter_map(|part| Some((part, part.address.as_deref()?)))
    }
}

/// Something that a back end rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartHealth {
    /// `disk`, `order log` or `SQLite`; `Redis` or `MySQL`.
    pub name: &'static str,
    /// Where it is, if it is a server; without user and password.
    pub address: Option<String>,
    /// What is in force there, in its own words; `None` if it promises nothing by itself.
    pub durability: Option<&'static str>,
    /// What does not work, in words for the operator.
    pub troubles: Vec<String>,
    /// The circuit breakers before it: one a server, one a master of a cluster; none in a directory.
    pub circuits: Vec<CircuitHealth>,
}

/// A circuit breaker before a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CircuitHealth {
    /// The server's address, without user and password.
    pub node: String,
    /// Whether calls are made.
    pub state: CircuitState,
    /// How often it opened since the start.
    pub opened: u64,
    /// Calls that were refused without asking the server, since the start.
    pub refused: u64,
}

/// Whether a circuit breaker lets calls pass. Ordered from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CircuitState {
    /// All of them.
    Closed,
    /// A few, on trial: the server answers probes again.
    HalfOpen,
    /// None: the server does not answer.
    Open,
}

impl CircuitState {
    /// The word in `/readyz`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::HalfOpen => "half-open",
            Self::Open => "open",
        }
    }
}

/// The back end as a whole.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// How it is, now.
    async fn health(&self) -> Health;

    /// Frees what has expired, and retries what failed. Called every second or so; answers stay the same without it.
    ///
    /// # Errors
    /// [`StoreError`]: not all was done; the next call goes on.
    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError>;

    /// A setting of the mall that outlives it, such as its time zone.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn setting(&self, name: &str) -> Result<Option<String>, StoreError>;

    /// Stores a setting.
    ///
    /// # Errors
    /// [`StoreError`]: nothing changed, or the answer was lost; call again.
    async fn put_setting(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// Stores a setting unless there is one of this name: that which stands from then on, for everybody, however many store one
    /// at once.
    ///
    /// # Errors
    /// [`StoreError`]: call again.
    async fn keep_setting(&self, name: &str, value: &str) -> Result<String, StoreError>;

    /// Writes what is left to write, marks the stop as clean and lets go of the files. Calls after it fail.
    ///
    /// # Errors
    /// [`StoreError`]: the stop is not marked as clean; what was answered is durable all the same.
    async fn close(&self) -> Result<(), StoreError>;
}
