//! Repetition of calls while a back end is away for a moment.

use std::time::Duration;

use mallbox_storage::StoreError;

/// Pause before a repetition, and the number of repetitions: about half a minute.
const PAUSE: Duration = Duration::from_millis(100);
const REPEATS: usize = 300;

/// Calls, and repeats the call while its error is transient: a busy machine may take longer to sync a disk
/// than a port waits. Only for calls that may be repeated; the time of all repetitions is the time of the
/// operation.
pub(crate) async fn insist<T, Fut>(mut call: impl FnMut() -> Fut) -> Result<T, StoreError>
where
    Fut: Future<Output = Result<T, StoreError>>,
{
    for _ in 0..REPEATS {
        match call().await {
            Err(error) if error.is_transient() => tokio::time::sleep(PAUSE).await,
            done => return done,
        }
    }
    call().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> StoreError {
        StoreError::Unavailable { op: "bench", source: "away".into() }
    }

    #[tokio::test]
    async fn a_call_is_repeated_until_the_back_end_is_there() {
        let mut calls = 0;
        let done = insist(|| {
            calls += 1;
            let result = if calls < 3 { Err(away()) } else { Ok(calls) };
            async move { result }
        });
        assert_eq!(done.await.unwrap(), 3);
    }
}
