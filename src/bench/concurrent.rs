//! Calls of a port, a number of them at a time.

use indicatif::ProgressBar;
use tokio::task::JoinSet;

/// Runs all calls, at most so many at a time, and returns their results in the order of the calls.
///
/// # Errors
/// The first call that fails; calls under way are dropped.
pub(super) async fn all<T, F>(
    at_once: usize,
    calls: impl Iterator<Item = F>,
    bar: &ProgressBar,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<T>> + Send + 'static,
{
    let mut under_way = JoinSet::new();
    let mut results = Vec::new();
    for (number, call) in calls.enumerate() {
        results.push(None);
        under_way.spawn(async move { (number, call.await) });
        if under_way.len() >= at_once {
            finish_one(&mut under_way, &mut results, bar).await?;
        }
    }
    while !under_way.is_empty() {
        finish_one(&mut under_way, &mut results, bar).await?;
    }
    Ok(results.into_iter().flatten().collect())
}

async fn finish_one<T: Send + 'static>(
    under_way: &mut JoinSet<(usize, anyhow::Result<T>)>,
    results: &mut [Option<T>],
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    if let Some(finished) = under_way.join_next().await {
        let (number, result) = finished?;
        results[number] = Some(result?);
        bar.inc(1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn results_are_in_the_order_of_the_calls() {
        let call = |number: u64| async move {
            tokio::time::sleep(Duration::from_millis(10 - number)).await;
            if number == 9 { Err(anyhow::anyhow!("the ninth")) } else { Ok(number) }
        };
        let bar = ProgressBar::hidden();
        assert_eq!(all(3, (0..8).map(call), &bar).await.unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(bar.position(), 8);
        assert_eq!(all(3, (0..10).map(call), &bar).await.unwrap_err().to_string(), "the ninth");
    }
}
