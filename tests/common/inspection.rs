//! Checks of a mall against the history of its clients: after a crash, and once everything is sold.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use mallbox_storage::VoucherId;
use mallbox_test_checker::{History, LedgerReport, Standing, State, judge};
use parking_lot::Mutex;

use super::aftermath::check_blobs;
use super::dice::Dice;
use super::rush::run_to_the_end;
use super::server::{self, Server};
use super::shoppers::{Behaviour, ShopperScript};

const CONNECTIONS: usize = 32;

/// Checks a mall without requests in flight. `verify` is the output of `mallbox verify --json`.
pub fn inspect(server: &Server, history: &History, operator: &str, verify: &Output) -> anyhow::Result<State> {
    let state = State::read(server.address, history, operator).with_context(|| server.stderr_tail())?;
    judge(history, &state, Some(&LedgerReport::of(verify)?)).passed()?;
    Ok(state)
}

/// Checks a mall in a directory with a `verify` while it runs.
pub fn inspect_in(server: &Server, data: &Path, history: &History, operator: &str) -> anyhow::Result<State> {
    inspect(server, history, operator, &server::verify_json(data)?)
}

/// Repeats every request without a response at the first address, and sells the remaining units at the last.
pub fn settle_and_sell_out<const N: usize>(
    addresses: [SocketAddr; N],
    history: &Arc<Mutex<History>>,
    sale: VoucherId,
    dice: &mut Dice,
) -> anyhow::Result<()> {
    for (behaviour, address) in [(Behaviour::Settle, addresses[0]), (Behaviour::SellOut, addresses[N - 1])] {
        let shoppers = ShopperScript::new(history, sale, behaviour, CONNECTIONS, dice.split());
        run_to_the_end(address, CONNECTIONS, shoppers).with_context(|| format!("{behaviour:?}"))?;
    }
    let history = history.lock();
    let (mut held, mut open) = (0, 0);
    for client in 0..history.clients.len() {
        match history.standing(client, sale.get()) {
            Standing::Free => {}
            Standing::Holding(_) | Standing::Paid(_) => held += 1,
            Standing::ClaimUnknown | Standing::StepUnknown(_) => open += 1,
        }
    }
    let units = history.sales.get(&sale.get()).copied().flatten();
    ensure!(open == 0, "{open} clients still do not know where they stand");
    ensure!(
        units == Some(held),
        "clients hold {held} of {units:?} units, and the others were told that none is left"
    );
    Ok(())
}

/// Settles requests in doubt, sells out, checks the mall, shuts it down gracefully, and verifies its
/// directory at rest.
pub fn finish(
    server: Server,
    data: &Path,
    history: &Arc<Mutex<History>>,
    sale: VoucherId,
    operator: &str,
    dice: &mut Dice,
) -> anyhow::Result<()> {
    settle_and_sell_out([server.address], history, sale, dice).with_context(|| server.stderr_tail())?;
    inspect_in(&server, data, &history.lock(), operator)?;
    server.stop()?;
    server::verify(data)?;
    check_blobs(data)
}
