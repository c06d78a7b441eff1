//! State left by orders for the next start, and batches refused by a rule of the database.

use std::path::PathBuf;
use std::sync::Arc;

use mallbox_storage::{
    Claim, DeadReason, Durability, LogPosition, LoggedClaim, OrderId, Orders as _, PersistOutcome,
    StoreError, Timestamp, Transition, TransitionOutcome, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use rusqlite::Connection;
use tempfile::TempDir;

use super::meta::LogMarks;
use super::{Database, EmbeddedOrders, EmbeddedVouchers, Holders};
use crate::settled::Settled;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

struct World {
    orders: EmbeddedOrders,
    settled: Arc<Settled>,
    database: Database,
    path: PathBuf,
    sale: VoucherId,
    _dir: TempDir,
}

async fn world(units: u64) -> World {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("record.db");
    let database = Database::open(&path, Durability::Power, None).unwrap();
    let settled = Arc::new(Settled::new(0));
    let vouchers = EmbeddedVouchers::new(database.clone());
    let sale = samples::insert_sale(&vouchers, Some(units), NOON).await.unwrap();
    let orders = EmbeddedOrders::new(database.clone(), Arc::clone(&settled));
    World { orders, settled, database, path, sale, _dir: dir }
}

fn logged(sale: VoucherId, commit: u64, user: u64) -> LoggedClaim {
    let order = OrderId::compose(NOON, user, sale).unwrap();
    let claim = Claim { order, voucher: sale, user: UserId::new(user), at: NOON };
    LoggedClaim { position: LogPosition { major: commit, minor: user }, claim, attempts: 0 }
}

fn held(w: &World, pending: &[Claim]) -> Vec<u64> {
    let mut users = Vec::new();
    let mut each = |user: UserId| users.push(user.get());
    let total = Holders::new(w.database.clone()).each(w.sale, pending, &mut each).unwrap();
    assert_eq!(total, users.len() as u64);
    users.sort_unstable();
    users
}

fn is_refused<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Refused { .. }))
}

