//! Standard output of an instance: one line of JSON each, in the order of the calls.

use std::io::Write as _;
use std::sync::mpsc;

use super::protocol::Line;

/// Writes lines on a thread of its own, many in one write.
#[derive(Clone, Debug)]
pub(super) struct Output(mpsc::Sender<Line>);

impl Output {
    pub(super) fn start() -> Self {
        let (sender, receiver) = mpsc::channel::<Line>();
        std::thread::spawn(move || {
            while let Ok(first) = receiver.recv() {
                let mut text = Vec::new();
                for line in std::iter::once(first).chain(receiver.try_iter()) {
                    if serde_json::to_writer(&mut text, &line).is_ok() {
                        text.push(b'\n');
                    }
                }
                let mut out = std::io::stdout().lock();
                if out.write_all(&text).and_then(|()| out.flush()).is_err() {
                    // The bench is gone.
                    std::process::exit(1);
                }
            }
        });
        Self(sender)
    }

    pub(super) fn line(&self, line: Line) {
        // An error means that the process is ending.
        let _ = self.0.send(line);
    }
}
