//! The index of orders by user: damage, rebuilding, the upgrade of an older database, large users.

use mallbox_storage::{Durability, OrderId, UserId};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{add, disagreements, of_user, rebuild, runs, tail};
use crate::sqlite::{Database, integrity, meta, migrations};

/// Moves the first entry of each chunk to its end.
const TURNED: &str =
    "UPDATE order_chunks SET entries = CAST(substr(entries, 17) || substr(entries, 1, 16) AS BLOB)";

/// Inserts an order without its entry.
pub(super) fn insert(conn: &Connection, user: u64, order: u64) {
    let sql = "INSERT INTO orders (id, user_id, voucher_id, slot, status, pay_value, pay_type, created_ms, deadline_ms)
        VALUES (?1, ?2, 1, ?1, 1, 0, 1, 0, 0)";
    conn.prepare_cached(sql).unwrap().execute([order.cast_signed(), user.cast_signed()]).unwrap();
}

/// Inserts orders and adds them, as one transaction does.
pub(super) fn insert_all(conn: &Connection, orders: &[(u64, u64)]) {
    orders.iter().for_each(|&(user, order)| insert(conn, user, order));
    add(conn, orders.iter().map(|&(user, order)| (UserId::new(user), OrderId::new(order)))).unwrap();
}

pub(super) fn orders_of(conn: &Connection, user: u64) -> Vec<u64> {
    of_user(conn, UserId::new(user)).unwrap().into_iter().map(OrderId::get).collect()
}

fn fresh() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    migrations::apply(&conn).unwrap();
    conn
}

/// A database with full runs, a merge under way and a tail: 700 orders of users 1 to 100.
fn filled() -> Connection {
    let conn = fresh();
    for order in 0..700_u64 {
        insert_all(&conn, &[(order * 7 % 100 + 1, 10_000 - order)]);
    }
    conn
}

