//! Votes per second on both back ends, beside the two shortest ways to count: `INCR` in Redis, and
//! `UPDATE … SET n = n + 1` of a row in MariaDB. From 64 voters and from one, on one counter and spread over
//! 1,000.
//!
//! `cargo bench -p mallbox-storage-production --bench votes [-- SECONDS]`: seconds per measurement, 2 by
//! default. Every line is measured in three rounds, one after the other, so that other load on the machine
//! shows as spread. Starts a redis-server (`appendonly yes`, `appendfsync everysec`) and a MariaDB with its
//! default durability (each commit flushed) in the system's temporary directory (set `TMPDIR` to choose the
//! disk). Voters and servers share this machine's cores.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mallbox_storage::{
    NewReview, ReviewId, ReviewOrigin, ReviewOutcome, ReviewTags, ReviewText, Reviews, Shops, Stars,
    Timestamp, UserId, VoteOutcome, Votes,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::mysql::{self, MysqlPorts};
use mallbox_test_servers::{MariaDb, Redis, RedisOptions};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, Pool, PoolConstraints, PoolOpts};
use redis::AsyncTypedCommands as _;
use redis::aio::MultiplexedConnection;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// A buffer pool large enough to keep the tables in memory, as on a dedicated server.
const FLAGS: [&str; 3] =
    ["--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G", "--innodb-flush-log-at-trx-commit=1"];
const ROUNDS: usize = 3;
const VOTERS: [usize; 2] = [64, 1];
const SPREADS: [usize; 2] = [1, 1_000];
/// Author of the reviews, who does not vote.
const AUTHOR: UserId = UserId::new(u64::MAX >> 1);

/// A way to count.
#[async_trait]
trait Counter: Send + Sync {
    /// Adds the only vote of `user` to one of 1,000 counters, on behalf of one of the concurrent voters.
    async fn add(&self, counter: usize, user: u64, voter: usize);

    /// Returns the sum of all counters.
    async fn total(&self) -> u64;
}

/// Votes of a mall: a ledger, a sum, and a mark per voter, in one transaction.
struct MallVotes {
    votes: Arc<dyn Votes>,
    reviews: Arc<dyn Reviews>,
    ids: Vec<ReviewId>,
}

impl MallVotes {
    async fn new(shops: &dyn Shops, reviews: Arc<dyn Reviews>, votes: Arc<dyn Votes>) -> Self {
        let shop = samples::insert_shop(shops, NOON).await.unwrap();
        let text = ReviewText {
            stars: Stars::from_score(45).unwrap(),
            content: "面很香。".to_owned(),
            images: String::new(),
            average_price: None,
            tags: ReviewTags::default(),
        };
        let request = String::new();
        let review = NewReview { author: AUTHOR, shop, origin: ReviewOrigin::Demo, text, request };
        let mut ids = Vec::new();
        for _ in 0..SPREADS[1] {
            match reviews.insert(&review, NOON).await.unwrap() {
                ReviewOutcome::Written(id) => ids.push(id),
                refused => panic!("{refused:?}"),
            }
        }
        Self { votes, reviews, ids }
    }
}

#[async_trait]
impl Counter for MallVotes {
    async fn add(&self, counter: usize, user: u64, _: usize) {
        let vote = || self.votes.vote(self.ids[counter], UserId::new(user), true, NOON);
        let mut outcome = vote().await;
        while let Err(error) = &outcome {
            // A busy machine: the vote is in doubt, and a repeat counts it once. The call takes longer.
            eprintln!("repeated: {error}");
            outcome = vote().await;
        }
        assert!(matches!(outcome, Ok(VoteOutcome::Counted { .. })), "{outcome:?}");
    }

    async fn total(&self) -> u64 {
        self.reviews.those(&self.ids).await.unwrap().iter().map(|review| review.votes).sum()
    }
}

/// Bare `INCR` over one multiplexed connection, as the mall's own commands.
struct Incr(MultiplexedConnection);

