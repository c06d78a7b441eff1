//! Subscriptions to messages between instances.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;

use super::link::Link;

/// Pause after a lost connection or a failed attempt to connect.
const REST: Duration = Duration::from_millis(250);

/// A subscriber of a channel.
pub(super) trait Subscriber: Send + Sync + 'static {
    /// Handles a message.
    fn received(&self, words: &str);

    /// Handles possibly lost messages. Called after each subscription; later messages are received.
    fn missed(&self);
}

/// A subscription on a dedicated connection, because a subscribed connection accepts no other commands. One
/// node of a cluster suffices, because nodes forward messages to each other. Ends when the subscriber is
/// dropped.
pub(super) struct Listener<H> {
    link: Link,
    channel: String,
    subscriber: Weak<H>,
}

impl<H: Subscriber> Listener<H> {
    pub(super) fn start(link: &Link, channel: String, subscriber: &Arc<H>) {
        let listener = Self { link: link.clone(), channel, subscriber: Arc::downgrade(subscriber) };
        link.runtime().spawn(listener.run());
    }

    async fn run(self) {
        while self.subscriber.strong_count() > 0 {
            if let Err(error) = self.listen().await {
                tracing::debug!(channel = self.channel, %error, "lost the subscription, or could not subscribe");
            }
            tokio::time::sleep(REST).await;
        }
    }

    async fn listen(&self) -> Result<(), redis::RedisError> {
        /// Interval at which the listener checks whether the subscriber is still alive.
        const CHECK_INTERVAL: Duration = Duration::from_secs(1);
        let mut connection = self.link.address().listener().await?;
        connection.subscribe(&self.channel).await?;
        let mut received = connection.on_message();
        if let Some(subscriber) = self.subscriber.upgrade() {
            subscriber.missed();
        }
        while let Some(subscriber) = self.subscriber.upgrade() {
            match tokio::time::timeout(CHECK_INTERVAL, received.next()).await {
                Ok(Some(message)) => subscriber.received(&message.get_payload::<String>()?),
                Ok(None) => return Ok(()),
                Err(_) => {}
            }
        }
        Ok(())
    }
}