#[tokio::test]
async fn what_a_trigger_refuses_is_found_by_halving_and_nothing_of_it_stays() {
    let w = world(100).await;
    let other = Connection::open(&w.path).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER no_seven BEFORE INSERT ON orders WHEN NEW.user_id = 7
             BEGIN SELECT RAISE(ABORT, 'not for seven'); END",
        )
        .unwrap();
    let claims: Vec<_> = (1..=8).map(|user| logged(w.sale, 1, user)).collect();
    w.settled.opened(1, claims.len());
    let answer = w.orders.persist(&claims, NOON).await;
    assert!(
        matches!(&answer, Err(StoreError::Refused { source, .. }) if source.to_string().contains("not for seven"))
    );
    assert!(held(&w, &[]).is_empty());
    assert_eq!(w.database.log_marks().unwrap(), LogMarks { applied: 0, acked: 0 });

    assert_eq!(w.orders.persist(&claims[..4], NOON).await.unwrap().len(), 4);
    assert!(is_refused(w.orders.persist(&claims[4..], NOON).await));
    assert!(is_refused(w.orders.persist(&claims[6..7], NOON).await));
    for written in [&claims[4..6], &claims[7..]] {
        w.orders.persist(written, NOON).await.unwrap();
    }
    // The log still contains the claim: user seven holds a unit by a pending claim until the claim is a
    // dead letter.
    assert_eq!(held(&w, &[]), [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(held(&w, &[claims[6].claim]), [1, 2, 3, 4, 5, 6, 7, 8]);
    w.orders.insert_dead_letter(&claims[6], DeadReason::Refused, "not for seven", NOON).await.unwrap();
    assert_eq!(held(&w, &[claims[6].claim]), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(w.orders.count(w.sale).await.unwrap().held(), 8);
}

#[tokio::test]
async fn marks_rise_with_what_is_settled_and_never_fall() {
    let w = world(100).await;
    let marks = || w.database.log_marks().unwrap();
    assert_eq!(marks(), LogMarks { applied: 0, acked: 0 });
    w.settled.opened(1, 2);
    w.settled.opened(2, 1);
    let [a, b, c] = [logged(w.sale, 1, 1), logged(w.sale, 1, 2), logged(w.sale, 2, 3)];
    w.orders.persist(&[c], NOON).await.unwrap();
    assert_eq!(marks(), LogMarks { applied: 0, acked: 2 });
    w.settled.settle(&[c]);
    // Half of a commit is not enough, however often repeated.
    w.orders.persist(&[a, a], NOON).await.unwrap();
    assert_eq!(marks(), LogMarks { applied: 0, acked: 2 });
    w.settled.settle(&[a]);
    w.orders.insert_dead_letter(&b, DeadReason::Refused, "", NOON).await.unwrap();
    assert_eq!(marks(), LogMarks { applied: 2, acked: 2 });
    w.settled.settle(&[b]);

    // A process with less knowledge of the log lowers no mark.
    let late = EmbeddedOrders::new(w.database.clone(), Arc::new(Settled::new(0)));
    late.persist(&[a], NOON).await.unwrap();
    assert_eq!(marks(), LogMarks { applied: 2, acked: 2 });
    // Compared as numbers, not as text: 10 is above 9.
    for commit in 3..=10 {
        let claim = logged(w.sale, commit, 10 + commit);
        w.settled.opened(commit, 1);
        w.orders.persist(&[claim], NOON).await.unwrap();
        w.settled.settle(&[claim]);
        assert_eq!(marks(), LogMarks { applied: commit, acked: commit });
    }
}

#[tokio::test]
async fn the_holder_of_each_unit_is_found() {
    let w = world(4).await;
    let second = LoggedClaim {
        claim: Claim { user: UserId::new(1), ..logged(w.sale, 1, 9).claim },
        ..logged(w.sale, 1, 9)
    };
    let claims: Vec<_> = (1..=3).map(|user| logged(w.sale, 1, user)).chain([second]).collect();
    assert!(held(&w, &[]).is_empty());
    w.orders.persist(&claims[..3], NOON).await.unwrap();
    w.orders.insert_dead_letter(&second, DeadReason::Refused, "", NOON).await.unwrap();
    assert_eq!(held(&w, &[]), [1, 1, 2, 3]);
    // Sold out: the claim becomes a dead letter without a unit.
    let beyond = logged(w.sale, 1, 8);
    assert_eq!(
        w.orders.persist(&[beyond], NOON).await.unwrap(),
        [PersistOutcome::DeadLetter(DeadReason::Oversold)]
    );
    assert!(matches!(
        w.orders.step(claims[1].claim.order, Transition::Cancel, NOON).await.unwrap(),
        TransitionOutcome::Done(_)
    ));
    // Settled claims still in the log are not counted again, whatever their outcome.
    let pending: Vec<_> = claims.iter().chain([&beyond]).map(|logged| logged.claim).collect();
    assert_eq!(held(&w, &pending), [1, 1, 3]);
}

/// Frequent queries must use their index; without an index each would read millions of orders.
#[tokio::test]
async fn lists_are_read_from_their_indexes() {
    let w = world(1).await;
    for (sql, index) in [
        (
            "SELECT id FROM orders WHERE user_id = 1 AND voucher_id = 2 AND slot BETWEEN -254 AND 0",
            "orders_by_voucher (voucher_id=? AND user_id=? AND slot>? AND slot<?)",
        ),
        ("SELECT COUNT(*) FROM orders WHERE voucher_id = 2", "COVERING INDEX orders_by_voucher"),
        (
            "SELECT user_id FROM orders WHERE id BETWEEN 5 AND 9 AND +voucher_id = 1 AND status NOT IN (4, 6)",
            "SEARCH orders USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        ),
        (
            "SELECT MAX(place) FROM order_chunks WHERE place BETWEEN 5 AND 9",
            "SEARCH order_chunks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        ),
        (
            "SELECT id, deadline_ms FROM orders WHERE status = 1 AND id > 7 ORDER BY id LIMIT 5",
            "orders_unpaid",
        ),
        ("SELECT id FROM payments WHERE order_id = 1 AND state IN (0, 1)", "payments_open"),
        (
            "SELECT id FROM payments WHERE needs_look = 1 AND (started_ms < 1 OR state = 1) ORDER BY started_ms, id LIMIT 5",
            "payments_to_look_at",
        ),
        ("SELECT id FROM users WHERE role = 1 ORDER BY id LIMIT 5", "users_operators"),
        (
            "SELECT order_id FROM dead_letters WHERE order_id > 5 ORDER BY order_id LIMIT 5",
            "dead_letters_by_claim",
        ),
    ] {
        let job = move |conn: &Connection| {
            conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?
                .query_map([], |row| row.get::<_, String>(3))?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        let plan = w.database.read("plan", job).await.unwrap().join("; ");
        assert!(plan.contains(index), "{sql}: {plan}");
    }
}
