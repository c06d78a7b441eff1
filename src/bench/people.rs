//! The bench's own mall: logged-in users and open sales.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use mallbox_storage::{
    Cents, Health, NewSale, NewSession, Phone, ShopId, ShopText, ShopType, ShopTypeId, Storage, StoreError,
    Timestamp, TokenHash, VoucherId, VoucherStatus, VoucherText,
};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

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

/// Session tokens of the buyers, and the sales they claim from.
#[derive(Clone, Debug)]
pub(super) struct BenchUsers {
    pub(super) tokens: Arc<Vec<String>>,
    pub(super) sales: Vec<VoucherId>,
    /// A sale without any units.
    pub(super) sold_out: Option<VoucherId>,
}

/// Size of the mall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) users: usize,
    pub(super) sales: usize,
    /// Units of each sale; `None` = unlimited.
    pub(super) units: Option<u64>,
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
    let (sales, sold_out) = open_sales(&storage, size, now).await?;
    let random = Random::system();
    let at_once =
        if place.dir().is_some() { CONCURRENT_LOGINS_EMBEDDED } else { CONCURRENT_LOGINS_PRODUCTION };
    let mut tokens = Vec::with_capacity(size.users);
    let mut under_way = JoinSet::new();
    bar.set_length(size.users as u64);
    for number in 0..size.users {
        let token = random.token();
        under_way.spawn(log_in(storage.clone(), number, token.clone(), now));
        tokens.push(token);
        if under_way.len() >= at_once {
            finish_one(&mut under_way, bar).await?;
        }
    }
    while !under_way.is_empty() {
        finish_one(&mut under_way, bar).await?;
    }
    let health = storage.base.upkeep.health().await;
    storage.base.upkeep.close().await.context("cannot close the bench's mall")?;
    Ok((BenchUsers { tokens: Arc::new(tokens), sales, sold_out: Some(sold_out) }, health))
}

async fn finish_one(under_way: &mut JoinSet<anyhow::Result<()>>, bar: &ProgressBar) -> anyhow::Result<()> {
    if let Some(finished) = under_way.join_next().await {
        finished??;
        bar.inc(1);
    }
    Ok(())
}

async fn log_in(storage: Storage, number: usize, token: String, now: Timestamp) -> anyhow::Result<()> {
    let phone = format!("19{number:09}");
    let Some(phone) = Phone::parse(&phone) else {
        bail!("at most 999,999,999 users: their phone numbers have nine free digits")
    };
    let (name, hash) = (format!("bench_{number}"), TokenHash(Sha256::digest(token.as_bytes()).into()));
    for tries_left in (0..LOGIN_ATTEMPTS_MAX).rev() {
        let begun = async {
            let user = storage.people.users.find_or_create(&phone, &name, now).await?;
            storage.people.sessions.begin(hash, &NewSession::of(user.id, DAY), now).await
        };
        match begun.await {
            Err(StoreError::Unavailable { .. }) if tries_left > 0 => {}
            done => return Ok(done?),
        }
    }
    Ok(())
}

/// Creates the open sales, and one sale without units.
async fn open_sales(
    storage: &Storage,
    size: Size,
    now: Timestamp,
) -> anyhow::Result<(Vec<VoucherId>, VoucherId)> {
    let shop = make_shop(storage, now).await?;
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
    let nothing = NewSale { units: Some(0), ..sale };
    let sold_out = storage.catalogue.vouchers.insert(&text, Some(&nothing), now).await?;
    Ok((sales, sold_out))
}

async fn make_shop(storage: &Storage, now: Timestamp) -> anyhow::Result<ShopId> {
    let kind = ShopType { id: ShopTypeId::new(1), name: "Bench".to_owned(), icon: String::new(), sort: 1 };
    storage.catalogue.shops.put_type(&kind, now).await?;
    let text = ShopText {
        name: "Bench".to_owned(),
        kind: kind.id,
        images: String::new(),
        area: String::new(),
        address: "localhost".to_owned(),
        x: 120.15,
        y: 30.33,
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 50,
    };
    Ok(storage.catalogue.shops.insert(&text, now).await?)
}
