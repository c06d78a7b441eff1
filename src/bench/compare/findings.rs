//! What a comparison has found so far.

use std::collections::BTreeSet;

use super::kill::AfterKill;
use super::workload::Workload;
use crate::bench::result::{Books, Class, Recording, Run, System};

/// Systems, runs, and what went wrong.
#[derive(Default)]
pub(super) struct Findings {
    systems: Vec<System>,
    pub(super) runs: Vec<Run>,
    warnings: Vec<(&'static str, String)>,
    /// Ids of systems that did what no system may do, or whose runs failed.
    wrong: BTreeSet<String>,
}

impl Findings {
    /// Adds a system, once.
    pub(super) fn know(&mut self, system: System) {
        if !self.systems.iter().any(|known| known.id == system.id) {
            self.systems.push(system);
        }
    }

    pub(super) fn add(&mut self, run: Run) {
        let one_per_user = run.books.bought_twice.map(|twice| twice == 0);
        self.note_class(&run.system.clone(), |class| &mut class.one_per_user, one_per_user);
        let sold_wrongly = run.books.oversold.unwrap_or(0) + run.books.bought_twice.unwrap_or(0);
        if sold_wrongly > 0 && run.workload == Workload::SoldOut.name() {
            self.wrong(&run.system.clone(), "units were sold twice".to_owned());
        }
        self.runs.push(run);
    }

    /// Adds what a kill left: to the flash sale of the round and, if the servers were killed as well, to the
    /// class.
    pub(super) fn survived(&mut self, (id, round): (&str, usize), after: AfterKill, is_all_killed: bool) {
        if is_all_killed {
            self.note_class(id, |class| &mut class.exactly_once_after_kill, Some(after.is_exact()));
        }
        let is_lasting = |system: &System| system.id == id && system.class.durable != "memory";
        let is_broken = after.unmatched > 0 || (after.lost > 0 && self.systems.iter().any(is_lasting));
        if let Some(run) = self.last_of_round(id, round) {
            run.books = Books {
                accepted_before_kill: Some(after.accepted),
                lost_after_kill: Some(after.lost),
                unmatched_after_kill: Some(after.unmatched),
                recovery_s: Some(after.recovery.as_secs_f64()),
                ..run.books
            };
        }
        if is_broken {
            let text = format!("{} accepted claims lost, {} unmatched orders", after.lost, after.unmatched);
            self.wrong(id, format!("{text} after kill -9"));
        }
    }

    /// Adds the result of the ledger check.
    pub(super) fn checked(&mut self, (id, round): (&str, usize), balance: bool) {
        if let Some(run) = self.last_of_round(id, round) {
            run.books.balance = Some(balance);
        }
        if !balance {
            self.wrong(id, "the books do not balance".to_owned());
        }
    }

    /// Adds a run that failed.
    pub(super) fn fail(&mut self, (id, what, round): (&str, &'static str, usize), error: &anyhow::Error) {
        println!("! {what} failed: {error:#}");
        // A result is shown around: the folder stays at home.
        let here = std::env::current_dir().unwrap_or_default();
        let text = format!("{error:#}").replace(&*here.to_string_lossy(), ".");
        self.runs.push(Run::failed(id, what, round, text));
        self.wrong.insert(id.to_owned());
    }

    /// Adds something that no system may do.
    pub(super) fn wrong(&mut self, id: &str, text: String) {
        println!("! {text}");
        self.warnings.push(("system_wrong", format!("{id}: {text}")));
        self.wrong.insert(id.to_owned());
    }

    pub(super) fn warn(&mut self, code: &'static str, text: String) {
        self.warnings.push((code, text));
    }

    /// Returns the ids of systems that did what no system may do, or whose runs failed.
    pub(super) fn wrong_systems(&self) -> &BTreeSet<String> {
        &self.wrong
    }

    /// Returns the systems, in the order of their first round.
    pub(super) fn systems(&self) -> &[System] {
        &self.systems
    }

    /// Adds everything to the recording.
    pub(super) fn record(&self, recording: &mut Recording) {
        self.systems.iter().for_each(|system| recording.know(system.clone()));
        self.runs.iter().for_each(|run| recording.add_run(run.clone()));
        self.warnings.iter().for_each(|(code, text)| recording.warn(code, text.clone()));
    }

    /// Returns the run that bears the checks of the round: the flash sale, or else the last one.
    fn last_of_round(&mut self, id: &str, round: usize) -> Option<&mut Run> {
        let of_round = self.runs.iter_mut().filter(|run| run.system == id && run.round == round);
        of_round.max_by_key(|run| run.workload == Workload::FlashSale.name())
    }

    /// Changes a promise of a system's class: one round that breaks it is enough.
    fn note_class(&mut self, id: &str, of: impl Fn(&mut Class) -> &mut Option<bool>, holds: Option<bool>) {
        let system = self.systems.iter_mut().find(|system| system.id == id);
        if let (Some(system), Some(holds)) = (system, holds) {
            let promise = of(&mut system.class);
            *promise = Some(holds && *promise != Some(false));
        }
    }
}
