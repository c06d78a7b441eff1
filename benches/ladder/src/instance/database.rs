//! The database as a rung sees it: each statement is an event.

use std::fmt::Write as _;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, TxOpts};

use super::request::Request;
use crate::error::LadderError;
use crate::trace::Server;

/// Connections of an instance: one for each concurrent request of a trigger or a rush, and some for workers.
const CONNECTIONS_MAX: usize = 80;

/// The database.
#[derive(Debug)]
pub(crate) struct Database {
    pool: Pool,
}

impl Database {
    pub(super) fn new(url: &str) -> Result<Self, LadderError> {
        let constraints = PoolConstraints::new(1, CONNECTIONS_MAX).unwrap_or_default();
        let options = OptsBuilder::from_opts(Opts::from_url(url)?)
            .pool_opts(PoolOpts::new().with_constraints(constraints));
        Ok(Self { pool: Pool::new(options) })
    }

    /// Returns the first number of the first row; a statement of its own.
    pub(crate) async fn number(
        &self,
        request: &Request,
        sql: &str,
        values: &[i64],
    ) -> Result<Option<i64>, LadderError> {
        let mut connection = self.pool.get_conn().await?;
        number(&mut connection, request, sql, values).await
    }

    /// Returns the first number of each row; a statement of its own.
    pub(crate) async fn numbers(
        &self,
        request: &Request,
        sql: &str,
        values: &[i64],
    ) -> Result<Vec<i64>, LadderError> {
        let began = request.calling();
        let found: Vec<i64> = self.pool.get_conn().await?.exec(sql, parameters(values)).await?;
        request.called(began, Server::Database, || (filled(sql, values), format!("{} rows", found.len())));
        Ok(found)
    }

    /// Runs a statement of its own. Returns the number of changed rows.
    pub(crate) async fn run(&self, request: &Request, sql: &str, values: &[i64]) -> Result<u64, LadderError> {
        let mut connection = self.pool.get_conn().await?;
        run(&mut connection, request, sql, values).await
    }

    /// Begins a transaction with the server's isolation level, repeatable read.
    pub(crate) async fn begin<'r>(&self, request: &'r Request) -> Result<Transaction<'r>, LadderError> {
        self.begin_with(request, TxOpts::new()).await
    }

    /// Begins a transaction with the options given.
    pub(crate) async fn begin_with<'r>(
        &self,
        request: &'r Request,
        options: TxOpts,
    ) -> Result<Transaction<'r>, LadderError> {
        let transaction = self.pool.start_transaction(options).await?;
        Ok(Transaction { transaction, request })
    }

    /// Returns a connection of its own, for locks that belong to a connection.
    pub(crate) async fn session(&self) -> Result<Conn, LadderError> {
        Ok(self.pool.get_conn().await?)
    }
}

/// A transaction. Dropping it rolls it back.
pub(crate) struct Transaction<'r> {
    transaction: mysql_async::Transaction<'static>,
    request: &'r Request,
}

impl Transaction<'_> {
    /// Returns the first number of the first row.
    pub(crate) async fn number(&mut self, sql: &str, values: &[i64]) -> Result<Option<i64>, LadderError> {
        number(&mut self.transaction, self.request, sql, values).await
    }

    /// Runs a statement. Returns the number of changed rows.
    pub(crate) async fn run(&mut self, sql: &str, values: &[i64]) -> Result<u64, LadderError> {
        run(&mut self.transaction, self.request, sql, values).await
    }

    /// Commits the transaction.
    pub(crate) async fn commit(self) -> Result<(), LadderError> {
        let began = self.request.calling();
        self.transaction.commit().await?;
        self.request.called(began, Server::Database, || ("COMMIT".to_owned(), "OK".to_owned()));
        Ok(())
    }

    /// Rolls the transaction back.
    pub(crate) async fn roll_back(self) -> Result<(), LadderError> {
        let began = self.request.calling();
        self.transaction.rollback().await?;
        self.request.called(began, Server::Database, || ("ROLLBACK".to_owned(), "OK".to_owned()));
        Ok(())
    }
}

/// Returns the first number of the first row.
pub(crate) async fn number(
    connection: &mut impl mysql_async::prelude::Queryable,
    request: &Request,
    sql: &str,
    values: &[i64],
) -> Result<Option<i64>, LadderError> {
    let began = request.calling();
    let row: Option<mysql_async::Row> = connection.exec_first(sql, parameters(values)).await?;
    let found = row.and_then(|mut row| row.take::<Option<i64>, _>(0)).flatten();
    request.called(began, Server::Database, || {
        (filled(sql, values), found.map_or_else(|| "no row".to_owned(), |number| number.to_string()))
    });
    Ok(found)
}

/// Runs a statement. Returns the number of changed rows.
pub(crate) async fn run(
    connection: &mut impl mysql_async::prelude::Queryable,
    request: &Request,
    sql: &str,
    values: &[i64],
) -> Result<u64, LadderError> {
    let began = request.calling();
    let changed = connection.exec_iter(sql, parameters(values)).await?.affected_rows();
    request.called(began, Server::Database, || {
        (filled(sql, values), format!("{changed} {}", if changed == 1 { "row" } else { "rows" }))
    });
    Ok(changed)
}

fn parameters(values: &[i64]) -> mysql_async::Params {
    if values.is_empty() {
        return mysql_async::Params::Empty;
    }
    mysql_async::Params::Positional(values.iter().map(|value| (*value).into()).collect())
}

/// Returns the statement with its values in place.
fn filled(sql: &str, values: &[i64]) -> String {
    let mut text = String::new();
    let mut values = values.iter();
    for part in sql.split_inclusive('?') {
        match part.strip_suffix('?').zip(values.next()) {
            Some((before, value)) => {
                let _ = write!(text, "{before}{value}");
            }
            None => text.push_str(part),
        }
    }
    text
}
