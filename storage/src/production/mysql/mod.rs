//! The half of the production back end that is in MySQL: the record, the truth about people, shops, vouchers, orders and
//! payments; and the numbers of orders.
//!
//! [`Database`] is the pool of connections. Every port here is a few statements handed to it. Any number of processes write
//! at once: what must not be done twice is kept apart by unique keys and by locks on rows, always taken in the order
//! order, payment, sale, or else (a batch that met something unusual) sales alone, by id, before anything else is looked
//! at.
//!
//! # MySQL 8
//!
//! Everything here is run on MariaDB 10.11; **on MySQL 8 it is unproven**, though it is written to suit both:
//!
//! - generated columns are `STORED`, with a unique index over them; expressions are `CASE` alone;
//! - the collation is named: `utf8mb4_bin`. It compares as if shorter texts were filled up with spaces, in both;
//! - no `RETURNING`, no `INSERT … SET`, no sequences, no `FOR UPDATE OF`, no `SKIP LOCKED`;
//! - no `VALUES()` and no alias of a new row in `ON DUPLICATE KEY UPDATE` (each is known to one of them alone, or frowned
//!   upon): values are bound twice;
//! - the level of isolation is set by `SET … TRANSACTION ISOLATION LEVEL`, since its variable has two names;
//!   READ COMMITTED wants `binlog_format` ROW (MySQL's own) or MIXED (MariaDB's own) where there is a binary log;
//! - `GET_LOCK` and the locks of an import are one server's: with several that take writes (Galera, group replication) let
//!   one process start first, or import;
//! - numbers of a broken check (3819 and 4025), of a snapshot that is too old (1020, MariaDB) and of a full disk differ;
//!   `trouble` has both;
//! - `caching_sha2_password` without TLS asks the server for its public key; the driver does that by itself.

mod address;
mod apart;
mod audit;
mod burial;
mod columns;
mod comments;
mod counts;
mod database;
mod dead_letters;
mod epochs;
mod feed_rows;
mod figures;
mod follows;
mod form;
mod holders;
mod import;
mod job;
mod ledger;
mod likes;
mod many;
mod migrations;
mod notes;
mod orders;
mod outbox;
mod payments;
mod persist;
mod pictures;
mod purchases;
mod reports;
mod sale_rows;
mod sequences;
mod shops;
mod sign_ins;
mod steps;
mod stock_changes;
mod trouble;
mod upkeep;
mod users;
mod verdict;
mod vouchers;

use std::sync::Arc;
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Opts};
use tokio::time::{Instant, sleep, timeout};

use self::address::{Address, STATEMENTS};
use self::database::Database;
pub use self::figures::MysqlFigures;
use self::migrations::Unfit;
use self::trouble::Fault;
pub use self::upkeep::MysqlUpkeep;
use super::{EpochRows, Holders, SignRows};
use crate::feeds::FeedRows;
use crate::{
    Audit, Comments, DeadLetters, Durability, Follows, Import, LedgerRows, Likes, Notes, OpenError, Orders,
    Outbox, PaymentRows, Pictures, Reports, Sequences, Shops, StoreError, Users, Vouchers,
};

/// How long a server may take to take the first connection.
const FIRST_CONNECTION: Duration = Duration::from_secs(5);
/// How often a server that has no connection free is asked again.
const CROWDED_PAUSE: Duration = Duration::from_millis(200);
/// How often the log says so.
const CROWDED_LOGGED_EVERY: Duration = Duration::from_secs(10);
const NO_SUCH_DATABASE: u16 = 1049;

/// The ports that are in MySQL.
pub struct MysqlPorts {
    /// People.
    pub users: Arc<dyn Users>,
    /// Who follows whom.
    pub follows: Arc<dyn Follows>,
    /// What is asked for feeds, of which Redis has the newest.
    pub feed_rows: Arc<dyn FeedRows>,
    /// Who likes what.
    pub likes: Arc<dyn Likes>,
    /// Notes.
    pub notes: Arc<dyn Notes>,
    /// Comments on notes.
    pub comments: Arc<dyn Comments>,
    /// What readers report.
    pub reports: Arc<dyn Reports>,
    /// Shops.
    pub shops: Arc<dyn Shops>,
    /// Vouchers and sales.
    pub vouchers: Arc<dyn Vouchers>,
    /// Orders.
    pub orders: Arc<dyn Orders>,
    /// Rows for the ledger check.
    pub ledger: Arc<dyn LedgerRows>,
    /// What closed orders ask for.
    pub outbox: Arc<dyn Outbox>,
    /// Claims that did not become orders.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Payments.
    pub payments: Arc<dyn PaymentRows>,
    /// What people upload.
    pub pictures: Arc<dyn Pictures>,
    /// What operators did.
    pub audit: Arc<dyn Audit>,
    /// The way in for a whole mall.
    pub import: Arc<dyn Import>,
    /// Counters.
    pub sequences: Arc<dyn Sequences>,
    /// Which Redis server is the one that counts.
    pub epochs: Arc<dyn EpochRows>,
    /// Who holds units of a sale, for Redis to be told.
    pub holders: Arc<dyn Holders>,
    /// Who signed in, for Redis to be told.
    pub sign_rows: Arc<dyn SignRows>,
    /// The record as a whole.
    pub upkeep: MysqlUpkeep,
}

