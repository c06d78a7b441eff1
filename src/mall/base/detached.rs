//! Work that finishes even if the caller is cancelled.

use super::Failure;

/// Runs `work` in a separate task. A cancelled caller cannot stop the task between writes to several stores.
pub(in crate::mall) async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    tokio::spawn(work)
        .await
        .unwrap_or_else(|error| Err(Failure::Bug(format!("a detached task panicked: {error}"))))
}
