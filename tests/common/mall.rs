//! A mall prepared through the ports that the mall itself uses.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use mallbox::mall::{Clock as _, Random, SystemClock};
use mallbox::place::Place;
use mallbox_storage::{
    LastOperator, NewReview, NewSale, NewSession, Phone, ReviewId, ReviewOrigin, ReviewOutcome, ReviewTags,
    ReviewText, RightsChange, RightsOutcome, Role, SessionOrigin, Stars, Storage, StoreError, Timestamp,
    TokenHash, UserId, VoucherId, VoucherText,
};
use mallbox_storage_contract::samples;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_test_patience::Deadline;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

/// Longer than any test: no order expires during a run.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Time limit of one user's log-in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Concurrent log-ins while the mall is made: they share the disk's syncs.
const CONCURRENT_LOGINS: usize = 512;

/// Users and sales of a mall.
#[derive(Clone)]
pub struct Mall {
    pub people: Arc<Vec<Person>>,
    pub sales: Vec<VoucherId>,
    /// Units of each sale.
    pub units: u64,
}

/// A logged-in user.
pub struct Person {
    pub id: UserId,
    pub token: String,
}

/// Size of the mall.
#[derive(Clone, Copy)]
pub struct Size {
    pub people: usize,
    pub sales: usize,
    pub units: u64,
}

/// Opens a mall's storage without a server.
pub async fn open(dir: &Path) -> anyhow::Result<Storage> {
    mallbox_storage_embedded::open(EmbeddedOptions::new(dir))
        .await
        .with_context(|| format!("{} cannot be opened", dir.display()))
}

/// Returns a runtime for calls to the ports.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Makes a mall in an empty directory, and closes it.
pub fn make(dir: &Path, size: Size) -> anyhow::Result<Mall> {
    runtime()?.block_on(async {
        let storage = open(dir).await?;
        let mall = make_in(&storage, size).await?;
        storage.base.upkeep.close().await?;
        Ok(mall)
    })
}

/// Ends the sessions of all users but the first `kept`, who alone are left in the mall's list.
pub fn log_out_beyond(dir: &Path, mall: Mall, kept: usize) -> anyhow::Result<Mall> {
    let mut people = Arc::try_unwrap(mall.people).ok().context("somebody else has the list of users")?;
    let others = people.split_off(kept.min(people.len()));
    runtime()?.block_on(async {
        let storage = open(dir).await?;
        let sessions = &storage.people.sessions;
        let ends = others.into_iter().map(|person| {
            let sessions = Arc::clone(sessions);
            async move { Ok(sessions.end_all(person.id).await?) }
        });
        concurrently(ends).await?;
        Ok::<_, anyhow::Error>(storage.base.upkeep.close().await?)
    })?;
    Ok(Mall { people: Arc::new(people), ..mall })
}

/// Makes the first user the operator. Returns the user's token.
pub fn appoint_operator(dir: &Path, mall: &Mall) -> anyhow::Result<String> {
    runtime()?.block_on(async {
        let storage = open(dir).await?;
        let token = appoint_operator_in(&storage, mall).await?;
        storage.base.upkeep.close().await?;
        Ok(token)
    })
}

/// Makes the first user the operator of an open mall. Returns the user's token.
pub async fn appoint_operator_in(storage: &Storage, mall: &Mall) -> anyhow::Result<String> {
    let (first, change) = (&mall.people[0], RightsChange::Role(Role::Operator));
    let outcome =
        storage.people.users.put_rights(first.id, &change, LastOperator::Stays, SystemClock.now()).await?;
    ensure!(matches!(outcome, RightsOutcome::Done(_)), "{outcome:?}");
    Ok(first.token.clone())
}

/// Makes a mall in an empty storage.
pub async fn make_in(storage: &Storage, size: Size) -> anyhow::Result<Mall> {
    let now = SystemClock.now();
    let sales = open_sales(storage, size, now).await?;
    let random = Arc::new(Random::system());
    let log_ins = (0..size.people).map(|number| log_in(storage.clone(), Arc::clone(&random), number, now));
    let people = concurrently(log_ins).await?;
    Ok(Mall { people: Arc::new(people), sales, units: size.units })
}

