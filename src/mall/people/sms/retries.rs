//! Repeated delivery of a login code, in memory only: a code is never stored.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::{Phone, Timestamp};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::{Sms, SmsError, SmsSender};
use crate::mall::Clock;

/// Pauses between tries, by the mall's clock; the last one repeats until the code expires.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(3), Duration::from_secs(6), Duration::from_secs(12), Duration::from_secs(24)];
/// Codes retried at once. Further codes are tried once.
const RETRIED_MAX: usize = 4_096;

/// Sends login codes, and repeats a failed or doubtful delivery until the code expires. All tries of a code
/// carry one idempotency key. Dropping the value ends all retries.
pub(in crate::mall) struct SmsRetries {
    sender: Arc<dyn SmsSender>,
    clock: Arc<dyn Clock>,
    /// The code of each phone that is being delivered.
    running: Arc<Mutex<HashMap<Phone, Delivery>>>,
}

struct Delivery {
    key: String,
    task: AbortHandle,
}

impl SmsRetries {
    pub(in crate::mall) fn new(sender: Arc<dyn SmsSender>, clock: Arc<dyn Clock>) -> Self {
        Self { sender, clock, running: Arc::default() }
    }

    /// Sends a code. Returns after the first try, and retries until `expires`. Ends the retries of an earlier
    /// code of the phone: the earlier code is void.
    ///
    /// # Errors
    /// [`SmsError`] if the first try failed; later tries may succeed. No error while the delivery is in
    /// doubt: the code may be on its way.
    pub(in crate::mall) async fn send(&self, sms: Sms, expires: Timestamp) -> Result<(), SmsError> {
        let (tried, first) = oneshot::channel();
        self.start(sms, expires, tried);
        match first.await {
            Ok(Ok(()) | Err(SmsError::InDoubt(_))) => Ok(()),
            Ok(Err(error)) => Err(error),
            // The next code of the phone replaced this one, or the sender panicked.
            Err(_) => Err(SmsError::Failed("the delivery was given up".to_owned())),
        }
    }

    fn start(&self, sms: Sms, expires: Timestamp, tried: oneshot::Sender<Result<(), SmsError>>) {
        let (phone, key) = (sms.phone.clone(), sms.key.clone());
        let mut running = self.running.lock();
        if let Some(earlier) = running.remove(&phone) {
            earlier.task.abort();
        }
        // Without room, a code that has expired already: one try.
        let expires = if running.len() < RETRIED_MAX { expires } else { Timestamp::from_millis(i64::MIN) };
        let (sender, clock, ended) =
            (Arc::clone(&self.sender), Arc::clone(&self.clock), Arc::clone(&self.running));
        let task = tokio::spawn(async move {
            deliver(&*sender, &*clock, &sms, expires, tried).await;
            let mut running = ended.lock();
            if running.get(&sms.phone).is_some_and(|delivery| delivery.key == sms.key) {
                running.remove(&sms.phone);
            }
        });
        running.insert(phone, Delivery { key, task: task.abort_handle() });
    }
}

impl Drop for SmsRetries {
    fn drop(&mut self) {
        self.running.lock().drain().for_each(|(_, delivery)| delivery.task.abort());
    }
}

