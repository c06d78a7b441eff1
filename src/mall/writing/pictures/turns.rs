//! Turns at work that few may do at once, handed out fairly among users.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mallbox_storage::UserId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A number of turns. Waiting users are served in rotation, one turn each: a user with many waiting calls
/// delays another user by one turn at most. The calls of one user are served in order of arrival.
#[derive(Debug)]
pub(super) struct FairTurns {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Turns in nobody's hands. Above 0 only while nobody waits.
    free: usize,
    /// Users with waiting calls; the front user has the next turn.
    users: VecDeque<UserId>,
    /// The waiting calls of each user in `users`, oldest first; none is empty.
    waiting: HashMap<UserId, VecDeque<oneshot::Sender<Turn>>>,
}

/// A turn; returned when dropped.
#[must_use]
#[derive(Debug)]
pub(super) struct Turn(Arc<FairTurns>);

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.0.state.lock().next();
        if let Some(next) = next {
            // A caller that stopped waiting drops the new turn, which passes on to the next caller.
            let _ = next.send(Turn(Arc::clone(&self.0)));
        }
    }
}

impl FairTurns {
    /// Creates `count` turns.
    pub(super) fn new(count: usize) -> Arc<Self> {
        let state = State { free: count, users: VecDeque::new(), waiting: HashMap::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Waits for a turn on behalf of `user`. Cancel-safe: an abandoned call takes no turn.
    pub(super) async fn acquire(self: &Arc<Self>, user: UserId) -> Turn {
        let waiting = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Turn(Arc::clone(self));
            }
            state.join(user)
        };
        waiting.await.expect("a call leaves the queue with a turn, or after its caller has gone")
    }
}

impl State {
    fn join(&mut self, user: UserId) -> oneshot::Receiver<Turn> {
        let (sender, receiver) = oneshot::channel();
        let calls = self.waiting.entry(user).or_default();
        if calls.is_empty() {
            self.users.push_back(user);
        }
        // Abandoned calls must not pile up behind a long turn.
        calls.retain(|call| !call.is_closed());
        calls.push_back(sender);
        receiver
    }

    /// Returns the call that has the next turn; without a waiting call, frees the turn.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let Some(user) = self.users.pop_front() else {
            self.free += 1;
            return None;
        };
        let calls = self.waiting.get_mut(&user).expect("a listed user has waiting calls");
        let next = calls.pop_front();
        if calls.is_empty() {
            self.waiting.remove(&user);
        } else {
            self.users.push_back(user);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    const ANNE: UserId = UserId::new(1);
    const BEN: UserId = UserId::new(2);

    type Waiting = Pin<Box<dyn Future<Output = Turn>>>;

    fn waits(turns: &Arc<FairTurns>, user: UserId) -> Waiting {
        let turns = Arc::clone(turns);
        let mut waiting: Waiting = Box::pin(async move { turns.acquire(user).await });
        assert!(turn_of(&mut waiting).is_none(), "nobody has returned a turn");
        waiting
    }

    fn turn_of(waiting: &mut Waiting) -> Option<Turn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    fn at_once(turns: &Arc<FairTurns>, user: UserId) -> Turn {
        match pin!(turns.acquire(user)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => turn,
            Poll::Pending => panic!("a turn is free"),
        }
    }

    #[test]
    fn a_user_with_many_calls_delays_another_by_one_turn() {
        let turns = FairTurns::new(1);
        let first = at_once(&turns, ANNE);
        let mut annes: Vec<Waiting> = (0..50).map(|_| waits(&turns, ANNE)).collect();
        let mut bens = [waits(&turns, BEN), waits(&turns, BEN)];
        drop(first);
        let second = turn_of(&mut annes[0]).expect("the longest waiting call");
        drop(second);
        let third = turn_of(&mut bens[0]).expect("another user's call before the rest of the first");
        assert!(turn_of(&mut annes[1]).is_none());
        drop(third);
        drop(turn_of(&mut annes[1]).expect("in rotation"));
        drop(turn_of(&mut bens[1]).expect("in rotation"));
        for waiting in &mut annes[2..] {
            drop(turn_of(waiting).expect("in order of arrival"));
        }
        assert_eq!(turns.state.lock().free, 1);
        assert!(turns.state.lock().waiting.is_empty());
    }

    #[test]
    fn abandoned_calls_take_no_turn() {
        let turns = FairTurns::new(1);
        let held = at_once(&turns, ANNE);
        let abandoned: Vec<Waiting> = (0..3).map(|_| waits(&turns, ANNE)).collect();
        let mut patient = waits(&turns, BEN);
        drop(abandoned);
        drop(held);
        drop(turn_of(&mut patient).expect("the turn passes abandoned calls"));
        assert_eq!(turns.state.lock().free, 1);

        // Abandoned after the turn was sent, before it was received.
        let held = at_once(&turns, ANNE);
        let sent = waits(&turns, BEN);
        drop(held);
        drop(sent);
        assert_eq!(turns.state.lock().free, 1);
    }

    #[test]
    fn abandoned_calls_do_not_pile_up() {
        let turns = FairTurns::new(1);
        let _held = at_once(&turns, ANNE);
        for _ in 0..100 {
            drop(waits(&turns, BEN));
        }
        assert_eq!(turns.state.lock().waiting[&BEN].len(), 1);
        assert_eq!(turns.state.lock().users, [BEN]);
    }
}
