//! The [`LedgerRows`] port on SQLite.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use mallbox_storage::backend::Numbered as _;
use mallbox_storage::backend::{SELECT_LETTERS, SELECT_PAYMENTS, select_orders};
use mallbox_storage::{
    Cents, DeadLetterId, LedgerRows, LetterFacts, OrderFacts, OrderId, OrderPage, PaymentFacts, PaymentId,
    PaymentMode, RowCheck, SaleFacts, StoreError, UserId, Violations, VoucherId,
};
use roaring::RoaringTreemap;
use rusqlite::{Connection, Row, params};

use super::Database;
use super::columns::{after, get_id, get_time, get_time_if_any, id};
use super::{orders_by_user, sign_blocks};

pub(crate) struct EmbeddedLedgerRows(Database);

impl EmbeddedLedgerRows {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

/// Slot rule: a live order of a sale has one of the slots 0, -1, … of its user, any other order its own id.
const SLOT_FITS: &str = "CASE WHEN s.voucher_id IS NOT NULL AND o.status NOT IN (4, 6)
    THEN o.slot BETWEEN 1 - s.slots AND 0 ELSE o.slot = o.id END";
/// Tables with gapless ids: ids are never reused, and a mall deletes no rows from these tables.
const DENSE: [&str; 5] = ["payments", "vouchers", "shops", "notes", "note_comments"];

#[async_trait]
impl LedgerRows for EmbeddedLedgerRows {
    async fn orders(&self, after: Option<OrderId>, max: u32) -> Result<OrderPage, StoreError> {
        self.0.read("orders for the ledger", move |conn| orders(conn, after, max)).await
    }

    async fn letters(&self, from: DeadLetterId, max: u32) -> Result<Vec<LetterFacts>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(SELECT_LETTERS)?.query_map(params![after(from.get()), max], letter)?.collect()
        };
        self.0.read("dead letters for the ledger", job).await
    }

    async fn broken(&self, check: RowCheck, max: u32) -> Result<Violations, StoreError> {
        let job = move |conn: &Connection| {
            let mut broken = broken(conn, check.sql(), max)?;
            match check {
                RowCheck::SignInUser => sign_blocks(conn, max, &mut broken)?,
                RowCheck::OrderListed => broken = orders_by_user::disagreements(conn, max)?,
                _ => {}
            }
            Ok(broken)
        };
        let broken = self.0.read("check of rows", job).await?;
        if check == RowCheck::OrderListed && broken.count > 0 {
            self.0.write("request a rebuild", orders_by_user::request_rebuild).await?;
        }
        Ok(broken)
    }

    async fn gone(&self) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let job = |conn: &Connection| {
            let mut gone = BTreeMap::new();
            for table in DENSE {
                let sql = format!(
                    "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0) - COUNT(*) FROM {table}"
                );
                let missing: i64 = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
                gone.insert(table, missing.unsigned_abs());
            }
            Ok(gone)
        };
        self.0.read("rows that are gone", job).await
    }
}

fn orders(conn: &Connection, after: Option<OrderId>, max: u32) -> rusqlite::Result<OrderPage> {
    let from = after.map_or(i64::MIN, |after| id(after.get()).saturating_add(1));
    let orders: Vec<OrderFacts> = conn
        .prepare_cached(&select_orders(SLOT_FITS))?
        .query_map(params![from, max], order)?
        .collect::<rusqlite::Result<_>>()?;
    let is_full = orders.len() as u64 >= u64::from(max);
    let more_after = orders.last().filter(|_| is_full).map(|last| last.id);
    let to = more_after.map_or(i64::MAX, |last| id(last.get()));
    let payments = conn
        .prepare_cached(SELECT_PAYMENTS)?
        .query_map([from, to], payment)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(OrderPage::join(orders, payments, more_after))
}

fn order(row: &Row<'_>) -> rusqlite::Result<OrderFacts> {
    let price = row.get::<_, Option<i64>>(13)?.map(Cents::new).zip(get_time_if_any(row, 14)?);
    let range = row.get::<_, Option<i64>>(16)?.zip(row.get::<_, Option<i64>>(17)?);
    let range =
        range.map(|(first, last)| (OrderId::new(first.cast_unsigned()), OrderId::new(last.cast_unsigned())));
    Ok(OrderFacts {
        id: OrderId::new(get_id(row, 0)?),
        user: UserId::new(get_id(row, 1)?),
        voucher: VoucherId::new(get_id(row, 2)?),
        status: row.get(3)?,
        payment: PaymentMode::numbered(row.get(4)?),
        pay_value: Cents::new(row.get(5)?),
        created: get_time(row, 6)?,
        deadline: get_time(row, 7)?,
        paid: get_time_if_any(row, 8)?,
        used: get_time_if_any(row, 9)?,
        refunded: get_time_if_any(row, 10)?,
        slot_fits: row.get(11)?,
        has_user: row.get(12)?,
        price,
        sale: row.get::<_, bool>(15)?.then_some(SaleFacts { range }),
        payments: Vec::new(),
    })
}

fn payment(row: &Row<'_>) -> rusqlite::Result<PaymentFacts> {
    Ok(PaymentFacts {
        id: PaymentId::new(get_id(row, 0)?),
        order: OrderId::new(get_id(row, 1)?),
        amount: Cents::new(row.get(2)?),
        state: row.get(3)?,
        gateway: PaymentMode::numbered(row.get(4)?),
        updated: get_time(row, 5)?,
        needs_look: row.get(6)?,
    })
}

fn letter(row: &Row<'_>) -> rusqlite::Result<LetterFacts> {
    Ok(LetterFacts {
        id: DeadLetterId::new(get_id(row, 0)?),
        order: OrderId::new(get_id(row, 1)?),
        voucher: VoucherId::new(get_id(row, 2)?),
        claimed: get_time(row, 3)?,
        reason: row.get(4)?,
        holds_unit: row.get(5)?,
        state: row.get(6)?,
        closed: get_time_if_any(row, 7)?,
        has_user: row.get(8)?,
        has_sale: row.get(9)?,
        is_order: row.get(10)?,
    })
}

fn broken(conn: &Connection, sql: &str, max: u32) -> rusqlite::Result<Violations> {
    let mut broken = Violations::default();
    let mut select =
        conn.prepare_cached(&format!("SELECT CAST(broken.id AS TEXT) FROM ({sql}) AS broken"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        add(&mut broken, max, || row.get(0))?;
    }
    Ok(broken)
}

fn add(
    broken: &mut Violations,
    max: u32,
    example: impl FnOnce() -> rusqlite::Result<String>,
) -> rusqlite::Result<()> {
    broken.count += 1;
    if broken.examples.len() < max as usize {
        broken.examples.push(example()?);
    }
    Ok(())
}

/// Reports blocks of sign-ins with a bit of an unknown user, a made-up day that is not signed, or an
/// invalid length.
fn sign_blocks(conn: &Connection, max: u32, broken: &mut Violations) -> rusqlite::Result<()> {
    let mut people: HashMap<u64, RoaringTreemap> = HashMap::new();
    let mut select =
        conn.prepare_cached("SELECT day, block, signed, made_up FROM sign_blocks ORDER BY block, day")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let block = get_id(row, 1)?;
        if !people.contains_key(&block) {
            people.clear();
            people.insert(block, sign_blocks::people(conn, block)?);
        }
        let (signed, made_up): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
        if !sign_blocks::is_whole(&signed, &made_up, &people[&block]) {
            add(broken, max, || Ok(format!("{} {block}", row.get::<_, String>(0)?)))?;
        }
    }
    Ok(())
}
