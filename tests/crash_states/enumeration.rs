//! Enumeration of the disks that a power cut could leave of a recorded run.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use mallbox_test_checker::{History, judge};
use mallbox_test_write_recorder::{Disk, Event, Image, Plan};
use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use crate::alarms::Alarms;
use crate::common::dice::Dice;
use crate::common::inspection;
use crate::common::mall;
use crate::common::server::Server;
use crate::opened::{self, Opened};
use crate::recorded::{Promised, Recorded, Site};

/// Candidates for each new state before an enumeration ends early.
const TRIES_MAX: u64 = 40;
/// Probability of a plan without random choices, in percent.
const EXTREME_PERCENT: u64 = 15;
/// Failures shown and kept.
const FAILURES_MAX: usize = 10;
const PROGRESS_INTERVAL: Duration = Duration::from_secs(20);
/// Events shown before the cut of a failed state.
const EVENTS_SHOWN: usize = 12;

/// Number of states and checks so far.
#[derive(Default, Debug)]
pub struct Tally {
    /// States opened, each with its own disk or its own history.
    pub states: u64,
    /// Disks among them that differ from each other.
    pub distinct: u64,
    /// Cuts at which states were built.
    pub cuts: u64,
    /// Syncs whose boundaries could be cut.
    pub syncs: u64,
    /// States on which the binary was started, and sold the rest.
    pub served: u64,
    /// Failed states.
    pub failures: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, distinct, cuts, syncs, served, failures } = self;
        write!(
            f,
            "{states} states, {distinct} distinct disks, {cuts} cuts around {syncs} syncs, {served} served, \
             {failures} failed"
        )
    }
}

/// Builds and checks states.
pub struct Enumeration<'a> {
    pub site: &'a Site,
    pub alarms: Alarms,
    pub runtime: tokio::runtime::Runtime,
    /// One in this number of states is also served by the binary.
    pub served_every: u64,
    pub tally: Tally,
    began: Instant,
    shown: Instant,
}

impl<'a> Enumeration<'a> {
    pub fn new(site: &'a Site, served_every: u64) -> anyhow::Result<Self> {
        Ok(Self {
            site,
            alarms: Alarms::install(),
            runtime: mall::runtime()?,
            served_every,
            tally: Tally::default(),
            began: Instant::now(),
            shown: Instant::now(),
        })
    }

    /// Checks `count` states of a run, of each boundary at least one if `count` is large enough.
    pub fn run(&mut self, recorded: &Recorded, count: u64, dice: &mut Dice) -> anyhow::Result<()> {
        let points = points(&recorded.trace.events, dice);
        self.tally.syncs += recorded.trace.events.iter().filter(|event| event.is_sync()).count() as u64;
        let (mut seen, mut disks, mut cuts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut done, mut tries) = (0, 0);
        let is_complete = count >= points.len() as u64;
        while done < count && tries < TRIES_MAX * count {
            let mut disk = Disk::of(&recorded.trace.start);
            for point in &points {
                while disk.position() < *point {
                    disk.advance(&recorded.trace.events[disk.position()]);
                }
                let is_chosen = is_complete || dice.below(points.len() as u64) < count;
                if done >= count || !is_chosen {
                    continue;
                }
                tries += 1;
                let mut random = StdRng::seed_from_u64(dice.below(u64::MAX));
                let plan = if dice.chance(EXTREME_PERCENT) {
                    dice.pick(&Plan::EXTREMES)
                } else {
                    Plan::random(&mut random)
                };
                let image = disk.cut(plan, &mut random);
                let hash = image.hash(|name| VOLATILE.contains(&name));
                if seen.insert((hash, recorded.history.clock_at(*point))) {
                    done += 1;
                    self.tally.states += 1;
                    self.tally.distinct += u64::from(disks.insert(hash));
                    self.tally.cuts += u64::from(cuts.insert(*point));
                    self.check(recorded, *point, plan, &image, dice)?;
                }
            }
        }
        println!("crash_states: {}, {done} states: {}", recorded.name, self.tally);
        Ok(())
    }

