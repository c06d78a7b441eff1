//! Work that is done to the end even if whoever asked for it goes away.

use super::Failure;

/// Does it to the end even if the caller goes away: several stores are written, one after the other.
pub(super) async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    tokio::spawn(work).await.unwrap_or_else(|error| Err(Failure::Bug(format!("a step broke off: {error}"))))
}
