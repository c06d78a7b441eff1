//! Login codes that a server prints, as in `SMS 13900000002 code 123456`.

#![allow(dead_code, reason = "each bench uses the part it needs")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// A code not printed within this time was not sent.
const CODE_TIMEOUT: Duration = Duration::from_secs(5);

/// All codes printed so far. Clones share the codes.
#[derive(Clone, Default)]
pub struct Codes(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Codes by phone, oldest first.
    sent: Mutex<HashMap<String, Vec<String>>>,
    changed: Condvar,
}

impl Codes {
    /// Reads the server's standard output on a thread, until the server ends.
    pub fn of(lines: Receiver<String>) -> Self {
        let codes = Self::default();
        let reader = codes.clone();
        std::thread::spawn(move || lines.into_iter().for_each(|line| reader.add(&line)));
        codes
    }

    fn add(&self, line: &str) {
        if let Some((phone, code)) = line.strip_prefix("SMS ").and_then(|rest| rest.split_once(" code ")) {
            self.0.sent.lock().entry(phone.to_owned()).or_default().push(code.to_owned());
            self.0.changed.notify_all();
        }
    }

    /// Returns the number of codes sent to a phone.
    pub fn count(&self, phone: &str) -> usize {
        self.0.sent.lock().get(phone).map_or(0, Vec::len)
    }

    /// Returns the number of codes sent to all phones.
    pub fn total(&self) -> usize {
        self.0.sent.lock().values().map(Vec::len).sum()
    }

    /// Returns the last code sent to a phone.
    pub fn last(&self, phone: &str) -> Option<String> {
        self.0.sent.lock().get(phone)?.last().cloned()
    }

    /// Waits for the code of a phone with this number, from 0. `None` if no such code was sent in time.
    pub fn wait(&self, phone: &str, number: usize) -> Option<String> {
        let deadline = Instant::now() + CODE_TIMEOUT;
        let mut sent = self.0.sent.lock();
        loop {
            if let Some(code) = sent.get(phone).and_then(|codes| codes.get(number)) {
                return Some(code.clone());
            }
            if self.0.changed.wait_until(&mut sent, deadline).timed_out() {
                return None;
            }
        }
    }
}
