//! MySQL faults: each call ends soon with a fitting error, and the next call recovers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    DeadReason, OpenError, OrderStatus, PersistOutcome, Phone, StoreError, Timestamp, Transition,
    TransitionOutcome, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::MariaDb;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use tokio::net::{TcpListener, TcpStream};

use crate::world::{self, record};
use crate::world::{HOUR, NOON, TOKEN, claim};
use mallbox_storage_contract::selling::orders::{logged, persist, stock};

/// A call's own timeout, plus the delay of a busy machine.
const SOON: Duration = Duration::from_millis(1500);

async fn start(flags: &'static [&'static str]) -> MariaDb {
    tokio::task::spawn_blocking(|| MariaDb::start_with(flags).unwrap()).await.unwrap()
}

fn phone(number: u64) -> Phone {
    Phone::parse(&format!("139{number:08}")).unwrap()
}

/// A sale of ten thousand units.
async fn sale(ports: &MysqlPorts) -> VoucherId {
    samples::insert_sale(&*ports.vouchers, Some(10_000), NOON).await.unwrap()
}

/// Awaits a call that must fail soon.
async fn fails_soon<T: std::fmt::Debug>(call: impl Future<Output = Result<T, StoreError>>) {
    let begun = Instant::now();
    let answer = call.await;
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    assert!(patience::is_within(begun.elapsed(), SOON), "{:?}", begun.elapsed());
}

