//! The verdict on a mall of others: what its answers and its orders prove.

use std::time::Duration;

use super::drive::Driven;
use super::foreign::OrderCount;
use super::load_settings::LoadBench;
use super::numbers::count;

/// Orders of a sale since the start of the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SettledSale {
    pub(super) orders: u64,
    /// Orders of users with an earlier order in the sale; `None` if the mall does not tell.
    again: Option<u64>,
}

/// The orders, once no more are expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Settled {
    pub(super) sales: Vec<SettledSale>,
    /// From the last response to the last order.
    pub(super) after: Duration,
}

impl Settled {
    /// Returns the orders of each sale between two counts.
    pub(super) fn between(before: &[OrderCount], now: &[OrderCount], after: Duration) -> Self {
        let again = |count: &OrderCount| count.buyers.map(|buyers| count.orders.saturating_sub(buyers));
        let sale = |(before, now): (&OrderCount, &OrderCount)| SettledSale {
            orders: now.orders.saturating_sub(before.orders),
            again: again(now).zip(again(before)).map(|(now, before)| now.saturating_sub(before)),
        };
        Self { sales: before.iter().zip(now).map(sale).collect(), after }
    }

    /// Returns the number of orders in all sales.
    pub(super) fn orders(&self) -> u64 {
        self.sales.iter().fold(0, |sum, sale| sum.saturating_add(sale.orders))
    }
}

/// What is known about a load.
pub(super) struct Evidence<'a> {
    pub(super) bench: &'a LoadBench,
    pub(super) driven: &'a Driven,
    /// `None` if the orders were not counted.
    pub(super) settled: Option<&'a Settled>,
}

impl Evidence<'_> {
    /// Returns the claims of each sale: accepted, without a response, and the orders written.
    fn sales(&self) -> impl Iterator<Item = (u64, u64, Option<u64>)> {
        self.driven.by_sale.iter().enumerate().map(|(number, sale)| {
            let settled = self.settled.and_then(|settled| settled.sales.get(number));
            (sale.accepted, sale.lost, settled.map(|settled| settled.orders))
        })
    }

    /// Returns the units sold beyond those of their sale; `None` if the units are unknown.
    pub(super) fn oversold(&self) -> Option<u64> {
        let units = self.bench.units?;
        let surplus = |(accepted, _, orders): (u64, u64, Option<u64>)| {
            accepted.max(orders.unwrap_or(0)).saturating_sub(units)
        };
        Some(self.sales().map(surplus).sum())
    }

    /// Returns the purchases of users who had bought; `None` if nobody claimed twice and there is none.
    pub(super) fn bought_twice(&self) -> Option<u64> {
        let of_sale = |settled: &[SettledSale]| -> u64 { settled.iter().filter_map(|sale| sale.again).sum() };
        let by_orders = self.settled.map_or(0, |settled| of_sale(&settled.sales));
        let again = by_orders.max(self.driven.outcomes.bought_again);
        (self.bench.claims_per_user > 1 || again > 0).then_some(again)
    }

    /// Returns the accepted claims without an order.
    pub(super) fn lost(&self) -> u64 {
        self.sales().map(|(accepted, _, orders)| accepted.saturating_sub(orders.unwrap_or(accepted))).sum()
    }

    /// Returns the orders beyond those of accepted claims and of claims without a response.
    pub(super) fn surplus(&self) -> u64 {
        self.sales().map(|(accepted, lost, orders)| orders.unwrap_or(0).saturating_sub(accepted + lost)).sum()
    }

    /// Returns what went wrong, a sentence each.
    pub(super) fn findings(&self) -> Vec<String> {
        let outcomes = &self.driven.outcomes;
        let waited = self.bench.settle.as_secs();
        let unknown = outcomes.refused + outcomes.rejected;
        let findings = [
            (
                if outcomes.accepted == 0 { unknown } else { 0 },
                "NOTHING SOLD: no claim was accepted, and",
                "answers match no rule of the dialect".to_owned(),
            ),
            (self.oversold().unwrap_or(0), "OVERSOLD:", "units more than there were".to_owned()),
            (
                self.bought_twice().unwrap_or(0),
                "BOUGHT TWICE:",
                "purchases of users who had bought in the same sale".to_owned(),
            ),
            (self.lost(), "LOST:", format!("accepted claims without an order after {waited} s")),
            (self.surplus(), "SURPLUS:", "orders without an accepted claim".to_owned()),
            (
                outcomes.lost,
                "UNANSWERED:",
                "claims without a readable response; some of them may have been accepted".to_owned(),
            ),
        ];
        let found = findings.into_iter().filter(|(number, ..)| *number > 0);
        found.map(|(number, name, text)| format!("{name} {} {text}", count(number))).collect()
    }

    /// Returns the verdict when nothing was found: what it rests on, and what was not checked.
    pub(super) fn verdict(&self) -> (&'static str, String) {
        if self.driven.outcomes.accepted == 0 {
            return ("unknown", "no claim was accepted, so that nothing can be said about sales".to_owned());
        }
        let how_orders = match &self.bench.dialect.orders {
            Some(_) => "pass --mysql",
            None => "the dialect has no [orders]",
        };
        let checks = [
            (self.bench.units.is_some(), "oversold units", "pass --units"),
            (self.bench.claims_per_user > 1, "second purchases", "pass --claims-per-user 2"),
            (self.settled.is_some(), "lost or surplus orders", how_orders),
        ];
        let of_kind = |kind: bool| checks.into_iter().filter(move |(is_checked, ..)| *is_checked == kind);
        let done: Vec<_> = of_kind(true).map(|(_, what, _)| format!("no {what}")).collect();
        let open: Vec<_> = of_kind(false).map(|(_, what, how)| format!("{what} ({how})")).collect();
        let verdict = if done.is_empty() { "unknown" } else { "no fault" };
        let mut text = done.join(", ");
        if !open.is_empty() {
            let separator = if text.is_empty() { "" } else { "; " };
            text += &format!("{separator}not checked: {}", open.join(", "));
        }
        (verdict, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_before_the_load_do_not_count() {
        let count = |orders, buyers| OrderCount { orders, buyers };
        let (before, now) = ([count(7, Some(5)), count(0, None)], [count(17, Some(14)), count(3, None)]);
        let settled = Settled::between(&before, &now, Duration::ZERO);
        let sale = |orders, again| SettledSale { orders, again };
        assert_eq!(settled.sales, [sale(10, Some(1)), sale(3, None)]);
        assert_eq!(settled.orders(), 13);
    }
}
