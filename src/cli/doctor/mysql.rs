//! What `doctor` reports about MySQL.

use mallbox_storage::Durability;
use mallbox_storage_production::ConnectFailure;
use mallbox_storage_production::mysql::{CommitSettings, MysqlInspection, SchemaState};

use super::machine::Finding;
use super::server_words::{clock_gap, failure, gap_words, same_time, version};
use crate::language::{Bilingual, Language, both, sentence};

const NAME: Bilingual = both("MySQL", "MySQL");

/// Returns the findings; only one if MySQL could not be inspected.
pub(super) fn findings(
    address: &str,
    inspected: Result<&MysqlInspection, &ConnectFailure>,
    l: Language,
) -> Vec<Finding> {
    let mysql = match inspected {
        Ok(mysql) => mysql,
        Err(cause) => return vec![(NAME, Err(failure(address, NAME, cause, l)))],
    };
    let mut findings = vec![
        (NAME, reached(address, mysql, l)),
        (both("MySQL版本", "MySQL version"), version(&mysql.version, mysql.support, l)),
        (both("MySQL数据库", "MySQL schema"), schema(mysql.schema, l)),
        (both("MySQL持久化", "MySQL commits"), commits(mysql.commits, l)),
        (both("MySQL连接", "MySQL room"), connections(mysql, l)),
    ];
    if mysql.logs_statements {
        findings.push((both("MySQL日志", "MySQL binlog"), Err(statements(l))));
    }
    if let Some(reading) = mysql.clock {
        let text =
            clock_gap(reading).map_or_else(|| same_time(l), |gap| unused_gap(&gap_words(gap, "MySQL", l), l));
        findings.push((both("MySQL时钟", "MySQL clock"), Ok(text)));
    }
    findings
}

fn reached(address: &str, mysql: &MysqlInspection, l: Language) -> Result<String, String> {
    if mysql.is_read_only {
        return Err(sentence!(
            l,
            "{address}为只读（read_only），可能是副本；请给出主服务器的地址",
            "{address} is read-only (read_only), perhaps a replica: pass the address of the primary server"
        ));
    }
    Ok(address.to_owned())
}

fn schema(state: SchemaState, l: Language) -> Result<String, String> {
    match state {
        SchemaState::Empty => {
            Ok(sentence!(l, "没有商城，启动时新建", "holds no mall; a start creates a new one"))
        }
        SchemaState::Foreign => Err(sentence!(
            l,
            "里面是其他程序的表；请为商城另选一个数据库",
            "contains tables of another program; use a separate database for mallbox"
        )),
        SchemaState::Restoring => Err(sentence!(
            l,
            "恢复没有完成；请重新运行mallbox restore，或删除这个数据库",
            "a restore into it has not finished; repeat mallbox restore, or drop the database"
        )),
        SchemaState::At { step, latest } if step > latest => Err(sentence!(
            l,
            "结构版本{step}，由更新的mallbox写成；这个版本只支持到{latest}，请使用更新的版本",
            "schema {step}, written by a newer mallbox; this version supports up to {latest}: use the newer version"
        )),
        SchemaState::At { step, latest } if step < latest => Ok(sentence!(
            l,
            "结构版本{step}，下次启动时迁移到{latest}；之后旧版本不能再启动",
            "schema {step}; the next start migrates it to {latest}, and earlier versions do not start any more"
        )),
        SchemaState::At { step, .. } => {
            Ok(sentence!(l, "结构版本{step}，与本程序一致", "schema {step}, the one of this version"))
        }
    }
}

fn commits(settings: CommitSettings, l: Language) -> Result<String, String> {
    let CommitSettings { flush_log, has_binary_log, sync_binlog } = settings;
    let mut text = format!("innodb_flush_log_at_trx_commit {flush_log}");
    if has_binary_log {
        text += &format!(", sync_binlog {sync_binlog}");
    }
    let remedy = if has_binary_log {
        "innodb_flush_log_at_trx_commit 1, sync_binlog 1"
    } else {
        "innodb_flush_log_at_trx_commit 1"
    };
    match settings.durability() {
        Durability::Power => Ok(sentence!(l, "{text}：断电不丢失订单", "{text}: a power cut loses no order")),
        Durability::Process => Err(sentence!(
            l,
            "{text}：断电会丢失最后片刻的订单；请设置{remedy}",
            "{text}: a power cut loses the last moments' orders; set {remedy}"
        )),
        _ => Err(sentence!(
            l,
            "{text}：MySQL崩溃或断电会丢失最后片刻的订单；请设置{remedy}",
            "{text}: a crash of MySQL or a power cut loses the last moments' orders; set {remedy}"
        )),
    }
}

fn connections(mysql: &MysqlInspection, l: Language) -> Result<String, String> {
    let MysqlInspection {
        connections_max: max, connections_taken: taken, connections_needed: needed, ..
    } = mysql;
    let text = sentence!(
        l,
        "可容纳{max}个连接，已用{taken}个；一个进程最多用{needed}个",
        "room for {max} connections, {taken} taken; a process may need {needed}"
    );
    if taken + needed > *max {
        return Err(sentence!(
            l,
            "{text}：请调高max_connections或max_prepared_stmt_count，或在地址中调低pool_max",
            "{text}: raise max_connections or max_prepared_stmt_count, or lower pool_max in the URL"
        ));
    }
    Ok(text)
}

fn statements(l: Language) -> String {
    sentence!(
        l,
        "binlog_format STATEMENT：MySQL会拒绝商城的写入；请设置binlog_format ROW",
        "binlog_format STATEMENT: MySQL refuses the mall's writes; set binlog_format ROW"
    )
}

/// Tells a difference of clocks, which no rule of a mall depends on.
fn unused_gap(gap: &str, l: Language) -> String {
    sentence!(l, "{gap}；商城不依赖MySQL的时钟", "{gap}; a mall does not depend on the clock of MySQL")
}
