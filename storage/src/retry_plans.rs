//! Decisions about tasks of the retry queue, made without I/O on rows that were read and locked.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::{
    NewRetryTask, RetryLease, RetryLimits, RetrySettlement, RetryStep, RetryTaskId, SubmitOutcome, Timestamp,
};

/// Totals of a kind, stored in its row. The row is the lock of everything but leases and retries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenTasks {
    /// Number of open tasks.
    pub tasks: u64,
    /// Sum of their payloads.
    pub bytes: u64,
    /// Number of failed tasks.
    pub failed: u64,
}

/// What the submission of one task writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubmitPlan {
    /// Nothing: the outcome.
    Refuse(SubmitOutcome),
    /// Nothing: the key is that of the task at this index of the same call.
    SameAs(usize),
    /// A row.
    Insert {
        /// Whether an older open task of the group keeps the row from being leased.
        is_blocked: bool,
    },
}

impl SubmitPlan {
    /// Returns the instant from which a new row can be leased; `None` while blocked.
    #[must_use]
    pub fn ready(self, task: &NewRetryTask) -> Option<Timestamp> {
        match self {
            Self::Insert { is_blocked: false } => Some(task.lease_until.unwrap_or(task.due)),
            _ => None,
        }
    }

    /// Whether the new row is leased to the caller.
    #[must_use]
    pub fn is_leased(self, task: &NewRetryTask) -> bool {
        self == Self::Insert { is_blocked: false } && task.lease_until.is_some()
    }

    /// Returns the outcome once the row has an id.
    pub fn stored(self, task: &NewRetryTask, id: RetryTaskId) -> SubmitOutcome {
        let lease = self.is_leased(task).then_some(RetryLease { task: id, number: 1 });
        SubmitOutcome::Stored { task: id, lease }
    }

    /// Returns the outcome for a key that an earlier task of the same call has.
    pub fn repeat_of(first: SubmitOutcome) -> SubmitOutcome {
        match first {
            SubmitOutcome::Stored { task, .. } => SubmitOutcome::Repeat { task, has_failed: false },
            other => other,
        }
    }
}

/// Returns why a call must be refused as a whole, if a text or payload is too long.
fn too_long(kind: &str, tasks: &[NewRetryTask]) -> Option<&'static str> {
    let is_long = |text: &str| text.len() > NewRetryTask::KEY_MAX;
    if kind.is_empty() || kind.len() > NewRetryTask::KIND_MAX {
        Some("the kind of a task is empty or too long")
    } else if tasks.iter().any(|task| is_long(&task.key) || task.group.as_deref().is_some_and(is_long)) {
        Some("the key or group of a task is too long")
    } else if tasks.iter().any(|task| task.payload.len() > NewRetryTask::BYTES_MAX) {
        Some("the payload of a task is too large")
    } else {
        None
    }
}

/// Decides about a submission. `open` holds the totals of the locked kind, and afterwards the totals to
/// write. `stored` are the tasks whose keys are among `tasks`, with whether they failed; `groups` the groups
/// with an open task.
///
/// # Errors
/// The rule that refuses the whole call.
pub fn plan_submits(
    kind: &str,
    tasks: &[NewRetryTask],
    limits: RetryLimits,
    open: &mut OpenTasks,
    stored: &HashMap<String, (RetryTaskId, bool)>,
    groups: HashSet<String>,
) -> Result<Vec<SubmitPlan>, &'static str> {
    if let Some(rule) = too_long(kind, tasks) {
        return Err(rule);
    }
    let mut planner = Planner { limits, open, stored, groups, new: HashMap::new() };
    Ok(tasks.iter().enumerate().map(|(index, task)| planner.plan(index, task)).collect())
}

/// State of a submission between two of its tasks.
struct Planner<'a> {
    limits: RetryLimits,
    open: &'a mut OpenTasks,
    stored: &'a HashMap<String, (RetryTaskId, bool)>,
    groups: HashSet<String>,
    new: HashMap<&'a str, usize>,
}

impl<'a> Planner<'a> {
    fn plan(&mut self, index: usize, task: &'a NewRetryTask) -> SubmitPlan {
        if let Some(&(task, has_failed)) = self.stored.get(&task.key) {
            return SubmitPlan::Refuse(SubmitOutcome::Repeat { task, has_failed });
        }
        if let Some(first) = self.new.get(task.key.as_str()) {
            return SubmitPlan::SameAs(*first);
        }
        let bytes = self.open.bytes.saturating_add(task.payload.len() as u64);
        if self.open.tasks >= self.limits.tasks || bytes > self.limits.bytes {
            return SubmitPlan::Refuse(SubmitOutcome::Full);
        }
        (self.open.tasks, self.open.bytes) = (self.open.tasks + 1, bytes);
        self.new.insert(&task.key, index);
        let is_blocked = task.group.as_ref().is_some_and(|group| !self.groups.insert(group.clone()));
        SubmitPlan::Insert { is_blocked }
    }
}

