//! Detection of tampering with the audit log.

use mallbox_storage::{
    Actor, Audit as _, AuditEntry, AuditFault, AuditFaultKind, Durability, Timestamp, UserId,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Database, EmbeddedAudit};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Removes the log's triggers, as anybody with write access to the file could.
const BREAK_LOCKS: &str = "DROP TRIGGER audit_is_not_replaced; DROP TRIGGER audit_is_not_changed;
    DROP TRIGGER audit_is_not_shortened; DROP TRIGGER audit_head_stays;";

struct World {
    audit: EmbeddedAudit,
    database: Database,
    _dir: TempDir,
}

/// Makes a log of five entries.
async fn world() -> World {
    let dir = TempDir::new().unwrap();
    let database = Database::open(&dir.path().join("record.db"), Durability::Power, None).unwrap();
    let audit = EmbeddedAudit::new(database.clone());
    for number in 1..=5 {
        append(&audit, number).await;
    }
    World { audit, database, _dir: dir }
}

async fn append(audit: &EmbeddedAudit, number: u64) -> AuditEntry {
    let actor = if number == 2 { Actor::CommandLine } else { Actor::User(UserId::new(7)) };
    audit.append(NOON, actor, "pause", &format!("sale {number}"), "{}").await.unwrap()
}

impl World {
    async fn do_to_it(&self, sql: &'static str) {
        let job = move |conn: &Connection| conn.execute_batch(&format!("{BREAK_LOCKS}{sql}"));
        self.database.write("tamper", job).await.unwrap();
    }

    async fn fault(&self) -> Option<(u64, AuditFaultKind)> {
        let check = self.audit.verify().await.unwrap();
        check.fault.map(|AuditFault { number, what }| (number, what))
    }
}

#[tokio::test]
async fn whatever_is_done_to_an_entry_is_found_at_the_entry() {
    use AuditFaultKind::{Changed, CutOff, Missing, NotTheHead};
    for (sql, number, what) in [
        ("UPDATE audit SET detail = '{\"n\":1}' WHERE number = 3", 3, Changed),
        ("UPDATE audit SET at_ms = at_ms - 1 WHERE number = 1", 1, Changed),
        ("UPDATE audit SET user_id = 8 WHERE number = 3", 3, Changed),
        ("UPDATE audit SET user_id = NULL WHERE number = 3", 3, Changed),
        ("UPDATE audit SET user_id = 0 WHERE number = 2", 2, Changed),
        ("UPDATE audit SET action = 'resume' WHERE number = 4", 4, Changed),
        ("UPDATE audit SET subject = 'sale 9' WHERE number = 5", 5, Changed),
        ("UPDATE audit SET hash = zeroblob(32) WHERE number = 2", 2, Changed),
        ("UPDATE audit SET hash = x'00' WHERE number = 5", 5, Changed),
        ("UPDATE audit SET detail = CAST(x'ff' AS TEXT) WHERE number = 4", 4, Changed),
        ("UPDATE audit SET number = -1 WHERE number = 1", 1, Changed),
        ("DELETE FROM audit WHERE number = 1", 1, Missing),
        ("DELETE FROM audit WHERE number IN (2, 4)", 2, Missing),
        ("DELETE FROM audit WHERE number = 5", 5, CutOff),
        ("DELETE FROM audit", 1, CutOff),
        (
            "INSERT INTO audit SELECT 6, at_ms, user_id, action, subject, detail, hash FROM audit WHERE number = 5",
            6,
            Changed,
        ),
        ("UPDATE audit_head SET hash = zeroblob(32)", 5, NotTheHead),
        ("UPDATE audit_head SET number = 4", 5, NotTheHead),
        ("UPDATE audit_head SET number = 6", 6, CutOff),
        ("DELETE FROM audit_head", 5, NotTheHead),
        // Two entries swap places, with their numbers.
        (
            "UPDATE audit SET number = 0 - number WHERE number IN (2, 3);
          UPDATE audit SET number = 5 + number WHERE number < 0",
            2,
            Changed,
        ),
    ] {
        let w = world().await;
        assert_eq!(w.fault().await, None);
        w.do_to_it(sql).await;
        assert_eq!(w.fault().await, Some((number, what)), "{sql}");
    }
}

#[tokio::test]
async fn what_comes_after_never_makes_good_what_was_done() {
    for (sql, number) in [
        ("UPDATE audit SET subject = 'sale 9' WHERE number = 5", 5),
        ("UPDATE audit SET hash = zeroblob(32) WHERE number = 5", 5),
        ("UPDATE audit SET hash = x'00' WHERE number = 5", 5),
        ("DELETE FROM audit WHERE number > 3", 4),
        ("DELETE FROM audit", 1),
        ("DELETE FROM audit; UPDATE audit_head SET hash = x''", 1),
    ] {
        let w = world().await;
        w.do_to_it(sql).await;
        for number in 6..=8 {
            assert_eq!(append(&w.audit, number).await.number, number, "{sql}");
        }
        assert_eq!(w.fault().await.map(|(number, _)| number), Some(number), "{sql}");
    }
}

/// The documentation names this attack as undetectable from the chain alone.
#[tokio::test]
async fn a_log_that_was_written_anew_from_some_place_on_is_not_caught_by_itself() {
    let w = world().await;
    let was = w.audit.verify().await.unwrap();
    let rewrite = |conn: &Connection| {
        conn.execute_batch(BREAK_LOCKS)?;
        let hash = |number| {
            conn.query_row("SELECT hash FROM audit WHERE number = ?1", [number], |row| {
                row.get::<_, [u8; 32]>(0)
            })
        };
        let mut forged = AuditEntry {
            number: 5,
            at: NOON,
            actor: Actor::User(UserId::new(8)),
            action: "pause".into(),
            subject: "sale 5".into(),
            detail: "{}".into(),
            hash: [0; 32],
        };
        forged.hash = forged.hash_after(&hash(4)?);
        conn.execute("UPDATE audit SET user_id = 8, hash = ?1 WHERE number = 5", [forged.hash])?;
        conn.execute("UPDATE audit_head SET hash = ?1", [forged.hash])
    };
    w.database.write("forge", rewrite).await.unwrap();
    let is = w.audit.verify().await.unwrap();
    assert_eq!((is.fault, is.entries), (None, 5));
    assert_ne!(is.head, was.head, "who noted the head elsewhere sees it");
}

#[tokio::test]
async fn the_record_refuses_every_change_but_an_append() {
    let w = world().await;
    for sql in [
        "UPDATE audit SET detail = '' WHERE number = 3",
        "DELETE FROM audit WHERE number = 5",
        "DELETE FROM audit_head",
        "INSERT OR REPLACE INTO audit SELECT number, at_ms, user_id, 'other', subject, detail, hash FROM audit",
        "REPLACE INTO audit (number, at_ms, action, subject, detail, hash) VALUES (5, 0, '', '', '', x'')",
        "INSERT INTO audit (number, at_ms, action, subject, detail, hash) VALUES (0, 0, '', '', '', x'')",
    ] {
        let refused = w.database.write("tamper", move |conn: &Connection| conn.execute(sql, [])).await;
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("the audit log only grows"), "{sql}: {error}");
    }
    assert_eq!(w.fault().await, None);
}
