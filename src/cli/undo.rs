//! What a process undoes when it is told to stop.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::Mutex;

/// What is to be undone when the process is told to stop, by number.
static UNDONE_ON_STOP: Mutex<BTreeMap<u64, Undo>> = Mutex::new(BTreeMap::new());
/// Longest time of all undoing.
const UNDO_MAX: Duration = Duration::from_secs(10);

type Undo = Box<dyn FnOnce() + Send>;

/// Something to be undone when the process is told to stop, unless the value is dropped before.
pub(super) struct UndoOnStop(u64);

impl UndoOnStop {
    pub(super) fn new(undo: impl FnOnce() + Send + 'static) -> Self {
        let mut undone = UNDONE_ON_STOP.lock();
        let number = undone.last_key_value().map_or(0, |(last, _)| last + 1);
        undone.insert(number, Box::new(undo));
        Self(number)
    }
}

impl Drop for UndoOnStop {
    fn drop(&mut self) {
        UNDONE_ON_STOP.lock().remove(&self.0);
    }
}

/// Undoes everything, in [`UNDO_MAX`] at most.
pub(super) fn all() {
    let all = std::mem::take(&mut *UNDONE_ON_STOP.lock());
    if all.is_empty() {
        return;
    }
    let (done, is_done) = channel();
    let undo = move || {
        all.into_values().for_each(|undo| undo());
        let _ = done.send(());
    };
    if std::thread::Builder::new().name("undo".to_owned()).spawn(undo).is_ok() {
        let _ = is_done.recv_timeout(UNDO_MAX);
    }
}
