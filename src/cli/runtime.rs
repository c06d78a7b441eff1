//! The runtime for a command's own work.

use super::messages::CommandFailure;

/// Runs a task on a runtime for the mall's own work; connections have runtimes of their own.
pub(super) fn block_on<T>(task: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    runtime()?.block_on(task)
}

/// Creates the runtime of [`block_on`], for several tasks on the same connections.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.worker_threads(2).thread_name("mall").enable_all().build();
    built.map_err(|error| CommandFailure::NoThreads.with_cause(error))
}
