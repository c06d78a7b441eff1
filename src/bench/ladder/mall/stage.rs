//! A mall under a trigger, and what users saw of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use mallbox_bench_ladder::{Event, EventKind, Evidence, Location, Reply, Trigger, now_us};
use mallbox_bench_servers::{RedisOptions, SentinelRedis};
use mallbox_storage::{Durability, VoucherId};
use mallbox_storage_production::ProductionOptions;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

use super::call;
use super::rung::MallRung;
use crate::bench::people::Size;
use crate::bench::running_mall::RunningMall;
use crate::bench::site::BenchTarget;
use crate::bench::watch;
use crate::mall::{Clock as _, SystemClock};

/// Units of the sale.
pub(super) const UNITS: u64 = 10;
/// Users of a run under a trigger.
const USERS: usize = 40;
/// Time within which accepted claims become orders.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Time within which a mall serves again after a failover.
const AGAIN_TIMEOUT: Duration = Duration::from_secs(60);
const AGAIN_PAUSE: Duration = Duration::from_millis(100);

/// What a run needs.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    users: usize,
    sales: usize,
    units: Option<u64>,
    has_replica: bool,
}

/// A request that was sent.
pub(super) type SentClaim = JoinHandle<(u64, Option<Reply>)>;

/// A mall, and what users saw of it. Users are numbered from 1.
pub(super) struct MallStage<'l> {
    /// The database while it is silent. Dropped first: a mall needs it to end.
    silence: Option<Silence<'l>>,
    mall: RunningMall,
    location: &'l Location,
    sale: VoucherId,
    next: Arc<AtomicU32>,
    events: Arc<Mutex<Vec<Event>>>,
    evidence: Evidence,
    /// Dropped after the mall.
    redis: Option<SentinelRedis>,
}

/// A silent database, which goes on when the value is dropped.
struct Silence<'l>(&'l Location);

impl Drop for Silence<'_> {
    fn drop(&mut self) {
        // The next use of a database that cannot be resumed reports so.
        let _ = self.0.resume_database();
    }
}

impl Plan {
    /// Returns what a trigger needs.
    pub(super) fn of(trigger: Trigger) -> Self {
        Self { users: USERS, sales: 1, units: Some(UNITS), has_replica: trigger == Trigger::FailedOver }
    }

    /// Returns what a measurement needs.
    pub(super) fn measured(users: usize, sales: usize) -> Self {
        Self { users, sales, units: None, has_replica: false }
    }
}

impl<'l> MallStage<'l> {
    /// Makes a mall with one sale, and starts its processes.
    pub(super) fn open(rung: &MallRung, location: &'l Location, plan: Plan) -> anyhow::Result<Self> {
        // A sentinel beside busy clients would wait for half a minute before a failover.
        let redis = plan.has_replica.then(|| SentinelRedis::start(&RedisOptions::default())).transpose()?;
        let ground = if rung.on_servers {
            let options = match &redis {
                Some(redis) => ProductionOptions::new(redis.url(), location.mysql()),
                None => ProductionOptions::new(location.redis(), location.mysql()),
            };
            BenchTarget::Servers { options, instances: rung.instances.into(), is_temporary: false }
        } else {
            BenchTarget::Directory { durability: Durability::Power, keep: None }
        };
        let size = Size {
            users: plan.users,
            sales: plan.sales,
            units: plan.units,
            scarce_units: UNITS,
            has_content: false,
            has_gateway: false,
        };
        let (mall, _lines) = RunningMall::start(false, &ground, size, SystemClock.now())?;
        let sale = *mall.crowd.sales.first().context("the mall has no sale")?;
        Ok(Self {
            mall,
            location,
            sale,
            next: Arc::new(AtomicU32::new(1)),
            events: Arc::default(),
            evidence: Evidence { units: UNITS, ..Evidence::default() },
            redis,
            silence: None,
        })
    }

    /// Returns the mall.
    pub(super) fn mall(&self) -> &RunningMall {
        &self.mall
    }

    /// Returns the number of processes.
    pub(super) fn instances(&self) -> usize {
        self.mall.servers.len()
    }

