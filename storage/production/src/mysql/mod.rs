//! The MySQL half of the production back end: the database of users, shops, vouchers, orders and payments,
//! and the counter of order numbers.
//!
//! `Database` is the connection pool. Every port in this module hands a few statements to the pool. Any
//! number of processes write at once. Unique keys and row locks prevent double writes. Row locks are always
//! taken in the order order, payment, sale. The exception is a batch with something unusual in it: the batch
//! locks only sales, by id, before reading anything else.
//!
//! # MySQL 8
//!
//! All tests run on MariaDB 10.11; **on MySQL 8 the module is unproven**, though written to suit both:
//!
//! - generated columns are `STORED`, with a unique index over them; expressions use only `CASE`;
//! - the collation is named: `utf8mb4_bin`. On both servers, a comparison pads the shorter text with spaces;
//! - no `RETURNING`, no `INSERT … SET`, no sequences, no `FOR UPDATE OF`. `SKIP LOCKED`, of the
//!   retry queue alone, wants MySQL 8.0.1 or MariaDB 10.6;
//! - no `VALUES()` and no alias of a new row in `ON DUPLICATE KEY UPDATE` (each is either deprecated or known
//!   to only one of the two servers): values are bound twice;
//! - the isolation level is set by `SET … TRANSACTION ISOLATION LEVEL`, since the variable has two names;
//!   with a binary log, READ COMMITTED wants `binlog_format` ROW (the default of MySQL) or MIXED (the default
//!   of MariaDB);
//! - `GET_LOCK` and the locks of an import hold on one server. With several writable servers (Galera, group
//!   replication), start or import with one process first;
//! - the error numbers of a violated check (3819 and 4025), of a snapshot that is too old (1020, MariaDB) and
//!   of a full disk differ; `errors` has both;
//! - `caching_sha2_password` without TLS asks the server for its public key; the driver does so
//!   automatically.

mod address;
mod archive;
mod attempts;
mod audit;
mod cash;
mod claim_batches;
mod claim_gateways;
mod columns;
mod comments;
mod counts;
mod credits;
mod database;
mod dead_letter_rows;
mod dead_letters;
mod dedicated_connection;
mod epochs;
mod errors;
mod event_rows;
mod event_subscribers;
mod events;
mod feed_rows;
mod follows;
mod foreign_query;
mod holders;
mod import;
mod inspection;
mod job;
mod ledger;
mod liked;
mod likes;
mod metrics;
mod migrations;
mod multi_row;
mod notes;
mod order_rows;
mod orders;
mod outbox;
mod payments;
mod persist;
mod personal_data;
mod picture_files;
mod pictures;
mod purchases;
mod reports;
mod restore;
mod retry_rows;
mod retry_tasks;
mod review_rows;
mod reviews;
mod sale_records;
mod sale_rows;
mod second_factors;
mod sequences;
mod server_settings;
mod shop_ratings;
mod shops;
mod sign_ins;
mod snapshot;
mod steps;
mod stock_changes;
mod table_lines;
mod terms_fence;
mod transaction_mode;
mod upkeep;
mod user_batches;
mod user_rows;
mod users;
mod verdict;
mod vote_lines;
mod vote_rows;
mod votes;
mod vouchers;
mod waiting_lists;
mod waves;

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::backend::FeedRows;
use mallbox_storage::{
    Archive, Attempts, Audit, CashSessions, ClaimBatches, ClaimGateways, Comments, Credits, DeadLetters,
    EventSubscribers, Events, Follows, Import, LedgerRows, Likes, Notes, OpenError, Orders, Outbox,
    PaymentRows, PersonalData, Pictures, Reports, RetryTasks, Reviews, SecondFactors, Sequences, Shops,
    StoreError, Users, VoteLines, Votes, Vouchers, WaitingLists, Waves,
};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Opts};
use tokio::time::{Instant, sleep, timeout};

pub(super) use self::address::Address;
use self::address::PREPARED_STATEMENTS_MAX;
use self::database::Database;
use self::errors::MysqlError;
pub(super) use self::foreign_query::query_numbers;
pub use self::inspection::MysqlInspection;
pub(super) use self::inspection::inspect;
pub use self::metrics::MysqlMetrics;
use self::migrations::MigrationError;
pub use self::migrations::SchemaState;
pub(super) use self::restore::Restore;
pub use self::server_settings::CommitSettings;
use self::server_settings::ConnectionCapacity;
pub(super) use self::snapshot::Snapshot;
pub use self::upkeep::MysqlUpkeep;
use super::{EpochRows, Holders, SignRows};

/// Longest wait for the first connection to a server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause between attempts while the server has no free connection.
const CONNECTION_RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Interval between log entries about the wait for a connection.
const CONNECTION_WAIT_LOG_INTERVAL: Duration = Duration::from_secs(10);
const NO_SUCH_DATABASE: u16 = 1049;

