//! Which requests and responses precede a position of the trace.

use std::sync::Arc;

use mallbox::bench::load::{Answer, Fault, Script};
use mallbox_test_checker::History;
use mallbox_test_write_recorder::Recorder;
use parking_lot::Mutex;

/// Instants at which both the clock of the history and the position of the trace are known.
///
/// Everything recorded in the history up to a mark happened before the mark's position; everything after, at
/// that position or later.
#[derive(Clone, Debug)]
pub struct Marks {
    recorder: Recorder,
    history: Arc<Mutex<History>>,
    /// Clock and position, ascending.
    marks: Arc<Mutex<Vec<(u64, usize)>>>,
}

impl Marks {
    pub fn new(recorder: &Recorder, history: &Arc<Mutex<History>>) -> Self {
        Self { recorder: recorder.clone(), history: Arc::clone(history), marks: Arc::default() }
    }

    /// Adds a mark.
    pub fn mark(&self) {
        let history = self.history.lock();
        self.marks.lock().push((history.now(), self.recorder.position()));
    }

    /// Returns the history at a power cut: responses that arrived before, and requests that were perhaps sent
    /// before.
    pub fn history_at(&self, cut: usize) -> History {
        let (marks, history) = (self.marks.lock(), self.history.lock());
        let (before, after) = marks.split_at(marks.partition_point(|(_, position)| *position <= cut));
        let responded = before.last().map_or(0, |(clock, _)| *clock);
        let invoked = after.first().map_or(u64::MAX, |(clock, _)| *clock);
        history.before(invoked, responded)
    }

    /// Returns the clock of the last mark before a position: equal for cuts with equal responses.
    pub fn clock_at(&self, cut: usize) -> u64 {
        let marks = self.marks.lock();
        let count = marks.partition_point(|(_, position)| *position <= cut);
        marks[..count].last().map_or(0, |(clock, _)| *clock)
    }
}

/// A script with a mark before each request and after each response.
pub struct Marked<S> {
    script: S,
    marks: Marks,
}

impl<S> Marked<S> {
    pub fn new(script: S, marks: &Marks) -> Self {
        Self { script, marks: marks.clone() }
    }
}

impl<S: Script> Script for Marked<S> {
    fn request(&mut self, connection: usize, buffer: &mut Vec<u8>) -> bool {
        self.marks.mark();
        self.script.request(connection, buffer)
    }

    fn on_response(&mut self, connection: usize, answer: Answer<'_>) {
        self.script.on_response(connection, answer);
        self.marks.mark();
    }

    fn lost(&mut self, connection: usize, fault: Fault) {
        self.script.lost(connection, fault);
    }
}
