//! The shops in MySQL.

use mallbox_bench_ports::BenchError;
use mysql_async::prelude::Queryable as _;

use crate::caches::shop_cache::SHOPS;
use crate::{HeldLoads, Servers};

const DROP: &str = "DROP TABLE IF EXISTS bench_shops";
const CREATE: &str =
    "CREATE TABLE bench_shops (id BIGINT UNSIGNED PRIMARY KEY, value BIGINT UNSIGNED NOT NULL)";

/// The table.
pub(super) struct ShopTable {
    servers: Servers,
    pub(super) loads: HeldLoads,
}

impl ShopTable {
    /// Creates the table with all shops, whose value is 1.
    pub(super) async fn create(servers: &Servers) -> Result<Self, BenchError> {
        let rows = (1..=SHOPS).map(|id| format!("({id},1)")).collect::<Vec<_>>().join(",");
        servers.run(&[DROP, CREATE, &format!("INSERT INTO bench_shops VALUES {rows}")]).await?;
        Ok(Self { servers: servers.clone(), loads: HeldLoads::default() })
    }

    /// Loads the value of a shop.
    pub(super) async fn load(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        self.loads.pass(self.read(shop)).await
    }

    /// Reads the value of a shop for a write: neither counted nor held.
    pub(super) async fn read(&self, shop: u64) -> Result<Option<u64>, BenchError> {
        let mut connection = self.servers.mysql.get_conn().await?;
        Ok(connection.exec_first("SELECT value FROM bench_shops WHERE id = ?", (shop,)).await?)
    }

    pub(super) async fn put(&self, shop: u64, value: u64) -> Result<(), BenchError> {
        let mut connection = self.servers.mysql.get_conn().await?;
        Ok(connection.exec_drop("UPDATE bench_shops SET value = ? WHERE id = ?", (value, shop)).await?)
    }

    pub(super) async fn remove(&self) -> Result<(), BenchError> {
        self.servers.run(&[DROP]).await
    }
}
