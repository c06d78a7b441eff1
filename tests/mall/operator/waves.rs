//! Waves: units enter a sale at their instants, once, and the ledger balances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::Refusal;
use mallbox::mall::operator::sales::{StockForm, WindowForm};
use mallbox_storage::{NewWave, Timestamp, VoucherId, WaveRecord};

use super::world::{MINUTE, World, idle, refusal, world};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Schedules waves of these units, a minute apart, from a minute from now.
async fn schedule(w: &World, voucher: VoucherId, units: &[u64]) -> Vec<WaveRecord> {
    let waves = (1..).zip(units).map(|(minute, units)| wave(w, minute, *units)).collect();
    w.sale_admin.put_waves(w.by(), voucher, waves).await.unwrap()
}

fn wave(w: &World, minutes: u32, units: u64) -> NewWave {
    NewWave { at: w.now() + MINUTE * minutes, units }
}

/// Returns whether each wave is released.
async fn released(w: &World, voucher: VoucherId) -> Vec<bool> {
    let waves = w.sale_admin.waves(voucher).await.unwrap();
    waves.into_iter().map(|record| record.released.is_some()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wave_goes_on_sale_at_its_instant_and_a_refusal_names_the_next() {
    let w = world().await;
    let voucher = w.sale(1).await;
    schedule(&w, voucher, &[1, 2]).await;
    w.order(1, voucher).await;
    let until = |wave_in, units| Refusal::SoldOutUntil { wave_in, units };
    assert_eq!(refusal(w.claim(2, voucher).await), until(MINUTE, 1));
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().next_wave.map(|wave| wave.units), Some(1));
    w.advance(MINUTE - MILLISECOND).await;
    assert_eq!(refusal(w.claim(2, voucher).await), until(MILLISECOND, 1));
    // Due, and not released yet: nobody is told to wait for it.
    w.clock.advance(MILLISECOND);
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::SoldOut);
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().next_wave, None);
    w.advance(Duration::ZERO).await;
    w.order(2, voucher).await;
    assert_eq!(refusal(w.claim(3, voucher).await), until(MINUTE, 2));
    w.assert_balanced().await;
    w.advance(MINUTE).await;
    assert_eq!(w.left(voucher).await, 2);
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().next_wave, None);
    w.order(3, voucher).await;
    w.order(4, voucher).await;
    assert_eq!(refusal(w.claim(5, voucher).await), Refusal::SoldOut);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waves_that_were_missed_are_released_once_after_a_restart() {
    let w = world().await;
    let voucher = w.sale(1).await;
    schedule(&w, voucher, &[10, 20, 40]).await;
    w.advance(MINUTE).await;
    w.clock.advance(MINUTE);
    let mut w = w.restart().await;
    w.start_workers();
    assert_eq!(w.left(voucher).await, 11);
    for _ in 0..3 {
        w.advance(Duration::from_secs(1)).await;
        assert_eq!((w.left(voucher).await, released(&w, voucher).await), (31, vec![true, true, false]));
    }
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_missed_waves_than_a_batch_are_released_in_one_run_once_the_store_responds() {
    const WAVES: usize = 40;
    let w = world().await;
    let (context, faults) = w.faulty();
    let (chores, _) = w.chores_of(context);
    let sales = [w.sale(0).await, w.sale(0).await, w.sale(0).await];
    for sale in sales {
        schedule(&w, sale, &[2; WAVES]).await;
    }
    w.clock.advance(MINUTE * 41);
    faults.add(Fault::at_port("waves.release").error()).unwrap();
    let run = chores.run_all_due(w.now());
    tokio::time::timeout(Duration::from_secs(60), run).await.expect("a run ends although the store fails");
    assert_eq!(faults.cancel_all(), 1);
    w.clock.advance(Duration::from_secs(1));
    chores.run_all_due(w.now()).await;
    for sale in sales {
        assert_eq!((w.left(sale).await, released(&w, sale).await), (80, vec![true; WAVES]));
    }
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_instances_release_a_wave_once() {
    let w = world().await;
    let voucher = w.sale(0).await;
    schedule(&w, voucher, &[100]).await;
    w.clock.advance(MINUTE);
    let now = w.now();
    let [first, second, third] = [(); 3].map(|()| w.chores_of(w.context.clone()).0);
    tokio::join!(first.run_all_due(now), second.run_all_due(now), third.run_all_due(now));
    w.advance(MINUTE).await;
    assert_eq!(w.left(voucher).await, 100);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_sale_withholds_its_waves_until_the_sale_is_open_again() {
    let w = world().await;
    let voucher = w.sale(1).await;
    schedule(&w, voucher, &[5]).await;
    w.sale_admin.end(w.by(), voucher).await.unwrap();
    w.advance(MINUTE * 2).await;
    assert_eq!(released(&w, voucher).await, [false]);
    let again = WindowForm { begin: None, end: Some(w.now() + MINUTE * 60) };
    w.sale_admin.put_window(w.by(), voucher, again).await.unwrap();
    w.advance(Duration::from_secs(1)).await;
    assert_eq!((w.left(voucher).await, released(&w, voucher).await), (6, vec![true]));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wave_that_the_end_withholds_is_named_to_nobody() {
    let w = world().await;
    let voucher = w.sale(1).await;
    schedule(&w, voucher, &[5]).await;
    w.order(1, voucher).await;
    let soon = Refusal::SoldOutUntil { wave_in: MINUTE, units: 5 };
    assert_eq!(refusal(w.claim(2, voucher).await), soon);
    let window = |end| WindowForm { begin: None, end: Some(end) };
    // At its first instant without claims a sale gets no units either.
    for (end, is_named) in [(MINUTE, false), (MINUTE + MILLISECOND, true), (MINUTE - MILLISECOND, false)] {
        w.sale_admin.put_window(w.by(), voucher, window(w.now() + end)).await.unwrap();
        let refused = if is_named { soon.clone() } else { Refusal::SoldOut };
        assert_eq!(refusal(w.claim(2, voucher).await), refused, "{end:?}");
        let live = w.sales.live(voucher, w.now()).await.unwrap();
        assert_eq!(live.next_wave.is_some(), is_named, "{end:?}");
    }
    w.advance(MINUTE).await;
    assert_eq!(w.sales.live(voucher, w.now()).await.unwrap().next_wave, None);
    assert_eq!((w.left(voucher).await, released(&w, voucher).await), (0, vec![false]));
    assert_eq!(refusal(w.claim(2, voucher).await), Refusal::Ended);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_sale_gets_its_wave_and_sells_after_the_pause() {
    let w = world().await;
    let voucher = w.sale(0).await;
    schedule(&w, voucher, &[1]).await;
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    w.advance(MINUTE).await;
    assert_eq!(refusal(w.claim(1, voucher).await), Refusal::Paused);
    w.sale_admin.resume(w.by(), voucher).await.unwrap();
    w.order(1, voucher).await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_timetable_replaces_the_waves_to_come() {
    let w = world().await;
    let voucher = w.sale(0).await;
    schedule(&w, voucher, &[1, 2, 4]).await;
    w.advance(MINUTE).await;
    schedule(&w, voucher, &[8]).await;
    w.advance(MINUTE * 9).await;
    assert_eq!((w.left(voucher).await, released(&w, voucher).await), (9, vec![true, true]));
    assert_eq!(schedule(&w, voucher, &[]).await.len(), 2);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_fails_half_way_is_finished_and_done_once() {
    let w = idle().await;
    let voucher = w.sale(0).await;
    let (context, faults) = w.faulty();
    let (chores, _) = w.chores_of(context);
    let soon = Duration::from_secs(5);
    for fault in [Fault::at_port("waves.release").error(), Fault::at_port("waves.release").lose_answer()] {
        // The next reconciliation is a minute away.
        chores.run_all_due(w.now()).await;
        let (before, wave) = (w.left(voucher).await, NewWave { at: w.now() + soon, units: 3 });
        w.sale_admin.put_waves(w.by(), voucher, vec![wave]).await.unwrap();
        w.clock.advance(soon);
        faults.add(fault.clone().times(1)).unwrap();
        chores.run_all_due(w.now()).await;
        for _ in 0..2 {
            w.clock.advance(Duration::from_secs(1));
            chores.run_all_due(w.now()).await;
        }
        assert_eq!(w.left(voucher).await, before + 3, "{fault:?}");
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_timetable_is_refused_and_changes_nothing() {
    let w = world().await;
    let (voucher, unlimited) = (w.sale(5).await, w.sale(None).await);
    schedule(&w, voucher, &[7]).await;
    let hours = |hours: u32| MINUTE * 60 * hours;
    let at = |at: Timestamp, units| NewWave { at, units };
    for waves in [
        vec![at(w.now(), 1)],
        vec![at(w.now() - MINUTE, 1)],
        vec![at(w.now() + hours(9), 1)],
        vec![wave(&w, 1, 0)],
        vec![wave(&w, 2, 1), wave(&w, 1, 1)],
        vec![wave(&w, 1, 1), wave(&w, 1, 1)],
        vec![wave(&w, 1, u64::MAX)],
        vec![wave(&w, 1, (1 << 53) - 5)],
        (1..=51).map(|minute| wave(&w, minute, 1)).collect(),
    ] {
        let refused = refusal(w.sale_admin.put_waves(w.by(), voucher, waves.clone()).await);
        assert_eq!(refused, Refusal::BadValue("waves"), "{waves:?}");
    }
    let one = || vec![wave(&w, 1, 1)];
    assert_eq!(refusal(w.sale_admin.put_waves(w.by(), unlimited, one()).await), Refusal::Unlimited);
    for unknown in [0, 404, u64::MAX] {
        let unknown = VoucherId::new(unknown);
        assert_eq!(refusal(w.sale_admin.put_waves(w.by(), unknown, one()).await), Refusal::NotFound("sale"));
        assert_eq!(refusal(w.sale_admin.waves(unknown).await), Refusal::NotFound("sale"));
    }
    let stored = w.sale_admin.waves(voucher).await.unwrap();
    assert_eq!(stored.iter().map(|record| record.wave.units).collect::<Vec<_>>(), [7]);
    assert_eq!(w.left(voucher).await, 5);
}

/// 16 concurrent buyers, an operator who adds and removes units, and ten waves.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn waves_amid_claims_and_changes_of_the_stock_sell_every_unit_once() {
    const BUYERS: u64 = 16;
    const WAVES: usize = 10;
    const UNITS: u64 = 30;
    let w = Arc::new(world().await);
    let voucher = w.sale(UNITS).await;
    schedule(&w, voucher, &[UNITS; WAVES]).await;
    let (stop, bought) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut crowd = tokio::task::JoinSet::new();
    for buyer in 0..BUYERS {
        let (w, stop, bought) = (Arc::clone(&w), Arc::clone(&stop), Arc::clone(&bought));
        crowd.spawn(async move {
            let mut user = buyer * 1_000_000;
            while !stop.load(Ordering::SeqCst) {
                user += 1;
                match w.claim(user, voucher).await {
                    Ok(_) => drop(bought.fetch_add(1, Ordering::SeqCst)),
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        });
    }
    let mut expected = UNITS;
    for round in 0..WAVES as u64 {
        w.advance(MINUTE).await;
        let by = if round % 2 == 0 { 7 } else { -3 };
        let form = StockForm { add: Some(by), request: None };
        let changed = w.sale_admin.restock(w.by(), voucher, form).await.unwrap();
        expected = expected.checked_add_signed(changed.by).unwrap() + UNITS;
    }
    while w.left(voucher).await > 0 {
        tokio::task::yield_now().await;
    }
    stop.store(true, Ordering::SeqCst);
    crowd.join_all().await;
    w.drain().await;
    assert_eq!(bought.load(Ordering::SeqCst), expected);
    assert_eq!(released(&w, voucher).await, [true; WAVES]);
    w.assert_balanced().await;
}
