//! What the controller of an experiment and its stations say to each other: a line of JSON each.

use serde::{Deserialize, Serialize};

use crate::queue::Place;

/// First line to a station.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) way: String,
    pub(crate) place: Place,
}

/// A part in an experiment. A role is played by one station at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Role {
    Producer,
    /// The consumers that an experiment begins with.
    First,
    Second,
    /// The consumer that comes after one that died.
    Heir,
}

impl Role {
    pub(crate) const ALL: [Self; 4] = [Self::Producer, Self::First, Self::Second, Self::Heir];

    /// Returns the name of the role as a consumer.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// When a consumer ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Until {
    /// It has received the mark of the end, and nothing is outstanding that dead consumers had in hand.
    End { dead: Vec<String> },
    /// The queue is empty.
    Drained,
}

/// A command to a role. A station that has replied waits for the next command: the points between two
/// commands are the points at which the controller can kill it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Opens the producer or the consumer.
    Open,
    Send {
        number: u64,
    },
    /// Sends `count` numbers from `from` on as fast as possible, with `pad` bytes of filler each.
    Fill {
        from: u64,
        count: u64,
        pad: usize,
    },
    /// Receives, and keeps in hand.
    Take,
    /// Does the work of what is in hand.
    Work,
    /// Acknowledges what is in hand.
    Settle,
    /// Receives, works and acknowledges.
    Consume(Until),
    Bytes,
    Listeners,
    Replay {
        from: u64,
    },
    LimitMemory {
        room: Option<u64>,
    },
    Rates {
        span_ms: u64,
        producers: usize,
    },
    Latency {
        count: u64,
        per_s: u64,
    },
    Remove,
}

/// A reply to a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    Done,
    Sent {
        is_accepted: bool,
    },
    Filled {
        accepted: u64,
    },
    /// Numbers, in the order of receiving.
    Numbers(Vec<u64>),
    Bytes(Option<u64>),
    Listeners(Option<usize>),
    Rates(Rates),
    Latency(Latency),
    Failed(String),
}

/// Throughput of producers and a consumer that work at once.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Rates {
    pub(crate) sent_per_s: f64,
    pub(crate) received_per_s: f64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// Time from the begin of a send to the receipt, at a steady pace.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) role: Role,
    pub(crate) command: Command,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) role: Role,
    pub(crate) event: Event,
}
