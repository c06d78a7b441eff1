//! Which connections have something to do.
//!
//! One task serves all connections. Each has a waker that puts its number on a list and wakes the
//! task if the list was empty, so a batch of sockets costs one wake-up of one task.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The list of connections that were woken.
#[derive(Debug, Default)]
pub(super) struct Rung {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    connections: Vec<usize>,
    task: Option<Waker>,
}

impl Rung {
    /// A waker that puts `connection` on the list.
    pub fn bell(self: &Arc<Self>, connection: usize) -> Waker {
        let rung = Arc::clone(self);
        Waker::from(Arc::new(Bell { connection, rung }))
    }

    /// Moves the list to the end of `work`, and will wake `task` when it grows again. A number may
    /// be on it twice: polling a connection once too often is harmless.
    pub fn drain(&self, work: &mut VecDeque<usize>, task: &Waker) {
        let mut list = self.lock();
        work.extend(list.connections.drain(..));
        if !list.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            list.task = Some(task.clone());
        }
    }

    /// Wakes the task for something that concerns no connection.
    pub fn wake_task(&self) {
        if let Some(task) = &self.lock().task {
            task.wake_by_ref();
        }
    }

    fn ring(&self, connection: usize) {
        let mut list = self.lock();
        list.connections.push(connection);
        if let (1, Some(task)) = (list.connections.len(), &list.task) {
            task.wake_by_ref();
        }
    }

    /// Never contended but by the metronome, and then for nanoseconds.
    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Bell {
    connection: usize,
    rung: Arc<Rung>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.ring(self.connection);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.ring(self.connection);
    }
}
