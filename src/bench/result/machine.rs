//! The machine that measured.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use serde::Serialize;

/// A machine; `None` = the system does not tell.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Machine {
    cpu: Option<String>,
    /// Cores that this process may use.
    cores: Option<usize>,
    memory_bytes: Option<u64>,
    kernel: Option<String>,
    os: Option<String>,
    /// Type of the file system with the malls' directories.
    file_system: Option<String>,
}

impl Machine {
    /// Looks at this machine, and at the file system of a directory.
    pub(super) fn look(dir: &Path) -> Self {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        Self {
            cpu: value(&read("/proc/cpuinfo"), "model name", ':'),
            cores: available_parallelism().ok().map(Into::into),
            memory_bytes: value(&read("/proc/meminfo"), "MemTotal", ':').and_then(|text| bytes_of(&text)),
            kernel: kernel(),
            os: value(&read("/etc/os-release"), "PRETTY_NAME", '=')
                .map(|name| name.trim_matches('"').to_owned()),
            file_system: file_system_of(dir, &read("/proc/mounts")),
        }
    }
}

/// Returns the value after the first line's name.
fn value(text: &str, name: &str, separator: char) -> Option<String> {
    let line = text.lines().find(|line| line.split(separator).next().map(str::trim) == Some(name))?;
    Some(line.split_once(separator)?.1.trim().to_owned())
}

fn bytes_of(text: &str) -> Option<u64> {
    text.strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn kernel() -> Option<String> {
    let name = rustix::system::uname();
    Some(format!("{} {}", name.sysname().to_str().ok()?, name.release().to_str().ok()?))
}

/// Returns the type of the file system whose mount point is the longest begin of a directory's path.
fn file_system_of(dir: &Path, mounts: &str) -> Option<String> {
    let dir = dir.canonicalize().ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let holding = mounts.filter(|(point, _)| dir.starts_with(point));
    holding.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC: 7\nMemTotal:       24000000 kB\n";
        assert_eq!(value(text, "model name", ':').as_deref(), Some("AMD EPYC: 7"));
        assert_eq!(value(text, "model", ':'), None);
        assert_eq!(value(text, "MemTotal", ':').and_then(|text| bytes_of(&text)), Some(24_576_000_000));
    }

    #[test]
    fn the_file_system_is_that_of_the_nearest_mount_point() {
        let dir = tempfile::TempDir::new().unwrap();
        let at = dir.path().canonicalize().unwrap();
        let mounts = format!(
            "/dev/a / ext4 rw 0 0\n/dev/b {} xfs rw 0 0\n/dev/c /nowhere btrfs rw 0 0\n",
            at.display()
        );
        assert_eq!(file_system_of(&at, &mounts).as_deref(), Some("xfs"));
        assert_eq!(file_system_of(Path::new("/"), &mounts).as_deref(), Some("ext4"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = Machine::look(Path::new("."));
        assert!(machine.cores > Some(0) && machine.memory_bytes > Some(1 << 20), "{machine:?}");
        assert!(machine.kernel.is_some_and(|kernel| kernel.starts_with("Linux ")));
    }
}