/// Connects, makes the database if it is not there, and brings it to this version's form. The current runtime drives the
/// connections from then on, and has to outlive the ports.
///
/// `url` is as [`ProductionOptions`](super::ProductionOptions) has it. While the server has no connection free, this waits for
/// one without a limit, as calls of an open mall do, and logs it at once and every ten seconds.
///
/// # Errors
/// [`OpenError`]: the URL cannot be read, the server does not answer or refuses the login, or the database is another
/// program's or a newer mallbox's.
pub async fn connect(url: &str) -> Result<MysqlPorts, OpenError> {
    connect_within(url, None).await
}

/// As [`connect`], but waits for free connections no longer than `wait`, if there is a limit.
///
/// # Errors
/// As [`connect`]; [`OpenError::NoConnection`] after `wait`.
pub async fn connect_within(url: &str, wait: Option<Duration>) -> Result<MysqlPorts, OpenError> {
    let address = Address::parse(url)?;
    let unreachable =
        |error: Fault| OpenError::Unreachable { server: address.shown(), source: error.to_string().into() };
    let mut crowd = Crowd { server: address.shown(), began: Instant::now(), wait_max: wait, logged: None };
    let mut conn = loop {
        match first_connection(&address).await {
            Ok(conn) => break conn,
            Err(fault) => crowd.wait(fault).await?,
        }
    };
    migrations::apply(&mut conn).await.map_err(|unfit| match unfit {
        Unfit::Because(detail) => OpenError::Unfit { server: address.shown(), detail },
        Unfit::Trouble(fault) => unreachable(fault),
    })?;
    let durability = durability(&mut conn).await.map_err(unreachable)?;
    let (room, taken) = room(&mut conn).await.map_err(unreachable)?;
    if let Some(words) = crowding(room, taken, address.opts.pool_opts().constraints().max()) {
        tracing::warn!(server = address.shown(), "{words}");
    }
    drop(conn);
    let database = Database::new(address.opts.clone(), address.place());
    // The pool keeps it: whoever reads while the mall starts finds a connection.
    while let Err(fault) = database.first_call().await {
        crowd.wait(fault).await?;
    }
    Ok(MysqlPorts {
        users: Arc::new(users::MysqlUsers(database.clone())),
        follows: Arc::new(follows::MysqlFollows(database.clone())),
        feed_rows: Arc::new(feed_rows::MysqlFeedRows(database.clone())),
        likes: Arc::new(likes::MysqlLikes::new(database.clone())),
        notes: Arc::new(notes::MysqlNotes(database.clone())),
        comments: Arc::new(comments::MysqlComments(database.clone())),
        reports: Arc::new(reports::MysqlReports(database.clone())),
        shops: Arc::new(shops::MysqlShops(database.clone())),
        vouchers: Arc::new(vouchers::MysqlVouchers(database.clone())),
        orders: Arc::new(orders::MysqlOrders(database.clone())),
        ledger: Arc::new(ledger::MysqlLedgerRows(database.clone())),
        outbox: Arc::new(outbox::MysqlOutbox(database.clone())),
        dead_letters: Arc::new(dead_letters::MysqlDeadLetters(database.clone())),
        payments: Arc::new(payments::MysqlPayments(database.clone())),
        pictures: Arc::new(pictures::MysqlPictures(database.clone())),
        audit: Arc::new(audit::MysqlAudit(database.clone())),
        import: Arc::new(import::MysqlImport(database.clone())),
        sequences: Arc::new(sequences::MysqlSequences::new(database.clone())),
        epochs: Arc::new(epochs::MysqlEpochs(database.clone())),
        holders: Arc::new(holders::MysqlHolders(database.clone())),
        sign_rows: Arc::new(sign_ins::MysqlSignIns(database.clone())),
        upkeep: MysqlUpkeep { database, address: address.place(), durability },
    })
}

/// A start that waits for one of the server's connections.
struct Crowd {
    server: String,
    began: Instant,
    wait_max: Option<Duration>,
    logged: Option<Instant>,
}

impl Crowd {
    /// Returns when another try is worth it.
    ///
    /// # Errors
    /// [`OpenError::Unreachable`] with the fault, unless it says that no connection is free; [`OpenError::NoConnection`] if
    /// that has been so for `wait_max`.
    async fn wait(&mut self, fault: Fault) -> Result<(), OpenError> {
        let (server, waited) = (self.server.clone(), self.began.elapsed());
        if !fault.is_crowded() {
            return Err(OpenError::Unreachable { server, source: fault.to_string().into() });
        }
        if self.wait_max.is_some_and(|wait_max| waited >= wait_max) {
            return Err(OpenError::NoConnection { server, waited, source: fault.to_string().into() });
        }
        if self.logged.is_none_or(|logged| logged.elapsed() >= CROWDED_LOGGED_EVERY) {
            let waited_s = waited.as_secs();
            tracing::warn!(server, waited_s, %fault, "waiting for a free connection: raise max_connections of the server, or lower pool_max of other processes");
            self.logged = Some(Instant::now());
        }
        sleep(CROWDED_PAUSE).await;
        Ok(())
    }
}

