//! What guard and judgement cost: claims with and without a pass, judged and not, refusals for want of a
//! pass, and challenges given.
//!
//! In process, on an embedded mall whose claims are durable, the measurements taken in turns.
//!
//! `cargo bench -p mallbox --bench guards [-- ROUNDS]`, 9 rounds by default; the medians count

mod common;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use mallbox::language::Language;
use mallbox::mall::base::GuardRefusal;
use mallbox::mall::selling::guard::{GrantedPass, ShownPass, Visitor};
use mallbox::mall::{Context, Failure, FlashSales, ManualClock, Refusal, Settings};
use mallbox_storage::{ChallengeKind, ChallengeKinds, Guard, Judgement, Phone, Storage, UserId, VoucherId};
use tempfile::TempDir;
use tokio::task::JoinSet;

use common::{NOON, insert_sale};

/// Claims of a round.
const CLAIMS: u64 = 20_000;
/// Claims under way at once.
const AT_ONCE: u64 = 256;
/// Challenges of a round.
const CHALLENGES: u64 = 500;

struct Bench {
    storage: Storage,
    sales: FlashSales,
    users: Vec<UserId>,
    _dir: TempDir,
}

fn main() {
    let rounds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(9);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(rounds));
}

async fn measure(rounds: usize) {
    let bench = Bench::open().await;
    let sale = bench.sale(None, Some(Judgement::Observe)).await;
    // Afterwards the users are in the cache, as those are who have looked at a page before they claim.
    let unseen = bench.claims(sale, false).await;
    println!("claims without a guard, judged, by users who looked at no page: {unseen:.0}/s");
    let names = [
        "claims without a guard",
        "claims without a guard, judged",
        "claims with a pass",
        "claims with a pass, judged",
        "claims without a pass, refused",
    ];
    let mut claims = [const { Vec::new() }; 5];
    let mut challenges = [const { Vec::new() }; 3];
    for round in 1..=rounds {
        let (open, guarded) = (bench.sale(None, None).await, bench.sale(Some(guard()), None).await);
        let observe = Some(Judgement::Observe);
        let (open_judged, judged) =
            (bench.sale(None, observe).await, bench.sale(Some(guard()), observe).await);
        claims[0].push(bench.claims(open, false).await);
        claims[1].push(bench.claims(open_judged, false).await);
        claims[2].push(bench.claims(guarded, true).await);
        claims[3].push(bench.claims(judged, true).await);
        // Of a sale in which nobody has a unit: otherwise each refusal looks for the user's order.
        let refusing = bench.sale(Some(guard()), None).await;
        claims[4].push(bench.claims(refusing, false).await);
        for (kind, rates) in ChallengeKind::OWN.into_iter().zip(&mut challenges) {
            rates.push(bench.challenges(guarded, kind).await);
        }
        eprintln!("round {round} of {rounds}");
    }
    for (name, rates) in names.iter().zip(&mut claims) {
        println!("{name}: {:.0}/s", median(rates));
    }
    for (kind, rates) in ChallengeKind::OWN.into_iter().zip(&mut challenges) {
        println!("challenges given, {}: {:.0}/s", kind.name(), median(rates));
    }
}