/// Repeats a call until success, without any repair in between.
pub async fn recovers<T, F: Future<Output = Result<T, StoreError>>>(call: impl Fn() -> F) -> T {
    let until = Deadline::after(Duration::from_secs(20));
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(error) => assert!(error.is_transient() && !until.is_over(), "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_server_that_dies_is_found_out_at_once_and_found_again() {
    let mut server = start(&[]).await;
    let ports = record(&server.url("mall")).await;
    assert_eq!(ports.upkeep.durability(), mallbox_storage::Durability::Power);
    let voucher = sale(&ports).await;
    let written = [logged(claim(voucher, 1, 1))];
    ports.orders.persist(&written, NOON).await.unwrap();
    let first = ports.sequences.next("order", 1).await.unwrap();
    tokio::task::block_in_place(|| server.kill());

    let lost = [logged(claim(voucher, 2, 2)), written[0]];
    for _ in 0..3 {
        fails_soon(ports.users.find_or_create(&phone(1), "a", NOON)).await;
        fails_soon(ports.orders.persist(&lost, NOON)).await;
        fails_soon(ports.orders.step(lost[1].claim.order, Transition::Cancel, NOON)).await;
        fails_soon(ports.orders.count(voucher)).await;
        fails_soon(ports.sequences.next("order", 2)).await;
    }
    assert!(ports.upkeep.trouble().await.is_some());
    // Of a day that has begun, numbers go on: more than a block's half.
    let mut last = first;
    for _ in 0..2048 {
        let next = ports.sequences.next("order", 1).await.unwrap();
        assert!(next > last);
        last = next;
    }
    tokio::task::block_in_place(|| server.restart()).unwrap();
    let answers = recovers(|| ports.orders.persist(&lost, NOON)).await;
    assert!(matches!(answers[..], [PersistOutcome::Written { .. }, PersistOutcome::Repeat]), "{answers:?}");
    assert_eq!(ports.orders.count(voucher).await.unwrap().unpaid, 2);
    assert_eq!(recovers(|| ports.upkeep.setting("a")).await, None);
    assert_eq!(ports.upkeep.trouble().await, None);
    let other = record(&server.url("mall")).await;
    assert!(other.sequences.next("order", 1).await.unwrap() > last);
}

/// Starts a proxy before a server. Returns the proxy's address, and a switch that silences the proxy.
async fn behind_a_proxy(url: &str) -> (String, Arc<AtomicBool>) {
    let server = url.split(['@', '/']).nth(3).unwrap();
    let (port, silent) = proxy(server.parse().unwrap()).await;
    (url.replace(server, &format!("127.0.0.1:{port}")), silent)
}

async fn proxy(to: SocketAddr) -> (u16, Arc<AtomicBool>) {
    let (listener, silent) =
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), Arc::new(AtomicBool::new(false)));
    let (port, is_silent) = (listener.local_addr().unwrap().port(), Arc::clone(&silent));
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(to).await.unwrap();
            let ((mut read, mut write), (mut far_read, mut far_write)) =
                (near.into_split(), far.into_split());
            let is_silent = Arc::clone(&is_silent);
            tokio::spawn(async move { tokio::io::copy(&mut far_read, &mut write).await });
            tokio::spawn(async move {
                let mut buffer = vec![0; 1 << 16];
                loop {
                    let count = tokio::io::AsyncReadExt::read(&mut read, &mut buffer).await.unwrap_or(0);
                    if count == 0 {
                        return;
                    }
                    // Bytes swallowed now never arrive: the connection is lost for good.
                    if !is_silent.load(Ordering::Relaxed)
                        && tokio::io::AsyncWriteExt::write_all(&mut far_write, &buffer[..count])
                            .await
                            .is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    (port, silent)
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_server_that_falls_silent_costs_each_call_its_time_and_no_connection() {
    let w = world::plain().await;
    let (url, silent) = behind_a_proxy(w.database().url()).await;
    let ports = record(&format!("{url}?pool_max=3")).await;
    let voucher = sale(&ports).await;
    let user = ports.users.find_or_create(&phone(1), "a", NOON).await.unwrap();
    for _ in 0..2 {
        silent.store(true, Ordering::Relaxed);
        // Many more calls than connections, all at once.
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..20 {
            let (users, orders) = (Arc::clone(&ports.users), Arc::clone(&ports.orders));
            calls.spawn(async move {
                match number % 4 {
                    0 => fails_soon(orders.persist(&[logged(claim(voucher, 1, 1))], NOON)).await,
                    1 => fails_soon(orders.count(voucher)).await,
                    2 => fails_soon(users.put_password(user.id, "hash", NOON)).await,
                    _ => fails_soon(users.get(user.id)).await,
                }
            });
        }
        calls.join_all().await;
        silent.store(false, Ordering::Relaxed);
        assert!(recovers(|| ports.users.get(user.id)).await.is_some());
    }
    assert_eq!(ports.orders.persist(&[logged(claim(voucher, 1, 1))], NOON).await.unwrap().len(), 1);
}

/// A read of all rows may take minutes, but must not outlive a dead server.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_long_look_ends_when_the_server_falls_silent_and_not_before() {
    let w = world::plain().await;
    let (url, silent) = behind_a_proxy(w.database().url()).await;
    let ports = record(&url).await;
    let voucher = sale(&ports).await;
    let mut rival = w.database().conn().await;
    for falls_silent in [false, true] {
        rival.query_drop("LOCK TABLES orders WRITE").await.unwrap();
        let orders = Arc::clone(&ports.orders);
        let look = tokio::spawn(async move { orders.count(voucher).await });
        tokio::time::sleep(Duration::from_millis(500)).await;
        silent.store(falls_silent, Ordering::Relaxed);
        let limit = Deadline::after(Duration::from_millis(2500));
        while !limit.is_over() && !look.is_finished() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(look.is_finished(), falls_silent);
        rival.query_drop("UNLOCK TABLES").await.unwrap();
        let looked = look.await.unwrap();
        assert_eq!(matches!(looked, Err(StoreError::Unavailable { .. })), falls_silent, "{looked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn calls_that_are_given_up_leave_no_connection_behind() {
    let w = world::plain().await;
    let ports = record(&format!("{}?pool_max=2", w.database().url())).await;
    let voucher = sale(&ports).await;
    let claims: Vec<_> = (1..=300).map(|user| logged(claim(voucher, user, user))).collect();
    for micros in 0..150 {
        let given_up = Duration::from_micros(micros * 100);
        let _ = tokio::time::timeout(given_up, ports.orders.persist(&claims[..150], NOON)).await;
        let _ = tokio::time::timeout(given_up, ports.users.get(UserId::new(1))).await;
    }
    let mut rest = recovers(|| ports.orders.persist(&claims, NOON)).await;
    assert!(rest.split_off(150).iter().all(|answer| matches!(answer, PersistOutcome::Written { .. })));
    assert_eq!(ports.orders.count(voucher).await.unwrap().unpaid, 300);
}

/// A worker thread of the server ends before the mall does.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn connections_outlive_the_runtime_that_asked_for_them() {
    let w = world::plain().await;
    let users = Arc::clone(&w.storage.people.users);
    let other = Arc::clone(&users);
    let ask = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { other.find_or_create(&phone(1), "a", NOON).await.unwrap() })
    };
    let made = tokio::task::block_in_place(|| std::thread::spawn(ask).join().unwrap());
    for _ in 0..20 {
        assert_eq!(users.get(made.id).await.unwrap().as_ref(), Some(&made));
    }
}

/// Opens a connection and leaves a transaction open.
async fn rival(w: &crate::world::World) -> Conn {
    let mut conn = w.database().conn().await;
    conn.query_drop("START TRANSACTION").await.unwrap();
    conn
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_call_that_loses_a_deadlock_is_tried_again() {
    let w = world::plain().await;
    let voucher = w.sale(Some(9)).await;
    let order = claim(voucher, 1, 1);
    persist(&w, &[order]).await;
    let mut rival = rival(&w).await;
    // In a deadlock the server aborts the transaction with fewer writes.
    for number in 0..50 {
        rival.exec_drop("INSERT INTO settings VALUES (?, '')", (format!("rival {number}"),)).await.unwrap();
    }
    rival
        .exec_drop("SELECT stock FROM sales WHERE voucher_id = ? FOR UPDATE", (voucher.get(),))
        .await
        .unwrap();
    let orders = Arc::clone(&w.storage.selling.orders);
    // The step locks the order, and waits for the sale.
    let step = tokio::spawn(async move { orders.step(order.order, Transition::Cancel, NOON).await });
    let waiting = "SELECT COUNT(*) FROM information_schema.innodb_lock_waits";
    let mut watch = w.database().conn().await;
    while watch.query_first::<i64, _>(waiting).await.unwrap() == Some(0) {
        assert!(!step.is_finished());
        // For reads in quicker succession, the server repeats its last result.
        tokio::time::sleep(Duration::from_millis(110)).await;
    }
    rival.exec_drop("SELECT 1 FROM orders WHERE id = ? FOR UPDATE", (order.order.get(),)).await.unwrap();
    rival.query_drop("COMMIT").await.unwrap();
    assert!(matches!(step.await.unwrap().unwrap(), TransitionOutcome::Done(_)));
    assert_eq!(stock(&w, voucher).await, Some(9));
    let deadlocks = "SHOW GLOBAL STATUS LIKE 'innodb_deadlocks'";
    let counted: Option<(String, u64)> = watch.query_first(deadlocks).await.unwrap();
    assert!(counted.unwrap().1 > 0);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_lock_that_others_keep_is_not_waited_for_for_long() {
    let w = world::plain().await;
    let voucher = w.sale(Some(9)).await;
    let mut rival = rival(&w).await;
    rival.exec_drop("SELECT 1 FROM sales WHERE voucher_id = ? FOR UPDATE", (voucher.get(),)).await.unwrap();
    let window = || w.storage.catalogue.vouchers.put_window(voucher, NOON, NOON + HOUR, true, TOKEN, NOON);
    fails_soon(window()).await;
    rival.query_drop("ROLLBACK").await.unwrap();
    assert!(recovers(window).await.done().flatten().unwrap().terms.paused);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn what_a_trigger_refuses_is_found_by_halving_and_nothing_of_it_stays() {
    let w = world::plain().await;
    let voucher = w.sale(Some(100)).await;
    let trigger = "CREATE TRIGGER no_seven BEFORE INSERT ON orders FOR EACH ROW
                   IF NEW.user_id = 7 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not for seven'; END IF";
    w.database().conn().await.query_drop(trigger).await.unwrap();
    let claims: Vec<_> = (1..=8).map(|user| logged(claim(voucher, user, user))).collect();
    let answer = w.storage.selling.orders.persist(&claims, NOON).await;
    assert!(
        matches!(&answer, Err(StoreError::Refused { source, .. }) if source.to_string().contains("not for seven")),
        "{answer:?}"
    );
    assert_eq!(stock(&w, voucher).await, Some(100));
    assert_eq!(w.storage.selling.orders.persist(&claims[..4], NOON).await.unwrap().len(), 4);
    assert!(matches!(
        w.storage.selling.orders.persist(&claims[6..7], NOON).await,
        Err(StoreError::Refused { .. })
    ));
    w.storage
        .selling
        .orders
        .insert_dead_letter(&claims[6], DeadReason::Refused, "not for seven", NOON)
        .await
        .unwrap();
    let counts = w.storage.selling.orders.count(voucher).await.unwrap();
    assert_eq!((counts.unpaid, counts.dead_letters), (4, 1));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_full_disk_refuses_writes_and_reading_goes_on() {
    // All tables in one file of a fixed maximum size.
    const FLAGS: &[&str] = &[
        "--innodb-file-per-table=0",
        "--innodb-data-file-path=ibdata1:12M:autoextend:max:32M",
        "--innodb-flush-log-at-trx-commit=0",
    ];
    let server = start(FLAGS).await;
    let ports = record(&server.url("mall")).await;
    let voucher = sale(&ports).await;
    let (mut written, begun) = (0, Instant::now());
    let full = loop {
        let text = "x".repeat(60_000);
        match ports.upkeep.put_setting(&format!("setting {written}"), &text).await {
            Ok(()) => written += 1,
            // The file grows.
            Err(StoreError::Unavailable { .. })
                if patience::is_within(begun.elapsed(), Duration::from_secs(60)) => {}
            Err(error) => break error,
        }
        assert!(written < 1000, "it is never full");
    };
    assert!(matches!(full, StoreError::Full { .. }), "{full}");
    let batch: Vec<_> = (1..=4000).map(|user| logged(claim(voucher, user, user))).collect();
    let full = ports.orders.persist(&batch, NOON).await;
    assert!(matches!(full, Err(StoreError::Full { .. })), "{full:?}");
    // Also after reads that went well.
    assert!(ports.upkeep.trouble().await.is_some_and(|trouble| trouble.contains("full")));
    assert_eq!(ports.orders.count(voucher).await.unwrap().unpaid, 0);
    assert_eq!(ports.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap().stock, Some(10_000));
    assert!(ports.upkeep.setting("setting 0").await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_value_that_nothing_writes_is_named() {
    let w = world::plain().await;
    let voucher = w.sale(Some(9)).await;
    let order = claim(voucher, 1, 1);
    persist(&w, &[order]).await;
    let user = w.storage.people.users.find_or_create(&phone(1), "a", NOON).await.unwrap();
    let mut conn = w.database().conn().await;
    for sql in [
        "UPDATE orders SET status = 9",
        "UPDATE users SET phone = '12'",
        "UPDATE sales SET pay_within_ms = -1",
    ] {
        conn.query_drop(sql).await.unwrap();
    }
    for (answer, place) in [
        (w.storage.selling.orders.get(order.order).await.map(drop), "orders.status (9)"),
        (w.storage.people.users.get(user.id).await.map(drop), "users.phone"),
        (w.storage.catalogue.vouchers.get(voucher).await.map(drop), "sales.pay_within_ms (-1)"),
    ] {
        assert!(matches!(&answer, Err(StoreError::Corrupt { key, .. }) if key.contains(place)), "{answer:?}");
    }
    let paid = OrderStatus::Paid as u8;
    conn.exec_drop("UPDATE orders SET status = ?, paid_ms = ?", (paid, Timestamp::MAX.as_millis()))
        .await
        .unwrap();
    assert_eq!(w.storage.selling.orders.get(order.order).await.unwrap().unwrap().paid, Some(Timestamp::MAX));
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn calls_after_the_end_fail() {
    let w = world::plain().await;
    let upkeep = &w.storage.base.upkeep;
    for _ in 0..2 {
        upkeep.close().await.unwrap();
    }
    fails_soon(upkeep.setting("a")).await;
    fails_soon(w.storage.people.users.find_or_create(&phone(1), "a", NOON)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_mall_that_started_while_no_connection_was_free_gave_up() {
    let (server, mut rivals) = crowded().await;
    let mall = server.url("mall");
    let opening = tokio::spawn(async move { mysql::connect(&mall).await.map(drop) });
    let refused = "SHOW GLOBAL STATUS LIKE 'Connection_errors_max_connections'";
    while rivals[0].query_first::<(String, u64), _>(refused).await.unwrap().unwrap().1 < 3 {
        assert!(!opening.is_finished(), "{:?}", opening.await);
    }
    for rival in rivals.drain(..4) {
        rival.disconnect().await.unwrap();
    }
    opening.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
async fn a_command_waited_without_limit_for_a_connection_that_never_came() {
    let (server, _rivals) = crowded().await;
    let wait = Some(Duration::from_millis(300));
    let error = mysql::connect_within(&server.url("mall"), wait).await.map(drop).unwrap_err();
    assert!(matches!(error, OpenError::NoConnection { .. }), "{error}");
    let words = error.to_string();
    assert!(
        words.starts_with("MySQL at 127.0.0.1:") && words.contains("Raise its max_connections"),
        "{words}"
    );
}

/// A server without a free connection, and the holders of its connections.
async fn crowded() -> (MariaDb, Vec<Conn>) {
    let server = start(&["--max-connections=10"]).await;
    let url = server.url("mysql");
    let mut rivals = Vec::new();
    let limit = Deadline::after(Duration::from_secs(20));
    // The last connection is reserved for root, and the harness may still be closing another.
    while rivals.len() < 11 {
        match Conn::new(mysql_async::Opts::from_url(&url).unwrap()).await {
            Err(_) if !limit.is_over() => tokio::time::sleep(Duration::from_millis(20)).await,
            rival => rivals.push(rival.unwrap()),
        }
    }
    (server, rivals)
}
