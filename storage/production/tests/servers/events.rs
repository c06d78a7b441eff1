//! Events on servers: streams of Redis, and subscriptions seen by other instances.

use std::collections::BTreeSet;

use mallbox_storage::{
    EventKind, EventTarget, NewSubscriber, NoteText, ShopId, Storage, StoredEvent, SubscribeOutcome, UserId,
};
use mallbox_test_servers::RedisOptions as ServerOptions;

use crate::redis_world::{start, tell};
use crate::world::{self, NOON};

const STREAM: &str = "erp";

fn events(positions: std::ops::RangeInclusive<u64>) -> Vec<StoredEvent> {
    positions
        .map(|position| StoredEvent {
            position,
            kind: EventKind::OrderPaid,
            subject: 7,
            body: format!("{{\"orderId\":\"{position}\"}}"),
            at: NOON,
        })
        .collect()
}

type Entry = (String, Vec<(String, String)>);

fn entries(url: &str, key: &str) -> Vec<Entry> {
    let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
    redis::cmd("XRANGE").arg(key).arg("-").arg("+").query(&mut connection).unwrap()
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|(id, _)| id.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn a_stream_has_each_event_once_however_often_it_is_handed_over() {
    let server = start(ServerOptions::default()).await;
    let w = world::fresh(server.url()).await;
    let (streams, url) = (&w.storage.base.event_streams, server.url());
    let key = format!("{{{}:events}}:{STREAM}", w.production().redis.prefix);
    for positions in [1..=2, 1..=3, 2..=250, 250..=250] {
        streams.append(STREAM, &events(positions)).await.unwrap();
    }
    let found = entries(&url, &key);
    let expected: Vec<String> = (1..=250).map(|position| format!("{position}-0")).collect();
    assert_eq!(ids(&found), expected);
    let event = &events(1..=1)[0];
    let field = |name: &str, value: String| (name.to_owned(), value);
    let fields = [
        field("id", event.id()),
        field("kind", "order.paid".to_owned()),
        field("key", "order/7".to_owned()),
        field("at", NOON.as_millis().to_string()),
        field("body", event.body.clone()),
    ];
    assert_eq!(found[0].1, fields);
    // A consumer that deletes what it has read does not bring events back.
    tell(&url, &["XTRIM", &key, "MAXLEN", "0"]);
    streams.append(STREAM, &events(249..=251)).await.unwrap();
    assert_eq!(ids(&entries(&url, &key)), ["251-0"]);
    streams.remove(STREAM).await.unwrap();
    assert_eq!(entries(&url, &key), []);
    streams.append(STREAM, &events(300..=300)).await.unwrap();
    assert_eq!(ids(&entries(&url, &key)), ["300-0"], "a new stream begins where it is told");
}

async fn write_note(storage: &Storage) {
    let text = NoteText {
        shop: ShopId::new(1),
        title: String::new(),
        images: String::new(),
        content: String::new(),
    };
    storage.writing.notes.insert(UserId::new(1), &text, NOON).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
async fn another_instance_writes_events_once_it_has_read_the_subscribers() {
    let w = world::single().await;
    let (here, there) = (w.storage.clone(), w.other_instance().await);
    let log = NewSubscriber { name: "log".to_owned(), target: EventTarget::Log, kinds: BTreeSet::default() };
    let made = here.base.event_subscribers.subscribe(&log, 9, NOON).await.unwrap();
    let SubscribeOutcome::Subscribed(id) = made else { panic!("{made:?}") };
    write_note(&here).await;
    write_note(&there).await;
    let waiting = async || here.base.events.counts().await.unwrap().waiting;
    assert_eq!(waiting().await, 1, "the other instance does not know of the subscriber yet");
    assert_eq!(there.base.event_subscribers.list().await.unwrap().len(), 1);
    write_note(&there).await;
    assert_eq!(waiting().await, 2);
    // An instance started later knows from the beginning.
    write_note(&w.other_instance().await).await;
    assert_eq!(waiting().await, 3);
    assert!(there.base.event_subscribers.unsubscribe(id).await.unwrap());
    assert!(here.base.event_subscribers.list().await.unwrap().is_empty());
    write_note(&here).await;
    assert_eq!(waiting().await, 3);
}
