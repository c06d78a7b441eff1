//! One run of a rung: a sale, the rung's instances, and everything that happened.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use mallbox_bench_servers::Redis;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::location::Location;
use super::process::{Instance, Launch};
use crate::catalogue::Rung;
use crate::error::LadderError;
use crate::findings::Evidence;
use crate::instance::Task;
use crate::reply::Reply;
use crate::scene::InRedis;
use crate::trace::{Event, EventKind, now_us};

/// Time within which accepted claims become orders.
const SETTLE_MAX: Duration = Duration::from_secs(6);
/// Time between two looks at the pending claims.
const SETTLE_PAUSE: Duration = Duration::from_millis(20);
/// Independent servers of the multi-lock.
const MASTERS: usize = 3;

/// A request that was sent: the buyer and the reply.
pub(crate) type SentRequest = JoinHandle<(u64, Option<Reply>)>;

/// One run of a rung.
pub(crate) struct Stage<'l> {
    pub(crate) location: &'l Location,
    pub(crate) rung: &'static Rung,
    launch: &'l Launch,
    task: Task,
    instances: Vec<Option<Instance>>,
    next: Arc<AtomicU32>,
    events: (mpsc::UnboundedSender<Event>, mpsc::UnboundedReceiver<Event>),
    /// Servers of this run alone: a master and its replica, or three masters.
    servers: Vec<Redis>,
    evidence: Evidence,
}

impl<'l> Stage<'l> {
    /// Opens a sale of `units` units and starts the rung's instances. With `has_replica`, its Redis can fail
    /// over.
    pub(crate) async fn open(
        (location, launch): (&'l Location, &'l Launch),
        rung: &'static Rung,
        units: u64,
        (is_traced, has_replica): (bool, bool),
    ) -> Result<Self, LadderError> {
        let mut task = Task {
            rung: rung.id.to_owned(),
            instance: 0,
            redis: vec![location.redis()],
            masters: Vec::new(),
            mysql: location.mysql(),
            is_traced,
        };
        let mut servers = Vec::new();
        if rung.scene.in_redis == InRedis::LocksOnThree {
            for _ in 0..MASTERS {
                servers.push(location.further_redis()?);
            }
            task.masters = servers.iter().map(Redis::url).collect();
        } else if has_replica {
            servers = vec![location.further_redis()?, location.further_redis()?];
            task.redis = servers.iter().map(Redis::url).collect();
        }
        location.open_sale(&task.redis[0], units).await?;
        if has_replica && servers.len() == 2 {
            replicate(&servers).await?;
        }
        let evidence = Evidence { units, ..Evidence::default() };
        let events = mpsc::unbounded_channel();
        let next = Arc::new(AtomicU32::new(1));
        let mut stage =
            Self { location, rung, launch, task, instances: Vec::new(), next, events, servers, evidence };
        for number in 0..rung.instances {
            let instance = stage.start(number).await?;
            stage.instances.push(Some(instance));
        }
        Ok(stage)
    }

    async fn start(&self, number: u8) -> Result<Instance, LadderError> {
        let task = Task { instance: number, ..self.task.clone() };
        Instance::start(self.launch, &task, &self.next, self.events.0.clone()).await
    }

    /// Returns a running instance.
    pub(crate) fn instance(&self, number: usize) -> Result<&Instance, LadderError> {
        let gone = || LadderError::NotReached(format!("instance {number} does not run"));
        self.instances.get(number).and_then(Option::as_ref).ok_or_else(gone)
    }

