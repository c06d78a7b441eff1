//! Nearby search among a million shops: the first ten within 5 km, in memory and in Redis, in one run. Also
//! the memory per shop, and the time to rebuild the index at start.
//!
//! `cargo bench -p mallbox-storage-production --bench nearby [-- SHOPS]`. Starts a redis-server in the
//! system's temporary directory, and an idle MariaDB. All share this machine's cores. Both indexes must
//! return the same shops.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    FinishOptions, GeoIndex, ImportRow, LatLng, NearbyQuery, PlacedShop, Shop, ShopId, ShopText, ShopType,
    ShopTypeId, Timestamp,
};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_storage_production::redis::{DatabaseForRedis, RedisOptions, connect};
use mallbox_test_servers::{Database, Redis, RedisOptions as ServerOptions};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const CITIES: usize = 200;
const KINDS: u64 = 10;
const QUESTIONS: usize = 2_000;
/// Number of concurrent callers.
const CALLERS: usize = 8;

fn main() {
    let shops = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000_u64);
    tokio::runtime::Runtime::new().unwrap().block_on(run(shops));
}

async fn run(count: u64) {
    let mut dice = StdRng::seed_from_u64(7);
    let cities: Vec<(f64, f64)> =
        (0..CITIES).map(|_| (dice.random_range(75.0..130.0), dice.random_range(20.0..45.0))).collect();
    let dir = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions::new(dir.path().join("mall"));
    fill(&options, count, &cities, &mut dice).await;

    let (before, began) = (resident(), Instant::now());
    let record = mallbox_storage_embedded::open(options).await.unwrap();
    let each = |bytes: u64| bytes as f64 / count as f64;
    println!(
        "{count} shops around {CITIES} cities, {KINDS} types; {QUESTIONS} questions each\n\
         in memory: a start that reads the record takes {:.2} s, a shop {:.0} bytes",
        began.elapsed().as_secs_f64(),
        each(resident() - before),
    );
    let server = Redis::start_with(ServerOptions::default()).unwrap();
    let (empty, began) = (redis_memory(&server), Instant::now());
    // Apart from the shops, Redis reads nothing from the database, so an empty MySQL database serves the
    // rest.
    let database = Database::fresh();
    let MysqlPorts { epochs, holders, orders, sign_rows, feed_rows, .. } =
        mysql::connect(database.url()).await.unwrap();
    let known = DatabaseForRedis {
        epochs,
        holders,
        orders,
        shops: Arc::clone(&record.catalogue.shops),
        sign_rows,
        feed_rows,
    };
    let redis = connect(&RedisOptions::new(server.url()), known).await.unwrap().geo_index;
    while redis.count().await.ok() != Some(count) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!(
        "in Redis:  to fill it from the record takes {:.2} s, a shop {:.0} bytes",
        began.elapsed().as_secs_f64(),
        each(redis_memory(&server) - empty),
    );
    println!(
        "first ten within 5 km        mean us     p50     p99   found   {CALLERS} callers, per second, failed"
    );
    let memory = Arc::clone(&record.catalogue.geo_index);
    for (name, kind, skip) in
        [("all types", None, 0), ("one type", Some(ShopTypeId::new(1)), 0), ("all, page 20", None, 190)]
    {
        let asked: Vec<NearbyQuery> = (0..QUESTIONS)
            .map(|_| NearbyQuery {
                centre: near_a_city(&cities, &mut dice),
                radius_m: 5_000.0,
                kind,
                skip,
                max: 10,
            })
            .collect();
        for around in asked.iter().take(200) {
            assert_eq!(memory.near(around).await.unwrap(), redis.near(around).await.unwrap());
        }
        time(&format!("memory, {name}"), &memory, &asked).await;
        time(&format!("Redis,  {name}"), &redis, &asked).await;
    }
    while_shops_move(&memory, &cities, &mut dice).await;
    record.base.upkeep.close().await.unwrap();
}

