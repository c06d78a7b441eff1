//! The catalogue of rungs, in the order in which they are read.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::instance::Parts;
use crate::point::Point;
use crate::rungs::Seller;
use crate::rungs::check_then_delete::CheckThenDelete;
use crate::rungs::conditional_update::ConditionalUpdate;
use crate::rungs::decr_below_zero::DecrBelowZero;
use crate::rungs::delete_blindly::DeleteBlindly;
use crate::rungs::delete_by_script::DeleteByScript;
use crate::rungs::fencing_token::FencingToken;
use crate::rungs::for_update::ForUpdate;
use crate::rungs::get_lock::GetLock;
use crate::rungs::get_then_decr::GetThenDecr;
use crate::rungs::message_table::MessageTable;
use crate::rungs::multi_lock::MultiLock;
use crate::rungs::owner_is_user::OwnerIsUser;
use crate::rungs::process_lock::ProcessLock;
use crate::rungs::read_then_write::ReadThenWrite;
use crate::rungs::script_and_queue::ScriptAndQueue;
use crate::rungs::script_and_stream::ScriptAndStream;
use crate::rungs::setnx_then_expire::SetnxThenExpire;
use crate::rungs::spin::Spin;
use crate::rungs::stock_buckets::StockBuckets;
use crate::rungs::unlock_after_commit::UnlockAfterCommit;
use crate::rungs::unlock_before_commit::UnlockBeforeCommit;
use crate::rungs::version_number::VersionNumber;
use crate::rungs::watchdog::Watchdog;
use crate::scene::{InRedis, Scene, Victim};
use crate::trigger::Trigger;
use crate::words::{Words, words};

/// A rung of the ladder.
#[derive(Debug)]
pub struct Rung {
    /// Number and letter, as the command line takes it.
    pub id: &'static str,
    /// What the rung does.
    pub title: Words,
    /// Its source code.
    pub source: &'static str,
    /// Path of the source code in the project.
    pub file: &'static str,
    /// Processes that sell at the same time.
    pub instances: u8,
    pub(crate) scene: Scene,
    build: fn(Parts) -> Arc<dyn Seller>,
}

impl Rung {
    /// Returns whether `trigger` can strike this rung.
    #[must_use]
    pub fn has(&self, trigger: Trigger) -> bool {
        trigger.strikes(&self.scene)
    }

    /// Whether a run under `trigger` needs servers that the bench starts.
    #[must_use]
    pub fn needs_own_servers(&self, trigger: Option<Trigger>) -> bool {
        trigger == Some(Trigger::FailedOver) || self.scene.in_redis == InRedis::LocksOnThree
    }
}

/// Returns the seller of a rung.
pub(crate) fn build(id: &str, parts: Parts) -> Option<Arc<dyn Seller>> {
    RUNGS.iter().find(|rung| rung.id == id).map(|rung| (rung.build)(parts))
}

/// Names a rung: id, instances, file, scene, seller, Chinese and English title.
macro_rules! rung {
    ($id:literal, $instances:literal, $file:literal, $scene:expr, $build:expr, $zh:literal, $en:literal) => {
        Rung {
            id: $id,
            title: words($zh, $en),
            source: include_str!(concat!("rungs/", $file, ".rs")),
            file: concat!("benches/ladder/src/rungs/", $file, ".rs"),
            instances: $instances,
            scene: $scene,
            build: $build,
        }
    };
}