/// The ports that MySQL implements.
pub struct MysqlPorts {
    /// Users, their cards and their rights.
    pub users: Arc<dyn Users>,
    /// Credits of users, and levels set by operators.
    pub credits: Arc<dyn Credits>,
    /// Followers and followees of users.
    pub follows: Arc<dyn Follows>,
    /// Follows and notes, from which feeds are built. Redis caches the newest entries.
    pub feed_rows: Arc<dyn FeedRows>,
    /// Likes of notes and comments.
    pub likes: Arc<dyn Likes>,
    /// Notes and their moderation.
    pub notes: Arc<dyn Notes>,
    /// Comments on notes.
    pub comments: Arc<dyn Comments>,
    /// Reviews of shops.
    pub reviews: Arc<dyn Reviews>,
    /// Votes for reviews.
    pub votes: Arc<dyn Votes>,
    /// The ledger of votes as a whole.
    pub vote_lines: Arc<dyn VoteLines>,
    /// Readers' reports of notes, comments and reviews.
    pub reports: Arc<dyn Reports>,
    /// Shops and shop types.
    pub shops: Arc<dyn Shops>,
    /// Vouchers and their sales.
    pub vouchers: Arc<dyn Vouchers>,
    /// Timetables of sales.
    pub waves: Arc<dyn Waves>,
    /// Orders of all vouchers.
    pub orders: Arc<dyn Orders>,
    /// Rows for the ledger check.
    pub ledger: Arc<dyn LedgerRows>,
    /// Outbox entries of closed orders: units to release in Redis.
    pub outbox: Arc<dyn Outbox>,
    /// Claims that could not become orders.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Payments of orders.
    pub payments: Arc<dyn PaymentRows>,
    /// Cash sessions of tills, and Z reports.
    pub cash: Arc<dyn CashSessions>,
    /// Waiting lists of sold-out sales.
    pub waiting_lists: Arc<dyn WaitingLists>,
    /// The decision log of judged sales.
    pub attempts: Arc<dyn Attempts>,
    /// Servers of others that may claim for users.
    pub claim_gateways: Arc<dyn ClaimGateways>,
    /// Their batches of claims.
    pub claim_batches: Arc<dyn ClaimBatches>,
    /// Second factors of operators.
    pub second_factors: Arc<dyn SecondFactors>,
    /// Personal data of one user, and deletion of the account.
    pub personal_data: Arc<dyn PersonalData>,
    /// Pictures uploaded by users.
    pub pictures: Arc<dyn Pictures>,
    /// The audit log of operators' actions.
    pub audit: Arc<dyn Audit>,
    /// Archived days of ledgers.
    pub archive: Arc<dyn Archive>,
    /// Import of a whole mall.
    pub import: Arc<dyn Import>,
    /// Tasks of the retry queue.
    pub retry_tasks: Arc<dyn RetryTasks>,
    /// Counters, reserved in blocks.
    pub sequences: Arc<dyn Sequences>,
    /// Events: what happened in the mall.
    pub events: Arc<dyn Events>,
    /// Subscribers of events.
    pub event_subscribers: Arc<dyn EventSubscribers>,
    /// Replication epochs: the Redis server in force.
    pub epochs: Arc<dyn EpochRows>,
    /// Holders of a sale's units, for the resync of Redis.
    pub holders: Arc<dyn Holders>,
    /// Sign-ins of users, for the resync of Redis.
    pub sign_rows: Arc<dyn SignRows>,
    /// Settings, health and shutdown of the database.
    pub upkeep: MysqlUpkeep,
}

/// Connects, creates the database if it does not exist, and migrates the schema to this version. The current
/// runtime drives the connections from then on, and has to outlive the ports.
///
/// `url` is described at [`ProductionOptions`](super::ProductionOptions). While the server has no free
/// connection, this call waits without a limit, as the calls of an open mall do. The wait is logged at once
/// and every ten seconds.
///
/// # Errors
/// [`OpenError`]: the URL is invalid, the server does not respond or refuses the login, or the database
/// belongs to another program or to a newer mallbox.
pub async fn connect(url: &str) -> Result<MysqlPorts, OpenError> {
    connect_within(url, None).await
}

