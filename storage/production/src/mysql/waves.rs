//! [`Waves`] in MySQL.
//!
//! The sale's row is the lock of its timetable.

use async_trait::async_trait;
use mallbox_storage::backend::plan_waves;
use mallbox_storage::{
    Fenced, NewWave, PutWavesOutcome, ReleaseWaveOutcome, StockChange, StockChangeOutcome, StoreError,
    Timestamp, VoucherId, Wave, WaveRecord, Waves,
};
use mysql_async::Conn;

use super::columns::{Columns, all, execute, first};
use super::database::Database;
use super::errors::MysqlError;
use super::event_rows::EventSwitch;
use super::job::boxed;
use super::sale_records::sale_by_id;
use super::sale_rows::Lock;
use super::stock_changes;

pub(super) struct MysqlWaves(pub(super) Database);

#[async_trait]
impl Waves for MysqlWaves {
    async fn put(
        &self,
        voucher: VoucherId,
        waves: &[NewWave],
        now: Timestamp,
    ) -> Result<PutWavesOutcome, StoreError> {
        self.0.write("put waves", |conn| boxed(async move { put(conn, voucher, waves, now).await })).await
    }

    async fn of(&self, voucher: VoucherId) -> Result<Vec<WaveRecord>, StoreError> {
        self.0.read("waves of a sale", |conn| boxed(async move { of(conn, voucher).await })).await
    }

    async fn pending(
        &self,
        until: Timestamp,
        now: Timestamp,
        max: u32,
    ) -> Result<Vec<(VoucherId, Wave)>, StoreError> {
        let sql = "SELECT w.number, w.at_ms, w.units, w.released_ms, w.voucher_id
                   FROM sale_waves AS w JOIN sales ON sales.voucher_id = w.voucher_id
                   WHERE w.released_ms IS NULL AND w.at_ms <= ? AND end_ms > ?
                   ORDER BY w.at_ms, w.voucher_id LIMIT ?";
        let which = (until.as_millis(), now.as_millis(), max);
        let read = |row: &mut Columns| {
            let record = record(row)?;
            Ok((VoucherId::new(row.next()?), record.wave))
        };
        self.0.read("pending waves", |conn| boxed(async move { all(conn, sql, which, read).await })).await
    }

    async fn release(
        &self,
        voucher: VoucherId,
        number: u32,
        now: Timestamp,
    ) -> Result<ReleaseWaveOutcome, StoreError> {
        let events = self.0.events();
        self.0
            .write("release wave", |conn| {
                boxed(async move { release(conn, voucher, number, now, events).await })
            })
            .await
    }
}

/// Head of every query for the waves of one sale; read by [`record`].
const SELECT: &str = "SELECT number, at_ms, units, released_ms FROM sale_waves WHERE voucher_id = ?";

async fn put(
    conn: &mut Conn,
    voucher: VoucherId,
    waves: &[NewWave],
    now: Timestamp,
) -> Result<PutWavesOutcome, MysqlError> {
    let Some(sale) = sale_by_id(conn, voucher, Lock::Yes).await? else {
        return Ok(PutWavesOutcome::Unknown);
    };
    if sale.terms.units.is_none() {
        return Ok(PutWavesOutcome::Unlimited);
    }
    let sql = "DELETE FROM sale_waves WHERE voucher_id = ? AND released_ms IS NULL";
    execute(conn, sql, (voucher.get(),)).await?;
    let planned = plan_waves(&sale, &of(conn, voucher).await?, waves).map_err(MysqlError::refused)?;
    for Wave { number, at, units } in planned {
        let sql = "INSERT INTO sale_waves (voucher_id, number, at_ms, units) VALUES (?, ?, ?, ?)";
        execute(conn, sql, (voucher.get(), number, at.as_millis(), units)).await?;
    }
    let sql = "UPDATE vouchers SET updated_ms = ? WHERE id = ?";
    execute(conn, sql, (now.as_millis(), voucher.get())).await?;
    Ok(PutWavesOutcome::Stored(of(conn, voucher).await?))
}

async fn of(conn: &mut Conn, voucher: VoucherId) -> Result<Vec<WaveRecord>, MysqlError> {
    all(conn, format!("{SELECT} ORDER BY number"), (voucher.get(),), record).await
}

async fn release(
    conn: &mut Conn,
    voucher: VoucherId,
    number: u32,
    now: Timestamp,
    events: EventSwitch,
) -> Result<ReleaseWaveOutcome, MysqlError> {
    let Some(sale) = sale_by_id(conn, voucher, Lock::Yes).await? else {
        return Ok(ReleaseWaveOutcome::Stands);
    };
    let sql = format!("{SELECT} AND number = ? FOR UPDATE");
    let stored = first(conn, sql, (voucher.get(), number), record).await?;
    let Some(stored) = stored.filter(|stored| stored.is_due(&sale, now)) else {
        return Ok(ReleaseWaveOutcome::Stands);
    };
    let units = stored.wave.units.cast_signed();
    let change = StockChange { asked: units, by: units, request: None };
    let Fenced::Done(StockChangeOutcome::Done(..)) =
        stock_changes::change(conn, voucher, &change, None, now, events).await?
    else {
        return Ok(ReleaseWaveOutcome::Stands);
    };
    let sql = "UPDATE sale_waves SET released_ms = ? WHERE voucher_id = ? AND number = ?";
    execute(conn, sql, (now.as_millis(), voucher.get(), number)).await?;
    let sale = sale_by_id(conn, voucher, Lock::No).await?;
    let sale = sale.ok_or_else(|| MysqlError::Corrupt(format!("sale {voucher} vanished under its lock")))?;
    Ok(ReleaseWaveOutcome::Released(stored.wave, sale))
}

fn record(row: &mut Columns) -> Result<WaveRecord, MysqlError> {
    let wave = Wave { number: row.next()?, at: row.time()?, units: row.next()? };
    Ok(WaveRecord { wave, released: row.time_if_any()? })
}
