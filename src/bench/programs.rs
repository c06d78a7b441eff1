//! The programs that serve a mall, and what each of them costs.

use super::listening_process::listening_process;
use super::process_usage::ProcessUsage;

/// Name of mallbox among the programs.
const MALLBOX: &str = "mallbox";
/// Servers: their usual port, and parts of the names of their processes, with those of their forks.
const SERVERS: [(&str, u16, &[&str]); 2] =
    [("Redis", 6379, &["redis", "valkey"]), ("MySQL", 3306, &["mysql", "mariadb"])];

/// A program with its processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// `None` = out of reach: on another machine, of another user, or in a container.
    pub(super) processes: Option<Vec<u32>>,
}

impl Program {
    /// Returns mallbox' own processes.
    pub(super) fn mallbox(processes: impl IntoIterator<Item = u32>) -> Self {
        Self { name: MALLBOX, processes: Some(processes.into_iter().collect()) }
    }

    /// Returns the program of a server at an address without user and password. Its process is known if it
    /// listens on this machine and belongs to this user.
    pub(super) fn of_server(name: &'static str, address: &str) -> Self {
        let server = SERVERS.iter().find(|(server, ..)| *server == name);
        let process =
            server.and_then(|(_, usual, names)| listening_process(local_port(address, *usual)?, names));
        Self { name, processes: process.map(|id| vec![id]) }
    }

    /// Returns a program whose processes are out of reach.
    pub(super) fn out_of_reach(name: &'static str) -> Self {
        Self { name, processes: None }
    }
}

/// Returns the port of an address `HOST[:PORT][/DATABASE]` of this machine.
fn local_port(address: &str, usual: u16) -> Option<u16> {
    let place = address.split('/').next()?;
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (place, usual),
    };
    matches!(host, "127.0.0.1" | "localhost" | "[::1]").then_some(port)
}

/// Cost of each program; `None` = unknown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ProgramUsage(pub(super) Vec<(&'static str, Option<ProcessUsage>)>);

impl ProgramUsage {
    /// Returns the cost of programs since their start.
    pub(super) fn of(programs: &[Program]) -> Self {
        let usage = |program: &Program| ProcessUsage::of(program.processes.as_ref()?.iter().copied());
        Self(programs.iter().map(|program| (program.name, usage(program))).collect())
    }

    /// Returns the cost since an earlier look at the same programs.
    pub(super) fn since(&self, before: &Self) -> Self {
        let pairs = self.0.iter().zip(&before.0);
        let since = |now: Option<ProcessUsage>, then: Option<ProcessUsage>| Some(now?.since(then?));
        Self(pairs.map(|((name, now), (_, then))| (*name, since(*now, *then))).collect())
    }

    /// Returns the cost of all programs; `None` if that of one is unknown.
    pub(super) fn total(&self) -> Option<ProcessUsage> {
        self.0.iter().try_fold(ProcessUsage::default(), |sum, (_, usage)| Some(sum + (*usage)?))
    }

    /// Returns the cost of mallbox.
    pub(super) fn mallbox(&self) -> Option<ProcessUsage> {
        self.0.iter().find(|(name, _)| *name == MALLBOX)?.1
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn usage(cpu_ms: u64, written: u64) -> ProcessUsage {
        ProcessUsage { cpu: Duration::from_millis(cpu_ms), memory: 1, written }
    }

    #[test]
    fn a_total_needs_the_cost_of_every_program() {
        let before = ProgramUsage(vec![("mallbox", Some(usage(10, 100))), ("Redis", Some(usage(5, 0)))]);
        let now = ProgramUsage(vec![("mallbox", Some(usage(40, 700))), ("Redis", Some(usage(25, 50)))]);
        let spent = now.since(&before);
        assert_eq!(spent.mallbox(), Some(usage(30, 600)));
        let total = spent.total().unwrap();
        assert_eq!((total.cpu, total.written), (Duration::from_millis(50), 650));
        let unknown = ProgramUsage(vec![("mallbox", Some(usage(40, 700))), ("Redis", None)]).since(&before);
        assert_eq!((unknown.mallbox(), unknown.total()), (Some(usage(30, 600)), None));
    }

    #[test]
    fn servers_elsewhere_are_out_of_reach() {
        for (address, port) in [
            ("127.0.0.1:3306/mall", Some(3306)),
            ("localhost", Some(6379)),
            ("[::1]:7000", Some(7000)),
            ("[::1]", Some(6379)),
            ("10.0.0.1:6379", None),
            ("127.0.0.1:6379,127.0.0.1:6380", None),
            ("/run/mysqld/mysqld.sock", None),
        ] {
            assert_eq!(local_port(address, 6379), port, "{address}");
        }
        let programs = [Program::out_of_reach("Redis")];
        assert_eq!(ProgramUsage::of(&programs), ProgramUsage(vec![("Redis", None)]));
    }
}
