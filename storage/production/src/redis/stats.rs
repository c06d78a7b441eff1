//! Statistics of Redis.

use std::ops::Sub;
use std::time::Duration;

use mallbox_storage::StoreError;

use super::link::Link;

/// Totals since each server's start, summed over all masters. Work of other clients is included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RedisStats {
    /// CPU time, user and system.
    pub cpu: Duration,
    /// Script calls by clients, and reads of sessions: nearly all calls of a mall. Commands called by scripts
    /// are not counted.
    pub calls: u64,
    /// Bytes received from clients.
    pub bytes_in: u64,
    /// Bytes sent to clients.
    pub bytes_out: u64,
}

impl Sub for RedisStats {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            calls: self.calls.saturating_sub(before.calls),
            bytes_in: self.bytes_in.saturating_sub(before.bytes_in),
            bytes_out: self.bytes_out.saturating_sub(before.bytes_out),
        }
    }
}

pub(super) async fn read(link: &Link) -> Result<RedisStats, StoreError> {
    let masters = link.info("everything").await?;
    Ok(masters.iter().fold(RedisStats::default(), |sum, info| add(sum, info)))
}

fn add(sum: RedisStats, info: &str) -> RedisStats {
    let value = |name: &str| {
        info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default().trim()
    };
    let number = |name: &str| value(name).parse::<u64>().unwrap_or_default();
    let calls = |name: &str| {
        let count = value(name).strip_prefix("calls=").and_then(|rest| rest.split(',').next());
        count.and_then(|count| count.parse::<u64>().ok()).unwrap_or_default()
    };
    let cpu = ["used_cpu_sys", "used_cpu_user"].map(|name| value(name).parse().unwrap_or(0.0)).iter().sum();
    RedisStats {
        cpu: sum.cpu + Duration::try_from_secs_f64(cpu).unwrap_or_default(),
        calls: sum.calls
            + ["cmdstat_evalsha", "cmdstat_eval", "cmdstat_hgetall"].map(calls).iter().sum::<u64>(),
        bytes_in: sum.bytes_in + number("total_net_input_bytes"),
        bytes_out: sum.bytes_out + number("total_net_output_bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masters_are_added_up_and_what_scripts_call_is_left_out() {
        let info = "used_cpu_sys:1.5\r\nused_cpu_user:0.25\r\nused_cpu_sys_children:9\r\n\
                    total_net_input_bytes:100\r\ntotal_net_output_bytes:30\r\n\
                    cmdstat_hget:calls=70,usec=1\r\ncmdstat_eval:calls=2,usec=5\r\ncmdstat_hgetall:calls=7,usec=5\r\ncmdstat_evalsha:calls=40,usec=9\r\n";
        let both = [info, info].iter().fold(RedisStats::default(), |sum, info| add(sum, info));
        let cpu = Duration::from_millis(3_500);
        assert_eq!(both, RedisStats { cpu, calls: 98, bytes_in: 200, bytes_out: 60 });
    }
}
