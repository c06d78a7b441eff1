//! The process behind a port of this machine, as Linux shows processes of the same user.

use std::collections::HashSet;
use std::fs;

/// State of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// Returns the id of the process that listens on a port, if its name contains one of `names`. The name tells
/// a server from a tunnel to a server elsewhere.
///
/// `None` for a process of another user or in a container, for several processes, and on other systems.
pub(super) fn listening_process(port: u16, names: &[&str]) -> Option<u32> {
    let sockets: HashSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| sockets_at(&table, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    let ids = fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut owners = ids.filter(|id| has_name(*id, names) && has_socket(*id, &sockets));
    let owner = owners.next();
    owner.filter(|_| owners.next().is_none())
}

/// Returns the inodes of the sockets that listen on a port, from the text of `/proc/net/tcp`.
fn sockets_at(table: &str, port: u16) -> Vec<u64> {
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, hex) = fields.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(hex, 16) == Ok(port) && *fields.get(3)? == LISTEN;
        is_it.then(|| fields.get(9)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

fn has_name(process: u32, names: &[&str]) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm"))
        .is_ok_and(|name| names.iter().any(|part| name.contains(part)))
}

/// Whether a process has one of the sockets open.
fn has_socket(process: u32, sockets: &HashSet<String>) -> bool {
    fs::read_dir(format!("/proc/{process}/fd")).is_ok_and(|files| {
        files
            .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
            .any(|target| target.to_str().is_some_and(|target| sockets.contains(target)))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_listening_sockets_of_the_port_are_found() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000
   1: 0100007F:18EB 0100007F:C2A4 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000
   2: 0100007F:18EC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0000000000000000
   3: 00000000:18EB";
        assert_eq!(sockets_at(table, 6379), [4711]);
        assert_eq!(sockets_at(table, 80), [0; 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_found_by_its_port_and_its_name() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = std::fs::read_to_string("/proc/self/comm").unwrap();
        let found = listening_process(port, &["no such name", own.trim()]);
        assert_eq!(found, Some(std::process::id()));
        assert_eq!(listening_process(port, &["redis"]), None);
        drop(listener);
        assert_eq!(listening_process(port, &[own.trim()]), None);
    }
}
