//! `Waves`: units enter a sale at scheduled instants, each wave once.

use std::time::Duration;

use mallbox_storage::{
    NewWave, PutWavesOutcome, ReleaseWaveOutcome, SaleRecord, StoreError, Timestamp, VoucherId, Wave,
    WaveRecord,
};
use tokio::task::JoinSet;

use crate::selling::orders::stock;
use crate::world::{HOUR, NOON, TOKEN, World};

crate::cases! {
    a_timetable_is_stored_and_replaced_as_a_whole,
    a_wave_is_released_once_and_not_before_its_instant,
    a_rush_releases_every_wave_once,
    a_new_timetable_leaves_released_waves,
    the_end_withholds_waves_and_a_later_end_does_not,
    pending_waves_are_in_order_of_their_instants,
    what_is_no_limited_sale_has_no_waves,
    more_units_than_can_be_counted_are_refused_and_change_nothing,
    waves_survive_a_reopening,
}

const MINUTE: Duration = Duration::from_secs(60);

fn wave(minutes: u32, units: u64) -> NewWave {
    NewWave { at: NOON + minutes * MINUTE, units }
}

fn numbered(number: u32, minutes: u32, units: u64) -> Wave {
    let NewWave { at, units } = wave(minutes, units);
    Wave { number, at, units }
}

async fn put(w: &World, voucher: VoucherId, waves: &[NewWave]) -> Vec<WaveRecord> {
    match w.storage.catalogue.waves.put(voucher, waves, NOON).await.unwrap() {
        PutWavesOutcome::Stored(stored) => stored,
        other => panic!("{other:?}"),
    }
}

async fn release(w: &World, voucher: VoucherId, number: u32, now: Timestamp) -> Option<(Wave, SaleRecord)> {
    match w.storage.catalogue.waves.release(voucher, number, now).await.unwrap() {
        ReleaseWaveOutcome::Released(wave, sale) => Some((wave, sale)),
        ReleaseWaveOutcome::Stands => None,
    }
}

async fn sale(w: &World, voucher: VoucherId) -> SaleRecord {
    w.storage.catalogue.vouchers.get(voucher).await.unwrap().unwrap().sale.unwrap()
}

fn to_come(waves: &[Wave]) -> Vec<WaveRecord> {
    waves.iter().map(|wave| WaveRecord { wave: *wave, released: None }).collect()
}

async fn a_timetable_is_stored_and_replaced_as_a_whole(w: &World) {
    let (voucher, other) = (w.sale(Some(10)).await, w.sale(Some(10)).await);
    assert_eq!(w.storage.catalogue.waves.of(voucher).await.unwrap(), []);
    assert_eq!(sale(w, voucher).await.next_wave, None);
    let waves = [numbered(1, 1, 100), numbered(2, 2, 200)];
    for _ in 0..2 {
        assert_eq!(put(w, voucher, &[wave(1, 100), wave(2, 200)]).await, to_come(&waves));
        assert_eq!(w.storage.catalogue.waves.of(voucher).await.unwrap(), to_come(&waves));
    }
    let recorded = sale(w, voucher).await;
    assert_eq!(
        (recorded.next_wave, recorded.terms.units, recorded.stock),
        (Some(waves[0]), Some(10), Some(10))
    );
    assert_eq!(put(w, voucher, &[wave(5, 7)]).await, to_come(&[numbered(1, 5, 7)]));
    assert_eq!(put(w, voucher, &[]).await, []);
    assert_eq!(sale(w, voucher).await.next_wave, None);
    assert_eq!(w.storage.catalogue.waves.of(other).await.unwrap(), []);
}

async fn a_wave_is_released_once_and_not_before_its_instant(w: &World) {
    let voucher = w.sale(Some(10)).await;
    put(w, voucher, &[wave(1, 100), wave(2, 200)]).await;
    let at = NOON + MINUTE;
    let before = Timestamp::from_millis(at.as_millis() - 1);
    assert_eq!(release(w, voucher, 1, before).await, None);
    assert_eq!(stock(w, voucher).await, Some(10));
    let (wave, after) = release(w, voucher, 1, at).await.unwrap();
    assert_eq!(wave, numbered(1, 1, 100));
    assert_eq!((after.added, after.terms.units, after.stock), (100, Some(110), Some(110)));
    assert_eq!(after.next_wave, Some(numbered(2, 2, 200)));
    assert_eq!(sale(w, voucher).await, after);
    for again in [at, at + HOUR / 2] {
        assert_eq!(release(w, voucher, 1, again).await, None);
    }
    for unknown in [0, 3, u32::MAX] {
        assert_eq!(release(w, voucher, unknown, at + HOUR / 2).await, None, "{unknown}");
    }
    assert_eq!(sale(w, voucher).await, after);
    let stored = w.storage.catalogue.waves.of(voucher).await.unwrap();
    assert_eq!(stored[0], WaveRecord { wave, released: Some(at) });
    assert_eq!(stored[1].released, None);
}

async fn a_rush_releases_every_wave_once(w: &World) {
    const WAVES: u32 = 20;
    const CALLERS: u32 = 8;
    let voucher = w.sale(Some(0)).await;
    let timetable: Vec<NewWave> = (1..=WAVES).map(|minute| wave(minute, u64::from(minute))).collect();
    put(w, voucher, &timetable).await;
    let mut calls = JoinSet::new();
    for _ in 0..CALLERS {
        let waves = w.storage.catalogue.waves.clone();
        calls.spawn(async move {
            let mut units = 0;
            for number in 1..=WAVES {
                let outcome = waves.release(voucher, number, NOON + HOUR / 2).await.unwrap();
                if let ReleaseWaveOutcome::Released(wave, _) = outcome {
                    units += wave.units;
                }
            }
            units
        });
    }
    let released: u64 = calls.join_all().await.into_iter().sum();
    let expected: u64 = (1..=u64::from(WAVES)).sum();
    assert_eq!((released, stock(w, voucher).await), (expected, Some(expected)));
}

