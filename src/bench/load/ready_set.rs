//! The ready set: connections to poll next.
//!
//! One task serves all connections. The waker of a connection adds the connection's number to the set and
//! wakes the task if the set was empty. A batch of ready sockets therefore costs one wake-up of one task.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// The ready set.
#[derive(Debug, Default)]
pub(super) struct ReadySet {
    list: Mutex<ReadyConnections>,
}

#[derive(Debug, Default)]
struct ReadyConnections {
    connections: Vec<usize>,
    task: Option<Waker>,
}

impl ReadySet {
    /// Returns a waker that adds `connection` to the ready set.
    pub fn bell(self: &Arc<Self>, connection: usize) -> Waker {
        let rung = Arc::clone(self);
        Waker::from(Arc::new(ConnectionWaker { connection, rung }))
    }

    /// Moves the set to the end of `work` and registers `task` for the next addition. A number may occur
    /// twice: an extra poll of a connection is harmless.
    pub fn drain(&self, work: &mut VecDeque<usize>, task: &Waker) {
        let mut list = self.lock();
        work.extend(list.connections.drain(..));
        if !list.task.as_ref().is_some_and(|known| known.will_wake(task)) {
            list.task = Some(task.clone());
        }
    }

    /// Wakes the task without marking a connection ready.
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

    /// Locks the set; contended only by the threads that wake the load, and only for nanoseconds.
    fn lock(&self) -> MutexGuard<'_, ReadyConnections> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct ConnectionWaker {
    connection: usize,
    rung: Arc<ReadySet>,
}

impl Wake for ConnectionWaker {
    fn wake(self: Arc<Self>) {
        self.rung.ring(self.connection);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.ring(self.connection);
    }
}
