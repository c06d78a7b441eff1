//! What processes cost: CPU, memory, and bytes sent to the disk, as Linux counts them.

use std::ops::Add;
use std::time::Duration;

/// Length of a tick in which the kernel counts CPU time.
const TICK: Duration = Duration::from_millis(10);

/// Cost of processes, all together, since they started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ProcessUsage {
    pub(super) cpu: Duration,
    /// Largest resident memory, in bytes.
    pub(super) memory: u64,
    /// Bytes sent to the disk, in whole pages, without the journal of the file system.
    pub(super) written: u64,
}

impl ProcessUsage {
    /// Returns the cost of the processes with these ids; `None` where the system does not tell.
    pub(super) fn of(ids: impl IntoIterator<Item = u32>) -> Option<Self> {
        ids.into_iter().try_fold(Self::default(), |sum, id| Some(sum + of_process(id)?))
    }

    /// Lets the largest memory of these processes count from now on, where the system allows it.
    pub(super) fn forget_peaks(ids: impl IntoIterator<Item = u32>) {
        for id in ids {
            // Refused for processes of other users: their largest memory then counts from their start.
            let _ = std::fs::write(format!("/proc/{id}/clear_refs"), "5");
        }
    }

    /// Returns the cost since an earlier look at the same processes; the memory is that of now.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            memory: self.memory,
            written: self.written.saturating_sub(before.written),
        }
    }
}

impl Add for ProcessUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu: self.cpu + other.cpu,
            memory: self.memory + other.memory,
            written: self.written + other.written,
        }
    }
}

fn of_process(id: u32) -> Option<ProcessUsage> {
    let value = |file: &str, name: &str| {
        let text = std::fs::read_to_string(format!("/proc/{id}/{file}")).ok()?;
        text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
    };
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // After the name, which may contain anything: utime and stime are the 12th and 13th field, and those of
    // ended children follow, such as a Redis that rewrote its file.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks = fields.map(|ticks| ticks.parse::<u32>().ok()).sum::<Option<u32>>()?;
    let memory = value("status", "VmHWM:")?.strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(ProcessUsage {
        cpu: TICK * ticks,
        memory: memory * 1024,
        written: value("io", "write_bytes:")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_computes_has_used_cpu_and_memory() {
        let own = std::process::id();
        let before = ProcessUsage::of([own]).unwrap();
        let began = Instant::now();
        while began.elapsed() < 5 * TICK {
            std::hint::black_box(began);
        }
        let spent = ProcessUsage::of([own]).unwrap().since(before);
        assert!(spent.cpu >= TICK && spent.memory > 1 << 20, "{spent:?}");
        assert_eq!(ProcessUsage::of([]), Some(ProcessUsage::default()));
        assert_eq!(ProcessUsage::of([own, u32::MAX]), None);
    }
}
