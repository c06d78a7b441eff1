//! The start of a new epoch. An epoch begins when Redis turns out to be another server, and opens once all
//! claims that only workers know are in the database.
//!
//! 1. **Begin**: a compare-and-set stores the server's replication id in the database. From here on, every
//!    script of an earlier epoch is refused, or does not count. Behind sentinels, most sentinels must name
//!    this very server and no failover may be under way. So an old master that comes back for a moment never
//!    gets an epoch.
//! 2. **Settle**: each instance writes its workers' claims to the database, and reports completion. An
//!    instance without a heartbeat for long counts as dead.
//! 3. **Forget**: the server's sales are dropped, and each sale is loaded from log and database on the next
//!    access. Claims that are in hand by the server's own log are re-queued.
//! 4. **Open**: the server takes claims.
//!
//! Several instances may run each step concurrently and repeatedly. If an instance dies, any other continues.
//!
//! Reasons and figures: `storage/decisions/0017-redis-epochs.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use mallbox_storage::{PARTITIONS, StoreError, VoucherId};
use tokio::time::timeout;

use super::epochs::{CachedEpochs, RESYNC_WAIT, ServerEpochs, poll};
use super::link::Idempotence;
use super::log_entries::{CLAIMS_AT_ONCE, GROUP, RETURNED_CLAIMS};
use super::script::{FORGET_SALE, RESCUE, SERVER_ID};
use crate::{EpochScope, ServerEpoch};

const OP: &str = "redis.resync";

/// Reads the epochs, begins the first epochs if there are none, and starts the background tasks.
pub(super) async fn start(epochs: &Arc<ServerEpochs>) {
    let _ = epochs.read().await;
    let _ = timeout(RESYNC_WAIT, round(epochs)).await;
    epochs.link.runtime().spawn(poll(Arc::downgrade(epochs)));
    epochs.link.runtime().spawn(check_server_periodically(Arc::downgrade(epochs)));
}

/// Checks the connected server periodically, and drives resyncs.
async fn check_server_periodically(epochs: Weak<ServerEpochs>) {
    while let Some(epochs) = epochs.upgrade() {
        round(&epochs).await;
        epochs.end_round();
        let pause = epochs.pause();
        drop(epochs);
        pause.await;
    }
}

/// Checks the server once, and takes the next steps of a resync if needed.
async fn round(epochs: &ServerEpochs) {
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
            tracing::debug!(%error, "could not finish the resync of Redis yet");
            epochs.refused();
        }
    }
}

/// Returns whether this process is connected to the master named by the sentinels, with no failover under
/// way. Drops a connection to any other server.
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

/// Begins and opens epochs as far as possible. `false` if steps remain.
async fn resync(epochs: &ServerEpochs, may_begin: bool) -> Result<bool, StoreError> {
    let mut known = epochs.read().await?;
    let servers = servers(epochs).await;
    let is_in_force = |known: &CachedEpochs, scope, server: &String| {
        known.of(scope).is_some_and(|epoch| epoch.server == *server)
    };
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
            tracing::warn!(%server, scopes = scopes.len(), "Redis was restarted or replaced: began a resync");
        }
        known = epochs.read().await?;
        epochs.hurry();
    }
    let is_superseded = servers.iter().any(|(scope, server)| !is_in_force(&known, *scope, server));
    if is_superseded && let Some((connection, _)) = epochs.link.place() {
        // Another server has superseded this one. The next connection may lead to the newer server.
        epochs.link.leave(connection);
    }
    let closed = servers.iter().filter(|(scope, server)| is_in_force(&known, *scope, server));
    let closed: Vec<Arc<ServerEpoch>> =
        closed.filter_map(|(scope, _)| known.of(*scope)).filter(|epoch| !epoch.is_open).cloned().collect();
    let is_open = open(epochs, &known, closed).await?;
    Ok(is_open && !is_superseded && servers.len() == EpochScope::all().count())
}

/// Opens closed epochs, unless an instance has claims of earlier epochs in hand. `false` if epochs stay
/// closed.
async fn open(
    epochs: &ServerEpochs,
    known: &CachedEpochs,
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
            "Redis was restarted or replaced: dropped its sales, to be loaded on the next access"
        );
    }
    Ok(true)
}

/// Returns the replication id of each scope's server. Unreachable servers are left out.
async fn servers(epochs: &ServerEpochs) -> Vec<(EpochScope, String)> {
    let key = |scope: EpochScope| match scope {
        EpochScope::DEADLINES => epochs.keys.deadlines(),
        scope => epochs.keys.sales(scope.get()),
    };
    let calls: Vec<_> = EpochScope::all().map(|scope| SERVER_ID.on([key(scope)])).collect();
    let ids = epochs.link.run_all::<Option<String>>(OP, Idempotence::Safe, calls).await;
    EpochScope::all().zip(ids).filter_map(|(scope, id)| Some((scope, id.ok()??))).collect()
}

/// Drops the sales of a partition's server, and re-queues the claims that are in hand by the server's log.
/// Returns the number of sales; `None` if the server is another one by now.
async fn forget(epochs: &ServerEpochs, epoch: &ServerEpoch) -> Result<Option<usize>, StoreError> {
    let partition = epoch.scope.get() % PARTITIONS;
    let (members, token) = (epochs.keys.sales(partition), epochs.keys.token_of_forgotten(partition));
    let mut command = redis::cmd("SMEMBERS");
    command.arg(&members);
    let sales: Vec<u64> = epochs.link.query(OP, Idempotence::Safe, &command).await?;
    for sale in &sales {
        let keys = epochs.keys.sale(VoucherId::new(*sale));
        // The sale stays in the set. Forgetting a sale once too often only costs another load.
        let call = FORGET_SALE.on(keys.of_units().into_iter().chain([&*members, &*token])).arg(*sale).arg(1);
        if epochs.run_in::<u64>(OP, Idempotence::Safe, epoch, call).await?.is_none() {
            return Ok(None);
        }
    }
    let log = epochs.keys.log(partition);
    loop {
        let call = RESCUE.on([&log.log]).arg(GROUP).arg(RETURNED_CLAIMS).arg(0).arg(CLAIMS_AT_ONCE);
        match epochs.run_in::<u64>(OP, Idempotence::Safe, epoch, call).await? {
            None => return Ok(None),
            Some(0) => return Ok(Some(sales.len())),
            Some(_) => {}
        }
    }
}
