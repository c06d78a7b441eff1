//! All rungs: those whose instances are processes of the ladder, and mallbox itself.

use std::sync::LazyLock;

use mallbox_bench_ladder::{Failure, RUNGS, Rung, RungReport, Trigger, Words, expected};

use super::mall::{MALLS, MallRung};

/// A rung.
#[derive(Clone, Copy, Debug)]
pub enum AnyRung {
    /// A rung of the ladder's own crate.
    Process(&'static Rung),
    /// A mall.
    Mall(&'static MallRung),
}

/// All rungs, in the order in which they are read.
static ALL: LazyLock<Vec<AnyRung>> =
    LazyLock::new(|| RUNGS.iter().map(AnyRung::Process).chain(MALLS.iter().map(AnyRung::Mall)).collect());

impl AnyRung {
    /// Returns all rungs, in the order in which they are read.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// Returns the rung with an id.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        ALL.iter().copied().find(|rung| rung.id() == id)
    }

    /// Returns the number and letter.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Process(rung) => rung.id,
            Self::Mall(rung) => rung.id,
        }
    }

    /// Returns what the rung does.
    #[must_use]
    pub fn title(self) -> Words {
        match self {
            Self::Process(rung) => rung.title,
            Self::Mall(rung) => rung.title,
        }
    }

    /// Returns the number of processes that sell at the same time.
    #[must_use]
    pub fn instances(self) -> u8 {
        match self {
            Self::Process(rung) => rung.instances,
            Self::Mall(rung) => rung.instances,
        }
    }

    /// Returns the source code and its path in the project.
    #[must_use]
    pub fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Process(rung) => (rung.source, rung.file),
            Self::Mall(rung) => (rung.source, rung.file),
        }
    }

    /// Returns the triggers that can strike, in the order in which they run.
    pub fn triggers(self) -> impl Iterator<Item = Trigger> {
        Trigger::ALL.into_iter().filter(move |trigger| match self {
            Self::Process(rung) => rung.has(*trigger),
            Self::Mall(rung) => rung.has(*trigger),
        })
    }

    /// Returns the failures that follow from a trigger; none if the rung passes.
    #[must_use]
    pub fn expected(self, trigger: Trigger) -> &'static [Failure] {
        expected(self.id(), trigger)
    }

    /// Whether a run under `trigger`, or the measurement without one, needs servers that the bench starts.
    #[must_use]
    pub fn needs_own_servers(self, trigger: Option<Trigger>) -> bool {
        match self {
            Self::Process(rung) => rung.needs_own_servers(trigger),
            Self::Mall(_) => trigger == Some(Trigger::FailedOver),
        }
    }

    /// Returns the report of a rung without any run.
    #[must_use]
    pub fn report(self) -> RungReport {
        RungReport {
            id: self.id(),
            title: self.title(),
            instances: self.instances(),
            speed: None,
            cases: Vec::new(),
        }
    }
}