fn guard() -> Guard {
    let kinds = ChallengeKinds::new(&ChallengeKind::OWN).expect("each kind once");
    Guard { kinds, work_bits: 8, pass_seconds: 600, jitter_seconds: 0 }
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

impl Bench {
    async fn open() -> Self {
        // In the source directory: /tmp is in memory on many machines.
        let dir = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).expect("a directory can be made");
        let options = mallbox_storage_embedded::EmbeddedOptions::new(dir.path());
        let storage = mallbox_storage_embedded::open(options).await.expect("an empty directory opens");
        let clock = Arc::new(ManualClock::new(NOON));
        let settings = Arc::new(Settings::default().without_limits());
        let context = Context::new(storage.clone(), clock, TimeZone::UTC, settings);
        let users = users(&storage).await;
        Self { storage, sales: FlashSales::new(context), users, _dir: dir }
    }

    async fn sale(&self, guard: Option<Guard>, judgement: Option<Judgement>) -> VoucherId {
        let voucher = insert_sale(&self.storage, None, Duration::from_secs(3_600)).await;
        let vouchers = &self.storage.catalogue.vouchers;
        let stored = vouchers.put_judgement(voucher, judgement, NOON).await;
        stored.expect("it can be stored").expect("it is a sale");
        let stored = vouchers.put_guard(voucher, guard, NOON).await;
        stored.expect("it can be stored").expect("it is a sale");
        self.sales.opened(voucher).await.expect("it can be opened");
        voucher
    }

    /// Returns claims per second of users who claim once each, with a pass or without.
    async fn claims(&self, voucher: VoucherId, with_pass: bool) -> f64 {
        let mut shown = Vec::new();
        for user in self.users.iter().copied() {
            let granted = match with_pass {
                true => Some(self.sales.grant_pass(user, voucher, NOON).await.expect("a pass is granted")),
                false => None,
            };
            shown.push((user, granted));
        }
        let is_refused = self.sales.live(voucher, NOON).await.expect("it is known").is_guarded && !with_pass;
        let each = usize::try_from(CLAIMS.div_ceil(AT_ONCE)).expect("a small number");
        let began = Instant::now();
        let mut callers = JoinSet::new();
        for part in shown.chunks(each).map(<[_]>::to_vec) {
            let sales = self.sales.clone();
            callers.spawn(async move {
                for (user, granted) in part {
                    let shown = granted.as_ref().map(shown_of).unwrap_or_default();
                    let shown = ShownPass { address: Some(address_of(user)), ..shown };
                    match sales.claim_with_pass(user, voucher, shown, NOON).await {
                        Ok(_) => assert!(!is_refused),
                        Err(Failure::Refused(Refusal::Guard(GuardRefusal::PassRequired))) => {
                            assert!(is_refused);
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        callers.join_all().await;
        let took = began.elapsed();
        self.settle().await;
        CLAIMS as f64 / took.as_secs_f64()
    }

    /// Returns challenges per second, asked for by as many visitors at once as there are processors.
    async fn challenges(&self, voucher: VoucherId, kind: ChallengeKind) -> f64 {
        let began = Instant::now();
        let mut visitors = JoinSet::new();
        let at_once = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
        for visitor in 0..at_once {
            let sales = self.sales.clone();
            visitors.spawn(async move {
                for number in 0..CHALLENGES / at_once {
                    let user = UserId::new(1 + visitor * CHALLENGES + number);
                    let visitor = Visitor { user, device: None, address: None, admission: None, pass: None };
                    let spoken = (Language::Zh, NOON);
                    let given = sales.challenge(visitor, voucher, Some(kind), spoken).await;
                    given.expect("a challenge is given");
                }
            });
        }
        visitors.join_all().await;
        CHALLENGES as f64 / began.elapsed().as_secs_f64()
    }

    /// Takes the claims of a round out of the log, and writes its attempts.
    async fn settle(&self) {
        while self.sales.has_attempts() {
            self.sales.store_attempts().await.expect("they can be stored");
        }
        let log = &self.storage.selling.order_log;
        loop {
            let taken = log.take("bench", 100_000, Duration::ZERO).await.expect("it can be read");
            if taken.is_empty() {
                return;
            }
            log.done("bench", &taken).await.expect("it can be settled");
        }
    }
}

/// Registers a user per claim of a round.
async fn users(storage: &Storage) -> Vec<UserId> {
    let mut users = Vec::new();
    let numbers: Vec<u64> = (0..CLAIMS).collect();
    for part in numbers.chunks(usize::try_from(AT_ONCE).expect("a small number")) {
        let mut under_way = JoinSet::new();
        for number in part {
            let phone = Phone::parse(&format!("13{number:09}")).expect("a phone number");
            let storage = storage.clone();
            under_way.spawn(async move {
                let user = storage.people.users.find_or_create(&phone, "bench", NOON).await;
                user.expect("it is stored").id
            });
        }
        users.extend(under_way.join_all().await);
    }
    users
}

/// Four users share an address.
fn address_of(user: UserId) -> IpAddr {
    let number = u32::try_from(user.get() / 4).expect("a small number");
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number))
}

fn shown_of(granted: &GrantedPass) -> ShownPass<'_> {
    ShownPass { pass: Some(&granted.pass), device: Some(&granted.device_ticket), ..ShownPass::default() }
}
