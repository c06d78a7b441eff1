//! Manipulations of a mall's database from outside, reserved for tests.

use std::time::Duration;

use mallbox_test_patience as patience;
use mysql_async::prelude::Queryable as _;
use rusqlite::Connection;

use crate::ground::{Kind, MallLocation};

/// File name of an embedded mall's database.
const DATABASE_FILE: &str = "mall.sqlite";
/// Time limit for the mall's own writes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// SQL in the dialects of both databases.
#[derive(Clone, Copy, Debug)]
pub struct Sql<'a> {
    /// Statements for SQLite.
    pub sqlite: &'a str,
    /// Statements for MySQL, one per element.
    pub mysql: &'a [&'a str],
}

/// A database locked against other writers.
#[derive(Debug)]
#[must_use]
pub enum WriteLock {
    /// An SQLite connection in a write transaction.
    Sqlite(Connection),
    /// A MySQL connection in a write transaction.
    Mysql(mysql_async::Conn),
}

impl MallLocation {
    /// Runs one statement valid in both dialects.
    ///
    /// # Panics
    /// If the statement fails.
    pub fn sql(&self, sql: &str) {
        self.sql_of_each(Sql { sqlite: sql, mysql: &[sql] });
    }

    /// Runs the statements of the database's dialect.
    ///
    /// # Panics
    /// If a statement fails.
    pub fn sql_of_each(&self, sql: Sql<'_>) {
        match self.kind() {
            Kind::Directory { .. } => self.sqlite().execute_batch(sql.sqlite).expect(sql.sqlite),
            Kind::Servers { database, .. } => {
                database.run(sql.mysql).unwrap_or_else(|error| panic!("{:?}: {error}", sql.mysql));
            }
        }
    }

    /// Makes the database refuse new rows of a table that meet the condition, with the error text `words`.
    ///
    /// # Panics
    /// If the trigger cannot be created.
    pub fn refuse_rows(&self, table: &str, condition: &str, words: &str) {
        let drop_it = format!("DROP TRIGGER IF EXISTS refused_{table}");
        let create = format!("CREATE TRIGGER refused_{table} BEFORE INSERT ON {table}");
        let sqlite =
            format!("{drop_it}; {create} WHEN {condition} BEGIN SELECT RAISE(ABORT, '{words}'); END");
        let mysql = format!(
            "{create} FOR EACH ROW IF {condition} THEN
               SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{words}'; END IF"
        );
        self.sql_of_each(Sql { sqlite: &sqlite, mysql: &[&drop_it, &mysql] });
    }

    /// Makes the database accept new rows of the table again.
    ///
    /// # Panics
    /// If the trigger cannot be dropped.
    pub fn accept_rows(&self, table: &str) {
        self.sql(&format!("DROP TRIGGER refused_{table}"));
    }

    /// Holds a write transaction, so that no order can be written meanwhile.
    ///
    /// # Panics
    /// If the transaction cannot be started.
    pub async fn keep_busy(&self) -> WriteLock {
        match self.kind() {
            Kind::Directory { .. } => {
                let connection = self.sqlite();
                connection.execute_batch("BEGIN IMMEDIATE").expect("a record that is written to");
                WriteLock::Sqlite(connection)
            }
            Kind::Servers { database, .. } => {
                let mut conn = database.conn().await;
                for sql in ["START TRANSACTION", "SELECT * FROM sales FOR UPDATE"] {
                    conn.query_drop(sql).await.expect("a record that is written to");
                }
                WriteLock::Mysql(conn)
            }
        }
    }

    fn sqlite(&self) -> Connection {
        let Kind::Directory { options, .. } = self.kind() else { panic!("its record is not in a file") };
        let connection = Connection::open(options.dir.join(DATABASE_FILE)).expect("a record");
        connection.busy_timeout(patience::scaled(WRITE_TIMEOUT)).expect("a time that fits");
        connection
    }
}

impl WriteLock {
    /// Commits the transaction and allows writes again.
    ///
    /// # Panics
    /// If the database is gone.
    pub async fn end(self) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch("COMMIT").expect("a record"),
            Self::Mysql(mut conn) => conn.query_drop("COMMIT").await.expect("a record"),
        }
    }
}