    /// Sends a claim.
    pub(super) fn send(&self, instance: usize, user: u64) -> anyhow::Result<SentClaim> {
        let address = *self.mall.addresses.get(instance).context("no such instance")?;
        let token = self.token(user)?;
        let (sale, events) = (self.sale.get(), Arc::clone(&self.events));
        let request = self.next.fetch_add(1, Ordering::Relaxed);
        let note = move |kind| {
            let instance = u8::try_from(instance).ok();
            let event = Event { at_us: now_us(), request: Some(request), user: Some(user), instance, kind };
            events.lock().push(event);
        };
        note(EventKind::Sent);
        Ok(std::thread::spawn(move || {
            let reply = call::claim(address, sale, &token);
            if let Some(reply) = &reply {
                note(EventKind::Replied { reply: reply.name().to_owned() });
            }
            (user, reply)
        }))
    }

    /// Waits for the reply to a claim, and keeps it.
    pub(super) fn receive(&mut self, sent: SentClaim) -> Option<Reply> {
        let (user, reply) = sent.join().ok()?;
        self.evidence.replies.push((user, reply.clone()));
        reply
    }

    /// Sends a claim, and waits for its reply.
    pub(super) fn buy(&mut self, instance: usize, user: u64) -> anyhow::Result<Option<Reply>> {
        let sent = self.send(instance, user)?;
        Ok(self.receive(sent))
    }

    /// Lets users look at themselves and at the sale's shop.
    pub(super) fn warm(&self, instance: usize, users: std::ops::RangeInclusive<u64>) -> anyhow::Result<()> {
        let address = *self.mall.addresses.get(instance).context("no such instance")?;
        for user in users {
            let token = self.token(user)?;
            call::call(address, "GET /api/user/me", &token)?;
            call::call(address, "GET /api/voucher/list/1", &token)?;
        }
        Ok(())
    }

    /// Claims until the mall serves again. A user without an end is stuck.
    pub(super) fn insist(&mut self, instance: usize, user: u64) -> anyhow::Result<()> {
        let began = Instant::now();
        while !matches!(
            self.buy(instance, user)?,
            Some(Reply::Accepted | Reply::AlreadyBought | Reply::SoldOut)
        ) {
            if began.elapsed() > AGAIN_TIMEOUT {
                self.evidence.stuck.insert(user);
                return Ok(());
            }
            std::thread::sleep(AGAIN_PAUSE);
        }
        // What a mall without servers said counts for nothing.
        self.evidence.replies.retain(|(of, reply)| *of != user || !matches!(reply, Some(Reply::Failed(_))));
        Ok(())
    }

    /// Returns the users with a claim that failed.
    pub(super) fn failed_users(&self) -> BTreeSet<u64> {
        let failed =
            self.evidence.replies.iter().filter(|(_, reply)| matches!(reply, Some(Reply::Failed(_))));
        failed.map(|(user, _)| *user).collect()
    }

    /// Cancels the order of every user who has one. Returns how many there were.
    pub(super) fn give_all_back(&mut self) -> anyhow::Result<u64> {
        self.drain()?;
        let address = *self.mall.addresses.first().context("the mall does not run")?;
        let mut cancelled = 0;
        for user in 1..=USERS as u64 {
            let token = self.token(user)?;
            let orders = call::call(address, "GET /api/voucher-order/of/me", &token)?;
            let orders = orders.get("data").and_then(|data| data.as_array()).cloned().unwrap_or_default();
            for order in orders {
                let id = order.get("id").map(|id| id.to_string().replace('"', "")).unwrap_or_default();
                let done = call::call(address, &format!("POST /api/voucher-order/{id}/cancel"), &token)?;
                if done.get("success").and_then(serde_json::Value::as_bool) != Some(true) {
                    bail!("order {id} cannot be cancelled: {done}");
                }
                self.evidence.given_back.insert(user);
                cancelled += 1;
            }
        }
        self.note(None, EventKind::UnitsReturned { units: cancelled });
        // Refused while nothing was left: rightly.
        self.evidence.replies.retain(|(_, reply)| *reply == Some(Reply::Accepted));
        Ok(cancelled)
    }

    /// Stops an instance (SIGSTOP).
    pub(super) fn stop(&self, instance: usize) -> anyhow::Result<()> {
        self.signal(instance, Signal::STOP)?;
        self.note(Some(instance), EventKind::Stopped);
        Ok(())
    }

    /// Resumes an instance (SIGCONT).
    pub(super) fn resume(&self, instance: usize) -> anyhow::Result<()> {
        self.note(Some(instance), EventKind::Resumed);
        self.signal(instance, Signal::CONT)
    }

