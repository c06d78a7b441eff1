//! Resident memory of processes.

use std::fs;

/// Returns the resident memory of a process in bytes; `None` where the system does not tell.
pub(crate) fn resident(process: Option<u32>) -> Option<u64> {
    let name = process.map_or_else(|| "self".to_owned(), |id| id.to_string());
    of_status(&fs::read_to_string(format!("/proc/{name}/status")).ok()?)
}

fn of_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resident_memory_is_read_from_the_status() {
        assert_eq!(of_status("VmPeak:\t  9 kB\nVmRSS:\t   1234 kB\n"), Some(1_263_616));
        assert_eq!(of_status("VmPeak:\t  9 kB\n"), None);
    }
}
