//! The [`ClaimGateways`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::{sales_in_row, sales_of_row};
use mallbox_storage::{
    AddGatewayOutcome, ClaimGateway, ClaimGatewayId, ClaimGateways, NewClaimGateway, StoreError, Timestamp,
    TokenHash, UserId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Database;
use super::columns::{get_count, get_id, get_time, id};
use super::errors::unreadable;

pub(crate) struct EmbeddedClaimGateways(Database);

impl EmbeddedClaimGateways {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Head of every query for gateways; [`gateway`] reads the columns.
const SELECT: &str = "SELECT id, name, operator_id, sales, created_ms, expires_ms FROM claim_gateways";

#[async_trait]
impl ClaimGateways for EmbeddedClaimGateways {
    async fn add(
        &self,
        gateway: &NewClaimGateway,
        most: u32,
        now: Timestamp,
    ) -> Result<AddGatewayOutcome, StoreError> {
        let gateway = gateway.clone();
        self.0.write("add claim gateway", move |conn| add(conn, &gateway, most, now)).await
    }

    async fn list(&self) -> Result<Vec<ClaimGateway>, StoreError> {
        let job = |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} ORDER BY id"))?.query_map([], gateway)?.collect()
        };
        self.0.read("claim gateways", job).await
    }

    async fn of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<ClaimGateway>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(&format!("{SELECT} WHERE token_hash = ?1 AND expires_ms > ?2"))?
                .query_row(params![token.0, now.as_millis()], gateway)
                .optional()
        };
        self.0.read("claim gateway of token", job).await
    }

    async fn remove(&self, gateway: ClaimGatewayId) -> Result<bool, StoreError> {
        let job = move |conn: &Connection| {
            let delete = "DELETE FROM claim_gateways WHERE id = ?1";
            Ok(conn.prepare_cached(delete)?.execute([id(gateway.get())])? > 0)
        };
        self.0.write("remove claim gateway", job).await
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        let job = move |conn: &Connection| {
            let delete = "DELETE FROM claim_gateways WHERE expires_ms < ?1";
            Ok(conn.prepare_cached(delete)?.execute([before.as_millis()])? as u64)
        };
        self.0.write("prune claim gateways", job).await
    }
}

fn add(
    conn: &Connection,
    gateway: &NewClaimGateway,
    most: u32,
    now: Timestamp,
) -> rusqlite::Result<AddGatewayOutcome> {
    let NewClaimGateway { name, token, operator, sales, expires } = gateway;
    if conn.prepare_cached("SELECT 1 FROM claim_gateways WHERE name = ?1")?.exists([name])? {
        return Ok(AddGatewayOutcome::NameTaken);
    }
    let count = conn
        .prepare_cached("SELECT COUNT(*) FROM claim_gateways WHERE expires_ms > ?1")?
        .query_row([now.as_millis()], |row| get_count(row, 0))?;
    if count >= u64::from(most) {
        return Ok(AddGatewayOutcome::TooMany);
    }
    conn.prepare_cached(
        "INSERT INTO claim_gateways (name, token_hash, operator_id, sales, created_ms, expires_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        name,
        token.0,
        id(operator.get()),
        sales_in_row(sales),
        now.as_millis(),
        expires.as_millis()
    ])?;
    Ok(AddGatewayOutcome::Added(ClaimGatewayId::new(conn.last_insert_rowid().cast_unsigned())))
}

fn gateway(row: &Row<'_>) -> rusqlite::Result<ClaimGateway> {
    let sales: String = row.get(3)?;
    Ok(ClaimGateway {
        id: ClaimGatewayId::new(get_id(row, 0)?),
        name: row.get(1)?,
        operator: UserId::new(get_id(row, 2)?),
        sales: sales_of_row(&sales).ok_or_else(|| unreadable(3, sales))?,
        created: get_time(row, 4)?,
        expires: get_time(row, 5)?,
    })
}
