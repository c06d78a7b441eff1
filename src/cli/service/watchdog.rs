//! The service manager's watchdog, fed while all threads that the mall depends on go on.
//!
//! A failed write or an unreachable server is no reason to stop feeding: a restart would not mend it, and the
//! mall reports it and retries. A thread that hangs is.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::Upkeep;
use sd_notify::NotifyState;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::notify::notify;
use crate::http::ServerThreads;

/// Feeds the watchdog until aborted. `None` if the service manager runs none for this process.
///
/// The threads are asked after a quarter of the manager's time limit, and may take half of it to respond.
pub(in crate::cli) fn watch(upkeep: Arc<dyn Upkeep>, servers: Vec<ServerThreads>) -> Option<JoinHandle<()>> {
    let limit = sd_notify::watchdog_enabled()?;
    let watched = Watched { upkeep, servers };
    Some(tokio::spawn(async move {
        let mut reported = Vec::new();
        loop {
            let stalled = watched.stalled(limit / 2).await;
            if stalled != reported {
                report(&stalled);
                reported.clone_from(&stalled);
            }
            // Threads that were silent are asked again soon: the manager's limit is near.
            let pause = if stalled.is_empty() { limit / 4 } else { limit / 40 };
            if stalled.is_empty() {
                notify(&[NotifyState::Watchdog]);
            }
            tokio::time::sleep(pause).await;
        }
    }))
}

fn report(stalled: &[&str]) {
    if stalled.is_empty() {
        return tracing::info!("all threads respond again: the watchdog is fed");
    }
    let threads = stalled.join(", ");
    tracing::error!(
        threads,
        "threads do not respond: the watchdog is not fed until they do, and may restart the mall"
    );
}

struct Watched {
    upkeep: Arc<dyn Upkeep>,
    servers: Vec<ServerThreads>,
}

impl Watched {
    /// Returns the names of the threads that do not respond within `patience`.
    async fn stalled(&self, patience: Duration) -> Vec<&'static str> {
        let of_servers = async {
            let mut all_go_on = true;
            for server in &self.servers {
                all_go_on &= server.probe().await;
            }
            all_go_on
        };
        let (of_storage, of_servers) =
            tokio::join!(self.upkeep.stalled_threads(patience), timeout(patience, of_servers));
        let http = (of_servers != Ok(true)).then_some("HTTP");
        of_storage.into_iter().chain(http).collect()
    }
}
