//! How login codes reach people.

mod inbox;
mod webhook;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Phone;
use tokio::sync::Semaphore;

pub use inbox::Inbox;
pub use webhook::Webhook;

/// A code did not go out. What it says is for the log: it names neither the phone nor the code.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SmsError(String);

/// Sends login codes.
///
/// - `Ok` means that the next one on the way took the code, not that a phone showed it.
/// - After an error the code may have gone out all the same. Nobody sends it again by itself.
/// - Answers within a second or so: a person waits.
#[async_trait]
pub trait SmsSender: Send + Sync {
    /// Sends a code to a phone.
    ///
    /// # Errors
    /// [`SmsError`], for the log.
    async fn send(&self, phone: &Phone, code: &str) -> Result<(), SmsError>;
}

/// Writes each code to standard output, one line each and nothing else: `SMS 13900000002 code 123456`.
///
/// A terminal that is held (Ctrl-S), or a pipe that nobody reads, holds one thread and no request.
#[derive(Debug)]
pub struct Console {
    turn: Arc<Semaphore>,
}

impl Console {
    /// Who could not write within this time is told so.
    const PATIENCE: Duration = Duration::from_secs(1);
}

impl Default for Console {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)) }
    }
}

#[async_trait]
impl SmsSender for Console {
    async fn send(&self, phone: &Phone, code: &str) -> Result<(), SmsError> {
        let line = console_line(phone, code);
        let writing = async {
            let turn = self.turn.clone().acquire_owned().await;
            let written = tokio::task::spawn_blocking(move || {
                // One write, so that lines of two senders do not mix; and no `println!`, which panics on a closed pipe.
                let mut out = std::io::stdout().lock();
                let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                // The turn ends with the writing, even if nobody waits for it any more.
                drop(turn);
                written
            });
            written.await.unwrap_or_else(|ended| Err(std::io::Error::other(ended)))
        };
        match tokio::time::timeout(Self::PATIENCE, writing).await {
            Ok(written) => {
                written.map_err(|error| SmsError(format!("standard output does not take the code: {error}")))
            }
            Err(_) => Err(SmsError("standard output does not take the code within a second".to_owned())),
        }
    }
}

fn console_line(phone: &Phone, code: &str) -> String {
    format!("SMS {} code {code}\n", phone.as_str())
}

/// Sends by one and then by the other. An error of one does not keep the other from sending.
pub struct Both(pub Arc<dyn SmsSender>, pub Arc<dyn SmsSender>);

#[async_trait]
impl SmsSender for Both {
    async fn send(&self, phone: &Phone, code: &str) -> Result<(), SmsError> {
        let first = self.0.send(phone, code).await;
        self.1.send(phone, code).await.and(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phone(text: &str) -> Phone {
        Phone::parse(text).unwrap()
    }

    /// A way that leads nowhere.
    struct Broken;

    #[async_trait]
    impl SmsSender for Broken {
        async fn send(&self, _: &Phone, _: &str) -> Result<(), SmsError> {
            Err(SmsError("broken".to_owned()))
        }
    }

    #[test]
    fn the_console_writes_exactly_this_line() {
        assert_eq!(console_line(&phone("13900000002"), "012345"), "SMS 13900000002 code 012345\n");
    }

    #[tokio::test]
    async fn a_held_console_holds_no_request() {
        let console = Console::default();
        // As if another line were being written to a terminal that does not move.
        let _held = console.turn.clone().acquire_owned().await.unwrap();
        let error = console.send(&phone("13900000002"), "012345").await.unwrap_err();
        assert!(error.to_string().contains("within a second"), "{error}");
    }

    #[tokio::test]
    async fn inbox_keeps_the_last_code_of_each_phone() {
        let inbox = Arc::new(Inbox::default());
        let both = Both(inbox.clone(), Arc::new(Inbox::default()));
        both.send(&phone("13900000002"), "111111").await.unwrap();
        both.send(&phone("13900000003"), "222222").await.unwrap();
        both.send(&phone("13900000002"), "333333").await.unwrap();
        assert_eq!(inbox.last(&phone("13900000002")).as_deref(), Some("333333"));
        assert_eq!(inbox.last(&phone("13900000003")).as_deref(), Some("222222"));
        assert_eq!(inbox.last(&phone("13900000004")), None);
    }

    #[tokio::test]
    async fn one_sender_that_fails_does_not_silence_the_other() {
        let inbox = Arc::new(Inbox::default());
        let broken = Arc::new(Broken);
        for both in [Both(broken.clone(), inbox.clone()), Both(inbox.clone(), broken.clone())] {
            assert!(both.send(&phone("13900000002"), "111111").await.is_err());
        }
        assert_eq!(inbox.last(&phone("13900000002")).as_deref(), Some("111111"));
    }
}