    /// Returns the running instances.
    pub(crate) fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.instances.iter().flatten()
    }

    /// Sends a request for a unit.
    pub(crate) fn send(&self, instance: usize, user: u64) -> Result<SentRequest, LadderError> {
        let (request, reply) = self.instance(instance)?.buy(user);
        let events = self.events.0.clone();
        let number = u8::try_from(instance).ok();
        let event = move |kind| Event {
            at_us: now_us(),
            request: Some(request),
            user: Some(user),
            instance: number,
            kind,
        };
        let _ = events.send(event(EventKind::Sent));
        Ok(tokio::spawn(async move {
            let reply = reply.await;
            if let Some(reply) = &reply {
                let _ = events.send(event(EventKind::Replied { reply: reply.name().to_owned() }));
            }
            (user, reply)
        }))
    }

    /// Waits for the reply to a request, and keeps it.
    pub(crate) async fn receive(&mut self, sent: SentRequest) -> Option<Reply> {
        let (user, reply) = sent.await.ok()?;
        self.evidence.replies.push((user, reply.clone()));
        reply
    }

    /// Sends a request, and waits for its reply.
    pub(crate) async fn buy(&mut self, instance: usize, user: u64) -> Result<Option<Reply>, LadderError> {
        let sent = self.send(instance, user)?;
        Ok(self.receive(sent).await)
    }

    /// Cancels the order of a user.
    pub(crate) async fn give_back(&mut self, user: u64) -> Result<(), LadderError> {
        self.instance(0)?.give_back(user).await?;
        self.evidence.given_back.insert(user);
        Ok(())
    }

    /// Notes that no end comes for a user.
    pub(crate) fn is_stuck(&mut self, user: u64) {
        self.evidence.stuck.insert(user);
    }

    /// Notes what the trigger did.
    pub(crate) fn note(&self, instance: Option<usize>, kind: EventKind) {
        let instance = instance.and_then(|number| u8::try_from(number).ok());
        let event = Event { at_us: now_us(), request: None, user: None, instance, kind };
        let _ = self.events.0.send(event);
    }

    /// Stops an instance.
    pub(crate) fn stop(&self, number: usize) -> Result<(), LadderError> {
        self.instance(number)?.stop()?;
        self.note(Some(number), EventKind::Stopped);
        Ok(())
    }

    /// Resumes an instance.
    pub(crate) fn resume(&self, number: usize) -> Result<(), LadderError> {
        self.note(Some(number), EventKind::Resumed);
        self.instance(number)?.resume()
    }

    /// Kills an instance, and starts it again.
    pub(crate) async fn kill_and_restart(&mut self, number: usize) -> Result<(), LadderError> {
        if let Some(instance) = self.instances.get_mut(number).and_then(Option::take) {
            instance.kill().await?;
            self.note(Some(number), EventKind::Killed);
        }
        let instance = self.start(u8::try_from(number).unwrap_or(0)).await?;
        self.instances[number] = Some(instance);
        self.note(Some(number), EventKind::Restarted);
        Ok(())
    }

    /// Cuts the replication: what is written from now on is unknown to the replica.
    pub(crate) async fn cut_replication(&self) -> Result<(), LadderError> {
        match self.servers.as_slice() {
            // Of three independent masters the first one loses its data.
            [_, _, _] => Ok(()),
            [_, replica] => command(replica, &["REPLICAOF", "NO", "ONE"]).await,
            _ => Err(LadderError::NotReached("this run has no replica".to_owned())),
        }
    }

    /// Kills the master. Its replica is the master now; of three independent masters, an empty one takes the
    /// place of the first.
    pub(crate) fn fail_over(&mut self) -> Result<(), LadderError> {
        let is_one_of_three = self.servers.len() == MASTERS;
        let master = self.servers.first_mut();
        let master = master.ok_or_else(|| LadderError::NotReached("this run has no replica".to_owned()))?;
        master.kill();
        if is_one_of_three {
            std::fs::remove_dir_all(master.dir().join("appendonlydir"))?;
            master.restart()?;
        }
        self.note(None, EventKind::FailedOver);
        Ok(())
    }

    /// Waits until accepted claims have their orders, and returns what is known then.
    pub(crate) async fn settle(&mut self) -> Result<(), LadderError> {
        let began = Instant::now();
        loop {
            let mut pending = 0;
            for instance in self.instances() {
                let unknown = || LadderError::NotReached("an instance cannot say what is pending".to_owned());
                let found = instance.pending().await.filter(|pending| *pending != i64::MAX);
                pending = pending.max(found.ok_or_else(unknown)?);
            }
            self.evidence.pending = u64::try_from(pending).unwrap_or(0);
            if pending == 0 || began.elapsed() > SETTLE_MAX {
                return Ok(());
            }
            tokio::time::sleep(SETTLE_PAUSE).await;
        }
    }

    /// Returns the units left, as the rung has them.
    pub(crate) async fn stock(&self) -> Result<i64, LadderError> {
        let unknown = || LadderError::NotReached("an instance cannot say its stock".to_owned());
        self.instance(0)?.stock().await.filter(|stock| *stock != i64::MIN).ok_or_else(unknown)
    }

    /// Ends the run. Returns what is known, and all events in the order of their time.
    pub(crate) async fn end(mut self) -> Result<(Evidence, Vec<Event>), LadderError> {
        self.settle().await?;
        let stock = self.stock().await?;
        let orders = self.location.orders().await?;
        let owners: BTreeSet<u64> = orders.iter().copied().collect();
        self.evidence.given_back.retain(|user| !owners.contains(user));
        let evidence = Evidence { stock, orders, ..std::mem::take(&mut self.evidence) };
        for instance in self.instances.into_iter().flatten() {
            instance.kill().await?;
        }
        let mut events = Vec::new();
        while let Ok(event) = self.events.1.try_recv() {
            events.push(event);
        }
        events.sort_by_key(|event| event.at_us);
        Ok((evidence, events))
    }

    /// Forgets the replies so far: they were right for the stock of their time.
    pub(crate) fn forget_refusals(&mut self) {
        self.evidence.replies.retain(|(_, reply)| *reply == Some(Reply::Accepted));
    }
}

/// Makes the second server a replica of the first, with all of its data.
async fn replicate(servers: &[Redis]) -> Result<(), LadderError> {
    let [master, replica] = servers else { return Ok(()) };
    command(replica, &["REPLICAOF", "127.0.0.1", &master.port().to_string()]).await?;
    let mut connection = redis::Client::open(master.url())?.get_multiplexed_async_connection().await?;
    let began = Instant::now();
    while began.elapsed() < SETTLE_MAX {
        // A write of its own, since WAIT counts replicas of this connection's writes.
        let _: () = redis::cmd("SET").arg("replicated").arg(1).query_async(&mut connection).await?;
        let replicas: u64 = redis::cmd("WAIT").arg(1).arg(100).query_async(&mut connection).await?;
        if replicas == 1 {
            return Ok(());
        }
    }
    Err(LadderError::NotReached("the replica of Redis did not follow its master".to_owned()))
}

async fn command(server: &Redis, words: &[&str]) -> Result<(), LadderError> {
    let mut connection = redis::Client::open(server.url())?.get_multiplexed_async_connection().await?;
    let mut command = redis::cmd(words.first().copied().unwrap_or("PING"));
    command.arg(words.get(1..).unwrap_or_default());
    Ok(command.query_async(&mut connection).await?)
}