/// Waits until every claim is in the database, including those of a killed instance.
pub fn drained(place: &Place, timeout: Duration) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let storage = place.open().await?;
        let until = Deadline::after(timeout);
        loop {
            let state = storage.selling.order_log.state().await;
            if state.pending == 0 && state.trouble.is_none() {
                break;
            }
            ensure!(!until.is_over(), "claims stay in the log: {state:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(storage.base.upkeep.close().await?)
    })
}

/// Adds reviews of a new shop.
pub async fn add_reviews<const REVIEWS: usize>(
    storage: &Storage,
    author: UserId,
) -> anyhow::Result<[ReviewId; REVIEWS]> {
    let now = SystemClock.now();
    let shop = samples::insert_shop(&*storage.catalogue.shops, now).await?;
    let text = ReviewText {
        stars: Stars::from_score(50).context("five stars")?,
        content: String::new(),
        images: String::new(),
        average_price: None,
        tags: ReviewTags::default(),
    };
    let review = NewReview { author, shop, origin: ReviewOrigin::Demo, text, request: String::new() };
    let mut reviews = [ReviewId::new(0); REVIEWS];
    for one in &mut reviews {
        match storage.writing.reviews.insert(&review, now).await? {
            ReviewOutcome::Written(review) => *one = review,
            refused => bail!("a review was refused: {refused:?}"),
        }
    }
    Ok(reviews)
}

async fn log_in(
    storage: Storage,
    random: Arc<Random>,
    number: usize,
    now: Timestamp,
) -> anyhow::Result<Person> {
    let phone = Phone::parse(&format!("19{number:09}")).context("more people than phone numbers")?;
    let name = format!("person_{number}");
    let user = patiently(|| storage.people.users.find_or_create(&phone, &name, now)).await?;
    let person = Person { id: user.id, token: random.token() };
    begin_session(&storage, &person, now).await?;
    Ok(person)
}

async fn begin_session(storage: &Storage, person: &Person, now: Timestamp) -> anyhow::Result<()> {
    let hash = TokenHash(Sha256::digest(person.token.as_bytes()).into());
    let session = NewSession { origin: SessionOrigin::Code, ..NewSession::of(person.id, DAY) };
    patiently(|| storage.people.sessions.begin(hash, &session, now)).await?;
    Ok(())
}

/// Begins the sessions of a mall's people again, with the same tokens.
pub async fn begin_sessions(storage: &Storage, mall: &Mall) -> anyhow::Result<()> {
    let now = SystemClock.now();
    let sessions = (0..mall.people.len()).map(|number| {
        let (storage, people) = (storage.clone(), Arc::clone(&mall.people));
        async move { begin_session(&storage, &people[number], now).await }
    });
    concurrently(sessions).await.map(drop)
}

/// Runs calls, [`CONCURRENT_LOGINS`] at a time. Returns their results in the order of completion.
async fn concurrently<T: Send + 'static>(
    calls: impl Iterator<Item = impl Future<Output = anyhow::Result<T>> + Send + 'static>,
) -> anyhow::Result<Vec<T>> {
    let mut under_way = JoinSet::new();
    let mut results = Vec::new();
    for call in calls {
        under_way.spawn(call);
        if under_way.len() >= CONCURRENT_LOGINS
            && let Some(result) = under_way.join_next().await
        {
            results.push(result??);
        }
    }
    while let Some(result) = under_way.join_next().await {
        results.push(result??);
    }
    Ok(results)
}

/// Repeats a call while a server on a busy machine times out.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let until = Instant::now() + LOGIN_TIMEOUT;
    loop {
        match call().await {
            Err(error) if error.is_transient() && Instant::now() < until => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            answer => return answer,
        }
    }
}

async fn open_sales(storage: &Storage, size: Size, now: Timestamp) -> anyhow::Result<Vec<VoucherId>> {
    let text = VoucherText {
        shop: samples::insert_shop(&*storage.catalogue.shops, now).await?,
        ..samples::voucher()
    };
    let sale = NewSale { end: now + DAY, pay_within: DAY, ..samples::sale(Some(size.units), now) };
    let mut sales = Vec::with_capacity(size.sales);
    for _ in 0..size.sales {
        sales.push(storage.catalogue.vouchers.insert(&text, Some(&sale), now).await?);
    }
    Ok(sales)
}
