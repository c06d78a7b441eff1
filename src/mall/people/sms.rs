//! Delivery of login codes.

mod inbox;
mod retries;
mod webhook;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::Phone;
use tokio::sync::Semaphore;

pub use inbox::Inbox;
pub(in crate::mall) use retries::SmsRetries;
pub use webhook::Webhook;

/// A login code on its way to a phone.
#[derive(Clone, PartialEq, Eq)]
pub struct Sms {
    /// The phone.
    pub phone: Phone,
    /// The code.
    pub code: String,
    /// Idempotency key: equal in all tries of one code, and unique otherwise.
    pub key: String,
}

/// A delivery without success. The message is for the log: neither phone nor code is included.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SmsError {
    /// The code was not sent, and a repetition would fail the same way.
    #[error("{0}")]
    Refused(String),
    /// The code was not sent. A repetition may succeed.
    #[error("{0}")]
    Failed(String),
    /// No response: the code may have been sent.
    #[error("{0}")]
    InDoubt(String),
}

/// A channel that sends login codes.
///
/// - `Ok` means that the next hop accepted the code, not that a phone received it.
/// - A failed or doubtful delivery is repeated by the caller, with the same key.
/// - Returns within about a second, because a person is waiting.
#[async_trait]
pub trait SmsSender: Send + Sync {
    /// Sends a code to a phone.
    ///
    /// # Errors
    /// [`SmsError`], for the log.
    async fn send(&self, sms: &Sms) -> Result<(), SmsError>;
}

/// Writes codes to standard output, one line per code and nothing else: `SMS 13900000002 code 123456`.
///
/// A paused terminal (Ctrl-S) or a pipe without a reader blocks one thread and no request.
#[derive(Debug)]
pub struct Console {
    turn: Arc<Semaphore>,
}

impl Console {
    /// Write timeout; afterwards the call fails.
    const WRITE_TIMEOUT: Duration = Duration::from_secs(1);
}

impl Default for Console {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)) }
    }
}

#[async_trait]
impl SmsSender for Console {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        let line = console_line(sms);
        let writing = async {
            let turn = self.turn.clone().acquire_owned().await;
            let written = tokio::task::spawn_blocking(move || {
                // A single write, so that lines of two senders do not mix. No `println!`, which panics on a
                // closed pipe.
                let mut out = std::io::stdout().lock();
                let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                // Held until the write is done, even if the caller has stopped waiting.
                drop(turn);
                written
            });
            written.await.unwrap_or_else(|ended| Err(std::io::Error::other(ended)))
        };
        match tokio::time::timeout(Self::WRITE_TIMEOUT, writing).await {
            Ok(written) => written.map_err(|error| {
                SmsError::Refused(format!("cannot write the code to standard output: {error}"))
            }),
            // The line is written once the terminal goes on: a repetition would write a second one.
            Err(_) => Err(SmsError::Refused(
                "could not write the code to standard output within a second".to_owned(),
            )),
        }
    }
}

fn console_line(sms: &Sms) -> String {
    format!("SMS {} code {}\n", sms.phone.as_str(), sms.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phone(text: &str) -> Phone {
        Phone::parse(text).unwrap()
    }

    fn sms(to: &str, code: &str) -> Sms {
        Sms { phone: phone(to), code: code.to_owned(), key: String::new() }
    }

    #[test]
    fn the_console_writes_exactly_this_line() {
        assert_eq!(console_line(&sms("13900000002", "012345")), "SMS 13900000002 code 012345\n");
    }

    #[tokio::test]
    async fn a_held_console_holds_no_request() {
        let console = Console::default();
        // Simulates another line being written to a paused terminal.
        let _held = console.turn.clone().acquire_owned().await.unwrap();
        let error = console.send(&sms("13900000002", "012345")).await.unwrap_err();
        assert!(error.to_string().contains("within a second"), "{error}");
    }

    #[tokio::test]
    async fn inbox_keeps_the_last_code_of_each_phone() {
        let inbox = Inbox::default();
        inbox.send(&sms("13900000002", "111111")).await.unwrap();
        inbox.send(&sms("13900000003", "222222")).await.unwrap();
        inbox.send(&sms("13900000002", "333333")).await.unwrap();
        assert_eq!(inbox.last(&phone("13900000002")).as_deref(), Some("333333"));
        assert_eq!(inbox.last(&phone("13900000003")).as_deref(), Some("222222"));
        assert_eq!(inbox.last(&phone("13900000004")), None);
    }
}
