//! Start-up time, memory and restore time of fixture malls.
//!
//! `cargo bench --bench fixture -- 1000 100`: 1000 starts in sequence, then 100 malls at once.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mallbox::fixture::{Data, FixtureError, Mall};
use serde_json::json;

/// Durations of a kind of call, in microseconds.
struct Times {
    what: &'static str,
    times: Histogram<u64>,
}

impl Times {
    fn of(what: &'static str) -> Self {
        Self {
            what,
            times: Histogram::new_with_bounds(1, 60_000_000, 3).expect("microseconds up to a minute"),
        }
    }

    fn take<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let made = call();
        self.times.saturating_record(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
        made
    }

    fn print(&self) {
        let ms = |quantile| self.times.value_at_quantile(quantile) as f64 / 1_000.0;
        let (n, p50, p99, most) = (self.times.len(), ms(0.5), ms(0.99), ms(1.0));
        println!("{:<34} {n:>6} {p50:>8.2} {p99:>8.2} {most:>8.2}", self.what);
    }
}

/// Returns the resident memory of this process as Linux reports it, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

fn main() -> Result<(), FixtureError> {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse::<usize>().ok());
    let (starts, at_once) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(20));

    let mut first = Times::of("the first mall of a process");
    drop(first.take(Mall::start)?);
    println!("{:<34} {:>6} {:>8} {:>8} {:>8}  (ms)", "", "calls", "p50", "p99", "most");
    first.print();
    for (what, data) in [("a mall with the demo's data", Data::Demo), ("an empty mall", Data::Empty)] {
        let mut times = Times::of(what);
        for _ in 0..starts {
            drop(black_box(times.take(|| Mall::builder().data(data.clone()).start())?));
        }
        times.print();
    }
    let mut alone = Times::of("the same without a port");
    let mut ends = Times::of("its end");
    for _ in 0..starts {
        let mall = alone.take(|| Mall::builder().data(Data::Empty).without_port().start())?;
        ends.take(|| drop(mall));
    }
    alone.print();
    ends.print();
    put_back(starts)?;
    side_by_side(at_once)
}

/// Times snapshots, restores, resets and the expiry of an order in a demo mall, with a new claim per round.
fn put_back(rounds: usize) -> Result<(), FixtureError> {
    let mall = Mall::builder().frozen().start()?;
    let sale = mall.sales().map_or(0, |sales| sales.running.get());
    let mut keep = Times::of("a snapshot of a demo mall");
    let mut restore = Times::of("a restore");
    let mut reset = Times::of("a reset");
    let mut advance = Times::of("15 minutes pass, an order expires");
    for round in 0..rounds {
        let token = mall.log_in(&format!("138{round:08}"))?.token;
        let claimed =
            mall.call("POST", &format!("/api/voucher-order/seckill/{sale}"), &token, &json!(null))?;
        assert!(claimed.is_success(), "{claimed:?}");
        // Otherwise the claim's way to the database would be measured as well.
        mall.idle(Duration::from_secs(10))?;
        let kept = keep.take(|| mall.snapshot())?;
        advance.take(|| mall.advance(Duration::from_secs(15 * 60)))?;
        restore.take(|| mall.restore(&kept))?;
        reset.take(|| mall.reset())?;
    }
    for times in [keep, restore, reset, advance] {
        times.print();
    }
    Ok(())
}

fn side_by_side(count: usize) -> Result<(), FixtureError> {
    let before = resident_kib();
    let began = Instant::now();
    let malls = (0..count).map(|_| Mall::start()).collect::<Result<Vec<_>, _>>()?;
    let (took, each) = (began.elapsed(), resident_kib().saturating_sub(before) / count.max(1) as u64);
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    println!(
        "{count} malls at once: {:.0} ms, {each} KiB of memory each, {threads} threads in all",
        took.as_secs_f64() * 1_000.0
    );
    drop(malls);
    Ok(())
}
