//! Batches of calls: concurrent callers share one transaction or one round trip.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::StoreError;

/// Size of a batch, in bytes, from which no further item is added.
const BATCH_BYTES: usize = 1 << 20;

/// A call for many items at once.
#[async_trait]
pub trait BatchCall: Send + Sync + 'static {
    /// Name of the operation, for errors.
    const OP: &'static str;
    /// Largest number of items per batch.
    const ITEMS_MAX: usize = 256;
    /// What a caller asks for.
    type Item: Send + 'static;
    /// What a caller gets.
    type Outcome: Send + 'static;

    /// Returns the size of an item, in bytes; 0 for items so small that only their number counts.
    fn size(_item: &Self::Item) -> usize {
        0
    }

    /// Returns the runtime of the calls; by default the runtime of the caller who begins a batch.
    fn runtime(&self) -> Handle {
        Handle::current()
    }

    /// Makes the call. Returns an outcome per item, in order.
    ///
    /// # Errors
    /// Any [`StoreError`], copied for each caller.
    async fn call(&self, items: Vec<Self::Item>) -> Result<Vec<Self::Outcome>, StoreError>;
}

type Waiting<C> = (<C as BatchCall>::Item, oneshot::Sender<Result<<C as BatchCall>::Outcome, StoreError>>);

/// Gathers the items of concurrent callers: while a batch is being written, the next one fills. The items of
/// a cancelled caller are written all the same.
pub struct Batcher<C: BatchCall> {
    call: C,
    state: Mutex<State<C>>,
}

struct State<C: BatchCall> {
    waiting: Vec<Waiting<C>>,
    is_writing: bool,
}

impl<C: BatchCall> Batcher<C> {
    /// Creates a batcher without items.
    #[must_use]
    pub fn new(call: C) -> Arc<Self> {
        Arc::new(Self { call, state: Mutex::new(State { waiting: Vec::new(), is_writing: false }) })
    }

    /// Makes the call for one item, together with the items of concurrent callers.
    ///
    /// # Errors
    /// The error of the call; [`StoreError::Unavailable`] also if the call panicked, or its runtime ended.
    pub async fn call(self: &Arc<Self>, item: C::Item) -> Result<C::Outcome, StoreError> {
        let (answer, answered) = oneshot::channel();
        let is_idle = {
            let mut state = self.state.lock();
            state.waiting.push((item, answer));
            !std::mem::replace(&mut state.is_writing, true)
        };
        if is_idle {
            let writing = Writing { batcher: Arc::clone(self), has_ended: false };
            self.call.runtime().spawn(writing.run());
        }
        answered.await.map_err(|_| given_up(C::OP))?
    }

    /// Makes the call for one item alone, after a batch that may have failed because of another item.
    ///
    /// # Errors
    /// The error of the call.
    pub async fn alone(&self, item: C::Item) -> Result<C::Outcome, StoreError> {
        self.call.call(vec![item]).await?.pop().ok_or_else(|| given_up(C::OP))
    }

    /// Takes the next batch; `None` ends the writing.
    fn next(&self) -> Option<Vec<Waiting<C>>> {
        let mut state = self.state.lock();
        let mut bytes = 0;
        let fits = |(item, _): &&Waiting<C>| {
            let is_room = bytes < BATCH_BYTES;
            bytes += C::size(item);
            is_room
        };
        let number = state.waiting.iter().take(C::ITEMS_MAX).take_while(fits).count();
        state.is_writing = number > 0;
        // The order of the callers is kept: the rest moves to the front.
        (number > 0).then(|| state.waiting.drain(..number).collect())
    }
}

fn given_up(op: &'static str) -> StoreError {
    StoreError::Unavailable { op, source: "the batch was given up".into() }
}

/// The task that writes until nothing waits. If the task ends early, by a panic, the waiting callers fail and
/// the next caller starts anew.
struct Writing<C: BatchCall> {
    batcher: Arc<Batcher<C>>,
    /// Whether nothing waited any more. From then on another task may be writing.
    has_ended: bool,
}

