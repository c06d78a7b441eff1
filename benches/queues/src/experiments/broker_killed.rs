//! A broker that is killed (SIGKILL) with a backlog, and started again with its data.
//!
//! Five messages are done. A hundred are accepted and wait, without a consumer, when the broker is killed.

use std::collections::BTreeSet;

use crate::error::QueueError;
use crate::expected::EXPECTED;
use crate::protocol::Role;
use crate::question::Question;
use crate::servers::Append;
use crate::stage::Stage;
use crate::verdict::{Finding, losses};
use crate::ways::{Component, Way};

const DONE: u64 = 5;
const WAITING: u64 = 100;

pub(super) fn run(stage: &Stage, way: &'static Way) -> Result<Vec<Finding>, QueueError> {
    if !stage.may_harm() && way.component != Component::Process {
        return Ok(Vec::new());
    }
    let settings = [
        (Question::BrokerWithoutLog, Append::No),
        (Question::BrokerEverySecond, Append::EverySecond),
        (Question::BrokerAlways, Append::Always),
    ];
    let asked = settings.into_iter().filter(|(question, _)| EXPECTED.arises(way.name, *question));
    asked.map(|(question, append)| killed(stage, way, question, append)).collect()
}

fn killed(
    stage: &Stage,
    way: &'static Way,
    question: Question,
    append: Append,
) -> Result<Finding, QueueError> {
    let mut crew = stage.crew_at(way, append, None)?;
    let done: Vec<u64> = (1..=DONE).collect();
    crew.exchange(Role::First, &done)?;
    crew.kill(Role::First)?;
    let accepted = crew.fill(DONE + 1, WAITING, 0)?;
    match way.component {
        Component::Process => {}
        Component::Redis | Component::RedisAndMysql => stage.servers().crash_redis(append)?,
        Component::Mysql => stage.servers().crash_mysql()?,
    }
    crew.kill(Role::Producer)?;
    let received = crew.consume_all(Role::Heir)?;
    crew.leave()?;
    let different: BTreeSet<u64> = received.iter().copied().collect();
    let waited = different.iter().filter(|number| **number > DONE).count();
    let lost = usize::try_from(accepted).unwrap_or(usize::MAX).saturating_sub(waited);
    let repeated = received.len() - waited;
    let setting = match way.component {
        Component::Process => "the process was killed",
        Component::Mysql => "innodb_flush_log_at_trx_commit 1",
        Component::Redis | Component::RedisAndMysql => append.name(),
    };
    let detail = format!("{setting}: {lost} of {accepted} waiting messages lost, {repeated} repeated");
    Ok(Finding::new(question, losses(lost, repeated), detail))
}
