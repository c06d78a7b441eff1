//! Events of a run, from which its timeline is drawn.

use serde::{Deserialize, Serialize};

use crate::point::Point;

/// One event of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Time on the machine's monotonic clock, which all processes share, in µs.
    pub at_us: u64,
    /// The request, numbered within the run; `None` for workers and for the trigger.
    pub request: Option<u32>,
    /// The buyer, if the event concerns one.
    pub user: Option<u64>,
    /// The instance; `None` for the trigger.
    pub instance: Option<u8>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum EventKind {
    /// A client sent a request.
    Sent,
    /// A client received a reply.
    Replied {
        /// The reply, as [`Reply::name`](crate::Reply::name) words it.
        reply: String,
    },
    /// An instance called a server.
    Called {
        /// The server.
        server: Server,
        /// Command or statement.
        text: String,
        /// What the server returned.
        result: String,
        /// Time of the result, in µs.
        until_us: u64,
    },
    /// A request reached a point.
    Reached {
        /// The point.
        point: Point,
        /// Whether the trigger holds the request there.
        is_held: bool,
    },
    /// The trigger let a held request go on.
    LetGo {
        /// The point.
        point: Point,
    },
    /// The trigger stopped an instance (SIGSTOP).
    Stopped,
    /// The trigger resumed an instance (SIGCONT).
    Resumed,
    /// The trigger killed an instance (SIGKILL).
    Killed,
    /// The trigger started a killed instance again.
    Restarted,
    /// The lease of every lock held by the stopped or killed instance is over.
    LeaseOver,
    /// The trigger killed the Redis of the locks and promoted its replica.
    FailedOver,
    /// Units returned to the stock.
    UnitsReturned {
        /// The number.
        units: u64,
    },
}

/// A server that instances call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// Redis.
    Redis,
    /// MySQL or MariaDB.
    Database,
}

/// Returns the time on the machine's monotonic clock, in µs.
#[must_use]
pub fn now_us() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds * 1_000_000 + u64::try_from(now.tv_nsec).unwrap_or_default() / 1_000
}
