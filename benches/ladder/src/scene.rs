//! Where the triggers strike a rung.

use crate::point::Point;

/// What a rung keeps in Redis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InRedis {
    /// Nothing.
    Nothing,
    /// Locks, on one server.
    Locks,
    /// Locks, on three independent servers.
    LocksOnThree,
    /// The stock, which decides.
    Stock,
}

/// Who is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Victim {
    /// An instance with a request at a point.
    Request(Point),
    /// An instance with a worker at a point; its claims are accepted.
    Worker(Point),
}

/// Where the triggers strike a rung. A point that does not exist in the rung is `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    /// Where concurrent requests meet.
    pub(crate) meet: Option<Point>,
    /// Whether the first request stays at the meeting for longer than others wait.
    pub(crate) is_slow: bool,
    /// Where a holder is stopped before its write, if a second instance can come in between.
    pub(crate) stop: Option<Point>,
    /// Where a holder is stopped before its release.
    pub(crate) release: Option<Point>,
    /// Who is killed where.
    pub(crate) victim: Victim,
    /// What is in Redis.
    pub(crate) in_redis: InRedis,
}

impl Scene {
    /// Returns the scene of a rung with one database, killed inside its transaction.
    pub(crate) const fn in_database() -> Self {
        Self {
            meet: Some(Point::Checked),
            is_slow: false,
            stop: None,
            release: None,
            victim: Victim::Request(Point::Taken),
            in_redis: InRedis::Nothing,
        }
    }

    /// Returns the scene of a rung with a lock in Redis.
    pub(crate) const fn with_lock() -> Self {
        Self {
            stop: Some(Point::Checked),
            release: Some(Point::Releasing),
            victim: Victim::Request(Point::Checked),
            in_redis: InRedis::Locks,
            ..Self::in_database()
        }
    }

    /// Returns the scene of a rung with its stock in Redis and a worker.
    pub(crate) const fn with_worker(killed_at: Point) -> Self {
        Self {
            meet: None,
            victim: Victim::Worker(killed_at),
            in_redis: InRedis::Stock,
            ..Self::in_database()
        }
    }

    /// Whether a lock outlives a killed holder until its lease ends.
    pub(crate) fn has_lease(&self) -> bool {
        matches!(self.in_redis, InRedis::Locks | InRedis::LocksOnThree)
    }
}
