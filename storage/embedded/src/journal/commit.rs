//! A group commit of the journal, and its waiters.
//!
//! The journal wakes one waiter per thread, which wakes its neighbours on the same thread, also when
//! dropped meanwhile: waking a task of another thread costs a system call.
//!
//! Reasons and figures: `storage/decisions/0003-batching-delay-and-wake-ups.md`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::thread_shard::thread_shard;

/// State of a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum CommitState {
    /// Collecting claims, or in progress.
    Open = 0,
    /// Written and synced.
    Durable = 1,
    /// In doubt: the write or the sync failed, and the commit may or may not be on the disk.
    Failed = 2,
}

/// State shared by the waiters of a commit: set once, with a single wake-up per thread.
///
/// Waking a task of another thread costs a system call. So the journal wakes a single waiter of each
/// thread, and the woken waiter wakes its neighbours at almost no cost.
#[derive(Debug)]
pub(crate) struct Commit {
    state: AtomicU8,
    threads: Mutex<Vec<Waiters>>,
}

#[derive(Debug)]
struct Waiters {
    shard: usize,
    wakers: Vec<Option<Waker>>,
}

impl Commit {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(CommitState::Open as u8), threads: Mutex::default() })
    }

    pub(crate) fn state(&self) -> CommitState {
        match self.state.load(Ordering::Acquire) {
            0 => CommitState::Open,
            1 => CommitState::Durable,
            _ => CommitState::Failed,
        }
    }

    /// Sets the final state, once, and wakes a waiter of each thread.
    pub(crate) fn finish(&self, state: CommitState) {
        let first: Vec<Waker> = {
            let mut threads = self.threads.lock();
            self.state.store(state as u8, Ordering::Release);
            threads
                .iter_mut()
                .filter_map(|waiters| waiters.wakers.iter_mut().find_map(Option::take))
                .collect()
        };
        first.into_iter().for_each(Waker::wake);
    }

    /// Wakes the other waiters of a thread after the first waiter has seen the final state.
    fn relay(&self, shard: usize) {
        let neighbours = {
            let mut threads = self.threads.lock();
            threads
                .iter_mut()
                .find(|waiters| waiters.shard == shard)
                .map(|waiters| std::mem::take(&mut waiters.wakers))
        };
        neighbours.into_iter().flatten().flatten().for_each(Waker::wake);
    }
}

/// A future that completes with the commit. Dropping the future undoes no write.
#[must_use]
#[derive(Debug)]
pub(crate) struct Durable {
    commit: Arc<Commit>,
    /// Position of this waiter's waker: thread shard and index.
    place: Option<(usize, usize)>,
}

impl Durable {
    pub(crate) fn of(commit: Arc<Commit>) -> Self {
        Self { commit, place: None }
    }
}

impl Future for Durable {
    type Output = CommitState;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CommitState> {
        if self.commit.state() == CommitState::Open {
            let mut threads = self.commit.threads.lock();
            // Checked again under the lock: from here on `finish` sees the waiter.
            if self.commit.state() == CommitState::Open {
                let place = register(&mut threads, self.place, context.waker());
                drop(threads);
                self.place = Some(place);
                return Poll::Pending;
            }
        }
        if let Some((shard, _)) = self.place.take() {
            self.commit.relay(shard);
        }
        Poll::Ready(self.commit.state())
    }
}

fn register(threads: &mut Vec<Waiters>, place: Option<(usize, usize)>, waker: &Waker) -> (usize, usize) {
    let shard = place.map_or_else(thread_shard, |(shard, _)| shard);
    let index = threads.iter().position(|waiters| waiters.shard == shard).unwrap_or_else(|| {
        threads.push(Waiters { shard, wakers: Vec::new() });
        threads.len() - 1
    });
    let wakers = &mut threads[index].wakers;
    let slot = place.map_or(wakers.len(), |(_, slot)| slot);
    if slot == wakers.len() {
        wakers.push(None);
    }
    wakers[slot] = Some(waker.clone());
    (shard, slot)
}

impl Drop for Durable {
    fn drop(&mut self) {
        let Some((shard, slot)) = self.place else { return };
        {
            let mut threads = self.commit.threads.lock();
            if self.commit.state() == CommitState::Open {
                if let Some(waiters) = threads.iter_mut().find(|waiters| waiters.shard == shard) {
                    waiters.wakers[slot] = None;
                }
                return;
            }
        }
        // The only wake-up of the thread may have gone to the dropped waiter, so relay.
        self.commit.relay(shard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn all_who_wait_are_woken_though_some_go_away() {
        for round in 0..300_usize {
            let commit = Commit::new();
            let waiters: Vec<_> = (0..20).map(|_| tokio::spawn(Durable::of(Arc::clone(&commit)))).collect();
            if round % 3 == 0 {
                tokio::task::yield_now().await;
            }
            for waiter in waiters.iter().step_by(1 + round % 4).take(10) {
                waiter.abort();
            }
            commit.finish(CommitState::Durable);
            for waiter in waiters {
                match waiter.await {
                    Ok(state) => assert_eq!(state, CommitState::Durable),
                    Err(error) => assert!(error.is_cancelled()),
                }
            }
        }
    }

    #[tokio::test]
    async fn a_failed_commit_is_failed_for_all() {
        let commit = Commit::new();
        let early = tokio::spawn(Durable::of(Arc::clone(&commit)));
        tokio::task::yield_now().await;
        commit.finish(CommitState::Failed);
        assert_eq!(early.await.unwrap(), CommitState::Failed);
        assert_eq!(Durable::of(commit).await, CommitState::Failed);
    }
}
