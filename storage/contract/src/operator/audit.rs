//! `Audit`: an append-only log.

use std::sync::Arc;

use mallbox_storage::{Actor, AuditCheck, AuditEntry, UserId};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    an_empty_log_is_in_order,
    entries_are_numbered_and_chained_as_they_come,
    pages_go_back_from_the_newest,
    any_text_is_kept_as_it_is,
    a_rush_of_appends_is_one_chain,
    the_log_goes_on_after_a_restart,
}

const ANNE: Actor = Actor::User(UserId::new(7));

async fn append(w: &World, subject: &str) -> AuditEntry {
    w.storage.operator.audit.append(NOON, ANNE, "pause", subject, "{}").await.unwrap()
}

async fn numbers(w: &World, before: Option<u64>, max: u32) -> Vec<u64> {
    let page = w.storage.operator.audit.page(before, max).await.unwrap();
    page.iter().map(|entry| entry.number).collect()
}

async fn an_empty_log_is_in_order(w: &World) {
    assert_eq!(w.storage.operator.audit.page(None, 10).await.unwrap(), []);
    let check = w.storage.operator.audit.verify().await.unwrap();
    assert_eq!(check, AuditCheck { entries: 0, head: AuditEntry::GENESIS_HASH, fault: None });
}

async fn entries_are_numbered_and_chained_as_they_come(w: &World) {
    let audit = &w.storage.operator.audit;
    let mut previous = AuditEntry::GENESIS_HASH;
    // The clock may be set back; the numbers go on.
    for (number, actor, at) in
        [(1, ANNE, NOON + HOUR), (2, Actor::CommandLine, NOON), (3, Actor::User(UserId::new(0)), NOON)]
    {
        let entry = audit.append(at, actor, "pause", "sale 3", r#"{"n":1}"#).await.unwrap();
        let (action, subject, detail) = ("pause".into(), "sale 3".into(), r#"{"n":1}"#.into());
        let hash = entry.hash_after(&previous);
        assert_eq!(entry, AuditEntry { number, at, actor, action, subject, detail, hash });
        assert_eq!(audit.page(None, 1).await.unwrap(), std::slice::from_ref(&entry));
        previous = entry.hash;
        let check = audit.verify().await.unwrap();
        assert_eq!(check, AuditCheck { entries: number, head: previous, fault: None });
    }
}

async fn pages_go_back_from_the_newest(w: &World) {
    for number in 1..=7 {
        append(w, &number.to_string()).await;
    }
    for (before, max, expected) in [
        (None, 3, &[7, 6, 5][..]),
        (Some(5), 3, &[4, 3, 2]),
        (Some(2), 3, &[1]),
        (Some(1), 3, &[]),
        (Some(0), 3, &[]),
        (Some(8), 2, &[7, 6]),
        (Some(u64::MAX), 1, &[7]),
        (None, 0, &[]),
        (None, u32::MAX, &[7, 6, 5, 4, 3, 2, 1]),
    ] {
        assert_eq!(numbers(w, before, max).await, expected, "{before:?} {max}");
    }
}

async fn any_text_is_kept_as_it_is(w: &World) {
    for text in ["", "库存", "'; DROP TABLE audit; --", "a\0b\n\u{1f35c}", &"长".repeat(50_000)] {
        let entry = w.storage.operator.audit.append(NOON, ANNE, text, text, text).await.unwrap();
        assert_eq!((&*entry.action, &*entry.subject, &*entry.detail), (text, text, text));
        assert_eq!(w.storage.operator.audit.page(None, 1).await.unwrap(), [entry]);
    }
    assert_eq!(w.storage.operator.audit.verify().await.unwrap().fault, None);
}

async fn a_rush_of_appends_is_one_chain(w: &World) {
    const AT_ONCE: u64 = 64;
    const EACH: u64 = 10;
    let mut rush = JoinSet::new();
    for _ in 0..AT_ONCE {
        let audit = Arc::clone(&w.storage.operator.audit);
        rush.spawn(async move {
            let mut last = 0;
            for _ in 0..EACH {
                let entry = audit.append(NOON, ANNE, "pause", "sale 3", "{}").await.unwrap();
                assert!(entry.number > last, "who waits for one appends the next behind it");
                last = entry.number;
            }
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    let all: Vec<_> = (1..=AT_ONCE * EACH).rev().collect();
    assert_eq!(numbers(w, None, u32::MAX).await, all);
    let check = w.storage.operator.audit.verify().await.unwrap();
    assert_eq!((check.entries, check.fault), (AT_ONCE * EACH, None));
}

async fn the_log_goes_on_after_a_restart(w: &World) {
    let w = w.another().await;
    let first = append(&w, "sale 1").await;
    let w = w.reopen().await;
    let second = append(&w, "sale 2").await;
    assert_eq!((second.number, second.hash), (2, second.hash_after(&first.hash)));
    assert_eq!(w.storage.operator.audit.page(None, 9).await.unwrap(), [second, first]);
    assert_eq!(w.storage.operator.audit.verify().await.unwrap().fault, None);
}
