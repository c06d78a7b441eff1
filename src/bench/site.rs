//! Where a bench's mall is: a place of its own, and gone afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use mallbox_storage::production::{ProductionOptions, ServerFigures, Trial};
use mallbox_storage::{Durability, EmbeddedOptions, Place};
use tokio::runtime::Runtime;

/// Where it is to be.
#[derive(Clone, Debug)]
pub enum Ground {
    /// In a directory.
    Directory {
        /// How the server answers.
        durability: Durability,
        /// Make it here and keep it; `None` = a directory of its own that goes away.
        keep: Option<PathBuf>,
    },
    /// On these servers, beside whatever else is there.
    Servers {
        /// Where they are. Prefix and database are left alone: the bench takes others.
        options: ProductionOptions,
        /// Processes that serve the mall.
        instances: usize,
    },
}

impl Ground {
    /// The word on the command line.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Directory { .. } => "directory",
            Self::Servers { .. } => "servers",
        }
    }
}

/// Where it is. What is not to be kept goes with this value; what cannot be removed is told.
pub(super) struct Site {
    /// Drives what is asked of servers.
    pub(super) runtime: Runtime,
    kind: Arc<Kind>,
}

enum Kind {
    Directory { path: PathBuf, is_kept: bool, durability: Durability },
    Servers { trial: Trial, instances: usize },
}

impl Site {
    /// Finds a place. Nothing is made there yet.
    pub(super) fn find(ground: &Ground) -> anyhow::Result<Self> {
        let runtime = Runtime::new()?;
        let kind = match ground {
            Ground::Directory { durability, keep: Some(path) } => {
                if path.exists() {
                    bail!("{} is there already: name a directory that the bench may make", path.display());
                }
                Kind::Directory { path: path.clone(), is_kept: true, durability: *durability }
            }
            Ground::Directory { durability, keep: None } => {
                // Not in /tmp, which is memory on many machines: then nothing would reach a disk.
                let path = std::env::current_dir()?.join(format!(".mallbox-bench-{}", std::process::id()));
                Kind::Directory { path, is_kept: false, durability: *durability }
            }
            Ground::Servers { options, instances } => {
                Kind::Servers { trial: runtime.block_on(Trial::beside(options))?, instances: *instances }
            }
        };
        let kind = Arc::new(kind);
        runtime.spawn(remove_if_interrupted(Arc::clone(&kind)));
        Ok(Self { runtime, kind })
    }

    /// How to open the mall.
    pub(super) fn place(&self) -> Place {
        match &*self.kind {
            Kind::Directory { path, .. } => Place::Embedded(EmbeddedOptions::new(path)),
            Kind::Servers { trial, .. } => Place::Production(trial.options().clone()),
        }
    }

    /// Its directory, if it is in one.
    pub(super) fn dir(&self) -> Option<&Path> {
        match &*self.kind {
            Kind::Directory { path, .. } => Some(path),
            Kind::Servers { .. } => None,
        }
    }

    /// Processes that are to serve it.
    pub(super) fn instances(&self) -> usize {
        match &*self.kind {
            Kind::Directory { .. } => 1,
            Kind::Servers { instances, .. } => *instances,
        }
    }

    /// A command on it; what is not said in the arguments is said in the [environment](Self::environment).
    pub(super) fn command(&self, name: &str) -> anyhow::Result<Vec<String>> {
        let mut command = vec![name.to_owned()];
        if let Kind::Directory { path, .. } = &*self.kind {
            let path = path.to_str().context("the directory's name is not valid text")?;
            command.extend(["--data".to_owned(), path.to_owned()]);
        }
        Ok(command)
    }

    /// `serve`, with what holds here alone.
    pub(super) fn serve(&self) -> anyhow::Result<Vec<String>> {
        let mut command = self.command("serve")?;
        if let Kind::Directory { durability, .. } = &*self.kind {
            command.extend(["--durability".to_owned(), durability.name().to_owned()]);
        }
        Ok(command)
    }

    /// Where a command finds the servers.
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

    /// What the servers have done so far.
    pub(super) fn figures(&self) -> anyhow::Result<Option<ServerFigures>> {
        match &*self.kind {
            Kind::Directory { .. } => Ok(None),
            Kind::Servers { trial, .. } => Ok(Some(self.runtime.block_on(trial.figures())?)),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.runtime.block_on(self.kind.remove());
    }
}

impl Kind {
    async fn remove(&self) {
        match self {
            Self::Directory { is_kept: true, .. } => {}
            Self::Directory { path, .. } => {
                if path.exists()
                    && let Err(error) = std::fs::remove_dir_all(path)
                {
                    eprintln!("{} stays behind: {error}", path.display());
                }
            }
            Self::Servers { trial, .. } => {
                if let Err(error) = trial.remove().await {
                    eprintln!("{} may stay behind: {error}", trial.names());
                }
            }
        }
    }
}

/// Ends the bench as asked, and leaves nothing behind. A terminal interrupts the mall's processes as well.
async fn remove_if_interrupted(kind: Arc<Kind>) {
    /// They finish what they have in hand, and write that.
    const END: Duration = Duration::from_secs(1);
    if tokio::signal::ctrl_c().await.is_ok() {
        tokio::time::sleep(END).await;
        kind.remove().await;
        std::process::exit(130);
    }
}
