//! The sentence of a start after a run that was not stopped in order.

use mallbox_storage::{Recovery, Timestamp};

use super::output::print;
use crate::http::App;
use crate::language::{Language, sentence};
use crate::mall::Context;
use crate::mall::base::wall_time;

/// Prints and logs that the last run was not stopped in order, if so, and what the start did about it.
pub(super) async fn report(app: &App, l: Language) {
    let Some(recovery) = app.context.storage.base.upkeep.health().await.recovery else { return };
    let words = |l| words(&recovery, app.last_run, &app.context, l);
    print(&format!("{}\n", words(l)));
    let took_ms = u64::try_from(recovery.took.as_millis()).unwrap_or(u64::MAX);
    tracing::warn!(took_ms, commits = recovery.commits, claims = recovery.claims, "{}", words(Language::En));
}

/// Returns the sentence. `last_run`: the last stored time of that run.
fn words(recovery: &Recovery, last_run: Option<Timestamp>, context: &Context, l: Language) -> String {
    let ended = match last_run {
        Some(at) => {
            let at = wall_time::spaced(at, &context.zone);
            sentence!(l, "最后记录的时间是{at}", "its last stored time is {at}")
        }
        None => sentence!(l, "没有记录时间", "it stored no time"),
    };
    let checked = if recovery.is_database_checked {
        sentence!(l, "并检查了数据库", "and checked the database")
    } else {
        sentence!(
            l,
            "数据库达到或超过256MiB，没有检查",
            "and did not check the database, which is 256 MiB or larger"
        )
    };
    let Recovery { commits, claims, .. } = recovery;
    let ms = recovery.took.as_millis();
    sentence!(
        l,
        "上次运行没有正常结束（{ended}）：恢复用了{ms}毫秒，重读了订单日志的{commits}次提交，\
         {claims}次抢购重新排队，{checked}",
        "the last run did not end in order ({ended}): the recovery took {ms} ms, read {commits} commits of the \
         order log again, queued {claims} claims again, {checked}"
    )
}
