//! Redis: a single server, and a cluster of masters.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::time::Duration;

use mallbox_test_patience::{self as patience, Deadline};
use tempfile::TempDir;

use crate::process::{Process, ServerError, accepts_connections, on_a_free_port, repeatedly};

const PROGRAM: &str = "redis-server";
const SLOTS: u32 = 16_384;
/// Time limit for a cluster to reach the state `ok`.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings that differ from Redis' defaults.
#[derive(Clone, Debug, Default)]
pub struct RedisOptions {
    /// Directives of redis.conf, such as `("appendonly", "yes")`.
    pub config: Vec<(String, String)>,
}

impl RedisOptions {
    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.config.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    process: Process,
    port: u16,
    options: RedisOptions,
    dir: TempDir,
}

impl Redis {
    /// Starts a server without persistence.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start() -> Result<Self, ServerError> {
        Self::start_with(RedisOptions::default())
    }

    /// Starts a server with `options`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_with(options: RedisOptions) -> Result<Self, ServerError> {
        on_a_free_port(|port| {
            let dir = TempDir::new()?;
            let process = launch(port, &options, dir.path())?;
            Ok(Self { process, port, options: options.clone(), dir })
        })
    }

    /// Returns the port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address, without a password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the data directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Kills the server immediately. The directory stays.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Suspends the process (SIGSTOP): connections stay open without responses, until resume or kill.
    ///
    /// # Errors
    /// [`ServerError`]: the server does not run.
    pub fn pause(&self) -> Result<(), ServerError> {
        self.process.pause()
    }

    /// Resumes a suspended process.
    ///
    /// # Errors
    /// [`ServerError`]: the server does not run.
    pub fn resume(&self) -> Result<(), ServerError> {
        self.process.resume()
    }

    /// Restarts the server on its port with its directory.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.process.kill();
        // Another process may hold the port for a moment.
        self.process = repeatedly(|| launch(self.port, &self.options, self.dir.path()))?;
        Ok(())
    }
}

fn launch(port: u16, options: &RedisOptions, dir: &Path) -> Result<Process, ServerError> {
    let dir_text = dir.display().to_string();
    let port_text = port.to_string();
    let mut args: Vec<String> = [
        ("port", port_text.as_str()),
        ("bind", "127.0.0.1"),
        ("dir", &dir_text),
        ("save", ""),
        ("appendonly", "no"),
    ]
    .into_iter()
    .flat_map(|(name, value)| [format!("--{name}"), value.to_owned()])
    .collect();
    args.extend(options.config.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]));
    let mut process = Process::start(PROGRAM, &args, dir)?;
    // A server without a plain port is probed through the TLS port.
    let tls = options.config.iter().find(|(name, _)| name == "tls-port");
    match tls.and_then(|(_, value)| value.parse().ok()) {
        Some(tls) => process.wait_until(|| accepts_connections(tls))?,
        None => process.wait_until(|| accepts_connections(port) && !is_loading(port))?,
    }
    Ok(process)
}

/// Returns whether the server is still loading its data set, during which every command is refused.
fn is_loading(port: u16) -> bool {
    inline_command(port, "PING").is_err_and(|error| error.to_string().contains("LOADING"))
}

/// Three or more masters that share the slots, without replicas.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts `masters` masters and waits until they form a cluster.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(masters: u32) -> Result<Self, ServerError> {
        let options = RedisOptions::default()
            .with("cluster-enabled", "yes")
            .with("cluster-config-file", "nodes.conf")
            .with("cluster-node-timeout", "2000");
        let nodes = (0..masters).map(|_| Self::node(&options)).collect::<Result<Vec<_>, _>>()?;
        let cluster = Self { nodes };
        cluster.meet()?;
        Ok(cluster)
    }

    /// Starts a node on two free ports; the second is the cluster bus.
    fn node(options: &RedisOptions) -> Result<Redis, ServerError> {
        const TRIES: usize = 50;
        let mut last = None;
        for _ in 0..TRIES {
            let port = crate::process::free_port()?;
            let bus = crate::process::free_port()?;
            let options = options.clone().with("cluster-port", &bus.to_string());
            let dir = TempDir::new()?;
            match launch(port, &options, dir.path()) {
                Ok(process) => return Ok(Redis { process, port, options, dir }),
                Err(error @ ServerError::Missing { .. }) => return Err(error),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| std::io::Error::other("no port was tried").into()))
    }

    fn meet(&self) -> Result<(), ServerError> {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        for (index, node) in (0_u32..).zip(&self.nodes) {
            let (first, last) = (SLOTS * index / count, SLOTS * (index + 1) / count - 1);
            inline_command(node.port, &format!("CLUSTER ADDSLOTSRANGE {first} {last}"))?;
            // Distinct epochs avoid the conflict resolution between nodes starting at epoch 0.
            inline_command(node.port, &format!("CLUSTER SET-CONFIG-EPOCH {}", index + 1))?;
        }
        if let Some((first, others)) = self.nodes.split_first() {
            for node in others {
                let bus = bus_port(&node.options);
                inline_command(first.port, &format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port))?;
            }
        }
        let until = Deadline::after(CLUSTER_TIMEOUT);
        while !self.is_whole()? {
            if until.is_over() {
                let output = "the nodes do not become a cluster".to_owned();
                return Err(ServerError::Failed { program: PROGRAM, output });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns whether every node knows all nodes and all slots.
    fn is_whole(&self) -> Result<bool, ServerError> {
        for node in &self.nodes {
            let info = inline_command(node.port, "CLUSTER INFO")?;
            let knows_all = info.contains(&format!("cluster_known_nodes:{}", self.nodes.len()));
            if !info.contains("cluster_state:ok") || !knows_all {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the address of each node.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Redis::url).collect()
    }

    /// Returns the node at an index.
    #[must_use]
    pub fn node_mut(&mut self, index: usize) -> Option<&mut Redis> {
        self.nodes.get_mut(index)
    }
}

fn bus_port(options: &RedisOptions) -> String {
    let found = options.config.iter().find(|(name, _)| name == "cluster-port");
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}

/// Sends one inline command and reads a status or bulk reply.
pub(crate) fn inline_command(port: u16, command: &str) -> Result<String, ServerError> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(patience::scaled(Duration::from_secs(5))))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let failed =
        |output: &str| ServerError::Failed { program: PROGRAM, output: format!("{command}: {output}") };
    match line.as_bytes().first() {
        Some(b'+' | b':') => Ok(line),
        Some(b'$') => {
            let length: usize = line[1..].trim().parse().map_err(|_| failed(&line))?;
            let mut body = vec![0; length];
            std::io::Read::read_exact(&mut reader, &mut body)?;
            Ok(String::from_utf8_lossy(&body).into_owned())
        }
        _ => Err(failed(line.trim())),
    }
}
