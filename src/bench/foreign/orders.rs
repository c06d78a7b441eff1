//! How many orders a mall has written.

use anyhow::{Context as _, bail};
use mallbox_storage::VoucherId;
use mallbox_storage_production::foreign;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::faults::{DialectError, check_placeholders, check_pointer, check_request};
use super::target::Target;
use super::template::{Placeholder, RequestTemplate, filled};
use crate::bench::load::exchange;

/// Where the number of orders of a sale is found: a query or a request.
#[derive(Clone, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::bench) struct OrdersRecipe {
    /// Query in the mall's MySQL, run in a transaction that can only read. Returns one row: the orders of
    /// `{sale}`, and their buyers.
    sql: Option<String>,
    /// Request for a JSON document.
    http: Option<RequestTemplate>,
    /// JSON pointer to the number of orders.
    count: Option<String>,
    /// JSON pointer to the number of buyers.
    buyers: Option<String>,
}

/// Orders of a sale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::bench) struct OrderCount {
    pub(in crate::bench) orders: u64,
    /// Different buyers; `None` if the mall does not tell.
    pub(in crate::bench) buyers: Option<u64>,
}

impl OrdersRecipe {
    pub(super) fn check(&self) -> Result<(), DialectError> {
        let sale = [Placeholder::Sale];
        match self {
            Self { sql: Some(sql), http: None, count: None, buyers: None } => {
                check_placeholders("orders", sql, &sale)
            }
            Self { sql: None, http: Some(http), count: Some(count), buyers } => {
                check_request("orders.http", http, &sale)?;
                check_pointer(count)?;
                buyers.as_deref().map_or(Ok(()), check_pointer)
            }
            _ => Err(DialectError::NotOneSource { part: "orders", choice: "sql, http" }),
        }
    }

    /// Returns whether the orders are counted in the mall's MySQL.
    pub(in crate::bench) fn needs_mysql(&self) -> bool {
        self.sql.is_some()
    }

    /// Counts the orders of each of the `sales`.
    pub(in crate::bench) fn count(
        &self,
        target: &Target,
        mysql: Option<&str>,
        sales: &[VoucherId],
    ) -> anyhow::Result<Vec<OrderCount>> {
        let of_sale = |sale: &VoucherId| match (&self.sql, mysql) {
            (Some(sql), Some(mysql)) => by_query(mysql, sql, *sale),
            (Some(_), None) => bail!("the orders are counted in the mall's MySQL: pass --mysql URL"),
            (None, _) => self.by_request(target, *sale),
        };
        sales.iter().map(of_sale).collect()
    }

    fn by_request(&self, target: &Target, sale: VoucherId) -> anyhow::Result<OrderCount> {
        let (Some(http), Some(count)) = (&self.http, &self.count) else {
            bail!("the dialect does not say where the orders are counted");
        };
        let request = http.request(&target.host, &target.prefix, &[(Placeholder::Sale, &sale.to_string())]);
        let mut answers = exchange(&target.load(1), vec![request])?;
        let answer = answers.pop().context("no response")?.with_context(|| http.path.clone())?;
        if !(200..300).contains(&answer.status) {
            bail!("{} was answered with {answer}", http.path);
        }
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        let number = |pointer: &str| {
            let value = body.pointer(pointer).and_then(Value::as_u64);
            value.with_context(|| format!("{} has no number at {pointer}: {}", http.path, answer))
        };
        Ok(OrderCount { orders: number(count)?, buyers: self.buyers.as_deref().map(number).transpose()? })
    }
}

fn by_query(mysql: &str, sql: &str, sale: VoucherId) -> anyhow::Result<OrderCount> {
    let sql = filled(sql, &[(Placeholder::Sale, &sale.to_string())]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let row = runtime.block_on(foreign::query_numbers(mysql, &sql))?;
    match row[..] {
        [orders] => Ok(OrderCount { orders, buyers: None }),
        [orders, buyers] => Ok(OrderCount { orders, buyers: Some(buyers) }),
        _ => bail!("expected one or two numbers, got {}: {sql}", row.len()),
    }
}
