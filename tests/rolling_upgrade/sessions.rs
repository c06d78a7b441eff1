//! Sessions on several processes: begun at one, accepted by all, ended for all within a bound.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use serde_json::Value;

use super::common::http;
use super::common::server::Server;
use super::founding::{call, log_in};

/// Users of each way to end sessions.
const USERS: u64 = 4;

/// A log-out at a process, and the time within which all processes refuse the session.
pub struct LogOut<'a> {
    pub at: &'a Server,
    /// Whether the user ends all own sessions, one of which began at each process.
    pub of_all: bool,
    pub within: Duration,
}

/// Users who log in, and log out by and by.
#[derive(Default)]
pub struct Visitors {
    count: u64,
    /// Tokens of sessions that last, with the user.
    kept: Vec<(String, Value)>,
}

/// A session that was ended.
struct Ended {
    token: String,
    at: Instant,
    within: Duration,
}

impl Visitors {
    /// Logs users in at each process, and checks that every process accepts the sessions at once.
    pub fn log_in_at_each(&mut self, servers: &[&Server]) -> anyhow::Result<()> {
        for server in servers {
            let (_, token) = self.log_in(server)?;
            let user = call(server, "GET", "/user/me", &token, &Value::Null)?["id"].clone();
            self.kept.push((token, user));
        }
        self.stay(servers)
    }

    /// Checks that every process accepts the sessions that last.
    pub fn stay(&self, servers: &[&Server]) -> anyhow::Result<()> {
        for server in servers {
            for (token, user) in &self.kept {
                let found = call(server, "GET", "/user/me", token, &Value::Null)?;
                ensure!(found["id"] == *user, "the session of user {user} is that of {found}");
            }
        }
        Ok(())
    }

    /// Ends sessions that all processes have seen, and watches all processes until none accepts one. Returns
    /// the longest life of an ended session.
    pub fn log_out(&mut self, servers: &[&Server], ways: &[LogOut<'_>]) -> anyhow::Result<Duration> {
        let mut sessions = Vec::new();
        for way in ways {
            for _ in 0..USERS {
                let (phone, token) = self.log_in(way.at)?;
                let mut tokens = vec![token];
                if way.of_all {
                    for server in servers {
                        tokens.push(log_in(server, &phone)?);
                    }
                }
                for server in servers {
                    for token in &tokens {
                        ensure!(
                            is_accepted(server, token)?,
                            "a new session is refused at {}",
                            server.address
                        );
                    }
                }
                sessions.push((way, tokens));
            }
        }
        let mut ended = Vec::new();
        for (way, tokens) in sessions {
            let path = if way.of_all { "/user/logout?all=true" } else { "/user/logout" };
            call(way.at, "POST", path, &tokens[0], &Value::Null)?;
            let at = Instant::now();
            for token in &tokens {
                ensure!(!is_accepted(way.at, token)?, "a session lives on at {}", way.at.address);
            }
            for token in tokens {
                let ended_now = Ended { token, at, within: way.within };
                if way.within.is_zero() {
                    for server in servers {
                        let is_over = !is_accepted(server, &ended_now.token)?;
                        ensure!(is_over, "{path} responded before {} refused a session", server.address);
                    }
                }
                ended.push(ended_now);
            }
        }
        self.end(servers, ended)
    }

    fn end(&self, servers: &[&Server], mut ended: Vec<Ended>) -> anyhow::Result<Duration> {
        let mut longest = Duration::ZERO;
        while !ended.is_empty() {
            let mut alive = Vec::new();
            for session in ended {
                // Before the requests: each is sent at this age or later.
                let (mut lives, age, within) = (false, session.at.elapsed(), session.within);
                for server in servers {
                    lives |= is_accepted(server, &session.token)?;
                }
                if lives {
                    // On a slow machine too: processes compare clocks before they accept a copy.
                    ensure!(age < within, "a session lives for {age:?}, not {within:?}");
                    longest = longest.max(age);
                    alive.push(session);
                }
            }
            ended = alive;
        }
        Ok(longest)
    }

    /// Logs a new user in. Returns phone and token.
    fn log_in(&mut self, server: &Server) -> anyhow::Result<(String, String)> {
        self.count += 1;
        let phone = format!("18{:09}", self.count);
        let token = log_in(server, &phone)?;
        Ok((phone, token))
    }
}

fn is_accepted(server: &Server, token: &str) -> anyhow::Result<bool> {
    let reply = http::ask(server.address, "GET", "/api/user/me", token)?;
    match reply.status {
        200 => Ok(true),
        401 => Ok(false),
        status => bail!("a session: {status} {}", reply.text),
    }
}
