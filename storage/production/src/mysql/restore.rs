//! A mall put into an empty database, from the tables of a backup.
//!
//! While the restore lasts, the database has a mark, with which no mall opens it, and the next restore
//! empties it first: a restore that was cut short leaves nothing that could be taken for a mall.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::time::Duration;

use mallbox_storage::{
    Claim, DeadReason, LogPosition, LoggedClaim, OpenError, Orders as _, StoreError, Timestamp,
};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Value};
use tokio::time::{Instant, sleep, timeout};

use super::address::Address;
use super::columns::{execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::migrations::{self, LATEST_STEP, SchemaState};
use super::orders::MysqlOrders;
use super::snapshot::{columns, store, tables, tables_in_backup, unreachable, within};
use super::table_lines::{TableHead, row_in};
use super::{event_subscribers, first_connection, quoted};
use crate::copy_error::CopyError;

/// Rows per statement at most.
const ROWS_MAX: usize = 256;
/// Bytes per statement, but for a single row: below every server's limit for a packet.
const STATEMENT_BYTES: usize = 1 << 20;
/// Bound values per statement at most.
const VALUES_MAX: usize = 32_000;
/// Statements per transaction.
const STATEMENTS_PER_COMMIT: usize = 16;
/// Longest duration of all migrations; one that rebuilds a table takes its time.
const MIGRATION_MAX: Duration = Duration::from_secs(3_600);
/// Longest time for which a call is repeated that the server does not answer.
const SETTLING_MAX: Duration = Duration::from_secs(120);
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Claims per call.
const CLAIMS_AT_ONCE: usize = 500;
/// Settings of the connection: 0 is an id like any other.
const SETTINGS: [&str; 2] = [
    "SET SESSION wait_timeout = 3600, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
    "SET SESSION innodb_lock_wait_timeout = 50",
];

/// A restore into a database.
pub(crate) struct Restore {
    conn: Conn,
    address: Address,
    /// Tables of the schema that were not filled yet.
    missing: BTreeSet<String>,
}

impl Restore {
    /// Creates the database if it does not exist, and in it the schema of migration `step` without rows.
    /// Removes what a restore that was cut short has left.
    pub(crate) async fn begin(url: &str, step: u64) -> Result<Self, CopyError> {
        let address = Address::parse(url)?;
        let server = address.shown();
        let unfit = |detail: String| CopyError::from(OpenError::Unfit { server: server.clone(), detail });
        if step > LATEST_STEP {
            return Err(unfit(format!(
                "the backup has schema {step}, and this version supports up to {LATEST_STEP}; use a newer mallbox"
            )));
        }
        let mut conn =
            within(first_connection(&address)).await.map_err(|fault| unreachable(&address, &fault))?;
        if !prepare(&mut conn).await.map_err(store)? {
            return Err(unfit("another restore into it is running".to_owned()));
        }
        // No mall that starts at this moment finds the database empty.
        if !migrations::lock(&mut conn).await.map_err(store)? {
            return Err(unfit(migrations::MIGRATING.to_owned()));
        }
        match within(migrations::state(&mut conn)).await.map_err(store)? {
            SchemaState::Empty => {}
            SchemaState::Restoring => drop_tables(&mut conn).await.map_err(store)?,
            SchemaState::Foreign | SchemaState::At { .. } => {
                let detail = "it is not empty; restore into a new database, and start the mall on that";
                return Err(unfit(detail.to_owned()));
            }
        }
        within(migrations::begin_restore(&mut conn)).await.map_err(store)?;
        within(migrations::unlock(&mut conn)).await.map_err(store)?;
        let missing = create(&mut conn, step).await.map_err(store)?;
        Ok(Self { conn, address, missing })
    }

    /// Fills a table from its lines. Reports the bytes read since the last report.
    pub(crate) async fn load_table(
        &mut self,
        lines: impl BufRead,
        mut progress: impl FnMut(u64),
    ) -> Result<(), CopyError> {
        let mut lines = lines.lines();
        let head = lines.next().transpose()?.unwrap_or_default();
        progress(head.len() as u64 + 1);
        let bad_head = || CopyError::Input { table: String::new(), line: 1 };
        let head: TableHead = serde_json::from_str(&head).map_err(|_| bad_head())?;
        if !self.is_expected(&head).await.map_err(store)? {
            return Err(CopyError::Input { table: head.table, line: 1 });
        }
        let mut batch = Batch::of(&head);
        let mut statements = 0;
        for (number, line) in (2..).zip(lines) {
            let line = line?;
            let row = row_in(&line, head.columns.len());
            let row = row.ok_or_else(|| CopyError::Input { table: head.table.clone(), line: number })?;
            if batch.is_full_with(line.len()) {
                batch.insert(&mut self.conn, &mut statements).await.map_err(store)?;
            }
            batch.add(row, line.len());
            progress(line.len() as u64 + 1);
        }
        batch.insert(&mut self.conn, &mut statements).await.map_err(store)?;
        if statements > 0 {
            within(self.conn.query_drop("COMMIT")).await.map_err(store)?;
        }
        if let Some(next) = head.next_id {
            let sql = format!("ALTER TABLE {} AUTO_INCREMENT = {next}", quoted(&head.table));
            within(self.conn.query_drop(sql)).await.map_err(store)?;
        }
        Ok(())
    }

    /// Migrates the schema to this version, removes settings whose names begin with one of `forgotten`,
    /// stores `settings`, and settles the `claims` that were pending.
    pub(crate) async fn complete(
        &mut self,
        claims: &[Claim],
        forgotten: &[&str],
        settings: &[(&str, String)],
        now: Timestamp,
    ) -> Result<(), CopyError> {
        if let Some(table) = self.missing.first() {
            return Err(CopyError::MissingTable(table.clone()));
        }
        migrate(&mut self.conn, LATEST_STEP).await.map_err(store)?;
        let conn = &mut self.conn;
        let renewed = async {
            for beginning in forgotten {
                let sql = "DELETE FROM settings WHERE LEFT(name, CHAR_LENGTH(?)) = ?";
                execute(conn, sql, (beginning, beginning)).await?;
            }
            for (name, value) in settings {
                let sql =
                    "INSERT INTO settings (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = ?";
                execute(conn, sql, (name, value, value)).await?;
            }
            event_subscribers::are_any(conn).await
        };
        let writes_events = within(renewed).await.map_err(store)?;
        let database = Database::new(self.address.opts.clone(), self.address.place());
        let subscribers = database.subscribers();
        subscribers.read(subscribers.before_reading(), writes_events);
        let orders = MysqlOrders(database.clone());
        for claims in claims.chunks(CLAIMS_AT_ONCE) {
            settle(&orders, claims, now).await?;
        }
        database.close().await?;
        Ok(())
    }

    /// Removes the mark: from here on the database is that of a mall.
    pub(crate) async fn finish(mut self) -> Result<(), CopyError> {
        within(migrations::end_restore(&mut self.conn)).await.map_err(store)
    }

    /// Whether the schema has a table with these columns that was not filled yet.
    async fn is_expected(&mut self, head: &TableHead) -> Result<bool, MysqlError> {
        let is_missing = self.missing.remove(&head.table);
        Ok(is_missing && columns(&mut self.conn, &head.table).await? == head.columns)
    }
}

/// Sets the connection up. Returns whether no other restore into the database is running.
async fn prepare(conn: &mut Conn) -> Result<bool, MysqlError> {
    for setting in SETTINGS {
        within(conn.query_drop(setting)).await?;
    }
    let sql = "SELECT GET_LOCK(CONCAT('mallbox restore ', SHA1(DATABASE())), 0)";
    let got = within(first(conn, sql, (), |row| row.next::<Option<i64>>())).await?;
    Ok(got.flatten() == Some(1))
}

/// Creates the schema without rows. Returns the tables that a backup has to fill.
async fn create(conn: &mut Conn, step: u64) -> Result<BTreeSet<String>, MysqlError> {
    migrate(conn, step).await?;
    let expected = tables_in_backup();
    let mut missing = BTreeSet::new();
    for table in tables(conn).await?.into_iter().filter(|table| expected.contains(table.as_str())) {
        // Rows of the migrations. Unlike DELETE it meets no trigger of the audit log.
        within(conn.query_drop(format!("TRUNCATE TABLE {}", quoted(&table)))).await?;
        missing.insert(table);
    }
    Ok(missing)
}

async fn migrate(conn: &mut Conn, step: u64) -> Result<(), MysqlError> {
    let migrated = timeout(MIGRATION_MAX, migrations::apply_steps(conn, step)).await;
    migrated.unwrap_or(Err(MysqlError::Silence(MIGRATION_MAX)))
}

/// Drops all tables, the list with the mark last.
async fn drop_tables(conn: &mut Conn) -> Result<(), MysqlError> {
    let mut tables = tables(conn).await?;
    tables.sort_by_key(|table| table == "mallbox_schema");
    for table in tables {
        within(conn.query_drop(format!("DROP TABLE {}", quoted(&table)))).await?;
    }
    Ok(())
}

/// Rows on their way into a table.
struct Batch {
    /// The statement up to its rows, and the placeholders of a row.
    head: String,
    row: String,
    columns: usize,
    rows: usize,
    values: Vec<Value>,
    bytes: usize,
}

impl Batch {
    fn of(head: &TableHead) -> Self {
        let columns: Vec<String> = head.columns.iter().map(|column| quoted(column)).collect();
        Self {
            head: format!("INSERT INTO {} ({}) VALUES ", quoted(&head.table), columns.join(", ")),
            row: format!("({})", vec!["?"; columns.len()].join(", ")),
            columns: columns.len(),
            rows: 0,
            values: Vec::new(),
            bytes: 0,
        }
    }

    fn is_full_with(&self, bytes: usize) -> bool {
        let is_long = self.rows == ROWS_MAX || (self.rows + 1) * self.columns > VALUES_MAX;
        self.rows > 0 && (is_long || self.bytes + bytes > STATEMENT_BYTES)
    }

    fn add(&mut self, row: Vec<Value>, bytes: usize) {
        self.values.extend(row);
        self.rows += 1;
        self.bytes += bytes;
    }

    /// Inserts the rows, in a transaction of some statements.
    async fn insert(&mut self, conn: &mut Conn, statements: &mut usize) -> Result<(), MysqlError> {
        if self.rows == 0 {
            return Ok(());
        }
        if *statements == STATEMENTS_PER_COMMIT {
            within(conn.query_drop("COMMIT")).await?;
            *statements = 0;
        }
        if *statements == 0 {
            within(conn.query_drop("START TRANSACTION")).await?;
        }
        let sql = format!("{}{}", self.head, vec![self.row.as_str(); self.rows].join(", "));
        within(execute(conn, sql, std::mem::take(&mut self.values))).await?;
        *statements += 1;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

/// Makes orders or dead letters of claims, as an order worker does. Claims that the database knows stay as
/// they are.
async fn settle(orders: &MysqlOrders, claims: &[Claim], now: Timestamp) -> Result<(), StoreError> {
    let position = LogPosition { major: 0, minor: 0 };
    let logged = claims.iter().map(|claim| LoggedClaim { position, claim: *claim, attempts: 0 });
    let logged: Vec<LoggedClaim> = logged.collect();
    let mut parts = vec![&logged[..]];
    while let Some(part) = parts.pop() {
        match (patiently(|| orders.persist(part, now)).await, part) {
            (Ok(_), _) => {}
            (Err(StoreError::Refused { source, .. }), [claim]) => {
                let detail = source.to_string();
                patiently(|| orders.insert_dead_letter(claim, DeadReason::Refused, &detail, now)).await?;
            }
            (Err(StoreError::Refused { .. }), _) => {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
            }
            (Err(error), _) => return Err(error),
        }
    }
    Ok(())
}

/// Repeats a call while the server does not respond in time: the loading before may have left it with work.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let until = Instant::now() + SETTLING_MAX;
    loop {
        match call().await {
            Err(StoreError::Unavailable { .. }) if Instant::now() < until => sleep(RETRY_PAUSE).await,
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use mallbox_storage::UserId;
    use mallbox_test_servers::MariaDb;

    use super::*;
    use crate::mysql::snapshot::Snapshot;
    use crate::mysql::{connect, open};

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);
    /// An earlier schema.
    const EARLIER: u64 = 60;

    #[tokio::test(flavor = "multi_thread")]
    #[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
    async fn a_backup_of_an_earlier_schema_is_migrated() {
        let mariadb = MariaDb::start().unwrap();
        let url = mariadb.url("mall");
        let address = Address::parse(&url).unwrap();
        let mut conn = first_connection(&address).await.unwrap();
        migrations::apply_steps(&mut conn, EARLIER).await.unwrap();
        let user = "INSERT INTO users (id, phone, nick_name, icon, role, created_ms, updated_ms)
                    VALUES (7, '13800000007', '老用户', '', 0, 1, 1)";
        conn.query_drop(user).await.unwrap();
        let mut snapshot = Snapshot::begin(&url).await.unwrap();
        assert_eq!(snapshot.step(), EARLIER);
        let mut restore = Restore::begin(&mariadb.url("restored"), snapshot.step()).await.unwrap();
        for table in snapshot.tables() {
            let mut lines = Vec::new();
            let copied = snapshot.copy_table(&table, |piece| {
                lines.extend_from_slice(piece);
                Ok(())
            });
            copied.await.unwrap();
            restore.load_table(&lines[..], |_| {}).await.unwrap();
            // A table twice.
            let again = restore.load_table(&lines[..], |_| {}).await.unwrap_err();
            assert!(
                matches!(&again, CopyError::Input { table: named, line: 1 } if *named == table),
                "{again}"
            );
        }
        // No mall opens it before the end.
        let refused = connect(&mariadb.url("restored")).await.err().unwrap().to_string();
        assert!(refused.contains("a restore into it has not finished"), "{refused}");
        restore.complete(&[], &[], &[("incarnation", "1".to_owned())], NOW).await.unwrap();
        restore.finish().await.unwrap();
        let ports = connect(&mariadb.url("restored")).await.unwrap();
        assert_eq!(ports.users.get(UserId::new(7)).await.unwrap().unwrap().nick_name, "老用户");
        // The mall itself was not migrated.
        let mut conn = open(address.opts).await.unwrap();
        let SchemaState::At { step, .. } = migrations::state(&mut conn).await.unwrap() else {
            panic!("no mall");
        };
        assert_eq!(step, EARLIER);
    }

    #[tokio::test(flavor = "multi_thread")]
    #[cfg_attr(not(feature = "production-tests"), ignore = "needs mariadbd")]
    async fn a_table_that_is_missing_or_foreign_is_refused() {
        let mariadb = MariaDb::start().unwrap();
        let url = mariadb.url("restored");
        let later = Restore::begin(&url, LATEST_STEP + 1).await.err().unwrap().to_string();
        assert!(later.contains("use a newer mallbox"), "{later}");
        let mut restore = Restore::begin(&url, LATEST_STEP).await.unwrap();
        let second = Restore::begin(&url, LATEST_STEP).await.err().unwrap().to_string();
        assert!(second.contains("another restore into it is running"), "{second}");
        for (lines, line) in [
            ("", 1),
            ("{}\n", 1),
            (r#"{"table":"mallbox_schema","columns":["number","name"],"nextId":null}"#, 1),
            (r#"{"table":"of_others","columns":["id"],"nextId":null}"#, 1),
            (r#"{"table":"settings","columns":["value","name"],"nextId":null}"#, 1),
            (
                "{\"table\":\"settings\",\"columns\":[\"name\",\"value\"],\"nextId\":null}\n[\"a\",\"b\"]\n[\"c\"]\n",
                1,
            ),
            (
                "{\"table\":\"sequences\",\"columns\":[\"name\",\"day\",\"reserved\"],\"nextId\":null}\n[\"a\"]\n",
                2,
            ),
        ] {
            let refused = restore.load_table(lines.as_bytes(), |_| {}).await.unwrap_err();
            assert!(
                matches!(refused, CopyError::Input { line: found, .. } if found == line),
                "{lines}: {refused}"
            );
        }
        let incomplete = restore.complete(&[], &[], &[], NOW).await.unwrap_err();
        assert!(matches!(incomplete, CopyError::MissingTable(_)), "{incomplete}");
    }
}
