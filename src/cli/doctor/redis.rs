//! What `doctor` reports about Redis.

use mallbox_storage_production::ConnectFailure;
use mallbox_storage_production::redis::{RedisDurability, RedisInspection, RedisMemory, RedisTrouble};

use super::machine::Finding;
use super::server_words::{clock_gap, failure, gap_words, same_time, version};
use crate::language::{Bilingual, Language, both, sentence};

const NAME: Bilingual = both("Redis", "Redis");
/// Free memory below which Redis is reported: the journal of some 100,000 claims, with copies of pages.
const FREE_MEMORY_MIN_BYTES: u64 = 256 << 20;

/// Returns the findings; only one if Redis could not be inspected.
pub(super) fn findings(
    address: &str,
    inspected: Result<&RedisInspection, &ConnectFailure>,
    l: Language,
) -> Vec<Finding> {
    let redis = match inspected {
        Ok(redis) => redis,
        Err(cause) => return vec![(NAME, Err(failure(address, NAME, cause, l)))],
    };
    let mut findings = vec![
        (NAME, reached(address, redis, l)),
        (both("Redis版本", "Redis version"), version(&redis.version, redis.support, l)),
        (both("Redis持久化", "Redis writes"), writes(redis.durability, l)),
        (both("Redis淘汰", "Redis eviction"), eviction(redis.evicts_by.as_deref(), l)),
        (both("Redis内存", "Redis memory"), memory(redis.memory, l)),
    ];
    if redis.takes_writes_alone {
        findings.push((both("Redis副本", "Redis replicas"), Err(alone(l))));
    }
    if let Some(reading) = redis.clock {
        let what = both("Redis时钟", "Redis clock");
        findings.push(match clock_gap(reading) {
            None => (what, Ok(same_time(l))),
            Some(gap) => {
                let gap = gap_words(gap, "Redis", l);
                (what, Err(sentence!(l, "{gap}；请用NTP同步两者", "{gap}; synchronise both by NTP")))
            }
        });
    }
    findings.extend(
        redis.troubles.iter().map(|kind| (both("Redis故障", "Redis trouble"), Err(trouble(*kind, l)))),
    );
    findings
}

fn reached(address: &str, redis: &RedisInspection, l: Language) -> Result<String, String> {
    if redis.is_replica {
        return Err(sentence!(
            l,
            "{address}是副本，不接受写入；请给出主服务器的地址，或用redis+sentinel://",
            "{address} is a replica and refuses writes: pass the address of its master, or redis+sentinel://"
        ));
    }
    let masters = redis.masters;
    if masters > 1 {
        return Ok(sentence!(
            l,
            "{address}，集群，{masters}个主节点",
            "{address}, a cluster of {masters} masters"
        ));
    }
    Ok(address.to_owned())
}

fn writes(durability: RedisDurability, l: Language) -> Result<String, String> {
    let name = durability.name();
    match durability {
        RedisDurability::Memory => Err(sentence!(
            l,
            "{name}：Redis一停止，尚未写入MySQL的抢购就会丢失；请设置appendonly yes和appendfsync always",
            "{name}: claims that are no orders in MySQL yet are lost when Redis ends; set appendonly yes and appendfsync \
             always"
        )),
        RedisDurability::System => Err(sentence!(
            l,
            "{name}：断电会丢失最多约30秒的抢购；请设置appendfsync always或everysec",
            "{name}: a power cut loses up to some 30 s of claims; set appendfsync always or everysec"
        )),
        RedisDurability::Unknown => Ok(sentence!(
            l,
            "appendonly yes；CONFIG被禁用，无法读取appendfsync",
            "appendonly yes; appendfsync cannot be read, since CONFIG is forbidden"
        )),
        RedisDurability::EverySecond => Ok(sentence!(
            l,
            "{name}：断电会丢失最多2秒的抢购；appendfsync always则不会",
            "{name}: a power cut loses up to two seconds of claims; appendfsync always loses none"
        )),
        RedisDurability::Always => {
            Ok(sentence!(l, "{name}：断电不丢失抢购", "{name}: a power cut loses no claim"))
        }
    }
}

fn eviction(policy: Option<&str>, l: Language) -> Result<String, String> {
    let Some(policy) = policy else { return Ok("noeviction".to_owned()) };
    Err(sentence!(
        l,
        "maxmemory-policy {policy}会淘汰库存和买家，商城不会启动；请设置maxmemory-policy noeviction",
        "maxmemory-policy {policy} may evict stock and buyers, and a mall does not start: set maxmemory-policy noeviction"
    ))
}

fn memory(memory: RedisMemory, l: Language) -> Result<String, String> {
    let used = memory.used >> 20;
    let Some(free) = memory.free() else { return Ok(sentence!(l, "已用{used} MiB", "{used} MiB in use")) };
    let free_mib = free >> 20;
    let text = if memory.max > 0 {
        let max = memory.max >> 20;
        sentence!(
            l,
            "已用{used} MiB，距maxmemory（{max} MiB）还有{free_mib} MiB",
            "{used} MiB in use, {free_mib} MiB below maxmemory ({max} MiB)"
        )
    } else {
        let machine = memory.of_machine >> 20;
        sentence!(
            l,
            "已用{used} MiB，没有maxmemory；机器共有{machine} MiB",
            "{used} MiB in use, without a maxmemory; the machine has {machine} MiB"
        )
    };
    if free < FREE_MEMORY_MIN_BYTES {
        return Err(sentence!(
            l,
            "{text}：内存用尽后拒绝抢购和登录",
            "{text}: claims and log-ins are refused once the memory is used up"
        ));
    }
    Ok(text)
}

fn alone(l: Language) -> String {
    sentence!(
        l,
        "主服务器没有副本也接受写入，故障切换会丢失这些抢购；请在每台服务器上设置min-replicas-to-write 1和min-replicas-max-lag 1",
        "a master accepts claims without a replica, and a failover loses them: set min-replicas-to-write 1 and \
         min-replicas-max-lag 1 on each server"
    )
}

fn trouble(kind: RedisTrouble, l: Language) -> String {
    match kind {
        RedisTrouble::AppendFile => {
            sentence!(
                l,
                "无法写入AOF文件，请检查磁盘",
                "it cannot write its append-only file; check the disk"
            )
        }
        RedisTrouble::Snapshot => sentence!(
            l,
            "上次快照失败，可能拒绝写入；请检查磁盘",
            "it could not write its last snapshot, and may refuse writes; check the disk"
        ),
        RedisTrouble::Loading => {
            sentence!(l, "仍在加载数据，请稍后再试", "it still loads its data set; try again later")
        }
    }
}
