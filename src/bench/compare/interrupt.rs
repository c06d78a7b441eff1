//! Interrupts of a long bench: the system under way ends, its data is removed, and no other begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

/// Whether the bench was asked to stop.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for an interrupt, and for the signals that a service manager and a closed terminal send. A
    /// second signal ends the process at once.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let has_come = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&has_come);
        let (mut interrupted, mut terminated, mut hung_up) = runtime.block_on(async {
            let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
            let [interrupted, terminated, hung_up] = kinds.map(signal);
            Ok::<_, std::io::Error>((interrupted?, terminated?, hung_up?))
        })?;
        let listener = move || {
            runtime.block_on(async {
                for is_second in [false, true] {
                    tokio::select! {
                        _ = interrupted.recv() => {}
                        _ = terminated.recv() => {}
                        _ = hung_up.recv() => {}
                    }
                    if is_second {
                        std::process::exit(130);
                    }
                    eprintln!("interrupted: ends with this system at the latest; once more ends at once");
                    seen.store(true, Ordering::Relaxed);
                }
            });
        };
        std::thread::Builder::new().name("interrupt".to_owned()).spawn(listener).context("cannot listen")?;
        Ok(Self(has_come))
    }

    /// Returns whether the bench was asked to stop.
    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