async fn a_new_timetable_leaves_released_waves(w: &World) {
    let voucher = w.sale(Some(10)).await;
    put(w, voucher, &[wave(1, 100), wave(2, 200), wave(3, 300)]).await;
    let now = NOON + MINUTE;
    release(w, voucher, 1, now).await.unwrap();
    let released = WaveRecord { wave: numbered(1, 1, 100), released: Some(now) };
    let stored = put(w, voucher, &[wave(4, 4)]).await;
    assert_eq!(stored, [released, to_come(&[numbered(2, 4, 4)])[0]]);
    assert_eq!(put(w, voucher, &[]).await, [released]);
    assert_eq!(stock(w, voucher).await, Some(110));
}

async fn the_end_withholds_waves_and_a_later_end_does_not(w: &World) {
    let voucher = w.sale(Some(10)).await;
    put(w, voucher, &[wave(1, 100)]).await;
    let vouchers = &w.storage.catalogue.vouchers;
    let end = NOON + 2 * MINUTE;
    vouchers.put_window(voucher, NOON, end, false, TOKEN, NOON).await.unwrap().done().unwrap().unwrap();
    let pending = async |now| w.storage.catalogue.waves.pending(end, now, 9).await.unwrap();
    assert_eq!(pending(NOON).await, [(voucher, numbered(1, 1, 100))]);
    assert_eq!(pending(end).await, []);
    assert_eq!(release(w, voucher, 1, end).await, None);
    assert_eq!(stock(w, voucher).await, Some(10));
    vouchers
        .put_window(voucher, NOON, end + MINUTE, false, TOKEN, NOON)
        .await
        .unwrap()
        .done()
        .unwrap()
        .unwrap();
    assert_eq!(pending(end).await.len(), 1);
    assert!(release(w, voucher, 1, end).await.is_some());
}

async fn pending_waves_are_in_order_of_their_instants(w: &World) {
    let (first, second) = (w.sale(Some(1)).await, w.sale(Some(1)).await);
    put(w, first, &[wave(2, 2), wave(4, 4)]).await;
    put(w, second, &[wave(1, 1), wave(2, 5)]).await;
    let pending = async |minutes: u32, max| {
        w.storage.catalogue.waves.pending(NOON + minutes * MINUTE, NOON, max).await.unwrap()
    };
    assert_eq!(pending(0, 9).await, []);
    let all = [
        (second, numbered(1, 1, 1)),
        (first, numbered(1, 2, 2)),
        (second, numbered(2, 2, 5)),
        (first, numbered(2, 4, 4)),
    ];
    assert_eq!(pending(4, 9).await, all);
    assert_eq!(pending(3, 9).await, all[..3]);
    assert_eq!(pending(4, 1).await, all[..1]);
    release(w, second, 1, NOON + MINUTE).await.unwrap();
    assert_eq!(pending(4, 9).await, all[1..]);
}

async fn what_is_no_limited_sale_has_no_waves(w: &World) {
    let (unlimited, ordinary) = (w.sale(None).await, w.ordinary_voucher().await);
    let put = async |voucher| w.storage.catalogue.waves.put(voucher, &[wave(1, 1)], NOON).await.unwrap();
    assert_eq!(put(unlimited).await, PutWavesOutcome::Unlimited);
    for unknown in [ordinary, VoucherId::new(0), VoucherId::new(404), VoucherId::new(u64::MAX)] {
        assert_eq!(put(unknown).await, PutWavesOutcome::Unknown);
        assert_eq!(w.storage.catalogue.waves.of(unknown).await.unwrap(), []);
        assert_eq!(release(w, unknown, 1, NOON).await, None);
    }
}

async fn more_units_than_can_be_counted_are_refused_and_change_nothing(w: &World) {
    const ALL: u64 = i64::MAX.unsigned_abs();
    let voucher = w.sale(Some(1)).await;
    put(w, voucher, &[wave(1, 5)]).await;
    for waves in [vec![wave(1, ALL)], vec![wave(1, 1), wave(2, ALL - 1)], vec![wave(1, u64::MAX)]] {
        let refused = w.storage.catalogue.waves.put(voucher, &waves, NOON).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused { .. }), "{refused:?}");
        assert_eq!(w.storage.catalogue.waves.of(voucher).await.unwrap(), to_come(&[numbered(1, 1, 5)]));
    }
    assert_eq!(put(w, voucher, &[wave(1, ALL - 1)]).await.len(), 1);
}

async fn waves_survive_a_reopening(w: &World) {
    let w = w.another().await;
    let voucher = w.sale(Some(10)).await;
    put(&w, voucher, &[wave(1, 100), wave(2, 200)]).await;
    release(&w, voucher, 1, NOON + MINUTE).await.unwrap();
    let (before, stored) = (sale(&w, voucher).await, w.storage.catalogue.waves.of(voucher).await.unwrap());
    let w = w.reopen().await;
    assert_eq!(sale(&w, voucher).await, before);
    assert_eq!(w.storage.catalogue.waves.of(voucher).await.unwrap(), stored);
}
