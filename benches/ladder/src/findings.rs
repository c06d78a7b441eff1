//! What was wrong after a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::reply::Reply;
use crate::trigger::Trigger;

/// What was wrong after a run; all zero if nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Findings {
    /// Orders beyond the units of the sale.
    pub oversold: u64,
    /// Orders of users beyond their first.
    pub bought_twice: u64,
    /// Users refused although units were left for them.
    pub refused_while_left: u64,
    /// Users, or accepted claims, for whom no end comes.
    pub stuck: u64,
    /// Accepted claims without an order.
    pub lost: u64,
    /// Difference between the units of the sale, and its stock and orders together.
    pub books_off: u64,
}

/// A kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// More orders than units.
    Oversold,
    /// Several orders of a user.
    BoughtTwice,
    /// Refused while units were left.
    RefusedWhileLeft,
    /// No end comes for a user or a claim.
    Stuck,
    /// An accepted claim without an order.
    Lost,
    /// Stock and orders are not the units of the sale.
    BooksOff,
}

impl Findings {
    /// Returns the kinds of failure, with their numbers.
    #[must_use]
    pub fn failures(&self) -> Vec<(Failure, u64)> {
        let all = [
            (Failure::Oversold, self.oversold),
            (Failure::BoughtTwice, self.bought_twice),
            (Failure::RefusedWhileLeft, self.refused_while_left),
            (Failure::Stuck, self.stuck),
            (Failure::Lost, self.lost),
            (Failure::BooksOff, self.books_off),
        ];
        all.into_iter().filter(|(_, number)| *number > 0).collect()
    }
}

/// What is known at the end of a run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Units of the sale.
    pub units: u64,
    /// Units left, where the sale decides whether one is left.
    pub stock: i64,
    /// The owner of each order in the database.
    pub orders: Vec<u64>,
    /// Replies, in the order in which they arrived; `None` = the instance ended first.
    pub replies: Vec<(u64, Option<Reply>)>,
    /// Users whose orders were cancelled, and who bought nothing afterwards.
    pub given_back: BTreeSet<u64>,
    /// Users for whom no end came.
    pub stuck: BTreeSet<u64>,
    /// Accepted claims that were still waiting for their order.
    pub pending: u64,
    /// Mismatches that a check of the whole ledger found, beyond units.
    pub mismatches: u64,
}

impl Evidence {
    /// Returns why these replies allow no verdict: a request failed, or had no reply, without a trigger that
    /// explains that.
    #[must_use]
    pub fn unexplained(&self, trigger: Trigger) -> Option<String> {
        self.replies.iter().find_map(|(user, reply)| match reply {
            None if !matches!(trigger, Trigger::Killed | Trigger::FailedOver) => {
                Some(format!("an instance ended before its reply to user {user}"))
            }
            Some(Reply::Failed(why)) if trigger != Trigger::FailedOver => {
                Some(format!("the request of user {user} failed: {why}"))
            }
            _ => None,
        })
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn judge(&self) -> Findings {
        let mut orders: BTreeMap<u64, u64> = BTreeMap::new();
        for user in &self.orders {
            *orders.entry(*user).or_default() += 1;
        }
        let number = self.orders.len() as u64;
        let users = |wanted: fn(&Option<Reply>) -> bool| -> BTreeSet<u64> {
            self.replies.iter().filter(|(_, reply)| wanted(reply)).map(|(user, _)| *user).collect()
        };
        let accepted = users(|reply| *reply == Some(Reply::Accepted));
        let refused = users(|reply| matches!(reply, Some(Reply::SoldOut | Reply::Busy | Reply::Failed(_))));
        let is_without = |user: &&u64| {
            !orders.contains_key(user) && !accepted.contains(user) && !self.stuck.contains(user)
        };
        let refused = refused.iter().filter(is_without).count() as u64;
        let is_lost = |user: &&u64| !orders.contains_key(user) && !self.given_back.contains(user);
        let held = i128::from(self.stock) + i128::from(number);
        Findings {
            oversold: number.saturating_sub(self.units),
            bought_twice: orders.values().map(|orders| orders - 1).sum(),
            refused_while_left: refused.min(self.units.saturating_sub(number)),
            stuck: self.stuck.len() as u64 + self.pending,
            lost: accepted.iter().filter(is_lost).count() as u64,
            books_off: u64::try_from((i128::from(self.units) - held).unsigned_abs())
                .unwrap_or(u64::MAX)
                .saturating_add(self.mismatches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two units, sold to the users 1 and 2.
    fn sold_out() -> Evidence {
        Evidence {
            units: 2,
            orders: vec![1, 2],
            replies: vec![(1, Some(Reply::Accepted)), (2, Some(Reply::Accepted)), (3, Some(Reply::SoldOut))],
            ..Evidence::default()
        }
    }

    #[test]
    fn a_sold_out_sale_is_right() {
        assert_eq!(sold_out().judge(), Findings::default());
    }

    #[test]
    fn each_failure_is_found() {
        let right = sold_out();
        let found = |evidence: Evidence| evidence.judge().failures();
        let beyond = Evidence { orders: vec![1, 2, 3], stock: -1, ..right.clone() };
        assert_eq!(found(beyond), [(Failure::Oversold, 1)]);
        let twice = Evidence { orders: vec![1, 1, 2], units: 3, ..right.clone() };
        assert_eq!(found(twice), [(Failure::BoughtTwice, 1)]);
        let refused = Evidence { units: 5, stock: 3, ..right.clone() };
        assert_eq!(found(refused), [(Failure::RefusedWhileLeft, 1)]);
        let lost = Evidence { orders: vec![1], stock: 1, ..right.clone() };
        assert_eq!(found(lost), [(Failure::RefusedWhileLeft, 1), (Failure::Lost, 1)]);
        let stuck = Evidence { stuck: BTreeSet::from([3]), ..right.clone() };
        assert_eq!(found(stuck), [(Failure::Stuck, 1)]);
        let waiting = Evidence { pending: 4, ..right.clone() };
        assert_eq!(found(waiting), [(Failure::Stuck, 4)]);
        let off = Evidence { stock: 3, ..right };
        assert_eq!(found(off.clone()), [(Failure::BooksOff, 3)]);
        let worse = Evidence { stock: -1, mismatches: 1, ..off };
        assert_eq!(found(worse), [(Failure::BooksOff, 2)], "a mismatch repairs no unit");
    }

    #[test]
    fn a_failed_request_allows_no_verdict_unless_its_trigger_explains_it() {
        let with = |reply| Evidence { replies: vec![(1, reply)], ..Evidence::default() };
        let failed = with(Some(Reply::Failed("deadlock".to_owned())));
        for trigger in Trigger::ALL {
            assert_eq!(failed.unexplained(trigger).is_none(), trigger == Trigger::FailedOver);
            let is_explained = matches!(trigger, Trigger::Killed | Trigger::FailedOver);
            assert_eq!(with(None).unexplained(trigger).is_none(), is_explained);
            assert_eq!(with(Some(Reply::Busy)).unexplained(trigger), None);
        }
    }

    #[test]
    fn a_cancelled_order_is_not_lost_and_a_reply_that_never_came_counts_for_nothing() {
        let mut evidence = sold_out();
        evidence.orders = vec![1];
        evidence.stock = 1;
        evidence.given_back.insert(2);
        evidence.replies.retain(|(user, _)| *user != 3);
        evidence.replies.push((4, None));
        assert_eq!(evidence.judge(), Findings::default());
    }
}
