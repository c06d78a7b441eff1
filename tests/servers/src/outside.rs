//! What a test does to a mall's record from outside, as nobody else does.

use std::time::Duration;

use mallbox_test_patience as patience;
use mysql_async::prelude::Queryable as _;
use rusqlite::Connection;

use crate::ground::{Ground, Kind, MALL};

/// The file of an embedded mall's record.
const RECORD: &str = "mall.sqlite";
/// For the mall's own writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// SQL, in the words of each record.
#[derive(Clone, Copy, Debug)]
pub struct Sql<'a> {
    /// Of SQLite.
    pub sqlite: &'a str,
    /// Of MySQL: one statement each.
    pub mysql: &'a [&'a str],
}

/// A record that others cannot write to at present.
#[derive(Debug)]
#[must_use]
pub enum Busy {
    /// In a file.
    Sqlite(Connection),
    /// On a server.
    Mysql(mysql_async::Conn),
}

impl Ground {
    /// Runs one statement that each record understands.
    ///
    /// # Panics
    /// If it fails.
    pub fn sql(&self, sql: &str) {
        self.sql_of_each(Sql { sqlite: sql, mysql: &[sql] });
    }

    /// Runs SQL.
    ///
    /// # Panics
    /// If it fails.
    pub fn sql_of_each(&self, sql: Sql<'_>) {
        match self.kind() {
            Kind::Directory(_) => self.sqlite().execute_batch(sql.sqlite).expect(sql.sqlite),
            Kind::Servers(database) => {
                database.run(sql.mysql).unwrap_or_else(|error| panic!("{:?}: {error}", sql.mysql));
            }
        }
    }

    /// The record refuses from now on new rows of this table for which the condition holds, in these words.
    ///
    /// # Panics
    /// If it cannot be made to.
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

    /// The record takes new rows of this table again.
    ///
    /// # Panics
    /// If it cannot be made to.
    pub fn take_rows(&self, table: &str) {
        self.sql(&format!("DROP TRIGGER refused_{table}"));
    }

    /// Somebody else writes, and takes long: no order is written meanwhile.
    ///
    /// # Panics
    /// If nobody can.
    pub async fn keep_busy(&self) -> Busy {
        match self.kind() {
            Kind::Directory(_) => {
                let connection = self.sqlite();
                connection.execute_batch("BEGIN IMMEDIATE").expect("a record that is written to");
                Busy::Sqlite(connection)
            }
            Kind::Servers(database) => {
                let mut conn = database.conn().await;
                for sql in ["START TRANSACTION", "SELECT * FROM sales FOR UPDATE"] {
                    conn.query_drop(sql).await.expect("a record that is written to");
                }
                Busy::Mysql(conn)
            }
        }
    }

    fn sqlite(&self) -> Connection {
        let Kind::Directory(dir) = self.kind() else { panic!("its record is not in a file") };
        let connection = Connection::open(dir.path().join(MALL).join(RECORD)).expect("a record");
        connection.busy_timeout(patience::scaled(PATIENCE)).expect("a time that fits");
        connection
    }
}

impl Busy {
    /// It can be written to again.
    ///
    /// # Panics
    /// If the record is gone.
    pub async fn end(self) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch("COMMIT").expect("a record"),
            Self::Mysql(mut conn) => conn.query_drop("COMMIT").await.expect("a record"),
        }
    }
}
