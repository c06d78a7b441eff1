//! Lists of a user's orders through the ports: every way to insert an order, and readers beside the writer.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mallbox_storage::{
    Cents, Claim, DeadLetters as _, DeadReason, Durability, LogPosition, LoggedClaim, Order, OrderFilter,
    OrderId, OrderStatus, Orders as _, Page, PaymentMode, PurchaseOutcome, ReplayOutcome, Timestamp, UserId,
    VoucherId, Vouchers as _,
};
use mallbox_storage_contract::samples;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::orders_by_user::disagreements;
use super::{Database, EmbeddedDeadLetters, EmbeddedOrders, EmbeddedVouchers};
use crate::settled::Settled;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const ANNE: UserId = UserId::new(9_000_001);

struct World {
    orders: Arc<EmbeddedOrders>,
    database: Database,
    sale: VoucherId,
    voucher: VoucherId,
    _dir: TempDir,
}

async fn world() -> World {
    let dir = TempDir::new().unwrap();
    let database = Database::open(&dir.path().join("record.db"), Durability::Process, None).unwrap();
    let vouchers = EmbeddedVouchers::new(database.clone());
    let sale = samples::insert_sale(&vouchers, None, NOON).await.unwrap();
    let voucher = vouchers.insert(&samples::voucher(), None, NOON).await.unwrap();
    let orders = Arc::new(EmbeddedOrders::new(database.clone(), Arc::new(Settled::new(0))));
    World { orders, database, sale, voucher, _dir: dir }
}

fn logged(sale: VoucherId, user: UserId, order: u64) -> LoggedClaim {
    let claim = Claim { order: OrderId::new(order), voucher: sale, user, at: NOON };
    LoggedClaim { position: LogPosition { major: 0, minor: order }, claim, attempts: 0 }
}

/// The order of an ordinary voucher.
fn purchase(voucher: VoucherId, user: UserId, order: u64) -> Order {
    Order {
        id: OrderId::new(order),
        voucher,
        user,
        status: OrderStatus::Unpaid,
        pay_value: Cents::new(100),
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON + Duration::from_secs(900),
        paid: None,
        used: None,
        refunded: None,
    }
}

impl World {
    /// Persists orders of other users with higher ids, so that earlier entries are in runs.
    async fn go_on(&self, from: u64) {
        let claims: Vec<LoggedClaim> =
            (0..200).map(|n| logged(self.sale, UserId::new(from + n), from + n)).collect();
        for batch in claims.chunks(50) {
            self.orders.persist(batch, NOON).await.unwrap();
        }
    }

