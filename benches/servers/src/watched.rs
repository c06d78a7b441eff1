//! Two Redis servers behind a sentinel: a master and its replica.

use std::time::{Duration, Instant};

use crate::process::ServerError;
use crate::redis::{Redis, RedisOptions, inline_command};
use crate::sentinel::RedisSentinel;
use crate::version::REDIS as PROGRAM;

const NAME: &str = "mall";
/// Time limit for the servers to agree: a sentinel turns an old master into a replica after some ten
/// seconds, later on a busy machine.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(120);

/// A master, a replica, and the sentinel monitoring both.
#[derive(Debug)]
pub struct SentinelRedis {
    first: Redis,
    second: Redis,
    sentinel: RedisSentinel,
}

impl SentinelRedis {
    /// Starts the servers, and returns once the sentinel knows the replica.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(options: &RedisOptions) -> Result<Self, ServerError> {
        let (first, second) = (Redis::start_with(options.clone())?, Redis::start_with(options.clone())?);
        inline_command(second.port(), &format!("REPLICAOF 127.0.0.1 {}", first.port()))?;
        until("the replica does not follow", || follows(&second, &first))?;
        let sentinel = RedisSentinel::start(NAME, first.port(), &options.host)?;
        let watched = Self { first, second, sentinel };
        until("the sentinel finds no replica", || {
            inline_command(watched.sentinel.port(), "INFO sentinel")
                .is_ok_and(|output| output.contains("slaves=1"))
        })?;
        Ok(watched)
    }

    /// Returns the address through which a mall follows the master.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis+sentinel://127.0.0.1:{}/{NAME}", self.sentinel.port())
    }

    /// Returns the server that was the first master.
    pub fn first_mut(&mut self) -> &mut Redis {
        &mut self.first
    }

    /// Returns both servers.
    #[must_use]
    pub fn servers(&self) -> [&Redis; 2] {
        [&self.first, &self.second]
    }

    /// Returns both servers, to kill or restart them.
    #[must_use]
    pub fn servers_mut(&mut self) -> [&mut Redis; 2] {
        [&mut self.first, &mut self.second]
    }

    /// Returns the sentinel.
    #[must_use]
    pub fn sentinel(&self) -> &RedisSentinel {
        &self.sentinel
    }

    /// Waits until the sentinel has the second server as the master: the first one is down.
    ///
    /// # Errors
    /// [`ServerError`]: no promotion in time.
    pub fn wait_for_promotion(&self) -> Result<(), ServerError> {
        until("the sentinel does not promote the replica", || {
            let address = format!("address=127.0.0.1:{},", self.second.port());
            inline_command(self.sentinel.port(), "INFO sentinel")
                .is_ok_and(|output| output.contains(&address))
        })
    }

    /// Waits until one server is the master according to the sentinel and to itself, and the other follows
    /// it. Returns true after a failover: the second server is the master.
    ///
    /// # Errors
    /// [`ServerError`]: no agreement in time.
    pub fn wait_for_agreement(&self) -> Result<bool, ServerError> {
        until("the servers do not agree on a master", || self.master().is_some())?;
        Ok(self.master() == Some(self.second.port()))
    }

    /// Returns the port of the master that all servers agree on.
    fn master(&self) -> Option<u16> {
        let output = inline_command(self.sentinel.port(), "INFO sentinel").ok()?;
        let named =
            |server: &Redis| output.contains(&format!("status=ok,address=127.0.0.1:{},", server.port()));
        [(&self.first, &self.second), (&self.second, &self.first)]
            .into_iter()
            .find(|(master, other)| named(master) && follows(other, master))
            .map(|(master, _)| master.port())
    }
}

fn follows(replica: &Redis, master: &Redis) -> bool {
    let of_master = format!("master_port:{}\r", master.port());
    inline_command(replica.port(), "INFO replication")
        .is_ok_and(|output| output.contains(&of_master) && output.contains("master_link_status:up"))
}

fn until(what: &str, is_so: impl Fn() -> bool) -> Result<(), ServerError> {
    let began = Instant::now();
    while !is_so() {
        if began.elapsed() > AGREEMENT_TIMEOUT {
            return Err(ServerError::Failed { program: PROGRAM, output: what.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