/// Fills a database with `count` shops, each near a city. The index does not need the shops' types to
/// exist.
async fn fill(options: &EmbeddedOptions, count: u64, cities: &[(f64, f64)], dice: &mut StdRng) {
    let storage = mallbox_storage_embedded::open(options.clone()).await.unwrap();
    let mut import = storage.operator.import.begin().await.unwrap().unwrap();
    let kinds = (1..=KINDS).map(|id| {
        let kind = ShopType { id: ShopTypeId::new(id), name: "a".into(), icon: String::new(), sort: 0 };
        (ImportRow::ShopType(kind), true)
    });
    import.put(kinds.collect()).await.unwrap();
    let ids: Vec<u64> = (1..=count).collect();
    for some in ids.chunks(2_000) {
        let rows = some.iter().map(|id| {
            let shop = shop(*id, near_a_city(cities, dice), dice);
            (ImportRow::Shop(shop), true)
        });
        import.put(rows.collect()).await.unwrap();
    }
    import.finish(FinishOptions::new(Duration::from_secs(900), NOON)).await.unwrap();
    storage.base.upkeep.close().await.unwrap();
}

fn shop(id: u64, at: LatLng, dice: &mut StdRng) -> Shop {
    let text = ShopText {
        name: format!("shop {id}"),
        kind: ShopTypeId::new(dice.random_range(1..=KINDS)),
        images: String::new(),
        area: String::new(),
        address: String::new(),
        x: at.lng(),
        y: at.lat(),
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 0,
    };
    Shop { id: ShopId::new(id), text, created: NOON, updated: NOON }
}

/// Returns a random place, mostly within 20 km of a city.
fn near_a_city(cities: &[(f64, f64)], dice: &mut StdRng) -> LatLng {
    let (lng, lat) = cities[dice.random_range(0..cities.len())];
    let mut off = || (0..4).map(|_| dice.random_range(-0.1..0.1)).sum::<f64>();
    LatLng::new(lng + off(), lat + off()).unwrap()
}

async fn time(name: &str, index: &Arc<dyn GeoIndex>, asked: &[NearbyQuery]) {
    let (mut times, mut found) = (Vec::new(), 0);
    for around in asked {
        let began = Instant::now();
        found += index.near(around).await.unwrap().len();
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let at = |share: usize| micros(times[(times.len() - 1) * share / 100]);
    let mean = micros(times.iter().sum::<Duration>()) / times.len() as f64;
    let began = Instant::now();
    let callers = (0..CALLERS).map(|_| {
        let (index, asked) = (Arc::clone(index), asked.to_vec());
        tokio::spawn(async move {
            let mut failed = 0_u32;
            for around in &asked {
                failed += u32::from(index.near(around).await.is_err());
            }
            failed
        })
    });
    let callers: Vec<_> = callers.collect();
    let mut failed = 0;
    for caller in callers {
        failed += caller.await.unwrap();
    }
    println!(
        "{name:27} {mean:8.1} {:7.1} {:7.1} {:7.1} {:14.0} {failed:8}",
        at(50),
        at(99),
        found as f64 / asked.len() as f64,
        (CALLERS * asked.len()) as f64 / began.elapsed().as_secs_f64(),
    );
}

/// Times searches in memory while another thread moves shops without pause.
async fn while_shops_move(memory: &Arc<dyn GeoIndex>, cities: &[(f64, f64)], dice: &mut StdRng) {
    let asked: Vec<NearbyQuery> = (0..QUESTIONS)
        .map(|_| {
            let centre = near_a_city(cities, dice);
            NearbyQuery { centre, radius_m: 5_000.0, kind: None, skip: 0, max: 10 }
        })
        .collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let moving = {
        let (index, is_over, cities) = (Arc::clone(memory), Arc::clone(&is_over), cities.to_vec());
        let mut dice = StdRng::seed_from_u64(8);
        tokio::spawn(async move {
            let (began, mut moved) = (Instant::now(), 0_u32);
            while !is_over.load(Ordering::Relaxed) {
                let at = near_a_city(&cities, &mut dice);
                let shop = ShopId::new(dice.random_range(1..1_000));
                index.put(PlacedShop { shop, kind: ShopTypeId::new(1), at }).await.unwrap();
                moved += 1;
            }
            f64::from(moved) / began.elapsed().as_secs_f64()
        })
    };
    time("memory, shops are moved", memory, &asked).await;
    is_over.store(true, Ordering::Relaxed);
    println!("                            ({:.0} shops a second were moved)", moving.await.unwrap());
}

fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn redis_memory(server: &Redis) -> u64 {
    let mut connection = redis::Client::open(server.url()).unwrap().get_connection().unwrap();
    let info: String = redis::cmd("INFO").arg("memory").query(&mut connection).unwrap();
    let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    line.trim().parse().unwrap()
}
