//! Lines of votes as text.

use serde::{Deserialize, Serialize};

use crate::{ReviewId, Timestamp, UserId, VoteCause, VoteLine};

/// A line of the ledger of votes in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredVote {
    review: u64,
    number: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<u64>,
    cause: Cause,
    change: i64,
    sum: u64,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    at_ms: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Cause {
    Up,
    Down,
    Closed,
}

impl From<&VoteLine> for StoredVote {
    fn from(line: &VoteLine) -> Self {
        Self {
            review: line.review.get(),
            number: line.number,
            user: line.user.map(UserId::get),
            cause: match line.cause {
                VoteCause::Up => Cause::Up,
                VoteCause::Down => Cause::Down,
                VoteCause::Closed => Cause::Closed,
            },
            change: line.change,
            sum: line.sum,
            at_ms: line.at.as_millis(),
        }
    }
}

/// Returns a line of the ledger of votes as text: JSON without a line feed.
#[must_use]
pub fn vote_text(line: &VoteLine) -> String {
    // Numbers and fixed words always have a JSON form.
    serde_json::to_string(&StoredVote::from(line)).unwrap_or_default()
}

/// Parses a line of the ledger of votes; `None` for a line that no mall writes.
pub(super) fn vote_in(line: &str) -> Option<VoteLine> {
    let stored: StoredVote = serde_json::from_str(line).ok()?;
    Some(VoteLine {
        review: ReviewId::new(stored.review),
        number: stored.number,
        user: stored.user.map(UserId::new),
        cause: match stored.cause {
            Cause::Up => VoteCause::Up,
            Cause::Down => VoteCause::Down,
            Cause::Closed => VoteCause::Closed,
        },
        change: stored.change,
        sum: stored.sum,
        at: Timestamp::from_millis(stored.at_ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = VoteLine {
            review: ReviewId::new(7),
            number: 3,
            user: Some(UserId::new(12)),
            cause: VoteCause::Up,
            change: 1,
            sum: 2,
            at: Timestamp::from_millis(1_795_478_400_000),
        };
        let text = vote_text(&line);
        let expected =
            r#"{"review":7,"number":3,"user":12,"cause":"up","change":1,"sum":2,"at_ms":1795478400000}"#;
        assert_eq!((&*text, vote_in(&text)), (expected, Some(line)));
        let closed = VoteLine { user: None, cause: VoteCause::Closed, change: -2, sum: 0, ..line };
        assert_eq!(vote_in(&vote_text(&closed)), Some(closed));
        for other in ["", "{}", &text.replace("up", "sideways"), &text.replace("\"sum\"", "\"total\"")] {
            assert_eq!(vote_in(other), None, "{other}");
        }
    }
}
