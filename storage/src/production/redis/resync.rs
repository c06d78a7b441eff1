//! A new epoch: it begins when the server turns out to be another one, and is opened when nothing is known only elsewhere.
//!
//! 1. **Begin**: the database gets the server's replication id, by compare-and-set. From here on every script of an earlier
//!    epoch is refused, or does not count. Behind sentinels only if most of them name this very server and no failover is
//!    under way: an old master that is back for a moment never gets an epoch.
//! 2. **Settle**: each instance writes what its workers have in hand to the database, and reports so. One that is not heard
//!    of for long counts as dead.
//! 3. **Forget**: what the server has of sales is dropped, and each sale is loaded from log and database when it is next
//!    asked for. What workers had in hand by the server's own log goes out again.
//! 4. **Open**: claims are taken.
//!
//! Each step may be done by several instances at once and by each again; an instance that dies in it is replaced by any other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::epochs::{Known, ServerEpochs};
use super::link::Repeat;
use super::order_log::{CLAIMS_AT_ONCE, GROUP, NOBODY};
use super::script::{FORGET_SALE, RESCUE, SERVER_ID};
use crate::production::{EpochScope, ServerEpoch};
use crate::{PARTITIONS, StoreError, VoucherId};

const OP: &str = "redis.resync";

/// Looks once at the server, and takes the next steps of a resync if there is one to be done.
pub(super) async fn round(epochs: &ServerEpochs) {
    let may_begin = follows_sentinels(epochs).await;
    let (known, was_refused) = (epochs.known(), epochs.take_refusal());
    let is_open = |scope| known.of(scope).is_some_and(|epoch| epoch.is_open);
    if !was_refused && EpochScope::all().all(is_open) {
        return;
    }
    match resync(epochs, may_begin).await {
        Ok(true) => {}
        Ok(false) => epochs.refused(),
        Err(error) => {
            tracing::debug!(%error, "Redis is still to be brought up to date");
            epochs.refused();
        }
    }
}

/// Whether this process is connected to the master that sentinels name, and no failover is under way. Leaves another one.
async fn follows_sentinels(epochs: &ServerEpochs) -> bool {
    let Some(sentinels) = &epochs.sentinels else { return true };
    let Some(word) = sentinels.word().await else { return false };
    match epochs.link.place() {
        Some((_, place)) if place == word.master => word.is_settled,
        Some((connection, _)) => {
            epochs.link.leave(connection);
            false
        }
        None => false,
    }
}

/// Begins and opens epochs as far as possible. `false` if something is still to be done.
async fn resync(epochs: &ServerEpochs, may_begin: bool) -> Result<bool, StoreError> {
    let mut known = epochs.read().await?;
    let servers = servers(epochs).await;
    let is_in_force =
        |known: &Known, scope, server: &String| known.of(scope).is_some_and(|epoch| epoch.server == *server);
    let mut others: BTreeMap<&String, Vec<(EpochScope, u64)>> = BTreeMap::new();
    for (scope, server) in servers.iter().filter(|(scope, server)| !is_in_force(&known, *scope, server)) {
        others.entry(server).or_default().push((*scope, known.of(*scope).map_or(0, |epoch| epoch.number)));
    }
    if !others.is_empty() {
        if !may_begin {
            return Ok(false);
        }
        for (server, scopes) in &others {
            epochs.rows.begin(scopes, server).await?;
            tracing::warn!(%server, scopes = scopes.len(), "Redis was restarted or replaced: a resync begins");
        }
        known = epochs.read().await?;
        epochs.hurry();
    }
    let is_superseded = servers.iter().any(|(scope, server)| !is_in_force(&known, *scope, server));
    if is_superseded && let Some((connection, _)) = epochs.link.place() {
        // A server that another one has followed. The next connection may lead to that.
        epochs.link.leave(connection);
    }
    let closed = servers.iter().filter(|(scope, server)| is_in_force(&known, *scope, server));
    let closed: Vec<Arc<ServerEpoch>> =
        closed.filter_map(|(scope, _)| known.of(*scope)).filter(|epoch| !epoch.is_open).cloned().collect();
    let is_open = open(epochs, &known, closed).await?;
    Ok(is_open && !is_superseded && servers.len() == EpochScope::all().count())
}

/// Opens closed epochs, unless somebody has something in hand of earlier ones.
async fn open(
    epochs: &ServerEpochs,
    known: &Known,
    closed: Vec<Arc<ServerEpoch>>,
) -> Result<bool, StoreError> {
    if closed.is_empty() {
        return Ok(true);
    }
    if epochs.rows.unsettled(known.generation, epochs.silence).await? > 0 {
        epochs.hurry();
        return Ok(false);
    }
    let mut sales = 0;
    for epoch in &closed {
        if epoch.scope != EpochScope::DEADLINES {
            let Some(forgotten) = forget(epochs, epoch).await? else { return Ok(false) };
            sales += forgotten;
        }
    }
    let keys: Vec<_> = closed.iter().map(|epoch| (epoch.scope, epoch.number)).collect();
    epochs.rows.open(&keys).await?;
    epochs.read().await?;
    if sales > 0 {
        tracing::warn!(
            sales,
            scopes = keys.len(),
            "Redis was restarted or replaced: its sales are loaded anew"
        );
    }
    Ok(true)
}

/// The replication id of each scope's server, of those that answer.
async fn servers(epochs: &ServerEpochs) -> Vec<(EpochScope, String)> {
    let key = |scope: EpochScope| match scope {
        EpochScope::DEADLINES => epochs.keys.deadlines(),
        scope => epochs.keys.sales(scope.get()),
    };
    let calls: Vec<_> = EpochScope::all().map(|scope| SERVER_ID.on([key(scope)])).collect();
    let ids = epochs.link.run_all::<Option<String>>(OP, Repeat::Safe, calls).await;
    EpochScope::all().zip(ids).filter_map(|(scope, id)| Some((scope, id.ok()??))).collect()
}

/// Lets a partition's server forget its sales, and hands out again what its log says is in hand. Returns how many sales;
/// `None` if the server is another one by now.
async fn forget(epochs: &ServerEpochs, epoch: &ServerEpoch) -> Result<Option<usize>, StoreError> {
    let partition = epoch.scope.get() % PARTITIONS;
    let members = epochs.keys.sales(partition);
    let mut command = redis::cmd("SMEMBERS");
    command.arg(&members);
    let sales: Vec<u64> = epochs.link.query(OP, Repeat::Safe, &command).await?;
    for sale in &sales {
        let keys = epochs.keys.sale(VoucherId::new(*sale));
        // It stays in the set: forgotten once too often is loaded once more, and nothing else.
        let call = FORGET_SALE.on(keys.of_units().into_iter().chain([&*members])).arg(*sale).arg(1);
        if epochs.run_in::<u64>(OP, Repeat::Safe, epoch, call).await?.is_none() {
            return Ok(None);
        }
    }
    let log = epochs.keys.log(partition);
    loop {
        let call = RESCUE.on([&log.log]).arg(GROUP).arg(NOBODY).arg(0).arg(CLAIMS_AT_ONCE);
        match epochs.run_in::<u64>(OP, Repeat::Safe, epoch, call).await? {
            None => return Ok(None),
            Some(0) => return Ok(Some(sales.len())),
            Some(_) => {}
        }
    }
}
