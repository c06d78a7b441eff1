//! The bench's own mall: logged-in users, open sales, and what there is to read.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use indicatif::ProgressBar;
use mallbox_storage::{
    AddGatewayOutcome, Cents, Health, LastOperator, NewClaimGateway, NewSale, NewSession, Phone,
    RightsChange, RightsOutcome, Role, SessionOrigin, Storage, StoreError, Timestamp, TokenHash, UserId,
    VoucherId, VoucherStatus, VoucherText,
};
use sha2::{Digest as _, Sha256};

use super::concurrent;
use super::content::{self, Content};
use crate::mall::Random;
use crate::place::Place;

/// Longer than any bench.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Concurrent log-ins while the mall is made. In a directory, concurrent log-ins share the disk's syncs. On
/// servers, each waits for a connection no longer than a call may take.
const CONCURRENT_LOGINS_EMBEDDED: usize = 512;
const CONCURRENT_LOGINS_PRODUCTION: usize = 32;
/// Attempts per log-in when the servers are busy.
const LOGIN_ATTEMPTS_MAX: usize = 5;

/// Users who are logged in, and what is in the mall for them.
#[derive(Clone, Debug)]
pub(super) struct BenchUsers {
    pub(super) tokens: Arc<Vec<String>>,
    /// Ids of the users, in the order of their tokens.
    pub(super) ids: Arc<Vec<UserId>>,
    pub(super) sales: Vec<VoucherId>,
    /// The sale with few units.
    pub(super) scarce: VoucherId,
    /// Shops and notes; none unless asked for.
    pub(super) content: Content,
    /// The gateway that claims in batches, if asked for.
    pub(super) gateway: Option<BenchGateway>,
}

/// A claim gateway with a sale of its own.
#[derive(Clone, Debug)]
pub(super) struct BenchGateway {
    pub(super) token: String,
    pub(super) sale: VoucherId,
}

/// Size of the mall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) users: usize,
    pub(super) sales: usize,
    /// Units of each sale; `None` = unlimited.
    pub(super) units: Option<u64>,
    /// Units of one further sale.
    pub(super) scarce_units: u64,
    /// Whether the mall has shops and notes, and readers of the notes.
    pub(super) has_content: bool,
    /// Whether the mall has a claim gateway, and a further sale with the same units for it.
    pub(super) has_gateway: bool,
}

/// Makes a mall in an empty place through the ports the mall uses, and closes it. Returns also the health of
/// the back end.
pub(super) async fn make(
    place: &Place,
    size: Size,
    now: Timestamp,
    bar: &ProgressBar,
) -> anyhow::Result<(BenchUsers, Health)> {
    let storage = place.open().await?;
    let further = usize::from(size.has_gateway);
    let (mut sales, scarce) = open_sales(&storage, Size { sales: size.sales + further, ..size }, now).await?;
    let gateway = match sales.pop_if(|_| size.has_gateway) {
        Some(sale) => Some(add_gateway(&storage, sale, now).await?),
        None => None,
    };
    let random = Random::system();
    let at_once =
        if place.dir().is_some() { CONCURRENT_LOGINS_EMBEDDED } else { CONCURRENT_LOGINS_PRODUCTION };
    let tokens: Vec<_> = (0..size.users).map(|_| random.token()).collect();
    bar.set_length(size.users as u64);
    let log_ins =
        (0..).zip(&tokens).map(|(number, token)| log_in(storage.clone(), number, token.clone(), now));
    let ids = concurrent::all(at_once, log_ins, bar).await?;
    let content = if size.has_content {
        content::make(&storage, &ids, at_once, now).await?
    } else {
        Content::default()
    };
    let health = storage.base.upkeep.health().await;
    storage.base.upkeep.close().await.context("cannot close the bench's mall")?;
    Ok((BenchUsers { tokens: Arc::new(tokens), ids: Arc::new(ids), sales, scarce, content, gateway }, health))
}

/// Appoints an operator, who adds the gateway.
async fn add_gateway(storage: &Storage, sale: VoucherId, now: Timestamp) -> anyhow::Result<BenchGateway> {
    let phone = Phone::parse("18000000000").context("an operator's phone number")?;
    let operator = storage.people.users.find_or_create(&phone, "bench_operator", now).await?.id;
    let role = RightsChange::Role(Role::Operator);
    let appointed = storage.people.users.put_rights(operator, &role, LastOperator::MayGo, now).await?;
    ensure!(matches!(appointed, RightsOutcome::Done(_)), "cannot appoint an operator: {appointed:?}");
    let token = Random::system().token();
    let gateway = NewClaimGateway {
        name: "bench".to_owned(),
        token: TokenHash(Sha256::digest(&token).into()),
        operator,
        sales: [sale].into(),
        expires: now + DAY,
    };
    let added = storage.selling.claim_gateways.add(&gateway, 1, now).await?;
    ensure!(matches!(added, AddGatewayOutcome::Added(_)), "cannot add a claim gateway: {added:?}");
    Ok(BenchGateway { token, sale })
}

async fn log_in(storage: Storage, number: usize, token: String, now: Timestamp) -> anyhow::Result<UserId> {
    let phone = format!("19{number:09}");
    let Some(phone) = Phone::parse(&phone) else {
        bail!("at most 999,999,999 users: their phone numbers have nine free digits")
    };
    let (name, hash) = (format!("bench_{number}"), TokenHash(Sha256::digest(token.as_bytes()).into()));
    let mut tries_left = LOGIN_ATTEMPTS_MAX;
    loop {
        tries_left -= 1;
        let begun = async {
            let user = storage.people.users.find_or_create(&phone, &name, now).await?;
            let session = NewSession { origin: SessionOrigin::Code, ..NewSession::of(user.id, DAY) };
            storage.people.sessions.begin(hash, &session, now).await?;
            Ok(user.id)
        };
        match begun.await {
            Err(StoreError::Unavailable { .. }) if tries_left > 0 => {}
            done => return Ok(done?),
        }
    }
}

/// Creates the open sales, and the one with few units.
async fn open_sales(
    storage: &Storage,
    size: Size,
    now: Timestamp,
) -> anyhow::Result<(Vec<VoucherId>, VoucherId)> {
    let shop = content::make_shop(storage, now).await?;
    let text = VoucherText {
        shop,
        title: "Bench".to_owned(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: Cents::new(100),
        actual_value: Cents::new(10_000),
        status: VoucherStatus::OnShelf,
    };
    let sale = NewSale { units: size.units, begin: now, end: now + DAY, pay_within: DAY, min_level: 0 };
    let mut sales = Vec::with_capacity(size.sales);
    for _ in 0..size.sales {
        sales.push(storage.catalogue.vouchers.insert(&text, Some(&sale), now).await?);
    }
    let few = NewSale { units: Some(size.scarce_units), ..sale };
    let scarce = storage.catalogue.vouchers.insert(&text, Some(&few), now).await?;
    Ok((sales, scarce))
}
