//! Random histories of insertions, rollbacks, crashes and starts against a plain map, compared after each
//! step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rusqlite::Connection;
use tempfile::TempDir;

use super::tests::{insert_all, orders_of};
use super::{disagreements, tail};
use crate::sqlite::migrations;

const USERS: u64 = 40;
const STEPS: usize = 120;

type Model = BTreeMap<u64, BTreeSet<u64>>;

struct World {
    dir: TempDir,
    conn: Connection,
    model: Model,
    random: StdRng,
    files: u32,
}

fn open(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    conn.pragma_update(None, "synchronous", "OFF").unwrap();
    // Small, so that pages of an unfinished transaction are in the WAL.
    conn.pragma_update(None, "cache_size", 10).unwrap();
    conn
}

impl World {
    fn new(seed: u64) -> Self {
        let dir = TempDir::new().unwrap();
        let conn = open(&dir.path().join("0.db"));
        migrations::apply(&conn).unwrap();
        Self { dir, conn, model: Model::new(), random: StdRng::seed_from_u64(seed), files: 0 }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(format!("{}.db", self.files))
    }

    /// Returns new orders, with ids above and below those that exist.
    fn orders(&mut self) -> Vec<(u64, u64)> {
        let most = [1, 1, 3, 20, 90, 700][self.random.random_range(0..6)];
        let mut ids = BTreeSet::new();
        for _ in 0..self.random.random_range(1..=most) {
            let id = self.random.random_range(0..1 << 40);
            if !self.model.values().any(|orders| orders.contains(&id)) {
                ids.insert(id);
            }
        }
        // A few users have most of the orders.
        ids.into_iter()
            .map(|id| (self.random.random_range(0..USERS).min(self.random.random_range(0..USERS)), id))
            .collect()
    }

    fn commit(&mut self, orders: &[(u64, u64)]) {
        self.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        insert_all(&self.conn, orders);
        self.conn.execute_batch("COMMIT").unwrap();
        self.remember(orders);
    }

    fn remember(&mut self, orders: &[(u64, u64)]) {
        for (user, order) in orders {
            self.model.entry(*user).or_default().insert(*order);
        }
    }

    /// Goes on with copies of the files as they are, as after `kill -9`.
    fn crash(&mut self) {
        let from = self.path();
        self.files += 1;
        let to = self.path();
        for ending in ["", "-wal"] {
            let name = |path: &Path| path.with_extension(format!("db{ending}"));
            fs::copy(name(&from), name(&to)).unwrap();
        }
        self.conn = open(&to);
    }

    fn step(&mut self) {
        let orders = self.orders();
        match self.random.random_range(0..10) {
            0 => {
                self.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
                insert_all(&self.conn, &orders);
                self.conn.execute_batch("ROLLBACK").unwrap();
            }
            // A group commit in which one job fails.
            1 => {
                self.conn.execute_batch("BEGIN IMMEDIATE; SAVEPOINT job").unwrap();
                insert_all(&self.conn, &orders);
                self.conn.execute_batch("ROLLBACK TO job; RELEASE job").unwrap();
                let further = self.orders();
                insert_all(&self.conn, &further);
                self.conn.execute_batch("COMMIT").unwrap();
                self.remember(&further);
            }
            2 => {
                self.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
                insert_all(&self.conn, &orders);
                self.crash();
            }
            3 => {
                self.commit(&orders);
                self.crash();
            }
            4 => {
                self.commit(&orders);
                self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
                self.conn = open(&self.path());
            }
            _ => self.commit(&orders),
        }
    }

    fn compare(&self) {
        for user in 0..USERS {
            let expected: Vec<u64> = self.model.get(&user).into_iter().flatten().rev().copied().collect();
            assert_eq!(orders_of(&self.conn, user), expected, "user {user}");
        }
        assert_eq!(disagreements(&self.conn, 5).unwrap().examples, Vec::<String>::new());
        let (rows, entries): (i64, usize) = self
            .conn
            .query_row("SELECT COUNT(*), COALESCE(SUM(length(entries)), 0) / 16 FROM order_tail", [], |row| {
                Ok((row.get(0)?, usize::try_from(row.get::<_, i64>(1)?).unwrap()))
            })
            .unwrap();
        assert!(rows < tail::ROWS_MAX && entries < tail::ENTRIES_MAX, "{rows} rows, {entries} entries");
    }
}

#[test]
fn random_histories_agree_with_a_plain_map() {
    let seeds = std::env::var("MALLBOX_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
    for seed in 0..seeds {
        println!("seed {seed}");
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
            world.compare();
        }
        // Most histories must have merged more than once.
        assert!(world.model.values().map(BTreeSet::len).sum::<usize>() > 1_000);
    }
}
