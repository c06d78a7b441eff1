//! The questions that experiments decide.

use serde::Serialize;

/// A question that an experiment decides. Several belong to one criterion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Whether one consumer receives in the order of sending.
    OrderOfOne,
    /// Whether the work of two consumers ends in the order of sending.
    OrderOfTwo,
    /// What is left of messages sent while the consumer was stopped.
    Backlog,
    /// Which of two consumers receives a message.
    Sharing,
    /// Whether messages can be read again once they are done.
    Replay,
    /// What a send does at the bound on memory, capacity, buffer or units.
    Full,
    /// What a send does at the greatest length of a stream.
    FullLength,
    /// What the death of a consumer costs that has received and not worked.
    KilledAtWork,
    /// What the death of a consumer costs that has worked and not acknowledged.
    KilledBeforeAck,
    /// What a kill of the broker costs: Redis without an append-only file.
    BrokerWithoutLog,
    /// What a kill of a Redis costs that syncs its append-only file every second.
    BrokerEverySecond,
    /// What a kill of a Redis costs that syncs before each reply; of other brokers with their defaults.
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
