//! The [`Waves`] port on SQLite.

use async_trait::async_trait;
use mallbox_storage::backend::plan_waves;
use mallbox_storage::{
    Fenced, NewWave, PutWavesOutcome, ReleaseWaveOutcome, StockChange, StockChangeOutcome, StoreError,
    Timestamp, VoucherId, Wave, WaveRecord, Waves,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_count, get_id, get_time, get_time_if_any, id};
use super::errors::refuse;
use super::sale_rows::sale_by_id;
use super::{Database, stock_changes};

pub(crate) struct EmbeddedWaves(Database);

impl EmbeddedWaves {
    pub(crate) fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Waves for EmbeddedWaves {
    async fn put(
        &self,
        voucher: VoucherId,
        waves: &[NewWave],
        now: Timestamp,
    ) -> Result<PutWavesOutcome, StoreError> {
        let waves = waves.to_vec();
        self.0.write("put waves", move |conn| put(conn, voucher, &waves, now)).await
    }

    async fn of(&self, voucher: VoucherId) -> Result<Vec<WaveRecord>, StoreError> {
        self.0.read("waves of a sale", move |conn| of(conn, voucher)).await
    }

    async fn pending(
        &self,
        until: Timestamp,
        now: Timestamp,
        max: u32,
    ) -> Result<Vec<(VoucherId, Wave)>, StoreError> {
        let job = move |conn: &Connection| {
            conn.prepare_cached(
                "SELECT w.number, w.at_ms, w.units, w.released_ms, w.voucher_id
                 FROM sale_waves AS w JOIN sales ON sales.voucher_id = w.voucher_id
                 WHERE w.released_ms IS NULL AND w.at_ms <= ?1 AND end_ms > ?2
                 ORDER BY w.at_ms, w.voucher_id LIMIT ?3",
            )?
            .query_map(params![until.as_millis(), now.as_millis(), max], |row| {
                Ok((VoucherId::new(get_id(row, 4)?), record(row)?.wave))
            })?
            .collect()
        };
        self.0.read("pending waves", job).await
    }

    async fn release(
        &self,
        voucher: VoucherId,
        number: u32,
        now: Timestamp,
    ) -> Result<ReleaseWaveOutcome, StoreError> {
        self.0.write("release wave", move |conn| release(conn, voucher, number, now)).await
    }
}

/// Head of every query for the waves of one sale; [`record`] reads the columns.
const SELECT: &str = "SELECT number, at_ms, units, released_ms FROM sale_waves WHERE voucher_id = ?1";

fn put(
    conn: &Connection,
    voucher: VoucherId,
    waves: &[NewWave],
    now: Timestamp,
) -> rusqlite::Result<PutWavesOutcome> {
    let Some(sale) = sale_by_id(conn, voucher)? else { return Ok(PutWavesOutcome::Unknown) };
    if sale.terms.units.is_none() {
        return Ok(PutWavesOutcome::Unlimited);
    }
    let key = id(voucher.get());
    conn.prepare_cached("DELETE FROM sale_waves WHERE voucher_id = ?1 AND released_ms IS NULL")?
        .execute([key])?;
    let planned = plan_waves(&sale, &of(conn, voucher)?, waves).map_err(refuse)?;
    for Wave { number, at, units } in planned {
        conn.prepare_cached(
            "INSERT INTO sale_waves (voucher_id, number, at_ms, units) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![key, number, at.as_millis(), id(units)])?;
    }
    conn.prepare_cached("UPDATE vouchers SET updated_ms = ?2 WHERE id = ?1")?
        .execute([key, now.as_millis()])?;
    Ok(PutWavesOutcome::Stored(of(conn, voucher)?))
}

fn of(conn: &Connection, voucher: VoucherId) -> rusqlite::Result<Vec<WaveRecord>> {
    conn.prepare_cached(&format!("{SELECT} ORDER BY number"))?
        .query_map([id(voucher.get())], record)?
        .collect()
}

fn release(
    conn: &Connection,
    voucher: VoucherId,
    number: u32,
    now: Timestamp,
) -> rusqlite::Result<ReleaseWaveOutcome> {
    let stored = conn
        .prepare_cached(&format!("{SELECT} AND number = ?2"))?
        .query_row(params![id(voucher.get()), number], record)
        .optional()?;
    let (Some(stored), Some(sale)) = (stored, sale_by_id(conn, voucher)?) else {
        return Ok(ReleaseWaveOutcome::Stands);
    };
    if !stored.is_due(&sale, now) {
        return Ok(ReleaseWaveOutcome::Stands);
    }
    let units = stored.wave.units.cast_signed();
    let change = StockChange { asked: units, by: units, request: None };
    let Fenced::Done(StockChangeOutcome::Done(..)) =
        stock_changes::change(conn, voucher, &change, None, now)?
    else {
        return Ok(ReleaseWaveOutcome::Stands);
    };
    conn.prepare_cached("UPDATE sale_waves SET released_ms = ?3 WHERE voucher_id = ?1 AND number = ?2")?
        .execute(params![id(voucher.get()), number, now.as_millis()])?;
    let sale = sale_by_id(conn, voucher)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(ReleaseWaveOutcome::Released(stored.wave, sale))
}

fn record(row: &Row<'_>) -> rusqlite::Result<WaveRecord> {
    let wave = Wave { number: row.get(0)?, at: get_time(row, 1)?, units: get_count(row, 2)? };
    Ok(WaveRecord { wave, released: get_time_if_any(row, 3)? })
}
