//! Where the experiments of a run take place.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::OsString;
use std::path::PathBuf;

use mallbox_storage_production::{ProductionOptions, TemporaryMall};
use tokio::runtime::Runtime;

use crate::crew::Crew;
use crate::error::{QueueError, broken};
use crate::queue::Place;
use crate::servers::{Append, QueueServers};
use crate::ways::{Component, Way};

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Small backlogs and short spans: all ways within two minutes.
    Quick,
    /// All ways within four minutes.
    Full,
}

impl Effort {
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Where the experiments of a run take place.
pub struct Stage {
    effort: Effort,
    dir: PathBuf,
    servers: RefCell<QueueServers>,
    /// Words that start a station, program first.
    station: Vec<OsString>,
    /// Malls on servers, by the Redis that they are in: opening one creates a hundred tables.
    malls: RefCell<Vec<(Append, TemporaryMall)>>,
    /// Queues so far, for names.
    queues: Cell<u64>,
    runtime: Runtime,
}

impl Stage {
    /// Prepares for experiments with files below `dir`. `station`: program and arguments of a process that
    /// calls [`run_station`](crate::run_station).
    ///
    /// # Errors
    /// [`QueueError::Io`]: the system has no threads left.
    pub fn new(
        effort: Effort,
        dir: PathBuf,
        servers: QueueServers,
        station: Vec<OsString>,
    ) -> Result<Self, QueueError> {
        Ok(Self {
            effort,
            dir,
            servers: servers.into(),
            station,
            malls: RefCell::default(),
            queues: Cell::default(),
            runtime: Runtime::new()?,
        })
    }

    pub(crate) fn effort(&self) -> Effort {
        self.effort
    }

    /// Returns whether brokers may be killed and their settings changed.
    pub(crate) fn may_harm(&self) -> bool {
        self.servers.borrow().are_own()
    }

    /// Returns whether what the experiments store must be removed.
    pub(crate) fn must_clean(&self) -> bool {
        !self.may_harm()
    }

    pub(crate) fn servers(&self) -> RefMut<'_, QueueServers> {
        self.servers.borrow_mut()
    }

    /// Creates a queue of its own for an experiment, on the Redis that syncs every second.
    pub(crate) fn crew(&self, way: &'static Way) -> Result<Crew<'_>, QueueError> {
        self.crew_at(way, Append::EverySecond, None)
    }

    /// Creates a queue that holds `bound` messages.
    pub(crate) fn bounded_crew(&self, way: &'static Way, bound: usize) -> Result<Crew<'_>, QueueError> {
        self.crew_at(way, Append::EverySecond, Some(bound))
    }

    /// Creates a queue on a Redis with the setting `append`.
    pub(crate) fn crew_at(
        &self,
        way: &'static Way,
        append: Append,
        bound: Option<usize>,
    ) -> Result<Crew<'_>, QueueError> {
        let number = self.queues.get() + 1;
        self.queues.set(number);
        let Addresses { redis, mysql, prefix } = self.addresses(way, append)?;
        let name = format!("queue-{number}");
        let place = Place { name, dir: self.dir.clone(), redis, mysql, prefix, bound, is_new: true };
        Crew::gather(&self.station, self.must_clean(), way, place)
    }

    fn addresses(&self, way: &'static Way, append: Append) -> Result<Addresses, QueueError> {
        let mut servers = self.servers.borrow_mut();
        let none = Addresses::default();
        Ok(match way.component {
            Component::Process => none,
            Component::Redis => Addresses { redis: Some(servers.redis_url(append)?), ..none },
            Component::Mysql => Addresses { mysql: Some(servers.mysql_url()?), ..none },
            Component::RedisAndMysql => {
                let (redis, mysql) = (servers.redis_url(append)?, servers.mysql_url()?);
                let (mysql, prefix) = self.mall(append, &redis, &mysql)?;
                Addresses { redis: Some(redis), mysql: Some(mysql), prefix: Some(prefix) }
            }
        })
    }

    /// Returns the database and the prefix of the mall on a Redis.
    fn mall(&self, append: Append, redis: &str, mysql: &str) -> Result<(String, String), QueueError> {
        let mut malls = self.malls.borrow_mut();
        if !malls.iter().any(|(known, _)| *known == append) {
            let options = ProductionOptions::new(redis, mysql);
            malls.push((append, self.runtime.block_on(TemporaryMall::beside(&options, "bench"))?));
        }
        let (_, mall) =
            malls.iter().find(|(known, _)| *known == append).ok_or_else(|| broken("no mall is open"))?;
        Ok((mall.options().mysql.clone(), mall.options().redis.prefix.clone()))
    }

    /// Removes the malls of the experiments from the user's servers, and ends the servers of the bench.
    ///
    /// # Errors
    /// [`QueueError::Store`]: something is still there.
    pub fn close(self) -> Result<(), QueueError> {
        if self.must_clean() {
            for (_, mall) in self.malls.into_inner() {
                self.runtime.block_on(mall.remove())?;
            }
        }
        Ok(())
    }
}

/// Where a way finds its component.
#[derive(Default)]
struct Addresses {
    redis: Option<String>,
    mysql: Option<String>,
    /// Prefix of the keys of a mall.
    prefix: Option<String>,
}
