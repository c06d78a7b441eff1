//! The servers of a ladder, and the runs on them.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mallbox_bench_ladder::{
    CaseReport, LadderError, Launch, Location, Outcome, RungReport, Speed, Trigger, measure, run,
};
use mallbox_bench_ports::ServerAddresses;
use mallbox_bench_servers::{MARIADB, REDIS, version};
use tokio::runtime::Runtime;

use super::mall;
use super::rung::AnyRung;

/// The servers of a ladder. Dropping the value ends them.
pub struct LadderSession {
    location: Location,
    launch: Launch,
    runtime: Runtime,
}

/// A step of a rung's report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The rung.
    pub rung: &'static str,
    /// The trigger; `None` while rates are measured.
    pub trigger: Option<Trigger>,
}

/// What is run of a rung.
#[derive(Clone, Debug)]
pub struct Effort {
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// Runs under each trigger.
    pub repeat: usize,
    /// Length of the measurement of rates; zero = none.
    pub span: Duration,
}

impl Effort {
    /// Returns the steps of a rung.
    pub(super) fn steps(&self, rung: AnyRung) -> impl Iterator<Item = Step> {
        let measured = (!self.span.is_zero()).then_some(None);
        let struck = rung.triggers().filter(|trigger| self.triggers.contains(trigger)).map(Some);
        measured.into_iter().chain(struck).map(move |trigger| Step { rung: rung.id(), trigger })
    }
}

/// Returns the programs that a ladder needs and that are not installed.
#[must_use]
pub fn missing_programs() -> Vec<&'static str> {
    [REDIS, MARIADB].into_iter().filter(|program| version(program).is_none()).collect()
}

impl LadderSession {
    /// Starts servers with their data below `dir`, or uses those of the user, Redis first, which must be
    /// empty.
    ///
    /// # Errors
    /// A server that does not start, cannot be reached, or is not empty.
    pub fn open(dir: &Path, given: Option<&(String, String)>) -> anyhow::Result<Self> {
        let runtime = Runtime::new()?;
        let location = match given {
            None => runtime.block_on(Location::start(dir))?,
            Some((redis, mysql)) => {
                runtime.block_on(ServerAddresses::of_empty(redis, mysql))?;
                runtime.block_on(Location::given(redis, mysql))?
            }
        };
        let launch: Launch = Arc::new(|| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["bench", "ladder-instance"]);
            Ok(command)
        });
        Ok(Self { location, launch, runtime })
    }

    /// Returns the steps of a rung that can run on these servers.
    #[must_use]
    pub fn steps(&self, rung: AnyRung, effort: &Effort) -> Vec<Step> {
        let can_run = |step: &Step| self.location.is_own() || !rung.needs_own_servers(step.trigger);
        effort.steps(rung).filter(can_run).collect()
    }

    /// Runs a rung. `next` is called before each step, with the report so far; the report ends there if it
    /// returns false.
    pub fn report(
        &self,
        rung: AnyRung,
        effort: &Effort,
        mut next: impl FnMut(Step, &RungReport) -> bool,
    ) -> anyhow::Result<RungReport> {
        let mut report = rung.report();
        for step in self.steps(rung, effort) {
            if !next(step, &report) {
                break;
            }
            match step.trigger {
                None => report.speed = Some(self.measure(rung, effort.span)?),
                Some(trigger) => {
                    let outcomes = (0..effort.repeat).map(|_| self.run(rung, trigger));
                    let outcomes = outcomes.map(|outcome| outcome.map_err(|error| error.to_string()));
                    report.cases.push(CaseReport::judge(rung.id(), trigger, outcomes.collect()));
                }
            }
        }
        Ok(report)
    }

    /// Removes what the ladder made on servers of the user.
    ///
    /// # Errors
    /// A server that cannot be reached; its data stays.
    pub fn close(self) -> Result<(), LadderError> {
        if self.location.is_own() { Ok(()) } else { self.runtime.block_on(self.location.clear()) }
    }

    fn measure(&self, rung: AnyRung, span: Duration) -> anyhow::Result<Speed> {
        match rung {
            AnyRung::Process(rung) => {
                Ok(self.runtime.block_on(measure(&self.location, &self.launch, rung, span))?)
            }
            AnyRung::Mall(rung) => mall::measure(rung, &self.location, span),
        }
    }

    fn run(&self, rung: AnyRung, trigger: Trigger) -> anyhow::Result<Outcome> {
        match rung {
            AnyRung::Process(rung) => {
                Ok(self.runtime.block_on(run(&self.location, &self.launch, rung, trigger))?)
            }
            AnyRung::Mall(rung) => mall::run(rung, &self.location, trigger),
        }
    }
}
