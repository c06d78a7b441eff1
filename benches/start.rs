//! Start-up time of a mall with a large data set, and memory afterwards.
//!
//! `cargo bench --bench start [-- THOUSANDS]` imports thousands of users, shops and follows, and ten times
//! as many sign-ins, through the port for imports. Then `mallbox serve` starts on the data and is timed
//! until its first response: with the files in the page cache, and with the files read from the disk.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

#[path = "../tests/common/http.rs"]
mod http;
#[path = "../tests/common/server.rs"]
#[expect(dead_code, reason = "tests do more with a server")]
mod server;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use mallbox_storage::{
    FinishOptions, ImportRow, Phone, Shop, ShopId, ShopText, ShopType, ShopTypeId, Timestamp, User, UserId,
};
use mallbox_storage_embedded::EmbeddedOptions;
use server::Server;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Rows per batch.
const ROWS_PER_BATCH: usize = 5_000;
/// Starts of each kind.
const STARTS: usize = 5;

fn main() {
    let thousands = std::env::args().filter_map(|arg| arg.parse::<u64>().ok()).next().unwrap_or(1_000);
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("mall");
    let began = Instant::now();
    tokio::runtime::Runtime::new().unwrap().block_on(fill(&data, thousands * 1_000));
    println!(
        "{thousands} thousand users, shops and follows each, {thousands}0 thousand sign-ins; moved in within {:.0} s, {} MiB",
        began.elapsed().as_secs_f64(),
        std::fs::metadata(data.join("mall.sqlite")).unwrap().len() >> 20,
    );
    let log = dir.path().join("log");
    for (name, is_cold) in [("files in memory", false), ("files on the disk", true)] {
        let mut times = Vec::new();
        let mut weight = 0;
        for _ in 0..STARTS {
            if is_cold {
                forget(&data);
            }
            let began = Instant::now();
            let server = Server::start(&data, &log, "power").unwrap();
            let near = "/api/shop/of/type?typeId=1&current=1&x=120.149993&y=30.334229";
            let answer = http::ask(server.address, "GET", near, "").unwrap();
            times.push(began.elapsed());
            assert_eq!(answer.body["data"].as_array().map(Vec::len), Some(5), "{answer:?}");
            weight = weight.max(resident_mib(server.id()));
            server.stop().unwrap();
        }
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{name:18} to the first answer: median {:.0} ms, most {:.0} ms; {weight} MiB in memory",
            ms(times[STARTS / 2]),
            ms(times[STARTS - 1]),
        );
    }
}

async fn fill(data: &Path, count: u64) {
    let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(data)).await.unwrap();
    let mut import = storage.operator.import.begin().await.unwrap().unwrap();
    let kind = ShopType { id: ShopTypeId::new(1), name: "美食".into(), icon: String::new(), sort: 0 };
    let rows = std::iter::once(ImportRow::ShopType(kind))
        .chain((1..=count).map(user))
        .chain((1..=count).map(shop))
        .chain((1..=count).map(move |number| follow(number, count)))
        .chain((0..count * 10).map(move |number| sign(number, count)));
    let mut some = Vec::with_capacity(ROWS_PER_BATCH);
    for row in rows {
        some.push((row, true));
        if some.len() == ROWS_PER_BATCH {
            import.put(std::mem::take(&mut some)).await.unwrap();
        }
    }
    import.put(some).await.unwrap();
    import.finish(FinishOptions::new(Duration::from_secs(900), NOON)).await.unwrap();
    storage.base.upkeep.put_setting("zone", "Asia/Shanghai").await.unwrap();
    storage.base.upkeep.close().await.unwrap();
}

fn user(id: u64) -> ImportRow {
    let phone = Phone::parse(&format!("1{:010}", 3_000_000_000 + id)).unwrap();
    ImportRow::User(User::new(UserId::new(id), phone, format!("user {id}"), NOON), None)
}

/// Returns a shop row. Shops spread over a hundred kilometres around Hangzhou, so that some are near each
/// other.
fn shop(id: u64) -> ImportRow {
    let (along, across) = ((id * 7_919 % 10_007) as f64 / 10_007.0, (id * 104_729 % 9_973) as f64 / 9_973.0);
    let text = ShopText {
        name: format!("shop {id}"),
        kind: ShopTypeId::new(1),
        images: "/imgs/a.jpg".into(),
        area: "大关".into(),
        address: format!("金华路{id}号"),
        x: 119.65 + along,
        y: 29.83 + across,
        avg_price: Some(80),
        open_hours: "10:00-22:00".into(),
        sold: 0,
        comments: 0,
        score: 37,
    };
    ImportRow::Shop(Shop { id: ShopId::new(id), text, created: NOON, updated: NOON })
}

fn follow(number: u64, count: u64) -> ImportRow {
    let followee = UserId::new(number * 31 % count + 1);
    ImportRow::Follow { follower: UserId::new(number), followee, since: NOON }
}

/// Returns a sign-in row: roughly, each of a ninth of the users signed on every third day of nine months.
fn sign(number: u64, count: u64) -> ImportRow {
    let people = (count / 9).max(1);
    let day = number / people * 3;
    let day = format!("2026-{:02}-{:02}", day / 28 % 12 + 1, day % 28 + 1);
    ImportRow::Sign { user: UserId::new(number % people * 9 + 1), day, made_up: false }
}

/// Drops the files of a directory from the page cache, so that the next reads go to the disk.
fn forget(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            forget(&path);
        } else if let Ok(file) = File::open(&path) {
            file.sync_all().unwrap();
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}

fn resident_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}
