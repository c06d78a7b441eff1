//! Single requests with their responses, in place of a load.

use std::collections::VecDeque;
use std::fmt;

use super::error::{Fault, LoadError};
use super::run::run;
use super::script::{Answer, Load, Progress, Script};

/// Longest part of a body in a message, in characters.
const SHOWN_MAX: usize = 200;

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchanged {
    /// The status code.
    pub status: u16,
    /// The complete body.
    pub body: Vec<u8>,
}

impl fmt::Display for Exchanged {
    /// Writes the status and the begin of the body, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = String::from_utf8_lossy(&self.body).chars().take(SHOWN_MAX).collect();
        write!(f, "{} {}", self.status, text.escape_debug())
    }
}

/// Sends each request once over the connections of `load`, and returns the results in the order of the
/// requests.
///
/// # Errors
/// As [`run`]. A fault of a single request is its result.
pub fn exchange(load: &Load, requests: Vec<Vec<u8>>) -> Result<Vec<Result<Exchanged, Fault>>, LoadError> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let results = vec![Err(Fault::Timeout); requests.len()];
    let numbers = vec![0; load.connections];
    let requests = requests.into_iter().enumerate().collect();
    let (script, _) = run(load, Exchange { requests, numbers, results }, &Progress::default())?;
    Ok(script.results)
}

struct Exchange {
    /// The requests not sent yet, by number.
    requests: VecDeque<(usize, Vec<u8>)>,
    /// Number of the last request by connection.
    numbers: Vec<usize>,
    results: Vec<Result<Exchanged, Fault>>,
}

impl Script for Exchange {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        let Some((number, request)) = self.requests.pop_front() else { return false };
        self.numbers[connection] = number;
        buffer.extend_from_slice(&request);
        true
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        let body = answer.body.to_vec();
        self.results[self.numbers[connection]] = Ok(Exchanged { status: answer.status, body });
    }

    fn lost(&mut self, connection: usize, fault: Fault) {
        self.results[self.numbers[connection]] = Err(fault);
    }
}
