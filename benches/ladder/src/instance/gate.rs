//! The points at which requests are held.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::point::Point;

/// The points at which requests are held.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Held points; a receiver waits for the end of its sender.
    held: Mutex<HashMap<Point, watch::Sender<()>>>,
}

impl Gate {
    /// Holds requests at `point` from now on.
    pub(super) fn hold(&self, point: Point) {
        self.points().entry(point).or_insert_with(|| watch::Sender::new(()));
    }

    /// Lets the requests at `point` go on.
    pub(super) fn let_go(&self, point: Point) {
        self.points().remove(&point);
    }

    /// Returns a receiver that ends when requests may go on; `None` if requests are not held at `point`.
    pub(super) fn at(&self, point: Point) -> Option<watch::Receiver<()>> {
        self.points().get(&point).map(watch::Sender::subscribe)
    }

    fn points(&self) -> std::sync::MutexGuard<'_, HashMap<Point, watch::Sender<()>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