/// Connects like [`connect`], but waits at most `wait` for a free connection; `None` means no limit.
///
/// # Errors
/// The errors of [`connect`]; [`OpenError::NoConnection`] after `wait`.
pub async fn connect_within(url: &str, wait: Option<Duration>) -> Result<MysqlPorts, OpenError> {
    let address = Address::parse(url)?;
    let unreachable = |error: MysqlError| OpenError::Unreachable {
        server: address.shown(),
        source: error.to_string().into(),
    };
    let mut crowd =
        ConnectionWait { server: address.shown(), began: Instant::now(), wait_max: wait, logged: None };
    let mut conn = loop {
        match first_connection(&address).await {
            Ok(conn) => break conn,
            Err(fault) => crowd.wait(fault).await?,
        }
    };
    migrations::apply(&mut conn).await.map_err(|unfit| match unfit {
        MigrationError::Because(detail) => OpenError::Unfit { server: address.shown(), detail },
        MigrationError::Trouble(fault) => unreachable(fault),
    })?;
    let commits = server_settings::commit_settings(&mut conn).await.map_err(unreachable)?;
    let writes_events = event_subscribers::are_any(&mut conn).await.map_err(unreachable)?;
    let capacity = server_settings::connection_capacity(&mut conn).await.map_err(unreachable)?;
    if let Some(words) = connection_limit_warning(capacity, address.pool_max()) {
        tracing::warn!(server = address.shown(), "{words}");
    }
    drop(conn);
    let database = Database::new(address.opts.clone(), address.place());
    let subscribers = database.subscribers();
    subscribers.read(subscribers.before_reading(), writes_events);
    // The pool keeps the connection, so that the first reads of a starting mall find one.
    while let Err(fault) = database.first_call().await {
        crowd.wait(fault).await?;
    }
    Ok(MysqlPorts {
        users: Arc::new(users::MysqlUsers::new(database.clone())),
        credits: Arc::new(credits::MysqlCredits(database.clone())),
        follows: Arc::new(follows::MysqlFollows(database.clone())),
        feed_rows: Arc::new(feed_rows::MysqlFeedRows(database.clone())),
        likes: Arc::new(likes::MysqlLikes::new(database.clone())),
        notes: Arc::new(notes::MysqlNotes(database.clone())),
        comments: Arc::new(comments::MysqlComments(database.clone())),
        reviews: Arc::new(reviews::MysqlReviews(database.clone())),
        votes: Arc::new(votes::MysqlVotes(database.clone())),
        vote_lines: Arc::new(vote_lines::MysqlVoteLines(database.clone())),
        reports: Arc::new(reports::MysqlReports(database.clone())),
        shops: Arc::new(shops::MysqlShops(database.clone())),
        vouchers: Arc::new(vouchers::MysqlVouchers(database.clone())),
        waves: Arc::new(waves::MysqlWaves(database.clone())),
        orders: Arc::new(orders::MysqlOrders(database.clone())),
        ledger: Arc::new(ledger::MysqlLedgerRows(database.clone())),
        outbox: Arc::new(outbox::MysqlOutbox(database.clone())),
        dead_letters: Arc::new(dead_letters::MysqlDeadLetters(database.clone())),
        payments: Arc::new(payments::MysqlPayments(database.clone())),
        cash: Arc::new(cash::MysqlCashSessions(database.clone())),
        waiting_lists: Arc::new(waiting_lists::MysqlWaitingLists(database.clone())),
        attempts: Arc::new(attempts::MysqlAttempts(database.clone())),
        claim_gateways: Arc::new(claim_gateways::MysqlClaimGateways(database.clone())),
        claim_batches: Arc::new(claim_batches::MysqlClaimBatches(database.clone())),
        second_factors: Arc::new(second_factors::MysqlSecondFactors(database.clone())),
        personal_data: Arc::new(personal_data::MysqlPersonalData(database.clone())),
        pictures: Arc::new(pictures::MysqlPictures(database.clone())),
        audit: Arc::new(audit::MysqlAudit(database.clone())),
        archive: Arc::new(archive::MysqlArchive(database.clone())),
        import: Arc::new(import::MysqlImport(database.clone())),
        retry_tasks: Arc::new(retry_tasks::MysqlRetryTasks(database.clone())),
        sequences: Arc::new(sequences::MysqlSequences::new(database.clone())),
        events: Arc::new(events::MysqlEvents(database.clone())),
        event_subscribers: Arc::new(event_subscribers::MysqlEventSubscribers(database.clone())),
        epochs: Arc::new(epochs::MysqlEpochs(database.clone())),
        holders: Arc::new(holders::MysqlHolders(database.clone())),
        sign_rows: Arc::new(sign_ins::MysqlSignIns(database.clone())),
        upkeep: MysqlUpkeep { database, address: address.place(), durability: commits.durability() },
    })
}

/// The state of a startup that waits for a free connection.
struct ConnectionWait {
    server: String,
    began: Instant,
    wait_max: Option<Duration>,
    logged: Option<Instant>,
}