    async fn assert_list(&self, user: UserId, expected: &[u64]) {
        let list = self.orders.of_user(user, Page::new(1, 100)).await.unwrap();
        assert_eq!(list.iter().map(|order| order.id.get()).collect::<Vec<_>>(), expected);
        let of_user = OrderFilter { user: Some(user), ..OrderFilter::default() };
        let (found, total) = self.orders.find(of_user, Page::new(2, 2)).await.unwrap();
        assert_eq!((&list[2.min(list.len())..4.min(list.len())], list.len() as u64), (&*found, total));
        let check = self.database.read("check", |conn| disagreements(conn, 9)).await.unwrap();
        assert_eq!(check.examples, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_late_partition_with_lower_ids_is_listed() {
    let w = world().await;
    w.orders.persist(&[logged(w.sale, ANNE, 500_000)], NOON).await.unwrap();
    w.go_on(600_000).await;
    let other = samples::insert_sale(&EmbeddedVouchers::new(w.database.clone()), None, NOON).await.unwrap();
    w.orders.persist(&[logged(other, ANNE, 1_000)], NOON).await.unwrap();
    w.assert_list(ANNE, &[500_000, 1_000]).await;
    w.go_on(700_000).await;
    w.assert_list(ANNE, &[500_000, 1_000]).await;
}

#[tokio::test]
async fn a_replayed_dead_letter_is_listed() {
    let w = world().await;
    let letter = logged(w.sale, ANNE, 1_000);
    w.orders.insert_dead_letter(&letter, DeadReason::Refused, "", NOON).await.unwrap();
    w.go_on(600_000).await;
    w.assert_list(ANNE, &[]).await;
    let letters = EmbeddedDeadLetters::new(w.database.clone());
    let of_order = letters.of_order(letter.claim.order).await.unwrap();
    for _ in 0..2 {
        let replayed = letters.replay(of_order[0].id, NOON).await.unwrap();
        assert!(matches!(replayed, ReplayOutcome::Order(_)), "{replayed:?}");
        w.assert_list(ANNE, &[1_000]).await;
    }
    w.go_on(700_000).await;
    w.assert_list(ANNE, &[1_000]).await;
}

#[tokio::test]
async fn purchases_are_listed_and_counted_within_one_commit() {
    let w = world().await;
    w.go_on(600_000).await;
    // Concurrent calls share commits: each sees the purchases before its own.
    let calls = (1..=40).map(|order| {
        let (orders, order) = (Arc::clone(&w.orders), purchase(w.voucher, ANNE, order));
        tokio::spawn(async move { orders.insert(&order, None, Some(3)).await.unwrap() })
    });
    let calls: Vec<_> = calls.collect();
    let mut bought = Vec::new();
    for call in calls {
        if let PurchaseOutcome::Bought(order) = call.await.unwrap() {
            bought.push(order.get());
        }
    }
    bought.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(bought.len(), 3);
    w.assert_list(ANNE, &bought).await;
    // A repeated call adds no second entry.
    for order in bought.clone() {
        let again = w.orders.insert(&purchase(w.voucher, ANNE, order), None, Some(3)).await.unwrap();
        assert_eq!(again, PurchaseOutcome::Bought(OrderId::new(order)));
    }
    w.go_on(700_000).await;
    w.assert_list(ANNE, &bought).await;
}

#[tokio::test]
async fn surplus_orders_of_a_batch_are_not_listed() {
    let w = world().await;
    let few = samples::insert_sale(&EmbeddedVouchers::new(w.database.clone()), Some(1), NOON).await.unwrap();
    w.orders.persist(&[logged(few, UserId::new(1), 1), logged(few, ANNE, 2)], NOON).await.unwrap();
    w.assert_list(UserId::new(1), &[1]).await;
    w.assert_list(ANNE, &[]).await;
}

/// Every order is in its user's list once the call that inserted it has returned, exactly once, while tails
/// become runs and runs are merged.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_every_acknowledged_order_once() {
    const USERS: usize = 7;
    let w = world().await;
    let acknowledged = Arc::new(Mutex::new(vec![HashSet::new(); USERS]));
    let stop = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for reader in 0..3 {
        let (orders, acknowledged, stop) =
            (Arc::clone(&w.orders), Arc::clone(&acknowledged), Arc::clone(&stop));
        readers.push(tokio::spawn(async move {
            let mut reads = 0;
            while !stop.load(Ordering::SeqCst) {
                let user = (reads + reader) % USERS;
                let before: HashSet<u64> = acknowledged.lock()[user].clone();
                let list = orders.of_user(UserId::new(user as u64), Page::new(1, 10_000)).await.unwrap();
                let ids: Vec<u64> = list.iter().map(|order| order.id.get()).collect();
                assert!(ids.is_sorted_by(|a, b| a > b), "twice: {ids:?}");
                let seen: HashSet<u64> = ids.into_iter().collect();
                assert!(before.is_subset(&seen), "missing: {:?}", before.difference(&seen));
                reads += 1;
            }
            reads
        }));
    }
    for order in 1..=3_000_usize {
        // Ids in no order, some below those before.
        let (user, id) = (order % USERS, order as u64 * 7_919 % 3_001);
        let _ =
            w.orders.insert(&purchase(w.voucher, UserId::new(user as u64), id), None, None).await.unwrap();
        acknowledged.lock()[user].insert(id);
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        assert!(reader.await.unwrap() > 10);
    }
    let all: usize = acknowledged.lock().iter().map(HashSet::len).sum();
    assert_eq!(all, 3_000);
    let check = w.database.read("check", |conn| disagreements(conn, 9)).await.unwrap();
    assert_eq!(check.count, 0);
}