async fn first_connection(address: &Address) -> Result<Conn, Fault> {
    match open(address.opts.clone()).await {
        Err(Fault::Driver(Error::Server(said))) if said.code == NO_SUCH_DATABASE => {
            let mut conn = open(address.of_server()).await?;
            let name = quoted(&address.database);
            let sql = format!(
                "CREATE DATABASE IF NOT EXISTS {name} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
            );
            conn.query_drop(sql).await?;
            open(address.opts.clone()).await
        }
        other => other,
    }
}

/// A database's name cannot be bound; between these quotes only the quote itself has a meaning.
fn quoted(database: &str) -> String {
    format!("`{}`", database.replace('`', "``"))
}

/// The same server with another database.
pub(super) fn with_database(url: &str, database: &str) -> Result<String, OpenError> {
    // So that what is cut below has a database.
    let _ = Address::parse(url)?;
    let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
    let server = place.rsplit_once('/').map_or(place, |(server, _)| server);
    let url = format!("{server}/{database}");
    Ok(query.map_or(url.clone(), |query| format!("{url}?{query}")))
}

/// What the server has done so far.
pub(super) async fn figures_of(url: &str) -> Result<MysqlFigures, StoreError> {
    let asked = async { figures::figures(&mut open(server_of(url)?.0).await?).await };
    asked.await.map_err(|fault: Fault| fault.explain("figures"))
}

/// Drops the database, however long that takes.
pub(super) async fn drop_database(url: &str) -> Result<(), StoreError> {
    let dropped = async {
        let (server, database) = server_of(url)?;
        let mut conn = open(server).await?;
        Ok(conn.query_drop(format!("DROP DATABASE IF EXISTS {}", quoted(&database))).await?)
    };
    dropped.await.map_err(|fault: Fault| fault.explain("drop database"))
}

/// The server, and the database that is named beside it.
fn server_of(url: &str) -> Result<(Opts, String), Fault> {
    let address = Address::parse(url).map_err(|error| Fault::refused(error.to_string()))?;
    Ok((address.of_server(), address.database))
}

async fn open(opts: Opts) -> Result<Conn, Fault> {
    let conn = timeout(FIRST_CONNECTION, Conn::new(opts)).await;
    Ok(conn.map_err(|_| Fault::Silence(FIRST_CONNECTION))??)
}

/// How many connections the server has room for, with what each of ours keeps prepared; and how many others there are.
async fn room(conn: &mut Conn) -> Result<(usize, usize), Fault> {
    let limits: Option<(usize, usize)> =
        conn.query_first("SELECT @@max_connections, @@max_prepared_stmt_count").await?;
    let connected: Option<(String, usize)> =
        conn.query_first("SHOW GLOBAL STATUS LIKE 'Threads_connected'").await?;
    let room = limits.map_or(usize::MAX, |(connections, prepared)| connections.min(prepared / STATEMENTS));
    // This one ends before the first of the pool begins.
    Ok((room, connected.map_or(0, |(_, connections)| connections.saturating_sub(1))))
}

/// What to say of a pool that may not find room. Others may open more of theirs later: nobody knows how many there will be.
fn crowding(room: usize, taken: usize, pool: usize) -> Option<String> {
    (taken + pool > room).then(|| {
        format!(
            "MySQL has room for {room} connections; {taken} are taken, and this process may need {pool}: raise \
             max_connections or max_prepared_stmt_count ({STATEMENTS} a connection) there, or lower pool_max in the URL"
        )
    })
}

/// What an answer of this server is worth when the machine goes: InnoDB's log has to be on the disk, and where there is a
/// binary log, that too: what is missing there is rolled back when the server starts.
async fn durability(conn: &mut Conn) -> Result<Durability, Fault> {
    let sql = "SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog";
    let found = columns::first(conn, sql, (), |row| Ok((row.next()?, row.next()?, row.next()?)));
    Ok(match found.await? {
        Some((1 | 3, 0, _) | (1 | 3, _, 1)) => Durability::Power,
        Some((0, _, _)) | None => Durability::Relaxed,
        Some((_, _, _)) => Durability::Process,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_may_not_find_room_is_said() {
        for (room, taken, pool, is_said) in
            [(151, 135, 16, false), (151, 136, 16, true), (15, 0, 16, true), (0, 0, 1, true)]
        {
            let words = crowding(room, taken, pool);
            assert_eq!(words.is_some(), is_said, "{room}, {taken}, {pool}: {words:?}");
        }
        assert!(crowding(151, 144, 16).unwrap().contains("room for 151 connections; 144 are taken"));
    }

    /// One connection more than the server's own limits allow fails for want of a connection, not of statements.
    #[test]
    fn connections_run_out_before_prepared_statements_do() {
        const OF_A_SERVER: (usize, usize) = (151, 16_382);
        assert!(OF_A_SERVER.1 / STATEMENTS > OF_A_SERVER.0);
    }
}
