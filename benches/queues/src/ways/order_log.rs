//! The order log of a mall, through its ports: `Sales::claim` by the request, `OrderLog::take` by the
//! workers.
//!
//! In a directory, claims are in a sled log of the process, synced in groups. In Redis, claims are entries of
//! a stream that a script appends with the stock. The work is that of the mall: `Orders::persist` writes the
//! orders of a batch, and recognises an order that is already written.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox_storage::{
    Cents, Claim, ClaimOutcome, FencingToken, LoggedClaim, NewSale, OrderId, OrderLog, Orders,
    PersistOutcome, Sales, ShopId, ShopText, ShopType, ShopTypeId, Storage, StoreError, Timestamp, UserId,
    VoucherId, VoucherStatus, VoucherText,
};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::ProductionOptions;
use tokio::task::JoinSet;

use crate::error::{QueueError, broken};
use crate::order::{END, Order};
use crate::process_memory::resident_bytes;
use crate::queue::{Consumer, Place, Producer, Queue, SendOutcome};
use crate::redis_queue::RedisQueue;

/// The mall's time.
const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Time of the claims that mark an end: their order ids differ from those of all others.
const AFTER_NOON: Timestamp = Timestamp::from_millis(1_795_262_401_000);
/// Claims that a worker takes at once, and writes in one transaction.
const BATCH: usize = 64;
/// Claims sent at once while a backlog is made.
const REQUESTS: usize = 256;
/// Longest wait of one call for a claim.
const WAIT: Duration = Duration::from_secs(1);
/// Pause before a repetition, and the number of repetitions: half a minute.
const REPEAT_INTERVAL: Duration = Duration::from_millis(100);
const REPEATS_MAX: usize = 300;
/// Silence after which a mall on servers hands out the claims of a worker again: 10 s unless set.
const WORKER_SILENCE: Duration = Duration::from_secs(1);

pub(crate) struct MallLog {
    storage: Storage,
    voucher: VoucherId,
    /// The Redis of a mall on servers.
    redis: Option<RedisQueue>,
}

/// Opens a mall in a directory, with a sale.
pub(crate) async fn open_in_directory(place: &Place) -> Result<MallLog, QueueError> {
    let storage = mallbox_storage_embedded::open(EmbeddedOptions::new(place.dir.join(&place.name))).await?;
    Ok(MallLog { voucher: sale(&storage, place).await?, storage, redis: None })
}

/// Opens a mall on Redis and MySQL, with a sale.
pub(crate) async fn open_on_servers(place: &Place) -> Result<MallLog, QueueError> {
    let mut options = ProductionOptions::new(place.redis()?, place.mysql()?);
    options.redis.prefix = place.prefix.clone().ok_or_else(|| broken("the mall has no prefix"))?;
    options.redis.worker_silence = WORKER_SILENCE;
    let storage = mallbox_storage_production::open(&options).await?;
    let redis = Some(RedisQueue::open(place).await?);
    Ok(MallLog { voucher: sale(&storage, place).await?, storage, redis })
}

/// Creates the sale of an experiment, or finds it.
async fn sale(storage: &Storage, place: &Place) -> Result<VoucherId, QueueError> {
    let vouchers = &storage.catalogue.vouchers;
    let units = place.bound.map(|bound| bound as u64);
    if place.is_new {
        let kind = ShopTypeId::new(1);
        let shop_type = ShopType { id: kind, name: "美食".to_owned(), icon: String::new(), sort: 1 };
        storage.catalogue.shops.put_type(&shop_type, NOON).await?;
        let shop = storage.catalogue.shops.insert(&shop(kind), NOON).await?;
        let begin = Timestamp::from_millis(0);
        let pay_within = Duration::from_secs(900);
        let sale = NewSale { units, begin, end: Timestamp::MAX, pay_within, min_level: 0 };
        vouchers.insert(&voucher(shop), Some(&sale), NOON).await?;
    }
    let mut last = None;
    loop {
        let ids = vouchers.ids(last.unwrap_or(VoucherId::new(0)), 1_000).await?;
        let Some(newest) = ids.last() else { break };
        last = Some(*newest);
    }
    let voucher = last.ok_or_else(|| broken("the mall has no voucher"))?;
    let sale = vouchers.get(voucher).await?.and_then(|voucher| voucher.sale);
    let terms = sale.ok_or_else(|| broken("the voucher has no sale"))?.terms;
    let put = until_there(|| storage.selling.sales.put(terms, FencingToken::new(1))).await?;
    put.done().ok_or_else(|| broken("the sale has a later holder"))?;
    Ok(voucher)
}

/// Repeats a call while a mall cannot serve it: one whose Redis was replaced checks its sales first. Only for
/// calls that may be repeated.
async fn until_there<T, Fut>(mut call: impl FnMut() -> Fut) -> Result<T, StoreError>
where
    Fut: Future<Output = Result<T, StoreError>>,
{
    for _ in 0..REPEATS_MAX {
        match call().await {
            Err(error) if error.is_transient() => tokio::time::sleep(REPEAT_INTERVAL).await,
            done => return done,
        }
    }
    call().await
}

