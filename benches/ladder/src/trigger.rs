//! The triggers: situations in which a wrong rung fails.

use serde::{Deserialize, Serialize};

use crate::scene::{InRedis, Scene};
use crate::words::{Words, words};

/// A situation in which a wrong rung fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Every buyer sends three requests at once, and they meet between check and write.
    ThreeAtOnce,
    /// A holder is stopped between check and write for longer than its lease.
    StoppedBeforeWrite,
    /// A holder is stopped between its work and its release for longer than its lease.
    StoppedBeforeRelease,
    /// An instance is killed at the worst step.
    Killed,
    /// Redis fails over to a replica that lacks the newest writes.
    FailedOver,
    /// Ten units return after the sale was sold out.
    Returned,
}

impl Trigger {
    /// All triggers, in the order in which they run.
    pub const ALL: [Self; 6] = [
        Self::ThreeAtOnce,
        Self::StoppedBeforeWrite,
        Self::StoppedBeforeRelease,
        Self::Killed,
        Self::FailedOver,
        Self::Returned,
    ];

    /// Returns the name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThreeAtOnce => "three-at-once",
            Self::StoppedBeforeWrite => "stopped-before-write",
            Self::StoppedBeforeRelease => "stopped-before-release",
            Self::Killed => "killed",
            Self::FailedOver => "failed-over",
            Self::Returned => "returned",
        }
    }

    /// Returns what happens.
    #[must_use]
    pub fn about(self) -> Words {
        match self {
            Self::ThreeAtOnce => words(
                "每位买家同时发三个请求，全部停在检查之后、写入之前。",
                "Every buyer sends three requests at once; all meet between the check and the write.",
            ),
            Self::StoppedBeforeWrite => words(
                "持锁进程在检查之后、写入之前被暂停（SIGSTOP），直到租约过期。",
                "The holder is stopped (SIGSTOP) between the check and the write until its lease is over.",
            ),
            Self::StoppedBeforeRelease => words(
                "持锁进程做完事、还没释放锁就被暂停，直到租约过期。",
                "The holder is stopped between its work and the release until its lease is over.",
            ),
            Self::Killed => {
                words("实例在最关键的一步被kill -9。", "The instance gets kill -9 at its worst step.")
            }
            Self::FailedOver => words(
                "Redis主节点宕机，切换到还没收到最新写入的从节点。",
                "Redis fails over to a replica that lacks the newest writes.",
            ),
            Self::Returned => words(
                "售罄之后退回十件，再来十位新买家。",
                "Ten units return after the sale was sold out, and ten new buyers come.",
            ),
        }
    }

    /// Whether the trigger can strike in a scene.
    pub(crate) fn strikes(self, scene: &Scene) -> bool {
        match self {
            Self::ThreeAtOnce | Self::Killed | Self::Returned => true,
            Self::StoppedBeforeWrite => scene.stop.is_some(),
            Self::StoppedBeforeRelease => scene.release.is_some(),
            Self::FailedOver => scene.in_redis != InRedis::Nothing,
        }
    }
}
