//! Candidate structures for the set of buyers of a sale: time per claim and memory per buyer.
//!
//! `cargo bench --bench buyers` measures the times; the memory is printed first. The structure in use, and
//! the reasons, are in `storage/embedded/src/buyers.rs`.

use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use roaring::RoaringTreemap;

const SHARDS: u64 = 64;

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// Returns the dense ids `0..users` in scattered order, as a crowd of buyers does.
fn crowd(users: u64) -> impl Iterator<Item = u64> {
    // 7,919 is a prime and divides none of the sizes used here, so every id comes up exactly once.
    (0..users).map(move |n| n.wrapping_mul(7_919) % users)
}

trait Remembers: Default {
    const NAME: &str;
    fn insert(&mut self, user: u64) -> bool;
}

#[derive(Default)]
struct HashSets(HashMap<u64, HashSet<u64, foldhash::fast::RandomState>>);

impl Remembers for HashSets {
    const NAME: &str = "hash set";

    fn insert(&mut self, user: u64) -> bool {
        self.0.entry(user % SHARDS).or_default().insert(user)
    }
}

/// User and order: a map from buyer to order would turn every look-up of a buyer's order into a memory
/// access.
#[derive(Default)]
struct HashMaps(HashMap<u64, HashMap<u64, u64, foldhash::fast::RandomState>>);

impl Remembers for HashMaps {
    const NAME: &str = "hash map to the order";

    fn insert(&mut self, user: u64) -> bool {
        self.0.entry(user % SHARDS).or_default().insert(user, user << 32).is_none()
    }
}

/// Neighbouring ids share a shard: containers are dense, but neighbours who buy together contend for one
/// lock.
#[derive(Default)]
struct RoaringByRange(HashMap<u64, RoaringTreemap>);

impl Remembers for RoaringByRange {
    const NAME: &str = "roaring, shard by id >> 16";

    fn insert(&mut self, user: u64) -> bool {
        self.0.entry((user >> 16) % SHARDS).or_default().insert(user)
    }
}

/// Neighbouring ids go to different shards; dividing by the number of shards makes them neighbours again
/// inside each.
#[derive(Default)]
struct RoaringDealt(HashMap<u64, RoaringTreemap>);

impl Remembers for RoaringDealt {
    const NAME: &str = "roaring, dealt round the shards";

    fn insert(&mut self, user: u64) -> bool {
        self.0.entry(user % SHARDS).or_default().insert(user / SHARDS)
    }
}

fn fill<R: Remembers>(users: u64) -> R {
    let mut buyers = R::default();
    for user in crowd(users) {
        assert!(buyers.insert(user));
    }
    buyers
}

fn memory<R: Remembers>() {
    for users in [1_000_000, 10_000_000] {
        let before = resident();
        let buyers = fill::<R>(users);
        let bytes = resident().saturating_sub(before);
        println!("{:<34} {users:>10} buyers {:>8.2} B each", R::NAME, bytes as f64 / users as f64);
        drop(black_box(buyers));
    }
}

fn time<R: Remembers>(criterion: &mut Criterion) {
    const USERS: u64 = 1_000_000;
    let mut group = criterion.benchmark_group("buyers/insert");
    group.throughput(Throughput::Elements(USERS)).sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function(R::NAME, |bencher| bencher.iter(|| black_box(fill::<R>(USERS))));
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    memory::<RoaringDealt>();
    memory::<RoaringByRange>();
    memory::<HashSets>();
    memory::<HashMaps>();
    time::<RoaringDealt>(criterion);
    time::<RoaringByRange>(criterion);
    time::<HashSets>(criterion);
    time::<HashMaps>(criterion);
}

criterion_group!(all, benches);
criterion_main!(all);
