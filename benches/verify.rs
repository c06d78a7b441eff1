//! Time and memory of the ledger check in a mall with many orders.
//!
//! `cargo bench --bench verify [-- THOUSANDS]`: thousands of users with one paid order each, in ten sales
//! held in memory. For comparison, the bench also times the unit count and the few sums to which the check
//! was limited before money and users were compared.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::mall::{Context, FlashSales, LedgerCheck, ManualClock, Settings};
use mallbox_storage::{
    FinishOptions, ImportRow, ImportedOrder, ImportedSale, ImportedVoucher, OrderId, OrderStatus, Phone,
    Storage, Timestamp, User, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const SALES: u64 = 10;
/// Rows per batch.
const SOME: usize = 5_000;
const ROUNDS: usize = 5;

fn main() {
    let thousands = std::env::args().filter_map(|arg| arg.parse::<u64>().ok()).next().unwrap_or(1_000);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        fill(&data, thousands * 1_000).await;
        let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(&data)).await.unwrap();
        let zone = TimeZone::get("Asia/Shanghai").unwrap();
        let settings = Arc::new(Settings::default());
        let context = Context::new(storage.clone(), Arc::new(ManualClock::new(NOON)), zone, settings);
        let sales = FlashSales::new(context.clone());
        sales.load(NOON).await.unwrap();
        let check = LedgerCheck::new(context, sales);
        println!("{thousands} thousand orders; {} MiB in memory before", high_water_mib());
        let mut units = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            counts_alone(&storage).await;
            units.push(began.elapsed());
        }
        println!("units and sums alone  {}, {} MiB at the most", spread(units), high_water_mib());
        let mut whole = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let report = check.verify().await.unwrap();
            whole.push(began.elapsed());
            assert!(report.balances(), "{report}");
            assert_eq!(report.totals.orders, thousands * 1_000);
        }
        println!("mallbox verify        {}, {} MiB at the most", spread(whole), high_water_mib());
        storage.base.upkeep.close().await.unwrap();
    });
}

async fn counts_alone(storage: &Storage) {
    storage.selling.orders.count_all().await.unwrap();
    storage.selling.payments.faults().await.unwrap();
    storage.selling.orders.highest_counts().await.unwrap();
    storage.writing.comments.miscounted().await.unwrap();
    storage.writing.likes.miscounted().await.unwrap();
}

async fn fill(data: &Path, count: u64) {
    let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(data)).await.unwrap();
    let mut import = storage.operator.import.begin().await.unwrap().unwrap();
    let rows = (1..=SALES)
        .flat_map(|id| [voucher(id), sale(id)])
        .chain((1..=count).map(user))
        .chain((1..=count).map(order));
    let mut some = Vec::with_capacity(SOME);
    for row in rows {
        some.push((row, true));
        if some.len() == SOME {
            import.put(std::mem::take(&mut some)).await.unwrap();
        }
    }
    import.put(some).await.unwrap();
    import.finish(FinishOptions::new(Duration::from_secs(900), NOON)).await.unwrap();
    storage.base.upkeep.put_setting("zone", "Asia/Shanghai").await.unwrap();
    storage.base.upkeep.put_setting("imported", "2026-11-21T20:00:00").await.unwrap();
    storage.base.upkeep.close().await.unwrap();
}

fn voucher(id: u64) -> ImportRow {
    let text = samples::voucher();
    ImportRow::Voucher(ImportedVoucher {
        id: VoucherId::new(id),
        text,
        is_sale: true,
        created: NOON,
        updated: NOON,
    })
}

fn sale(id: u64) -> ImportRow {
    let (begin, end) = (NOON - Duration::from_secs(3_600), NOON + Duration::from_secs(3_600));
    ImportRow::Sale(ImportedSale { voucher: VoucherId::new(id), remaining: 100, begin, end, created: NOON })
}

fn user(id: u64) -> ImportRow {
    let phone = Phone::parse(&format!("1{:010}", 3_000_000_000 + id)).unwrap();
    ImportRow::User(User::new(UserId::new(id), phone, format!("user {id}"), NOON), None)
}

fn order(number: u64) -> ImportRow {
    let voucher = VoucherId::new(number % SALES + 1);
    ImportRow::Order(ImportedOrder {
        id: OrderId::compose(NOON, number, voucher).unwrap(),
        voucher,
        user: UserId::new(number),
        status: OrderStatus::Paid,
        pay_type: 1,
        created: NOON,
        paid: Some(NOON),
        used: None,
        refunded: None,
    })
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let seconds = |place: usize| times[place].as_secs_f64();
    format!("median {:.2} s, {:.2} to {:.2} s", seconds(ROUNDS / 2), seconds(0), seconds(ROUNDS - 1))
}

fn high_water_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}
