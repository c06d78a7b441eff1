//! Lines between the bench and an instance: JSON, instructions on standard input, lines on standard output.

use serde::{Deserialize, Serialize};

use crate::point::Point;
use crate::reply::Reply;
use crate::trace::Event;

/// What an instance serves: the first line of its input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Id of the rung.
    pub(crate) rung: String,
    /// Number of the instance.
    pub(crate) instance: u8,
    /// Addresses of a Redis, the one in use first, then its replica.
    pub(crate) redis: Vec<String>,
    /// Addresses of three independent Redis servers; empty unless the rung needs them.
    pub(crate) masters: Vec<String>,
    /// Address of the database.
    pub(crate) mysql: String,
    /// Whether events are reported.
    pub(crate) is_traced: bool,
}

/// An instruction to an instance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Instruction {
    /// Serve a request for a unit.
    Buy {
        /// The request.
        request: u32,
        /// The buyer.
        user: u64,
    },
    /// Cancel the order of a user.
    GiveBack {
        /// The request.
        request: u32,
        /// The owner of the order.
        user: u64,
    },
    /// Report the stock.
    Stock {
        /// The request.
        request: u32,
    },
    /// Report the number of accepted claims without an order in the database.
    Pending {
        /// The request.
        request: u32,
    },
    /// Hold requests and workers at a point.
    Hold(Point),
    /// Let those held at a point go on, and hold none any more.
    LetGo(Point),
}

/// A line of an instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Line {
    /// The instance can serve requests.
    Ready,
    /// The instance cannot serve requests.
    Unable(String),
    /// A request has a reply.
    Replied(u32, Reply),
    /// An order is cancelled, or not for this reason.
    GivenBack(u32, Option<String>),
    /// A number was asked for.
    Number(u32, i64),
    /// A request or worker is held at a point.
    Held(Point),
    /// An event of a traced instance.
    Event(Event),
}
