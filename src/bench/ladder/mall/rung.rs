//! The rungs that are malls.

use mallbox_bench_ladder::{Trigger, Words};

/// A rung that is a mall.
#[derive(Debug)]
pub struct MallRung {
    /// Number.
    pub id: &'static str,
    /// What the rung is.
    pub title: Words,
    /// Processes that sell at the same time.
    pub instances: u8,
    /// Whether the mall is on Redis and MySQL; otherwise in a directory.
    pub on_servers: bool,
    /// The code that decides about a claim.
    pub source: &'static str,
    /// Its path in the project.
    pub file: &'static str,
}

/// The malls.
pub(in crate::bench::ladder) static MALLS: [MallRung; 2] = [
    MallRung {
        id: "13",
        title: Words { zh: "mallbox，数据在一个目录里", en: "mallbox in a directory" },
        instances: 1,
        on_servers: false,
        source: include_str!("../../../../storage/embedded/src/sales/claiming.rs"),
        file: "storage/embedded/src/sales/claiming.rs",
    },
    MallRung {
        id: "14",
        title: Words { zh: "mallbox，数据在Redis和MySQL里", en: "mallbox on Redis and MySQL" },
        instances: 2,
        on_servers: true,
        source: include_str!("../../../../storage/production/src/redis/lua/claim.lua"),
        file: "storage/production/src/redis/lua/claim.lua",
    },
];

impl MallRung {
    /// Returns whether `trigger` can strike this rung: there are no locks around a claim.
    pub(in crate::bench::ladder) fn has(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::ThreeAtOnce | Trigger::Killed | Trigger::Returned => true,
            Trigger::StoppedBeforeWrite | Trigger::FailedOver => self.on_servers,
            Trigger::StoppedBeforeRelease => false,
        }
    }
}
