//! A Redis cluster of masters.

use std::time::{Duration, Instant};

use crate::process::{ServerError, free_port};
use crate::redis::{Redis, RedisOptions, inline_command, launch};
use crate::version::REDIS as PROGRAM;

/// Silence after which a node of a test counts as down.
const SILENCE_MAX: Duration = Duration::from_secs(2);
const SLOTS: u32 = 16_384;
/// Time limit for a cluster to reach the state `ok`, on a busy machine too.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(120);

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
        Self::start_with(masters, RedisOptions::default())
    }

    /// Starts a cluster as [`start`](Self::start) does, whose nodes have `options`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start_with(masters: u32, options: RedisOptions) -> Result<Self, ServerError> {
        let silence_max = options.host.silence_max(SILENCE_MAX);
        let options = options
            .with("cluster-enabled", "yes")
            .with("cluster-config-file", "nodes.conf")
            .with("cluster-node-timeout", &silence_max.as_millis().to_string());
        let nodes = (0..masters).map(|_| Self::node(&options)).collect::<Result<Vec<_>, _>>()?;
        let cluster = Self { nodes };
        cluster.meet()?;
        cluster.wait_until_whole()?;
        Ok(cluster)
    }

    /// Starts a node on two free ports; the second is the cluster bus.
    fn node(options: &RedisOptions) -> Result<Redis, ServerError> {
        const TRIES: usize = 50;
        let mut last = None;
        for _ in 0..TRIES {
            let port = free_port()?;
            let bus = free_port()?;
            let options = options.clone().with("cluster-port", &bus.to_string());
            let dir = options.host.dir()?;
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
        Ok(())
    }

    /// Waits until every node knows all nodes and all slots, as after a restart.
    ///
    /// # Errors
    /// [`ServerError`]: not within two minutes.
    pub fn wait_until_whole(&self) -> Result<(), ServerError> {
        let began = Instant::now();
        while !self.is_whole()? {
            if began.elapsed() > CLUSTER_TIMEOUT {
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

    /// Returns the nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Returns the nodes, to kill or restart them.
    #[must_use]
    pub fn nodes_mut(&mut self) -> &mut [Redis] {
        &mut self.nodes
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
