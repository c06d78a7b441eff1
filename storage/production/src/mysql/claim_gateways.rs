//! [`ClaimGateways`] in MySQL.

use async_trait::async_trait;
use mallbox_storage::backend::{sales_in_row, sales_of_row};
use mallbox_storage::{
    AddGatewayOutcome, ClaimGateway, ClaimGatewayId, ClaimGateways, NewClaimGateway, StoreError, Timestamp,
    TokenHash, UserId,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::job::boxed;

pub(super) struct MysqlClaimGateways(pub(super) Database);

/// Head of every query for gateways; [`gateway`] reads the columns.
const SELECT: &str = "SELECT id, name, operator_id, sales, created_ms, expires_ms FROM claim_gateways";

#[async_trait]
impl ClaimGateways for MysqlClaimGateways {
    async fn add(
        &self,
        gateway: &NewClaimGateway,
        most: u32,
        now: Timestamp,
    ) -> Result<AddGatewayOutcome, StoreError> {
        self.0
            .write("add claim gateway", |conn| boxed(async move { add(conn, gateway, most, now).await }))
            .await
    }

    async fn list(&self) -> Result<Vec<ClaimGateway>, StoreError> {
        let sql: &str = &format!("{SELECT} ORDER BY id");
        self.0.read("claim gateways", |conn| boxed(async move { all(conn, sql, (), gateway).await })).await
    }

    async fn of_token(&self, token: TokenHash, now: Timestamp) -> Result<Option<ClaimGateway>, StoreError> {
        let sql: &str = &format!("{SELECT} WHERE token_hash = ? AND expires_ms > ?");
        let which = (token.0.to_vec(), now.as_millis());
        self.0
            .read("claim gateway of token", |conn| {
                let which = which.clone();
                boxed(async move { first(conn, sql, which, gateway).await })
            })
            .await
    }

    async fn remove(&self, gateway: ClaimGatewayId) -> Result<bool, StoreError> {
        let sql = "DELETE FROM claim_gateways WHERE id = ?";
        let removed = self
            .0
            .write_at_once("remove claim gateway", |conn| {
                boxed(async move { execute(conn, sql, (gateway.get(),)).await })
            })
            .await?;
        Ok(removed > 0)
    }

    async fn prune(&self, before: Timestamp) -> Result<u64, StoreError> {
        let sql = "DELETE FROM claim_gateways WHERE expires_ms < ?";
        self.0
            .write_at_once("prune claim gateways", |conn| {
                boxed(async move { execute(conn, sql, (before.as_millis(),)).await })
            })
            .await
    }
}

async fn add(
    conn: &mut Conn,
    gateway: &NewClaimGateway,
    most: u32,
    now: Timestamp,
) -> Result<AddGatewayOutcome, MysqlError> {
    let NewClaimGateway { name, token, operator, sales, expires } = gateway;
    let sql = "SELECT id FROM claim_gateways WHERE name = ?";
    if first(conn, sql, (name,), Columns::next::<u64>).await?.is_some() {
        return Ok(AddGatewayOutcome::NameTaken);
    }
    let sql = "SELECT COUNT(*) FROM claim_gateways WHERE expires_ms > ?";
    let count = first(conn, sql, (now.as_millis(),), Columns::count).await?;
    if count.unwrap_or_default() >= u64::from(most) {
        return Ok(AddGatewayOutcome::TooMany);
    }
    let sql = "INSERT INTO claim_gateways (name, token_hash, operator_id, sales, created_ms, expires_ms)
               VALUES (?, ?, ?, ?, ?, ?)";
    let row =
        (name, token.0.to_vec(), operator.get(), sales_in_row(sales), now.as_millis(), expires.as_millis());
    match execute(conn, sql, row).await {
        Err(fault) if fault.is_duplicate_key() => {
            // Added by another instance meanwhile, unless the token is the duplicate.
            let sql = "SELECT id FROM claim_gateways WHERE name = ? LOCK IN SHARE MODE";
            let taken = first(conn, sql, (name,), Columns::next::<u64>).await?;
            return taken.map(|_| AddGatewayOutcome::NameTaken).ok_or(fault);
        }
        done => done?,
    };
    Ok(AddGatewayOutcome::Added(ClaimGatewayId::new(conn.last_insert_id().unwrap_or_default())))
}

fn gateway(row: &mut Columns) -> Result<ClaimGateway, MysqlError> {
    Ok(ClaimGateway {
        id: ClaimGatewayId::new(row.next()?),
        name: row.next()?,
        operator: UserId::new(row.next()?),
        sales: {
            let sales: String = row.next()?;
            sales_of_row(&sales).ok_or_else(|| row.unreadable_last(sales))?
        },
        created: row.time()?,
        expires: row.time()?,
    })
}