/// Tries until the code is delivered, refused, or about to expire. Passes the outcome of the first try on.
async fn deliver(
    sender: &dyn SmsSender,
    clock: &dyn Clock,
    sms: &Sms,
    expires: Timestamp,
    tried: oneshot::Sender<Result<(), SmsError>>,
) {
    let mut tried = Some(tried);
    let last = PAUSES[PAUSES.len() - 1];
    for pause in PAUSES.into_iter().chain(std::iter::repeat(last)) {
        let outcome = sender.send(sms).await;
        if let Err(error) = &outcome {
            tracing::error!(%error, "could not send a login code");
        }
        let is_over = !matches!(outcome, Err(SmsError::Failed(_) | SmsError::InDoubt(_)));
        if let Some(tried) = tried.take() {
            // A caller that went away asks for another code, or gets this one.
            let _ = tried.send(outcome);
        }
        let next = clock.now() + pause;
        if is_over || next >= expires {
            return;
        }
        clock.reach(next).await;
        // The clock may have been moved past the expiry.
        if clock.now() >= expires {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use mallbox_test_patience::Deadline;

    use super::*;
    use crate::mall::base::ManualClock;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    const TTL: Duration = Duration::from_secs(120);

    type Script = Vec<Result<(), SmsError>>;

    /// Follows a script, then accepts everything. Records the codes and keys.
    #[derive(Default)]
    struct Scripted {
        script: Mutex<Script>,
        tries: Mutex<Vec<(String, String)>>,
    }

    #[async_trait]
    impl SmsSender for Scripted {
        async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
            self.tries.lock().push((sms.code.clone(), sms.key.clone()));
            let mut script = self.script.lock();
            if script.is_empty() { Ok(()) } else { script.remove(0) }
        }
    }

    fn failed() -> Result<(), SmsError> {
        Err(SmsError::Failed("away".to_owned()))
    }

    fn in_doubt() -> Result<(), SmsError> {
        Err(SmsError::InDoubt("silence".to_owned()))
    }

    fn set_up(script: Script) -> (Arc<Scripted>, Arc<ManualClock>, SmsRetries) {
        let sender = Arc::new(Scripted { script: Mutex::new(script), tries: Mutex::default() });
        let clock = Arc::new(ManualClock::new(NOON));
        (Arc::clone(&sender), Arc::clone(&clock), SmsRetries::new(sender, clock))
    }

    fn sms(code: &str) -> Sms {
        let phone = Phone::parse("13900000002").unwrap();
        Sms { phone, code: code.to_owned(), key: format!("key of {code}") }
    }

    async fn until_tried(sender: &Scripted, times: usize) {
        let deadline = Deadline::after(Duration::from_secs(20));
        while sender.tries.lock().len() < times {
            assert!(!deadline.is_over(), "{:?}", sender.tries.lock());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn until_idle(retries: &SmsRetries) {
        let deadline = Deadline::after(Duration::from_secs(20));
        while !retries.running.lock().is_empty() {
            assert!(!deadline.is_over());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn a_failed_code_is_retried_with_one_key_although_the_caller_was_told() {
        let (sender, clock, retries) = set_up(vec![failed(), in_doubt(), failed()]);
        assert_eq!(retries.send(sms("1"), NOON + TTL).await, Err(SmsError::Failed("away".to_owned())));
        for (seconds, times) in [(3, 2), (6, 3), (12, 4)] {
            clock.advance(Duration::from_secs(seconds));
            until_tried(&sender, times).await;
        }
        until_idle(&retries).await;
        let tries = sender.tries.lock();
        assert!(tries.iter().all(|tried| *tried == ("1".to_owned(), "key of 1".to_owned())), "{tries:?}");
        assert_eq!(tries.len(), 4);
    }

    #[tokio::test]
    async fn a_code_in_doubt_is_no_failure() {
        let (sender, clock, retries) = set_up(vec![in_doubt()]);
        assert_eq!(retries.send(sms("1"), NOON + TTL).await, Ok(()));
        clock.advance(Duration::from_secs(3));
        until_tried(&sender, 2).await;
        until_idle(&retries).await;
    }

    #[tokio::test]
    async fn an_expired_code_is_sent_no_more() {
        let (sender, clock, retries) = set_up(vec![failed(); 9]);
        assert!(retries.send(sms("1"), NOON + TTL).await.is_err());
        clock.advance(TTL);
        until_idle(&retries).await;
        assert_eq!(sender.tries.lock().len(), 1);
        // A code that expires before the next try is not kept either.
        assert!(retries.send(sms("2"), clock.now() + Duration::from_secs(3)).await.is_err());
        until_idle(&retries).await;
    }

    #[tokio::test]
    async fn what_a_repetition_cannot_mend_is_not_repeated() {
        let (sender, _, retries) = set_up(vec![Err(SmsError::Refused("no such phone".to_owned()))]);
        assert!(matches!(retries.send(sms("1"), NOON + TTL).await, Err(SmsError::Refused(_))));
        until_idle(&retries).await;
        assert_eq!(sender.tries.lock().len(), 1);
    }

    #[tokio::test]
    async fn the_next_code_of_a_phone_ends_the_retries_of_the_last() {
        let (sender, clock, retries) = set_up(vec![failed()]);
        assert!(retries.send(sms("1"), NOON + TTL).await.is_err());
        assert_eq!(retries.send(sms("2"), NOON + TTL).await, Ok(()));
        until_idle(&retries).await;
        clock.advance(Duration::from_secs(60));
        let codes: Vec<String> = sender.tries.lock().iter().map(|(code, _)| code.clone()).collect();
        assert_eq!(codes, ["1", "2"]);
        let weak = Arc::downgrade(&sender);
        drop(sender);
        drop(retries);
        assert!(weak.upgrade().is_none(), "nothing runs on without the service");
    }
}