impl<C: BatchCall> Writing<C> {
    async fn run(mut self) {
        while let Some(batch) = self.batcher.next() {
            let (items, answers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            match self.batcher.call.call(items).await {
                Ok(outcomes) => {
                    for (answer, outcome) in answers.into_iter().zip(outcomes) {
                        // A caller that went away learns the outcome by a repeat.
                        let _ = answer.send(Ok(outcome));
                    }
                }
                Err(error) => {
                    let error = Arc::new(error);
                    for answer in answers {
                        let _ = answer.send(Err(StoreError::copied(&error, C::OP)));
                    }
                }
            }
        }
        self.has_ended = true;
    }
}

impl<C: BatchCall> Drop for Writing<C> {
    fn drop(&mut self) {
        if !self.has_ended {
            let mut state = self.batcher.state.lock();
            state.is_writing = false;
            state.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    /// Returns each item doubled, once permitted; 13 panics and 4 fails.
    struct Double {
        permits: Arc<Semaphore>,
        batches: Arc<Mutex<Vec<usize>>>,
    }

    #[async_trait]
    impl BatchCall for Double {
        const OP: &'static str = "double";
        type Item = usize;
        type Outcome = usize;

        fn size(item: &usize) -> usize {
            if *item >= BATCH_BYTES { *item } else { 1 }
        }

        async fn call(&self, items: Vec<usize>) -> Result<Vec<usize>, StoreError> {
            self.permits.acquire().await.unwrap().forget();
            self.batches.lock().push(items.len());
            assert!(!items.contains(&13));
            if items.contains(&4) {
                return Err(StoreError::Full { op: "inner", detail: "full".to_owned() });
            }
            Ok(items.into_iter().map(|item| item * 2).collect())
        }
    }

    #[tokio::test]
    async fn callers_share_batches_and_failures_reach_every_caller() {
        let (permits, batches) = (Arc::new(Semaphore::new(0)), Arc::<Mutex<Vec<usize>>>::default());
        let batcher = Batcher::new(Double { permits: Arc::clone(&permits), batches: Arc::clone(&batches) });
        let call = |item| {
            let batcher = Arc::clone(&batcher);
            tokio::spawn(async move { batcher.call(item).await })
        };
        let mut calls: Vec<_> = (100..100 + Double::ITEMS_MAX + 1).map(call).collect();
        calls.push(call(BATCH_BYTES));
        calls.push(call(5));
        permits.add_permits(1_000);
        for (number, call) in (100..).zip(calls).take(Double::ITEMS_MAX + 1) {
            assert_eq!(call.await.unwrap().unwrap(), number * 2);
        }
        assert_eq!(call(7).await.unwrap().unwrap(), 14);
        assert!(batches.lock().iter().all(|size| *size <= Double::ITEMS_MAX));
        assert_eq!(batches.lock().iter().sum::<usize>(), Double::ITEMS_MAX + 4);
        let failed = call(4).await.unwrap();
        assert!(matches!(failed, Err(StoreError::Full { op: "double", .. })), "{failed:?}");
        let given_up = call(13).await.unwrap();
        assert!(matches!(given_up, Err(StoreError::Unavailable { .. })), "{given_up:?}");
        assert_eq!(call(8).await.unwrap().unwrap(), 16, "the next caller starts anew");
    }

    /// Items come back as they are.
    struct Echo;

    #[async_trait]
    impl BatchCall for Echo {
        const OP: &'static str = "echo";
        type Item = usize;
        type Outcome = usize;

        async fn call(&self, items: Vec<usize>) -> Result<Vec<usize>, StoreError> {
            Ok(items)
        }
    }

    /// A caller often comes just when the task before finds nothing more to write.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_caller_is_lost_between_one_task_and_the_next() {
        let batcher = Batcher::new(Echo);
        let callers = (0..4).map(|caller| {
            let batcher = Arc::clone(&batcher);
            tokio::spawn(async move {
                for number in 0..20_000 {
                    assert_eq!(batcher.call(caller + number).await.unwrap(), caller + number);
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
    }
}