impl ConnectionWait {
    /// Returns when the next attempt is due.
    ///
    /// # Errors
    /// [`OpenError::Unreachable`] with the fault, unless the fault is a lack of free connections;
    /// [`OpenError::NoConnection`] after `wait_max`.
    async fn wait(&mut self, fault: MysqlError) -> Result<(), OpenError> {
        let (server, waited) = (self.server.clone(), self.began.elapsed());
        if !fault.is_connection_limit() {
            return Err(OpenError::Unreachable { server, source: fault.to_string().into() });
        }
        if self.wait_max.is_some_and(|wait_max| waited >= wait_max) {
            return Err(OpenError::NoConnection { server, waited, source: fault.to_string().into() });
        }
        if self.logged.is_none_or(|logged| logged.elapsed() >= CONNECTION_WAIT_LOG_INTERVAL) {
            let waited_s = waited.as_secs();
            tracing::warn!(server, waited_s, %fault, "waiting for a free connection: raise max_connections of the server, or lower pool_max of other processes");
            self.logged = Some(Instant::now());
        }
        sleep(CONNECTION_RETRY_PAUSE).await;
        Ok(())
    }
}

async fn first_connection(address: &Address) -> Result<Conn, MysqlError> {
    match open(address.opts.clone()).await {
        Err(MysqlError::Driver(Error::Server(server_error))) if server_error.code == NO_SUCH_DATABASE => {
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

/// Quotes a database name, because a name cannot be bound. Between backticks only the backtick has a meaning.
fn quoted(database: &str) -> String {
    format!("`{}`", database.replace('`', "``"))
}

/// Returns `url` with another database name.
pub(super) fn with_database(url: &str, database: &str) -> Result<String, OpenError> {
    // Ensures that the part cut off below is a database name.
    let _ = Address::parse(url)?;
    let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
    let server = place.rsplit_once('/').map_or(place, |(server, _)| server);
    let url = format!("{server}/{database}");
    Ok(query.map_or(url.clone(), |query| format!("{url}?{query}")))
}

/// Returns the server's counters since its start.
pub(super) async fn figures_of(url: &str) -> Result<MysqlMetrics, StoreError> {
    let asked = async { metrics::read(&mut open(server_of(url)?.0).await?).await };
    asked.await.map_err(|fault: MysqlError| fault.into_store_error("figures"))
}

/// Returns the number of tables in the database; 0 if there is none of that name.
pub(super) async fn tables_of(url: &str) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?";
    let counted = async {
        let (server, database) = server_of(url)?;
        let mut conn = open(server).await?;
        Ok(conn.exec_first(SQL, (database,)).await?.unwrap_or(0))
    };
    counted.await.map_err(|fault: MysqlError| fault.into_store_error("count tables"))
}

/// Drops the database, without a time limit.
pub(super) async fn drop_database(url: &str) -> Result<(), StoreError> {
    let dropped = async {
        let (server, database) = server_of(url)?;
        let mut conn = open(server).await?;
        Ok(conn.query_drop(format!("DROP DATABASE IF EXISTS {}", quoted(&database))).await?)
    };
    dropped.await.map_err(|fault: MysqlError| fault.into_store_error("drop database"))
}

/// Returns the options for the server, and the database name from the URL.
fn server_of(url: &str) -> Result<(Opts, String), MysqlError> {
    let address = Address::parse(url).map_err(|error| MysqlError::refused(error.to_string()))?;
    Ok((address.of_server(), address.database))
}

async fn open(opts: Opts) -> Result<Conn, MysqlError> {
    let conn = timeout(CONNECT_TIMEOUT, Conn::new(opts)).await;
    Ok(conn.map_err(|_| MysqlError::Silence(CONNECT_TIMEOUT))??)
}

/// Returns a warning for a pool that may not get all its connections.
fn connection_limit_warning(capacity: ConnectionCapacity, pool: usize) -> Option<String> {
    let ConnectionCapacity { room, taken } = capacity;
    (!capacity.suffices_for(pool)).then(|| {
        format!(
            "MySQL has room for {room} connections; {taken} are taken, and this process may need {pool}: raise \
             max_connections or max_prepared_stmt_count ({PREPARED_STATEMENTS_MAX} a connection) there, or lower pool_max in the URL"
        )
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
            let words = connection_limit_warning(ConnectionCapacity { room, taken }, pool);
            assert_eq!(words.is_some(), is_said, "{room}, {taken}, {pool}: {words:?}");
        }
        assert!(
            connection_limit_warning(ConnectionCapacity { room: 151, taken: 144 }, 16)
                .unwrap()
                .contains("room for 151 connections; 144 are taken")
        );
    }

    /// One connection more than the server's own limits allow fails for want of a connection, not of
    /// statements.
    #[test]
    fn connections_run_out_before_prepared_statements_do() {
        const OF_A_SERVER: (usize, usize) = (151, 16_382);
        assert!(OF_A_SERVER.1 / PREPARED_STATEMENTS_MAX > OF_A_SERVER.0);
    }
}