fn shop(kind: ShopTypeId) -> ShopText {
    ShopText {
        name: "茶馆".to_owned(),
        kind,
        images: String::new(),
        area: String::new(),
        address: String::new(),
        x: 120.15,
        y: 30.33,
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 0,
    }
}

fn voucher(shop: ShopId) -> VoucherText {
    VoucherText {
        shop,
        title: "One bowl of noodles".to_owned(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: Cents::new(100),
        actual_value: Cents::new(1_000),
        status: VoucherStatus::OnShelf,
    }
}

#[async_trait]
impl Queue for MallLog {
    async fn producer(&self) -> Result<Box<dyn Producer>, QueueError> {
        Ok(Box::new(Request { sales: Arc::clone(&self.storage.selling.sales), voucher: self.voucher }))
    }

    async fn consumer(&self, name: &str) -> Result<Box<dyn Consumer>, QueueError> {
        Ok(Box::new(OrderWorker {
            log: Arc::clone(&self.storage.selling.order_log),
            orders: Arc::clone(&self.storage.selling.orders),
            name: name.to_owned(),
            in_hand: Vec::new(),
        }))
    }

    async fn bytes(&self) -> Result<Option<u64>, QueueError> {
        match &self.redis {
            Some(redis) => redis.bytes().await,
            None => Ok(resident_bytes()),
        }
    }
}

struct Request {
    sales: Arc<dyn Sales>,
    voucher: VoucherId,
}

/// Claims a unit. The number of the message is the user.
async fn claim(sales: &dyn Sales, voucher: VoucherId, number: u64) -> Result<SendOutcome, QueueError> {
    let at = if number < END { NOON } else { AFTER_NOON };
    let order = OrderId::compose(at, number % END, voucher).ok_or_else(|| broken("no order id is left"))?;
    let claim = Claim { order, voucher, user: UserId::new(number), at };
    match until_there(|| sales.claim(claim)).await? {
        ClaimOutcome::Accepted => Ok(SendOutcome::Accepted),
        ClaimOutcome::SoldOut => Ok(SendOutcome::Refused),
        outcome => Err(broken(format!("claim {number} was {outcome:?}"))),
    }
}

#[async_trait]
impl Producer for Request {
    async fn send(&mut self, order: &Order) -> Result<SendOutcome, QueueError> {
        claim(&*self.sales, self.voucher, order.number).await
    }

    async fn fill(&mut self, orders: Vec<Order>) -> Result<u64, QueueError> {
        let mut requests = JoinSet::new();
        let share = orders.len().div_ceil(REQUESTS).max(1);
        for part in orders.chunks(share) {
            let numbers: Vec<u64> = part.iter().map(|order| order.number).collect();
            let (sales, voucher) = (Arc::clone(&self.sales), self.voucher);
            requests.spawn(async move {
                let mut accepted = 0;
                for number in numbers {
                    accepted += u64::from(claim(&*sales, voucher, number).await? == SendOutcome::Accepted);
                }
                Ok::<u64, QueueError>(accepted)
            });
        }
        let mut accepted = 0;
        while let Some(done) = requests.join_next().await {
            accepted += done??;
        }
        Ok(accepted)
    }
}

struct OrderWorker {
    log: Arc<dyn OrderLog>,
    orders: Arc<dyn Orders>,
    name: String,
    in_hand: Vec<LoggedClaim>,
}

#[async_trait]
impl Consumer for OrderWorker {
    async fn receive(&mut self) -> Result<Vec<Order>, QueueError> {
        loop {
            self.in_hand = until_there(|| self.log.take(&self.name, BATCH, WAIT)).await?;
            if !self.in_hand.is_empty() {
                return Ok(self.in_hand.iter().map(|logged| Order::new(logged.claim.user.get())).collect());
            }
        }
    }

    async fn work(&mut self) -> Result<(), QueueError> {
        let outcomes = self.orders.persist(&self.in_hand, NOON).await?;
        match outcomes.iter().find(|outcome| matches!(outcome, PersistOutcome::DeadLetter(_))) {
            Some(dead) => Err(broken(format!("a claim became no order: {dead:?}"))),
            None => Ok(()),
        }
    }

    async fn settle(&mut self) -> Result<(), QueueError> {
        let settled = std::mem::take(&mut self.in_hand);
        self.log.done(&self.name, &settled).await?;
        Ok(())
    }

    async fn recover(&mut self, dead: &[String]) -> Result<(), QueueError> {
        for worker in dead {
            self.log.reclaim(worker).await?;
        }
        Ok(())
    }

    async fn outstanding(&mut self) -> Result<u64, QueueError> {
        Ok(self.log.state().await.pending)
    }
}