    fn check(
        &mut self,
        recorded: &Recorded,
        cut: usize,
        plan: Plan,
        image: &Image,
        dice: &mut Dice,
    ) -> anyhow::Result<()> {
        let history = recorded.history.at(cut);
        let mut verdict = self.open_and_judge(recorded, cut, image, &history);
        if verdict.is_ok() && self.tally.states.is_multiple_of(self.served_every) {
            self.tally.served += 1;
            verdict = self.serve(recorded, image, history, dice).context("served by the binary");
        }
        if let Err(error) = verdict {
            self.tally.failures += 1;
            let number = self.tally.failures;
            println!("crash_states: {}, cut {cut}, {plan:?}, failure {number}: {error:#}", recorded.name);
            show(&recorded.trace.events, cut);
            if let Some(kept) = std::env::var_os("MALLBOX_KEEP") {
                let kept = Path::new(&kept).join(format!("state-{number}"));
                fs::create_dir_all(&kept)?;
                image.write_to(&kept)?;
                println!("the state is kept as {}", kept.display());
            }
            ensure!(self.tally.failures < FAILURES_MAX as u64, "enough failures; what each found is above");
        }
        if self.shown.elapsed() > PROGRESS_INTERVAL {
            self.shown = Instant::now();
            let rate = self.tally.states as f64 / self.began.elapsed().as_secs_f64();
            println!("crash_states: {}, {rate:.1} states a second", self.tally);
        }
        Ok(())
    }

    fn open_and_judge(
        &self,
        recorded: &Recorded,
        cut: usize,
        image: &Image,
        history: &History,
    ) -> anyhow::Result<()> {
        // A directory of its own: threads of the mall before may still end.
        let dir = self.site.path().join(format!("state-{}", self.tally.states));
        fs::create_dir(&dir)?;
        image.write_to(&dir)?;
        let mall = dir.join("mall");
        drop(self.alarms.take());
        let opening = AssertUnwindSafe(|| self.runtime.block_on(opened::open(&mall, history)));
        let opened = std::panic::catch_unwind(opening);
        fs::remove_dir_all(&dir)?;
        let alarms = self.alarms.take();
        let Ok(opened) = opened else { bail!("{alarms:?}") };
        let Opened { state, report, shops } = opened?;
        ensure!(alarms.is_empty(), "{alarms:?}");
        judge(history, &state, Some(&report)).passed()?;
        if let Promised::Shops { from, count } = recorded.promised {
            ensure!(shops == count || (shops == 0 && cut < from), "{shops} of {count} shops are there");
        }
        Ok(())
    }

    /// Starts the binary, checks the mall over HTTP, sells the rest, and stops.
    fn serve(
        &self,
        recorded: &Recorded,
        image: &Image,
        history: History,
        dice: &mut Dice,
    ) -> anyhow::Result<()> {
        let dir = tempfile::Builder::new().prefix("served-").tempdir_in(self.site.path())?;
        image.write_to(dir.path())?;
        let data = dir.path().join("mall");
        let server = Server::start(&data, &self.site.log(), &self.site.durability)?;
        let Some(sale) = recorded.sales.first() else {
            server.stop()?;
            return crate::common::server::verify(&data);
        };
        let history = std::sync::Arc::new(Mutex::new(history));
        inspection::inspect_in(&server, &data, &history.lock(), &recorded.operator)?;
        inspection::finish(server, &data, &history, *sale, &recorded.operator, dice)
    }
}

/// Files without meaning after a crash.
const VOLATILE: [&str; 3] = ["mall.sqlite-shm", "lock", "control"];

/// Returns the positions to cut at: before and after each sync, and random ones between.
fn points(events: &[Event], dice: &mut Dice) -> Vec<usize> {
    let mut points = BTreeSet::from([0, events.len()]);
    for (position, event) in events.iter().enumerate() {
        if event.is_sync() {
            points.extend([position, position + 1]);
        }
    }
    for _ in 0..points.len() / 2 {
        points.insert(usize::try_from(dice.below(events.len() as u64)).unwrap_or(0));
    }
    points.into_iter().collect()
}

/// Prints the events before a cut.
fn show(events: &[Event], cut: usize) {
    for (position, event) in events.iter().enumerate().take(cut).skip(cut.saturating_sub(EVENTS_SHOWN)) {
        match event {
            Event::Write { node, offset, bytes } => {
                println!("  {position}: {} bytes to {node} at {offset}", bytes.len());
            }
            event => println!("  {position}: {event:?}"),
        }
    }
}
