//! Warnings and errors in the log of this process, and panics of any thread.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Collected messages. Cheap to clone.
#[derive(Clone, Default)]
pub struct Alarms {
    /// Errors and panics since the last call of [`Alarms::take`].
    errors: Arc<Mutex<Vec<String>>>,
    /// Number of warnings, by message.
    warnings: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Alarms {
    /// Collects everything from now on, for the whole process.
    pub fn install() -> Self {
        let alarms = Self::default();
        let _ = tracing::subscriber::set_global_default(Collector(alarms.clone()));
        let (errors, usual) = (Arc::clone(&alarms.errors), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            errors.lock().push(format!("panic: {panic}"));
            usual(panic);
        }));
        alarms
    }

    /// Removes and returns the errors so far.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.errors.lock())
    }

    /// Returns the number of warnings, by message.
    pub fn warnings(&self) -> BTreeMap<String, u64> {
        self.warnings.lock().clone()
    }
}

struct Collector(Alarms);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        if *event.metadata().level() == Level::ERROR {
            self.0.errors.lock().push(format!("error in the log: {}{}", text.message, text.fields));
        } else {
            *self.0.warnings.lock().entry(text.message).or_default() += 1;
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, ", {}={value:?}", field.name())
        };
        written.expect("a String takes everything");
    }
}