#[async_trait]
impl Counter for Incr {
    async fn add(&self, counter: usize, _: u64, _: usize) {
        self.0.clone().incr(counter, 1).await.unwrap();
    }

    async fn total(&self) -> u64 {
        let mut total = 0;
        for counter in 0..SPREADS[1] {
            let count: Option<String> = self.0.clone().get(counter).await.unwrap();
            total += count.map_or(0, |count| count.parse::<u64>().unwrap());
        }
        total
    }
}

/// Bare `UPDATE` of a row, committed by itself, over a connection per voter.
struct Rows(Vec<Mutex<Conn>>);

impl Rows {
    async fn new(url: &str) -> Self {
        let most = PoolConstraints::new(VOTERS[0], VOTERS[0]).unwrap();
        let options = PoolOpts::default().with_constraints(most);
        let opts = mysql_async::OptsBuilder::from_opts(Opts::from_url(url).unwrap()).pool_opts(options);
        let pool = Pool::new(opts);
        let mut all = Vec::new();
        for _ in 0..VOTERS[0] {
            all.push(Mutex::new(pool.get_conn().await.unwrap()));
        }
        let conn = all[0].get_mut();
        conn.query_drop("CREATE TABLE bare (id INT PRIMARY KEY, n BIGINT NOT NULL)").await.unwrap();
        let zeroes = (0..SPREADS[1]).map(|id| (id, 0));
        conn.exec_batch("INSERT INTO bare (id, n) VALUES (?, ?)", zeroes).await.unwrap();
        Self(all)
    }
}

#[async_trait]
impl Counter for Rows {
    async fn add(&self, counter: usize, _: u64, voter: usize) {
        let mut conn = self.0[voter].lock().await;
        conn.exec_drop("UPDATE bare SET n = n + 1 WHERE id = ?", (counter,)).await.unwrap();
        assert_eq!(conn.affected_rows(), 1);
    }

    async fn total(&self) -> u64 {
        let total: Option<u64> =
            self.0[0].lock().await.query_first("SELECT CAST(SUM(n) AS UNSIGNED) FROM bare").await.unwrap();
        total.unwrap()
    }
}

/// A counter under measurement: its name, and what its count lacks.
struct Subject {
    name: &'static str,
    lacks: &'static str,
    counter: Arc<dyn Counter>,
    added: AtomicU64,
}

impl Subject {
    fn new(name: &'static str, lacks: &'static str, counter: impl Counter + 'static) -> Self {
        Self { name, lacks, counter: Arc::new(counter), added: AtomicU64::new(0) }
    }

    /// Counts for `time` from `voters` at once. Every call has a user of its own.
    async fn measure(&self, voters: usize, spread: usize, time: Duration) -> Measured {
        let mut working = JoinSet::new();
        let first = self.added.load(Ordering::Relaxed) + 1;
        let next = Arc::new(AtomicU64::new(first));
        let began = Instant::now();
        for voter in 0..voters {
            let (counter, next) = (Arc::clone(&self.counter), Arc::clone(&next));
            working.spawn(async move {
                let mut times = Vec::new();
                // At least one call, however short the time.
                while times.is_empty() || began.elapsed() < time {
                    let user = next.fetch_add(1, Ordering::Relaxed);
                    let place = usize::try_from(user % spread as u64).unwrap();
                    let asked = Instant::now();
                    counter.add(place, user, voter).await;
                    times.push(asked.elapsed());
                }
                times
            });
        }
        let mut times: Vec<Duration> = working.join_all().await.into_iter().flatten().collect();
        let took = began.elapsed();
        self.added.store(next.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
        Measured { rate: times.len() as f64 / took.as_secs_f64(), p50: at(50), p99: at(99) }
    }

    /// Nothing was lost, and nothing counted twice.
    async fn is_exact(&self) {
        assert_eq!(self.counter.total().await, self.added.load(Ordering::Relaxed), "{}", self.name);
    }
}

/// A measurement: calls per second, and times of calls in milliseconds.
#[derive(Clone, Copy)]
struct Measured {
    rate: f64,
    p50: f64,
    p99: f64,
}

/// A line of the table: subject, voters, counters, and a measurement per round.
struct Line {
    subject: usize,
    voters: usize,
    spread: usize,
    rounds: Vec<Measured>,
}

impl Line {
    /// Returns the rounds in ascending order of their rates.
    fn sorted(&self) -> Vec<Measured> {
        let mut rounds = self.rounds.clone();
        rounds.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        rounds
    }

