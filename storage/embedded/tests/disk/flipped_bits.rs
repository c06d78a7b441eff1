//! One flipped bit anywhere in the directory of a mall that was killed or stopped: it is harmless, repaired,
//! or named. No acknowledged claim, order, payment or session changes or vanishes without a word.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mallbox_storage::sessions::TokenHash;
use mallbox_storage::{
    Cents, ClaimOutcome, Durability, NewSession, OpenError, Order, Payment, PaymentState, Storage,
    StoreError, UserId,
};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::world::{Closed, HOUR, NOON, WORKER, World, order};

/// Flips per state of the directory, spread evenly over its files.
const FLIPS: usize = 60;
const CLAIMS: u64 = 60;
/// Orders, all of them paid; the other claims are pending.
const PAID: u64 = 40;
const TOKENS: u8 = 10;

/// Everything that was acknowledged, as read back.
#[derive(PartialEq, Debug)]
struct Everything {
    orders: Vec<Option<Order>>,
    pending: Vec<bool>,
    payments: Vec<Vec<Payment>>,
    sessions: Vec<Option<UserId>>,
    taken: Option<u64>,
}

async fn sold() -> World {
    let world = World::open(Durability::Power).await;
    let storage = &world.storage;
    for token in 0..TOKENS {
        let session = NewSession::of(UserId::new(u64::from(token)), HOUR);
        storage.people.sessions.begin(TokenHash([token; 32]), &session, NOON).await.unwrap();
    }
    for user in 1..=CLAIMS {
        assert_eq!(world.claim(user).await.unwrap(), ClaimOutcome::Accepted);
    }
    while storage.selling.orders.count(world.voucher).await.unwrap().unpaid < PAID {
        let taken = storage.selling.order_log.take(WORKER, 8, Duration::ZERO).await.unwrap();
        storage.selling.orders.persist(&taken, NOON).await.unwrap();
    }
    for user in 1..=PAID {
        let id = order(world.voucher, user);
        let payment = storage.selling.payments.start(id, Cents::new(4_750), NOON).await.unwrap();
        assert!(storage.selling.payments.settle(payment.id, PaymentState::Captured, NOON).await.unwrap());
    }
    world
}

async fn everything(
    storage: &Storage,
    voucher: mallbox_storage::VoucherId,
) -> Result<Everything, StoreError> {
    let selling = &storage.selling;
    let mut all =
        Everything { orders: vec![], pending: vec![], payments: vec![], sessions: vec![], taken: None };
    for user in 1..=CLAIMS {
        let id = order(voucher, user);
        let stored = selling.orders.get(id).await?;
        all.pending.push(stored.is_none() && selling.order_log.find(id).await?.is_some());
        all.orders.push(stored);
        all.payments.push(selling.payments.of_order(id).await?);
    }
    for token in 0..TOKENS {
        let found = storage.people.sessions.find(TokenHash([token; 32]), HOUR, NOON).await?;
        all.sessions.push(found.map(|session| session.user));
    }
    let counts = selling.orders.tally(voucher).await?;
    all.taken = Some(counts.unpaid + counts.paid);
    Ok(all)
}

/// Kind of a file: its name without numbers.
fn kind(path: &Path) -> String {
    path.to_string_lossy().chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn files(dir: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir.join(below)).unwrap().map(Result::unwrap) {
        let name = below.join(entry.file_name());
        if entry.path().is_dir() {
            files(dir, &name, found);
        } else if entry.metadata().unwrap().len() > 0 {
            found.push(name);
        }
    }
}

/// Flips one bit of a file in front of its last byte other than 0.
fn flip(path: &Path, dice: &mut StdRng) -> (usize, u32) {
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(bytes.len(), |last| last + 1);
    let (at, bit) = (dice.random_range(0..end), dice.random_range(0..8_u32));
    bytes[at] ^= 1 << bit;
    fs::write(path, bytes).unwrap();
    (at, bit)
}

/// Returns whether the error names a damaged part, and not a mistake of the operator.
fn names_damage(error: &OpenError) -> bool {
    let words = error.to_string();
    matches!(error, OpenError::LostLog { .. } | OpenError::DamagedRecord { .. } | OpenError::NotOurs { .. })
        || ["damaged", "unreadable", "corrupt"].iter().any(|word| words.contains(word))
}

async fn survive(name: &str, left: Closed, voucher: mallbox_storage::VoucherId, want: &Everything) {
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut names = Vec::new();
    files(left.dir(), Path::new(""), &mut names);
    names.sort();
    names.into_iter().for_each(|name| kinds.entry(kind(&name)).or_default().push(name));
    assert!(kinds.len() >= 6, "{kinds:?}");
    let mut dice = StdRng::seed_from_u64(38);
    let mut outcomes: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let kinds: Vec<_> = kinds.into_iter().collect();
    for number in 0..FLIPS {
        let (kind, files) = &kinds[number % kinds.len()];
        let file = &files[dice.random_range(0..files.len())];
        let copy = left.image();
        let place = flip(&copy.dir().join(file), &mut dice);
        let outcome = match copy.try_open().await {
            Ok(storage) => match everything(&storage, voucher).await {
                Ok(found) => {
                    assert_eq!(&found, want, "{name}: {}, {place:?}: changed in silence", file.display());
                    "whole"
                }
                Err(StoreError::Corrupt { .. }) => "named by a call",
                Err(error) => panic!("{name}: {}, {place:?}: {error}", file.display()),
            },
            Err(error) if names_damage(&error) => {
                println!("{name}: {}, {place:?}: {error}", file.display());
                "refused"
            }
            Err(error) => panic!("{name}: {}, {place:?}: {error}", file.display()),
        };
        *outcomes.entry((kind, outcome)).or_default() += 1;
    }
    for ((kind, outcome), number) in outcomes {
        println!("{name}: {number:>2} × {outcome:<15} {kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_bit_in_any_file_is_harmless_repaired_or_named() {
    let world = sold().await;
    let (voucher, want) = (world.voucher, everything(&world.storage, world.voucher).await.unwrap());
    assert_eq!(want.pending.iter().filter(|pending| **pending).count() as u64, CLAIMS - PAID);
    assert!(want.payments.iter().filter(|payments| payments.len() == 1).count() as u64 == PAID);
    survive("killed", world.image(), voucher, &want).await;
    let closed = world.closed().await;
    survive("stopped", closed, voucher, &want).await;
}
