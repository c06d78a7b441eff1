//! The questions that experiments decide.

use serde::Serialize;

/// A question, decided by an experiment. A criterion has one or several questions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Order of receipt by one consumer.
    OrderOfOne,
    /// Order in which two consumers finish messages.
    OrderOfTwo,
    /// Messages kept while the consumer is stopped.
    Backlog,
    /// Distribution of messages between two consumers.
    Sharing,
    /// Repeated reading of done messages.
    Replay,
    /// Outcome of a send at the bound on memory, capacity, buffer or units.
    Full,
    /// Outcome of a send at the greatest length of a stream.
    FullLength,
    /// Losses and repeats after the death of a consumer between receipt and work.
    KilledAtWork,
    /// Losses and repeats after the death of a consumer between work and acknowledgement.
    KilledBeforeAck,
    /// Losses after a kill of Redis without an append-only file.
    BrokerWithoutLog,
    /// Losses after a kill of Redis with `appendfsync everysec`.
    BrokerEverySecond,
    /// Losses after a kill of Redis with `appendfsync always`, or of another broker with its defaults.
    BrokerAlways,
}

impl Question {
    /// Every question, in the order of asking.
    pub const ALL: [Self; 12] = [
        Self::OrderOfOne,
        Self::OrderOfTwo,
        Self::Backlog,
        Self::Sharing,
        Self::Replay,
        Self::Full,
        Self::FullLength,
        Self::KilledAtWork,
        Self::KilledBeforeAck,
        Self::BrokerWithoutLog,
        Self::BrokerEverySecond,
        Self::BrokerAlways,
    ];
}

impl mallbox_bench_verdicts::Question for Question {
    fn words(self) -> &'static str {
        match self {
            Self::OrderOfOne => "order, one consumer",
            Self::OrderOfTwo => "order, two consumers",
            Self::Backlog => "backlog behind a stopped consumer",
            Self::Sharing => "two consumers",
            Self::Replay => "replay of done messages",
            Self::Full => "at the bound",
            Self::FullLength => "at MAXLEN",
            Self::KilledAtWork => "consumer killed at work",
            Self::KilledBeforeAck => "consumer killed before its acknowledgement",
            Self::BrokerWithoutLog => "broker killed, appendonly no",
            Self::BrokerEverySecond => "broker killed, appendfsync everysec",
            Self::BrokerAlways => "broker killed, appendfsync always or default",
        }
    }
}