/// A row of a settlement, as far as the settlement depends on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeasedRow {
    /// The lease in force.
    pub lease: RetryLease,
    /// Group, if any.
    pub group: Option<String>,
    /// Length of the payload.
    pub bytes: u64,
}

/// Rows of a settlement call, and the changes of the totals.
#[derive(Default, Debug)]
pub struct SettledRows {
    /// For each settlement, whether its lease is in force.
    pub in_force: Vec<bool>,
    /// Number of tasks that are open no longer.
    pub closed: u64,
    /// Sum of their payloads.
    pub closed_bytes: u64,
    /// Number of tasks that failed for good.
    pub failed: u64,
    /// Groups of the tasks that are open no longer: the oldest open task of each can be leased next.
    pub groups: BTreeSet<String>,
}

/// Decides which settlements have force. `rows` are the leased rows among them, by id.
///
/// # Errors
/// The rule that refuses the whole call: a result is too large.
pub fn plan_settlements(
    settlements: &[RetrySettlement],
    rows: &BTreeMap<RetryTaskId, LeasedRow>,
) -> Result<SettledRows, &'static str> {
    let is_large = |step: &RetryStep| matches!(step, RetryStep::Passed { result, .. } if result.len() > NewRetryTask::BYTES_MAX);
    if settlements.iter().any(|settlement| is_large(&settlement.step)) {
        return Err("the result of a segment is too large");
    }
    let (mut plan, mut seen) = (SettledRows::default(), HashSet::new());
    for RetrySettlement { lease, step } in settlements {
        let row = rows.get(&lease.task).filter(|row| row.lease == *lease && seen.insert(lease.task));
        plan.in_force.push(row.is_some());
        let (Some(row), RetryStep::Done | RetryStep::Failed { .. }) = (row, step) else { continue };
        plan.closed += 1;
        plan.closed_bytes += row.bytes;
        plan.failed += u64::from(matches!(step, RetryStep::Failed { .. }));
        plan.groups.extend(row.group.clone());
    }
    Ok(plan)
}

impl OpenTasks {
    /// Subtracts the tasks that are open no longer, and adds the failed tasks. Totals changed behind the mall
    /// must not stop the queue: the ledger check reports them.
    pub fn settle(&mut self, settled: &SettledRows) {
        self.tasks = self.tasks.saturating_sub(settled.closed);
        self.bytes = self.bytes.saturating_sub(settled.closed_bytes);
        self.failed += settled.failed;
    }

    /// Returns the totals after the replay of a failed task with a payload of this length.
    #[must_use]
    pub fn replayed(self, bytes: u64) -> Self {
        Self { tasks: self.tasks + 1, bytes: self.bytes + bytes, ..self.forgotten(1) }
    }

    /// Returns the totals after the removal of failed tasks.
    #[must_use]
    pub fn forgotten(self, tasks: u64) -> Self {
        Self { failed: self.failed.saturating_sub(tasks), ..self }
    }
}

/// The one open task of a group that can be leased or is leased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupHead {
    /// Its id.
    pub task: RetryTaskId,
    /// Whether it is leased.
    pub is_leased: bool,
    /// Instant from which it can be leased, next or again.
    pub ready: Timestamp,
}

/// What a replay writes besides the task itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayedTask {
    /// The task is ready.
    Ready,
    /// The task is ready, and this younger head of the group is blocked from now on.
    InsteadOf(RetryTaskId),
    /// The task waits for the head of its group.
    Blocked,
}

impl ReplayedTask {
    /// Decides about the replay of `task`, given the head of its group.
    #[must_use]
    pub fn plan(task: RetryTaskId, head: Option<GroupHead>, now: Timestamp) -> Self {
        match head {
            None => Self::Ready,
            Some(head) if head.task < task || head.is_leased && head.ready > now => Self::Blocked,
            Some(head) => Self::InsteadOf(head.task),
        }
    }
}

/// Returns an error as stored: of one line, and at most [`NewRetryTask::ERROR_MAX`] characters.
#[must_use]
pub fn short_error(error: &str) -> String {
    error
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(NewRetryTask::ERROR_MAX)
        .collect()
}
