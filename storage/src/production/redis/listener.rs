//! Hears what instances say to each other.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;

use super::link::Link;

/// How long a listener rests after it lost its connection, or did not get one.
const REST: Duration = Duration::from_millis(250);

/// Who is told.
pub(super) trait Hears: Send + Sync + 'static {
    /// This was said.
    fn said(&self, words: &str);

    /// Something may have been said that was not heard. From here on, what is said is heard.
    fn missed(&self);
}

/// Hears a channel on a connection of its own: one that subscribes can be used for nothing else, and one node of a cluster
/// passes on what is said to any other. It ends when nobody has to be told any more.
pub(super) struct Listener<H> {
    link: Link,
    channel: String,
    told: Weak<H>,
}

impl<H: Hears> Listener<H> {
    pub(super) fn start(link: &Link, channel: String, told: &Arc<H>) {
        let listener = Self { link: link.clone(), channel, told: Arc::downgrade(told) };
        link.runtime().spawn(listener.run());
    }

    async fn run(self) {
        while self.told.strong_count() > 0 {
            if let Err(error) = self.listen().await {
                tracing::debug!(channel = self.channel, %error, "what other instances say is not heard");
            }
            tokio::time::sleep(REST).await;
        }
    }

    async fn listen(&self) -> Result<(), redis::RedisError> {
        /// How often it looks whether it is still wanted.
        const LOOK_EVERY: Duration = Duration::from_secs(1);
        let mut connection = self.link.address().listener().await?;
        connection.subscribe(&self.channel).await?;
        let mut said = connection.on_message();
        if let Some(told) = self.told.upgrade() {
            told.missed();
        }
        while let Some(told) = self.told.upgrade() {
            match tokio::time::timeout(LOOK_EVERY, said.next()).await {
                Ok(Some(message)) => told.said(&message.get_payload::<String>()?),
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
        }
        Ok(())
    }
}
