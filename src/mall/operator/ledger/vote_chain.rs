//! Rebuilds the sums of votes line by line.

use std::collections::{BTreeMap, HashMap};

use mallbox_storage::{ReviewId, ReviewVotes, VoteCause, VoteLine};
use roaring::RoaringTreemap;

use super::code::Code;
use super::object::{Kind, Object};
use super::report::Finding;

/// Lines of a review that wait for the line before: clocks of instances differ by seconds, not by more votes.
const WAITING_MAX: usize = 10_000;

/// The chains of some reviews' lines.
pub(super) struct VoteChains {
    chains: HashMap<ReviewId, Chain>,
    findings: Vec<Finding>,
}

/// The chain of a review's lines, up to the first gap.
struct Chain {
    stored: ReviewVotes,
    /// Number of the newest line.
    number: u64,
    /// Sum after the newest line.
    sum: u64,
    /// Number of the newest line that closed the votes.
    closed_line: u64,
    /// Users whose vote counts.
    voters: RoaringTreemap,
    /// Lines behind a gap.
    waiting: BTreeMap<u64, VoteLine>,
    /// Sum and closing line as of the stored newest line.
    at_stored: Option<(u64, u64)>,
}

impl VoteChains {
    /// Begins the chains of reviews. Lines newer than stored with a review are ignored: voters go on voting.
    pub(super) fn new(sums: &[ReviewVotes]) -> Self {
        let chains = sums.iter().map(|stored| (stored.review, Chain::new(*stored))).collect();
        Self { chains, findings: Vec::new() }
    }

    /// Adds a line. The lines of a review may come in any order close to that of their numbers, and
    /// repeatedly.
    pub(super) fn add(&mut self, line: &VoteLine) {
        // A review without a chain had no line when the sums were read, or does not exist: row checks tell.
        if let Some(chain) = self.chains.get_mut(&line.review) {
            chain.add(line, &mut self.findings);
        }
    }

    /// Ends all chains. Returns the findings, gaps included if `with_gaps`.
    pub(super) fn findings(mut self, with_gaps: bool) -> Vec<Finding> {
        let mut chains: Vec<_> = self.chains.into_values().collect();
        chains.sort_by_key(|chain| chain.stored.review);
        for chain in chains {
            chain.end(with_gaps, &mut self.findings);
        }
        self.findings
    }
}

impl Chain {
    fn new(stored: ReviewVotes) -> Self {
        Self {
            stored,
            number: 0,
            sum: 0,
            closed_line: 0,
            voters: RoaringTreemap::new(),
            waiting: BTreeMap::new(),
            at_stored: None,
        }
    }

    fn add(&mut self, line: &VoteLine, findings: &mut Vec<Finding>) {
        if line.number <= self.number || line.number > self.stored.lines {
            return;
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.insert(line.number, *line);
        }
        while let Some(next) = self.waiting.remove(&(self.number + 1)) {
            self.follow(&next, findings);
        }
    }

    /// Appends the next line.
    fn follow(&mut self, line: &VoteLine, findings: &mut Vec<Finding>) {
        let user = line.user.map(mallbox_storage::UserId::get);
        let (change, is_new) = match (line.cause, user) {
            (VoteCause::Up, Some(user)) => (1, self.voters.insert(user)),
            (VoteCause::Down, Some(user)) => (-1, self.voters.remove(user)),
            (VoteCause::Closed, None) => {
                self.voters.clear();
                self.closed_line = line.number;
                (-self.sum.cast_signed(), true)
            }
            _ => (0, false),
        };
        if !is_new {
            findings.push(found(line, Code::VoteTwice, "one vote per user", "not so"));
        }
        if line.change != change || self.sum.checked_add_signed(change) != Some(line.sum) {
            let expected = format!("a change of {change} from {}", self.sum);
            findings.push(found(line, Code::VoteLine, expected, format!("{} to {}", line.change, line.sum)));
        }
        (self.number, self.sum) = (line.number, line.sum);
        if line.number == self.stored.lines {
            self.at_stored = Some((self.sum, self.closed_line));
        }
    }

