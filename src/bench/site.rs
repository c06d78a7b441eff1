//! Location of a bench's mall: a place of its own, removed afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use mallbox_storage::Durability;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_storage_production::{ProductionOptions, ServerStats, TemporaryMall};
use tokio::runtime::Runtime;

use crate::place::Place;

/// Kind of location to run a bench on.
#[derive(Clone, Debug)]
pub enum BenchTarget {
    /// A directory with the embedded back end.
    Directory {
        /// Durability setting of the server.
        durability: Durability,
        /// Directory to create and keep; `None` = a temporary directory, removed afterwards.
        keep: Option<PathBuf>,
    },
    /// Redis and MySQL servers, beside whatever data they hold.
    Servers {
        /// Addresses of the servers. The bench ignores the given prefix and database and uses fresh ones.
        options: ProductionOptions,
        /// Number of processes that serve the mall.
        instances: usize,
        /// Whether the servers end with the bench, so that nothing need be removed there.
        is_temporary: bool,
    },
}

impl BenchTarget {
    /// Returns the word used on the command line, with the settings of the ground.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Directory { durability, .. } => format!("directory, durability {}", durability.name()),
            Self::Servers { instances, .. } => format!("servers, {instances} instances"),
        }
    }

    /// Returns the name in reports.
    pub(super) fn title(&self) -> &'static str {
        match self {
            Self::Directory { .. } => "mallbox in a directory",
            Self::Servers { .. } => "mallbox on Redis and MySQL",
        }
    }

    /// Returns the word used on the command line.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Directory { .. } => "directory",
            Self::Servers { .. } => "servers",
        }
    }
}

/// Location of a bench's mall. Dropping the value removes everything not to be kept, and reports what cannot
/// be removed.
pub(super) struct BenchLocation {
    /// Runtime for the queries to the servers.
    pub(super) runtime: Runtime,
    kind: Arc<Kind>,
}

enum Kind {
    Directory { path: PathBuf, is_kept: bool, durability: Durability },
    Servers { trial: TemporaryMall, instances: usize, is_kept: bool },
}

impl BenchLocation {
    /// Chooses a location. Creates nothing there yet.
    pub(super) fn find(ground: &BenchTarget) -> anyhow::Result<Self> {
        let runtime = Runtime::new()?;
        let kind = match ground {
            BenchTarget::Directory { durability, keep: Some(path) } => {
                if path.exists() {
                    bail!("{} already exists: pass a directory that the bench may create", path.display());
                }
                Kind::Directory { path: path.clone(), is_kept: true, durability: *durability }
            }
            BenchTarget::Directory { durability, keep: None } => {
                // Not in /tmp, which is memory on many machines: nothing would reach a disk.
                let path = std::env::current_dir()?.join(format!(".mallbox-bench-{}", std::process::id()));
                Kind::Directory { path, is_kept: false, durability: *durability }
            }
            BenchTarget::Servers { options, instances, is_temporary } => {
                let trial = runtime.block_on(TemporaryMall::beside(options, "bench"))?;
                Kind::Servers { trial, instances: *instances, is_kept: *is_temporary }
            }
        };
        let kind = Arc::new(kind);
        runtime.spawn(remove_if_interrupted(Arc::clone(&kind)));
        Ok(Self { runtime, kind })
    }

    /// Returns the options to open the mall.
    pub(super) fn place(&self) -> Place {
        match &*self.kind {
            Kind::Directory { path, .. } => Place::Embedded(EmbeddedOptions::new(path)),
            Kind::Servers { trial, .. } => Place::Production(trial.options().clone()),
        }
    }

    /// Returns the directory of an embedded mall.
    pub(super) fn dir(&self) -> Option<&Path> {
        match &*self.kind {
            Kind::Directory { path, .. } => Some(path),
            Kind::Servers { .. } => None,
        }
    }

    /// Returns the number of processes to serve the mall.
    pub(super) fn instances(&self) -> usize {
        match &*self.kind {
            Kind::Directory { .. } => 1,
            Kind::Servers { instances, .. } => *instances,
        }
    }

    /// Returns the arguments of a command on the mall; the rest is in the [environment](Self::environment).
    pub(super) fn command(&self, name: &str) -> anyhow::Result<Vec<String>> {
        let mut command = vec![name.to_owned()];
        if let Kind::Directory { path, .. } = &*self.kind {
            let path = path.to_str().context("the directory's name is not valid UTF-8")?;
            command.extend(["--data".to_owned(), path.to_owned()]);
        }
        Ok(command)
    }

    /// Returns the arguments of `serve`, with the ground's durability.
    pub(super) fn serve(&self) -> anyhow::Result<Vec<String>> {
        let mut command = self.command("serve")?;
        if let Kind::Directory { durability, .. } = &*self.kind {
            command.extend(["--durability".to_owned(), durability.name().to_owned()]);
        }
        Ok(command)
    }

    /// Returns the variables through which a command finds the servers.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        match &*self.kind {
            Kind::Directory { .. } => Vec::new(),
            Kind::Servers { trial, .. } => {
                let ProductionOptions { redis, mysql, .. } = trial.options().clone();
                vec![
                    ("MALLBOX_REDIS", redis.url),
                    ("MALLBOX_MYSQL", mysql),
                    ("MALLBOX_REDIS_PREFIX", redis.prefix),
                ]
            }
        }
    }

    /// Returns the statistics of Redis and MySQL so far.
    pub(super) fn figures(&self) -> anyhow::Result<Option<ServerStats>> {
        match &*self.kind {
            Kind::Directory { .. } => Ok(None),
            Kind::Servers { trial, .. } => Ok(Some(self.runtime.block_on(trial.figures())?)),
        }
    }
}

impl Drop for BenchLocation {
    fn drop(&mut self) {
        self.runtime.block_on(self.kind.remove());
    }
}

impl Kind {
    async fn remove(&self) {
        match self {
            Self::Directory { is_kept: true, .. } | Self::Servers { is_kept: true, .. } => {}
            Self::Directory { path, .. } => {
                if path.exists()
                    && let Err(error) = std::fs::remove_dir_all(path)
                {
                    eprintln!("could not remove {}: {error}", path.display());
                }
            }
            Self::Servers { trial, .. } => {
                if let Err(error) = trial.remove().await {
                    eprintln!("could not remove {}: {error}", trial.names());
                }
            }
        }
    }
}

/// Removes the location on an interrupt and exits. A terminal interrupts the mall's processes as well.
async fn remove_if_interrupted(kind: Arc<Kind>) {
    /// The processes finish their work in progress and write it.
    const END: Duration = Duration::from_secs(1);
    if tokio::signal::ctrl_c().await.is_ok() {
        tokio::time::sleep(END).await;
        kind.remove().await;
        std::process::exit(130);
    }
}