/// All rungs whose instances are processes of this bench.
pub static RUNGS: [Rung; 25] = [
    rung!(
        "0",
        1,
        "get_then_decr",
        Scene { in_redis: InRedis::Stock, ..Scene::in_database() },
        |parts| Arc::new(GetThenDecr { parts }),
        "Redis先GET后DECR",
        "GET, then DECR in Redis"
    ),
    rung!(
        "0b",
        1,
        "decr_below_zero",
        Scene { in_redis: InRedis::Stock, ..Scene::in_database() },
        |parts| Arc::new(DecrBelowZero { parts }),
        "DECR减到负数",
        "DECR counts below zero"
    ),
    rung!(
        "1",
        1,
        "read_then_write",
        Scene::in_database(),
        |parts| Arc::new(ReadThenWrite { parts }),
        "先查库存再扣减，不加锁",
        "reads the stock, then writes it"
    ),
    rung!(
        "1b",
        1,
        "process_lock",
        Scene::in_database(),
        |parts| Arc::new(ProcessLock { parts, lock: Mutex::new(()) }),
        "同上，进程内一把大锁",
        "the same under one lock of the process"
    ),
    rung!(
        "1c",
        1,
        "version_number",
        Scene::in_database(),
        |parts| Arc::new(VersionNumber { parts }),
        "乐观锁：版本号",
        "optimistic lock: version number"
    ),
    rung!(
        "2",
        1,
        "conditional_update",
        Scene::in_database(),
        |parts| Arc::new(ConditionalUpdate { parts }),
        "where stock > 0，一人一单另查",
        "where stock > 0, buyers checked apart"
    ),
    rung!(
        "3",
        1,
        "unlock_before_commit",
        Scene {
            meet: Some(Point::Unlocked),
            victim: Victim::Request(Point::Unlocked),
            ..Scene::in_database()
        },
        |parts| Arc::new(UnlockBeforeCommit::new(parts)),
        "用户锁，提交前释放",
        "user lock, released before the commit"
    ),
    rung!(
        "4",
        1,
        "unlock_after_commit",
        Scene::in_database(),
        |parts| Arc::new(UnlockAfterCommit::new(parts)),
        "用户锁，提交后释放",
        "user lock, released after the commit"
    ),
    rung!(
        "5",
        2,
        "unlock_after_commit",
        Scene { stop: Some(Point::Checked), ..Scene::in_database() },
        |parts| Arc::new(UnlockAfterCommit::new(parts)),
        "同上，部署两个实例",
        "the same with two instances"
    ),
    rung!(
        "6",
        2,
        "setnx_then_expire",
        Scene { victim: Victim::Request(Point::Locked), ..Scene::with_lock() },
        |parts| Arc::new(SetnxThenExpire { parts }),
        "SETNX之后再EXPIRE",
        "SETNX, then EXPIRE"
    ),
    rung!(
        "6b",
        2,
        "delete_blindly",
        Scene::with_lock(),
        |parts| Arc::new(DeleteBlindly { parts }),
        "SET NX PX，直接删锁",
        "SET NX PX, deleted blindly"
    ),
    rung!(
        "6c",
        2,
        "owner_is_user",
        Scene::with_lock(),
        |parts| Arc::new(OwnerIsUser { parts }),
        "锁的持有者写用户ID",
        "the owner of the lock is the user"
    ),
    rung!(
        "7",
        2,
        "check_then_delete",
        Scene { release: Some(Point::OwnerChecked), ..Scene::with_lock() },
        |parts| Arc::new(CheckThenDelete { parts }),
        "先比对持有者，再删锁",
        "owner compared, then deleted"
    ),
    rung!(
        "8",
        2,
        "delete_by_script",
        Scene::with_lock(),
        |parts| Arc::new(DeleteByScript { parts }),
        "Lua脚本比对并删锁",
        "compared and deleted by a script"
    ),
    rung!(
        "8b",
        2,
        "spin",
        Scene { is_slow: true, ..Scene::with_lock() },
        |parts| Arc::new(Spin { parts }),
        "整场一把锁，自旋重试",
        "one lock for the sale, spinning"
    ),
    rung!(
        "9",
        2,
        "watchdog",
        Scene::with_lock(),
        |parts| Arc::new(Watchdog { parts }),
        "可重入锁：看门狗与发布订阅",
        "reentrant lock, watchdog, wake-up"
    ),
    rung!(
        "9b",
        2,
        "multi_lock",
        Scene { in_redis: InRedis::LocksOnThree, ..Scene::with_lock() },
        |parts| Arc::new(MultiLock { parts }),
        "联锁：三个独立主节点",
        "multi-lock on three masters"
    ),
    rung!(
        "9c",
        2,
        "get_lock",
        Scene { in_redis: InRedis::Nothing, ..Scene::with_lock() },
        |parts| Arc::new(GetLock { parts }),
        "MySQL的GET_LOCK",
        "GET_LOCK of MySQL"
    ),
    rung!(
        "9d",
        2,
        "for_update",
        Scene { stop: Some(Point::Checked), ..Scene::in_database() },
        |parts| Arc::new(ForUpdate { parts }),
        "SELECT … FOR UPDATE",
        "SELECT … FOR UPDATE"
    ),
    rung!(
        "9e",
        2,
        "fencing_token",
        Scene::with_lock(),
        |parts| Arc::new(FencingToken { parts }),
        "带fencing token的锁",
        "lock with a fencing token"
    ),
    rung!(
        "10",
        1,
        "script_and_queue",
        Scene::with_worker(Point::Dequeued),
        |parts| Arc::new(ScriptAndQueue::new(parts)),
        "Lua脚本 + 内存队列",
        "script and a queue in memory"
    ),
    rung!(
        "11",
        1,
        "script_and_stream",
        Scene::with_worker(Point::Stored),
        |parts| Arc::new(ScriptAndStream { parts }),
        "Lua脚本 + Stream消费组",
        "script, stream and workers"
    ),
    rung!(
        "11b",
        1,
        "message_table",
        Scene::with_worker(Point::Stored),
        |parts| Arc::new(MessageTable { parts, dedupes: true }),
        "消息表 + 去重表",
        "message table with a table of done messages"
    ),
    rung!(
        "11c",
        1,
        "message_table",
        Scene::with_worker(Point::Stored),
        |parts| Arc::new(MessageTable { parts, dedupes: false }),
        "消息表，不去重",
        "message table without deduplication"
    ),
    rung!(
        "12",
        2,
        "stock_buckets",
        Scene::in_database(),
        |parts| Arc::new(StockBuckets { parts }),
        "热点行拆成八个库存桶",
        "the hot row behind eight buckets"
    ),
];