    fn end(self, with_gaps: bool, findings: &mut Vec<Finding>) {
        let ReviewVotes { review, votes, lines, closed_line } = self.stored;
        match self.at_stored {
            None if with_gaps => {
                let object = Object::new(Kind::VoteLine, format!("{review} {}", self.number + 1));
                findings.push(Finding::new(Code::VoteLine, object, "a line", "none"));
            }
            None => {}
            Some(at) if at == (votes, closed_line) => {}
            Some((sum, closed)) => {
                let object = Object::new(Kind::Review, review);
                let expected = format!("{sum} after line {lines}, closed by line {closed}");
                let stored = format!("{votes}, closed by line {closed_line}");
                findings.push(Finding::new(Code::VoteSum, object, expected, stored));
            }
        }
    }
}

fn found(
    line: &VoteLine,
    code: Code,
    expected: impl std::fmt::Display,
    found: impl std::fmt::Display,
) -> Finding {
    let object = Object::new(Kind::VoteLine, format!("{} {}", line.review, line.number));
    Finding::new(code, object, expected, found)
}

#[cfg(test)]
mod tests {
    use mallbox_storage::{Timestamp, UserId};

    use super::*;

    const REVIEW: ReviewId = ReviewId::new(7);

    fn line(number: u64, cause: VoteCause, user: u64, change: i64, sum: u64) -> VoteLine {
        let user = (cause != VoteCause::Closed).then(|| UserId::new(user));
        VoteLine { review: REVIEW, number, user, cause, change, sum, at: Timestamp::from_millis(0) }
    }

    fn ledger() -> Vec<VoteLine> {
        use VoteCause::{Closed, Down, Up};
        vec![
            line(1, Up, 1, 1, 1),
            line(2, Up, 2, 1, 2),
            line(3, Down, 1, -1, 1),
            line(4, Up, 1, 1, 2),
            line(5, Closed, 0, -2, 0),
            line(6, Up, 2, 1, 1),
        ]
    }

    fn codes(stored: ReviewVotes, lines: &[VoteLine], with_gaps: bool) -> Vec<Code> {
        let mut chains = VoteChains::new(&[stored]);
        lines.iter().for_each(|line| chains.add(line));
        chains.findings(with_gaps).into_iter().map(|finding| finding.code).collect()
    }

    const STORED: ReviewVotes = ReviewVotes { review: REVIEW, votes: 1, lines: 6, closed_line: 5 };

    #[test]
    fn a_ledger_in_any_order_and_with_repeated_lines_balances() {
        let mut lines = ledger();
        assert_eq!(codes(STORED, &lines, true), []);
        lines.reverse();
        lines.extend(ledger());
        assert_eq!(codes(STORED, &lines, true), []);
        let newer = line(7, VoteCause::Up, 9, 1, 2);
        lines.push(newer);
        assert_eq!(codes(STORED, &lines, true), [], "a vote since the sums were read");
    }

    #[test]
    fn a_gap_a_wrong_sum_and_a_double_vote_are_found() {
        for missing in 0..6 {
            let mut lines = ledger();
            lines.remove(missing);
            assert_eq!(codes(STORED, &lines, true), [Code::VoteLine], "{missing}");
            assert_eq!(codes(STORED, &lines, false), [], "{missing}");
        }
        let mut lines = ledger();
        lines[5].sum = 2;
        assert_eq!(codes(STORED, &lines, true), [Code::VoteLine, Code::VoteSum]);
        let mut lines = ledger();
        lines[3].user = Some(UserId::new(2));
        assert_eq!(codes(STORED, &lines, true), [Code::VoteTwice]);
        for stored in [ReviewVotes { votes: 2, ..STORED }, ReviewVotes { closed_line: 0, ..STORED }] {
            assert_eq!(codes(stored, &ledger(), true), [Code::VoteSum]);
        }
    }
}