    /// Kills every process of the mall, and starts them again.
    pub(super) fn kill_and_restart(&mut self) -> anyhow::Result<()> {
        self.mall.kill()?;
        self.note(Some(0), EventKind::Killed);
        self.mall.restart()?;
        self.note(Some(0), EventKind::Restarted);
        Ok(())
    }

    /// Stops the replica: what is written from now on is unknown to it. The database is silent as well, so
    /// that accepted claims are nowhere but in the master.
    pub(super) fn cut_off(&mut self) -> anyhow::Result<()> {
        let redis = self.redis.as_ref().context("this mall has no replica")?;
        redis.servers()[1].pause()?;
        redis.servers()[0].cut_replicas()?;
        self.location.pause_database()?;
        self.silence = Some(Silence(self.location));
        Ok(())
    }

    /// Kills the master, and lets the replica and the database go on. Returns when the replica is the master.
    pub(super) fn fail_over(&mut self) -> anyhow::Result<()> {
        let redis = self.redis.as_mut().context("this mall has no replica")?;
        redis.first_mut().kill();
        redis.servers()[1].resume()?;
        self.silence = None;
        redis.wait_for_promotion()?;
        redis.first_mut().restart()?;
        if !redis.wait_for_agreement()? {
            bail!("the first Redis is still the master");
        }
        self.note(None, EventKind::FailedOver);
        Ok(())
    }

    /// Notes what the trigger did.
    fn note(&self, instance: Option<usize>, kind: EventKind) {
        let instance = instance.and_then(|number| u8::try_from(number).ok());
        self.events.lock().push(Event { at_us: now_us(), request: None, user: None, instance, kind });
    }

    fn signal(&self, instance: usize, signal: Signal) -> anyhow::Result<()> {
        let server = self.mall.servers.get(instance).context("no such instance")?;
        let id =
            i32::try_from(server.id()).ok().and_then(Pid::from_raw).context("a process without an id")?;
        Ok(kill_process(id, signal)?)
    }

    fn token(&self, user: u64) -> anyhow::Result<String> {
        let place = usize::try_from(user)?.checked_sub(1);
        place.and_then(|place| self.mall.crowd.tokens.get(place)).cloned().context("no such user")
    }

    fn drain(&self) -> anyhow::Result<()> {
        watch::drained(&self.mall.addresses, DRAIN_TIMEOUT).map(drop)
    }

    /// Ends the mall. Returns what is known, and all events.
    pub(super) fn end(mut self) -> anyhow::Result<(Evidence, Vec<Event>)> {
        self.drain()?;
        let stock = self.stock()?;
        self.mall.stop()?;
        let (holders, orders) = self.mall.holdings(self.sale)?;
        let holders: Vec<u64> = holders.into_iter().map(|number| number as u64 + 1).collect();
        let ending = self.mall.check(false, None)?;
        let mut evidence = self.evidence;
        let second_orders = orders.saturating_sub(holders.len() as u64);
        // Which user has a second order does not matter to the verdict.
        let again = holders.first().copied().into_iter().cycle();
        evidence.orders.clone_from(&holders);
        evidence.orders.extend(again.take(usize::try_from(second_orders)?));
        evidence.given_back.retain(|user| !holders.contains(user));
        evidence.stock = stock;
        // The ledger check compares more than units.
        evidence.mismatches = u64::from(!ending.books_balance);
        let mut events = std::mem::take(&mut *self.events.lock());
        events.sort_by_key(|event| event.at_us);
        let began = events.first().map_or(0, |event| event.at_us);
        events.iter_mut().for_each(|event| event.at_us -= began);
        Ok((evidence, events))
    }

    /// Returns the units left, as pages show them.
    fn stock(&self) -> anyhow::Result<i64> {
        let address = *self.mall.addresses.first().context("the mall does not run")?;
        let list = call::call(address, "GET /api/voucher/list/1", &self.token(1)?)?;
        let vouchers = list.get("data").and_then(|data| data.as_array()).context("no list of vouchers")?;
        let is_mine = |voucher: &&serde_json::Value| {
            voucher.get("id").and_then(serde_json::Value::as_u64) == Some(self.sale.get())
        };
        let voucher = vouchers.iter().find(is_mine).context("the sale is not in its shop's list")?;
        voucher.get("stock").and_then(serde_json::Value::as_i64).context("the sale shows no stock")
    }
}