fn count(conn: &Connection, table: &str) -> i64 {
    conn.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn orders_are_listed_from_the_newest_id_whatever_the_order_of_insertion() {
    let conn = filled();
    assert!(count(&conn, "order_runs") > 1 && count(&conn, "order_tail") > 0);
    // A tail of single orders is bounded by its rows.
    assert!(count(&conn, "order_tail") < tail::ROWS_MAX);
    for user in 1..=100 {
        let expected: Vec<u64> =
            (0..700).filter(|order| order * 7 % 100 + 1 == user).map(|order| 10_000 - order).collect();
        assert_eq!(orders_of(&conn, user), expected);
    }
    assert!(orders_of(&conn, 101).is_empty());
    assert_eq!(disagreements(&conn, 5).unwrap().count, 0);
}

#[test]
fn every_kind_of_damage_is_found_and_named() {
    for damage in [
        "DELETE FROM order_tail WHERE seq = 1",
        "UPDATE order_tail SET entries = substr(entries, 1, 8) WHERE seq = 1",
        "DELETE FROM order_runs WHERE run = (SELECT MIN(run) FROM order_runs)",
        "DELETE FROM order_chunks WHERE place = (SELECT MIN(place) FROM order_chunks)",
        "UPDATE order_chunks SET place = place + 1 WHERE place = (SELECT MAX(place) FROM order_chunks)",
        TURNED,
        "UPDATE order_chunks SET entries = substr(entries, 1, length(entries) - 16)",
        "INSERT INTO order_chunks SELECT place + (700 << 40), entries FROM order_chunks",
        "INSERT INTO order_chunks SELECT MIN(place) + 1, X'' FROM order_chunks",
        "INSERT INTO order_tail SELECT seq + 1000, total, entries FROM order_tail WHERE seq = 1",
        "UPDATE orders SET user_id = 500 WHERE id = 9999",
        "UPDATE orders SET id = 20000, slot = 20000 WHERE id = 9999",
        "DELETE FROM orders WHERE id = 9999",
    ] {
        let conn = filled();
        conn.execute_batch(damage).unwrap();
        let found = disagreements(&conn, 3).unwrap();
        // Entries of a run that the directory does not name are found by nobody, and harm nobody.
        assert_eq!(found.count > 0, !damage.contains("700 << 40"), "{damage}: {found:?}");
        assert!(found.examples.len() <= 3);
        if damage.contains("9999") {
            assert!(found.examples.contains(&"9999".to_owned()), "{damage}: {found:?}");
        }
        rebuild(&conn).unwrap();
        assert_eq!(disagreements(&conn, 3).unwrap().count, 0, "{damage}");
    }
}

#[test]
fn a_damaged_run_stops_no_insertion() {
    // Unsorted, out of place, and one whose merge SQLite refuses.
    let refused = "CREATE TRIGGER refused BEFORE INSERT ON order_chunks
        WHEN (SELECT level FROM order_runs WHERE run = NEW.place >> 40) > 0
        BEGIN SELECT RAISE(ABORT, 'refused'); END";
    for damage in [TURNED, "UPDATE order_chunks SET place = place - 1", refused] {
        let conn = filled();
        conn.execute_batch(damage).unwrap();
        let before = disagreements(&conn, 0).unwrap().count;
        for order in 20_000..21_000 {
            insert_all(&conn, &[(order % 100 + 200, order)]);
        }
        assert_eq!(disagreements(&conn, 0).unwrap().count, before, "{damage}");
        let expected: Vec<u64> = (20_000..21_000).filter(|order| order % 100 == 0).rev().collect();
        assert_eq!(orders_of(&conn, 200), expected);
    }
}

/// A new run takes the number of a run that the directory has lost, but none of its chunks.
#[test]
fn a_lost_run_hides_no_later_order() {
    let conn = filled();
    conn.execute_batch("DELETE FROM order_runs").unwrap();
    let before = disagreements(&conn, 0).unwrap().count;
    for order in 20_000..21_000 {
        insert_all(&conn, &[(order % 100 + 1, order)]);
    }
    assert_eq!(disagreements(&conn, 0).unwrap().count, before);
}

#[test]
fn a_user_with_many_orders_is_found_in_one_chunk_per_run() {
    let conn = fresh();
    for batch in 0..60_u64 {
        let orders: Vec<(u64, u64)> = (0..60).map(|n| (n % 3, batch * 60 + n)).collect();
        insert_all(&conn, &orders);
    }
    for user in 0..3 {
        assert_eq!(
            orders_of(&conn, user),
            (0..3_600).filter(|order| order % 3 == user).rev().collect::<Vec<_>>()
        );
    }
    assert_eq!(disagreements(&conn, 0).unwrap().count, 0);
}

#[test]
fn an_index_is_rebuilt_in_runs_of_their_level() {
    let conn = fresh();
    for order in 0..2_500 {
        insert(&conn, order % 400, order);
    }
    assert_eq!(disagreements(&conn, 0).unwrap().count, 2_500);
    rebuild(&conn).unwrap();
    let levels: Vec<u32> = runs::directory(&conn).unwrap().iter().map(|run| run.level).collect();
    // 64 · 3³ ≥ 1,000 > 64 · 3², and 500 likewise fit at level 2.
    assert_eq!(levels, [3, 3, 2]);
    assert_eq!(disagreements(&conn, 0).unwrap().count, 0);
}

#[test]
fn an_older_database_is_indexed_at_start() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("record.db");
    let older = Connection::open(&path).unwrap();
    older.pragma_update(None, "application_id", integrity::APPLICATION_ID).unwrap();
    migrations::apply_through(&older, 33).unwrap();
    meta::mark_stopped(&older).unwrap();
    (0..1_200).for_each(|order| insert(&older, order % 50, order));
    drop(older);
    let database = Database::open(&path, Durability::Power, None).unwrap();
    let look = |conn: &Connection| Ok((orders_of(conn, 7), disagreements(conn, 0)?.count));
    let expected: Vec<u64> = (0..1_200).filter(|order| order % 50 == 7).rev().collect();
    assert_eq!(database.read_blocking("look", look).unwrap(), (expected, 0));
}

#[test]
fn a_requested_rebuild_happens_at_the_next_start_and_once() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("record.db");
    let database = Database::open(&path, Durability::Power, None).unwrap();
    let spoil = |conn: &Connection| {
        (0..100).for_each(|order| insert(conn, order % 5, order));
        super::request_rebuild(conn)
    };
    database.write_blocking("spoil", spoil).unwrap();
    drop(database);
    let database = Database::open(&path, Durability::Power, None).unwrap();
    let damage = |conn: &Connection| Ok(disagreements(conn, 0)?.count);
    assert_eq!(database.read_blocking("check", damage).unwrap(), 0);
    database.write_blocking("spoil", |conn| conn.execute_batch("DELETE FROM order_runs")).unwrap();
    drop(database);
    let database = Database::open(&path, Durability::Power, None).unwrap();
    assert_eq!(database.read_blocking("check", damage).unwrap(), 100);
}

/// The bound of a look-up: rows and entries of the tail, and the number of runs.
#[test]
fn tail_and_runs_stay_few() {
    let conn = fresh();
    let mut greatest = 0;
    for batch in 0..3_000_u64 {
        let orders: Vec<(u64, u64)> = (0..=batch % 20).map(|n| (batch * n % 977, batch * 100 + n)).collect();
        insert_all(&conn, &orders);
        assert!(count(&conn, "order_tail") < tail::ROWS_MAX);
        greatest = greatest.max(count(&conn, "order_runs"));
    }
    // About 31,500 orders in at most 500 tails, and levels of three: 6 levels.
    assert!(greatest <= 6 * (2 * runs::FANOUT as i64), "{greatest}");
    assert_eq!(disagreements(&conn, 0).unwrap().count, 0);
}
