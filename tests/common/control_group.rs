//! A control group that bounds the memory of a process, of either version.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

const ROOT: &str = "/sys/fs/cgroup";

/// A control group, removed on drop once it is empty.
pub struct ControlGroup {
    dir: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl ControlGroup {
    /// Creates a group in which processes take at most `bytes` of memory, the pages of files included, and
    /// nothing in the swap space.
    pub fn with_memory(name: &str, bytes: u64) -> anyhow::Result<Self> {
        let (parent, version) = if Path::new(ROOT).join("memory").is_dir() {
            (Path::new(ROOT).join("memory"), Version::One)
        } else {
            (PathBuf::from(ROOT), Version::Two)
        };
        let group = Self { dir: parent.join(format!("mallbox-{name}-{}", std::process::id())), version };
        fs::create_dir(&group.dir).with_context(|| format!("cannot create {}", group.dir.display()))?;
        match version {
            Version::One => {
                group.write("memory.limit_in_bytes", bytes)?;
                // Some kernels do not count the swap space of a group.
                let _ = group.write("memory.memsw.limit_in_bytes", bytes);
            }
            Version::Two => {
                // Already on where a service manager runs.
                let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory");
                group.write("memory.max", bytes)?;
                let _ = group.write("memory.swap.max", 0);
            }
        }
        Ok(group)
    }

    /// Returns the words of a command that joins the group and then becomes the command appended to them.
    pub fn entry(&self) -> [String; 4] {
        let join = format!("echo $$ > '{}/cgroup.procs' && exec \"$@\"", self.dir.display());
        ["sh".to_owned(), "-c".to_owned(), join, "sh".to_owned()]
    }

    /// Returns the most memory that the group has taken, in bytes.
    pub fn peak_bytes(&self) -> anyhow::Result<u64> {
        let name = match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        };
        Ok(self.read(name)?.trim().parse()?)
    }

    /// Returns the number of processes that the kernel has killed for lack of memory.
    pub fn kills(&self) -> anyhow::Result<u64> {
        let name = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = self.read(name)?;
        let kills = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        Ok(kills.with_context(|| format!("no number of kills: {text}"))?.trim().parse()?)
    }

    fn write(&self, name: &str, value: u64) -> anyhow::Result<()> {
        let path = self.dir.join(name);
        fs::write(&path, value.to_string()).with_context(|| format!("cannot write {}", path.display()))
    }

    fn read(&self, name: &str) -> anyhow::Result<String> {
        let path = self.dir.join(name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(!text.is_empty(), "{} is empty", path.display());
        Ok(text)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}