    fn median(&self) -> Measured {
        self.sorted()[self.rounds.len() / 2]
    }
}

fn main() {
    let seconds = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(2.0_f64);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = RedisOptions::default().with("appendonly", "yes").with("appendfsync", "everysec");
    let redis = Redis::start_with(options).unwrap();
    let mariadb = MariaDb::start_with(&FLAGS).unwrap();
    let dir = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let embedded =
            mallbox_storage_embedded::open(EmbeddedOptions::new(dir.path().join("mall"))).await.unwrap();
        let (shops, writing) = (&*embedded.catalogue.shops, &embedded.writing);
        let on_sqlite = MallVotes::new(shops, Arc::clone(&writing.reviews), Arc::clone(&writing.votes)).await;
        let url = mariadb.url("mall");
        let MysqlPorts { shops, reviews, votes, upkeep, .. } = mysql::connect(&url).await.unwrap();
        let on_mysql = MallVotes::new(&*shops, reviews, votes).await;
        let client = redis::Client::open(redis.url()).unwrap();
        let incr = Incr(client.get_multiplexed_async_connection().await.unwrap());
        let subjects = [
            Subject::new("votes, MariaDB", "nothing; durable when the call returns", on_mysql),
            Subject::new("votes, SQLite", "nothing; durable when the call returns", on_sqlite),
            Subject::new(
                "INCR, Redis",
                "no ledger, a user counts twice, up to a second lost in a crash",
                incr,
            ),
            Subject::new("UPDATE, MariaDB", "no ledger, a user counts twice; durable", Rows::new(&url).await),
        ];
        print(&subjects, &measure(&subjects, Duration::from_secs_f64(seconds)).await);
        upkeep.close().await.unwrap();
        embedded.base.upkeep.close().await.unwrap();
    });
}

/// Measures all lines in rounds.
async fn measure(subjects: &[Subject], time: Duration) -> Vec<Line> {
    let mut lines = Vec::new();
    for voters in VOTERS {
        for spread in SPREADS {
            lines.extend((0..subjects.len()).map(|subject| Line {
                subject,
                voters,
                spread,
                rounds: Vec::new(),
            }));
        }
    }
    for _ in 0..ROUNDS {
        for line in &mut lines {
            line.rounds.push(subjects[line.subject].measure(line.voters, line.spread, time).await);
        }
        for subject in subjects {
            subject.is_exact().await;
        }
    }
    lines
}

/// Prints the medians, beside those of the first subject under the same load.
fn print(subjects: &[Subject], lines: &[Line]) {
    println!("voters  counters  way                calls/s   least    most    x votes   p50 ms     p99");
    let mut votes = f64::NAN;
    for line in lines {
        let (rounds, median) = (line.sorted(), line.median());
        if line.subject == 0 {
            votes = median.rate;
        }
        println!(
            "{:6}  {:8}  {:16} {:9.0} {:7.0} {:7.0} {:10.2} {:8.2} {:7.2}",
            line.voters,
            line.spread,
            subjects[line.subject].name,
            median.rate,
            rounds[0].rate,
            rounds[rounds.len() - 1].rate,
            median.rate / votes,
            median.p50,
            median.p99
        );
    }
    println!("\nmedian, least and most of {ROUNDS} rounds; “x votes”: the votes on MariaDB of this load = 1");
    for subject in subjects {
        println!("{:16} lacks: {}", subject.name, subject.lacks);
    }
}
