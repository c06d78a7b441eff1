//! The memory budget of a mall: a flag, or what the machine allows.

use std::fs;
use std::path::Path;

use clap::Args;
use parse_size::Config;

use crate::mall::base::MemoryBudget;

/// The flag of the memory budget.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Memory")]
pub struct MemoryConfig {
    /// Memory that the mall may take, such as `128M`, and at least that: bounds caches, connections, waiting
    /// claims, pictures and password hashes. Default: what the control group allows, or half of the machine's
    /// memory. From 4G on nothing is bounded further.
    #[arg(long, env = "MALLBOX_MEMORY", value_name = "SIZE", value_parser = budget)]
    pub memory: Option<MemoryBudget>,
}

impl MemoryConfig {
    /// Returns the budget of the flag, or of this machine. A machine with less than the smallest budget gets
    /// that.
    #[must_use]
    pub fn budget(&self) -> MemoryBudget {
        self.memory.unwrap_or_else(|| MemoryBudget::new(memory_of_machine()).unwrap_or(MemoryBudget::MIN))
    }
}

/// Parses a size, in powers of 1024 as systemd and containers do: `128M` is 128 MiB.
fn budget(text: &str) -> Result<MemoryBudget, String> {
    let least = MemoryBudget::MIN.bytes() >> 20;
    let bytes = Config::new().with_binary().parse_size(text);
    let expected = || format!("expected a size of at least {least}M, such as 512M or 1G");
    bytes.ok().and_then(MemoryBudget::new).ok_or_else(expected)
}

/// Returns the memory that a mall may take on this machine, in bytes: that of the control group, if it is
/// limited. Otherwise half of the machine's: the rest is for other programs, such as a kiosk's browser.
#[must_use]
pub fn memory_of_machine() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let system = rustix::system::sysinfo();
        #[allow(clippy::useless_conversion, reason = "32 bits on some processors")]
        let machine = u64::from(system.mem_unit).saturating_mul(u64::from(system.totalram));
        let limit = group_limit(&groups, Path::new("/sys/fs/cgroup"));
        limit.filter(|limit| *limit < machine).unwrap_or(machine / 2)
    }
    #[cfg(not(target_os = "linux"))]
    MemoryBudget::FULL.bytes()
}

/// Returns the lowest limit of the control groups that a process is in, in bytes; `None` without a limit.
/// `groups` is the process's `/proc/self/cgroup`, and `root` the folder of all control groups.
///
/// A group's own files show its own limit alone, so that all groups above are read as well. In a container
/// they are often not visible, and the container's own group is the root.
#[cfg_attr(not(target_os = "linux"), expect(dead_code))]
fn group_limit(groups: &str, root: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (folder, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let limit = |group: &Path| {
            let text = fs::read_to_string(folder.join(group).join(file)).ok()?;
            // `max`: no limit.
            text.trim().parse::<u64>().ok()
        };
        Path::new(path.trim_start_matches('/')).ancestors().filter_map(limit).min()
    };
    groups.lines().filter_map(of_line).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024_and_small_ones_are_refused() {
        for (text, bytes) in
            [("128M", 128 << 20), ("512MiB", 512 << 20), ("2G", 2 << 30), ("1073741824", 1 << 30)]
        {
            assert_eq!(budget(text).unwrap().bytes(), bytes, "{text}");
        }
        for text in ["", "64M", "0", "-1", "many", "128 apples", "99999999999999G"] {
            let refusal = budget(text).unwrap_err();
            assert!(refusal.starts_with("expected a size of at least "), "{text}: {refusal}");
        }
    }

    #[test]
    fn the_lowest_limit_of_all_groups_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let limit = |groups: &str| group_limit(groups, root.path());
        put("system.slice/memory.max", "268435456\n");
        put("system.slice/mallbox.service/memory.max", "max\n");
        assert_eq!(limit("0::/system.slice/mallbox.service\n"), Some(256 << 20));
        put("system.slice/mallbox.service/memory.max", "134217728\n");
        assert_eq!(limit("0::/system.slice/mallbox.service\n"), Some(128 << 20));
        assert_eq!(limit("0::/user.slice\n"), None, "no limit there or above");

        put("memory/box/memory.limit_in_bytes", "100000000\n");
        let both = "12:cpu,cpuacct:/box\n4:memory:/box/inner\n0::/\n";
        assert_eq!(limit(both), Some(100_000_000), "of version 1, in a group above");
        put("memory.max", "50000000\n");
        assert_eq!(limit(both), Some(50_000_000), "a container sees its own group as the root");
        assert_eq!(limit("nonsense\n"), None);
    }
}
