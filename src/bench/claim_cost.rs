//! Cost of the claims of a sale: CPU beside that of a bare request, and bytes written to the disk.

use super::ceiling::Ceiling;
use super::comparison::Quantity;
use super::load::Report;
use super::numbers::count;
use super::process_usage::ProcessUsage;
use super::programs::ProgramUsage;
use super::result::{Cost, ProgramCost};
use super::run_record::{cost, program_costs};
use super::rush::ClaimOutcomes;
use super::summary::{Summary, micros_per_response};

/// What the servers of a mall spent on its claims. The log-ins beside the claims are included.
pub(super) struct ClaimCost {
    /// Until the last response.
    pub(super) answered: ProgramUsage,
    /// Until the last order is in the database.
    pub(super) persisted: ProgramUsage,
    /// Orders in the database.
    pub(super) orders: u64,
}

impl ClaimCost {
    /// Returns CPU per claim as a multiple of that of a bare request, until the last response and until the
    /// last order. `None` unless the CPU of every program is known.
    fn ratios(&self, report: &Report, ceiling: Ceiling) -> [Option<f64>; 2] {
        [&self.answered, &self.persisted].map(|usage| ratio(usage.total(), report, ceiling))
    }

    /// Returns the bytes written per order. `None` without orders, and unless those of every program are
    /// known.
    fn written_per_order(&self) -> Option<f64> {
        per_order(self.persisted.total()?, self.orders)
    }

    /// Returns the cost for the result document.
    pub(super) fn record(&self, report: &Report, ceiling: Ceiling) -> Cost {
        let [cpu_ratio, cpu_ratio_persisted] = self.ratios(report, ceiling);
        let known = cost(self.persisted.total(), report);
        let is_alone = self.persisted.0.len() == 1;
        Cost {
            cpu_us_per_operation: self.answered.total().map(|usage| micros_per_response(report, usage.cpu)),
            cpu_ratio,
            cpu_ratio_persisted,
            // The largest memory of servers may be older than the sale.
            memory_bytes: known.memory_bytes.filter(|_| is_alone),
            written_bytes_per_order: self.written_per_order(),
            programs: self.program_costs(report),
            ..known
        }
    }

    /// Returns the cost of each program: CPU until the last response, bytes until the last order.
    fn program_costs(&self, report: &Report) -> Vec<ProgramCost> {
        let mut costs = program_costs(&self.answered, report);
        for (cost, persisted) in costs.iter_mut().zip(program_costs(&self.persisted, report)) {
            cost.written_bytes_per_operation = persisted.written_bytes_per_operation;
        }
        costs
    }

    /// Adds the CPU of a claim beside that of a bare request, and the bytes written per order.
    pub(super) fn print(
        &self,
        summary: &mut Summary,
        (outcomes, report): (&ClaimOutcomes, &Report),
        ceiling: Ceiling,
    ) {
        let [answered, persisted] = self.ratios(report, ceiling);
        let shown = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.2}"));
        let parts = |usage| by_program(usage, |usage| shown(ratio(usage, report, ceiling)));
        let bare = match ceiling.cpu_us() {
            Some((before, after)) => format!("{before:.1} µs before, {after:.1} µs after"),
            None => "unknown on this system".to_owned(),
        };
        let claim = kind_of_claim(outcomes, report);
        let text = format!(
            "times the CPU of a bare request ({bare}), for a {claim}, until the last response{}",
            parts(&self.answered)
        );
        summary.add("CPU ratio", or_unknown(shown(answered)), text);
        let text = format!("the same until the last order is in the database{}", parts(&self.persisted));
        summary.add("", or_unknown(shown(persisted)), text);
        let written = |usage: Option<ProcessUsage>| Some(shown_bytes(per_order(usage?, self.orders)?));
        let total = self.persisted.total();
        let is_in_memory = total.is_some_and(|usage| usage.written == 0);
        let text = format!(
            "to disk per order, until the last order is in the database{}{}",
            by_program(&self.persisted, written),
            if is_in_memory { "; file systems in memory do not count" } else { "" }
        );
        summary.add("written", or_unknown(written(total)), text);
    }

    /// Returns the figures for the comparison of several runs.
    pub(super) fn figures(&self, report: &Report, ceiling: Ceiling) -> Vec<(Quantity, f64)> {
        let [answered, persisted] = self.ratios(report, ceiling);
        [
            (("CPU of a claim / of a bare request", 2), answered),
            (("the same until orders are persisted", 2), persisted),
            (("bytes written per order", 0), self.written_per_order()),
        ]
        .into_iter()
        .filter_map(|(quantity, figure)| Some((quantity, figure?)))
        .collect()
    }
}

/// Returns CPU per response as a multiple of that of a bare request, if both are known.
pub(super) fn ratio(usage: Option<ProcessUsage>, report: &Report, ceiling: Ceiling) -> Option<f64> {
    ceiling.cpu_ratio(micros_per_response(report, usage?.cpu))
}

/// Returns the bytes written per order; `None` without orders.
pub(super) fn per_order(usage: ProcessUsage, orders: u64) -> Option<f64> {
    (orders > 0).then(|| usage.written as f64 / orders as f64)
}

/// Names the claims that a ratio is about: refused ones cost less than accepted ones.
fn kind_of_claim(outcomes: &ClaimOutcomes, report: &Report) -> String {
    if outcomes.accepted == report.answered {
        return "claim accepted and durable".to_owned();
    }
    let share = 100.0 * outcomes.accepted as f64 / report.answered.max(1) as f64;
    format!("claim, accepted in {share:.1} % of the cases (always with --units 0)")
}

/// Lists a figure of each program; nothing for mallbox alone.
fn by_program(usage: &ProgramUsage, figure: impl Fn(Option<ProcessUsage>) -> Option<String>) -> String {
    if usage.0.len() < 2 {
        return String::new();
    }
    let part = |(name, usage): &(&'static str, Option<ProcessUsage>)| {
        format!("{name} {}", figure(*usage).unwrap_or_else(|| "out of reach".to_owned()))
    };
    format!(": {}", usage.0.iter().map(part).collect::<Vec<_>>().join(", "))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and less than a disk")]
fn shown_bytes(bytes: f64) -> String {
    format!("{} B", count(bytes.round() as u64))
}

fn or_unknown(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::ceiling::BareHandler;
    use super::*;

    /// 1,000 claims, of which so many were accepted, beside bare requests of 10 µs.
    fn load(accepted: u64, cpu_us: Option<f64>) -> (ClaimOutcomes, Report, Ceiling) {
        let outcomes = ClaimOutcomes { accepted, sold_out: 1_000 - accepted, ..ClaimOutcomes::default() };
        let report = Report { answered: 1_000, requests: 1_000, ..Report::new().unwrap() };
        let bare = BareHandler { per_s: 100_000.0, cpu_us };
        (outcomes, report, Ceiling { before: bare, after: bare })
    }

    fn usage(cpu_ms: u64, written: u64) -> Option<ProcessUsage> {
        Some(ProcessUsage { cpu: Duration::from_millis(cpu_ms), memory: 7, written })
    }

    fn printed(cost: &ClaimCost, accepted: u64, cpu_us: Option<f64>) -> String {
        let (outcomes, report, ceiling) = load(accepted, cpu_us);
        let mut summary = Summary::default();
        cost.print(&mut summary, (&outcomes, &report), ceiling);
        summary.to_string()
    }

    fn in_a_directory() -> ClaimCost {
        ClaimCost {
            answered: ProgramUsage(vec![("mallbox", usage(30, 100_000))]),
            persisted: ProgramUsage(vec![("mallbox", usage(34, 500_000))]),
            orders: 250,
        }
    }

    #[test]
    fn a_claim_costs_three_bare_requests_and_an_order_two_kilobytes() {
        let (_, report, ceiling) = load(250, Some(10.0));
        let cost = in_a_directory().record(&report, ceiling);
        assert_eq!((cost.cpu_ratio, cost.cpu_ratio_persisted), (Some(3.0), Some(3.4)));
        assert_eq!((cost.cpu_us_per_operation, cost.memory_bytes), (Some(30.0), Some(7)));
        assert_eq!(cost.written_bytes_per_order, Some(2_000.0));
        assert_eq!(cost.written_bytes_per_operation, Some(500.0));
        let text = printed(&in_a_directory(), 1_000, Some(10.0));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("CPU ratio") && lines[0].contains(" 3.00  "), "{text}");
        assert!(
            lines[0]
                .contains("bare request (10.0 µs before, 10.0 µs after), for a claim accepted and durable,"),
            "{text}"
        );
        assert!(lines[1].contains(" 3.40  ") && lines[1].contains("in the database"), "{text}");
        assert!(lines[2].starts_with("written") && lines[2].contains(" 2,000 B  "), "{text}");
    }

    #[test]
    fn refused_claims_in_a_ratio_are_named() {
        let text = printed(&in_a_directory(), 25, Some(10.0));
        assert!(text.contains("accepted in 2.5 % of the cases"), "{text}");
    }

    #[test]
    fn a_ratio_needs_the_cpu_of_a_bare_request_and_of_every_program() {
        let text = printed(&in_a_directory(), 1_000, None);
        assert!(text.contains("unknown on this system") && text.matches("unknown  ").count() == 2, "{text}");
        let servers = |redis, mysql| ClaimCost {
            answered: ProgramUsage(vec![("mallbox", usage(30, 0)), ("Redis", redis), ("MySQL", mysql)]),
            persisted: ProgramUsage(vec![("mallbox", usage(32, 0)), ("Redis", redis), ("MySQL", mysql)]),
            orders: 1_000,
        };
        let known = servers(usage(10, 90_000), usage(8, 910_000));
        let text = printed(&known, 1_000, Some(10.0));
        assert!(
            text.contains(" 4.80  ") && text.contains(": mallbox 3.00, Redis 1.00, MySQL 0.80"),
            "{text}"
        );
        assert!(
            text.contains(" 1,000 B  ") && text.contains(": mallbox 0 B, Redis 90 B, MySQL 910 B"),
            "{text}"
        );
        let (_, report, ceiling) = load(1_000, Some(10.0));
        assert!(!text.contains("in memory"), "{text}");
        let in_memory = printed(&servers(usage(10, 0), usage(8, 0)), 1_000, Some(10.0));
        assert!(in_memory.contains("MySQL 0 B; file systems in memory do not count"), "{in_memory}");
        assert_eq!(known.record(&report, ceiling).memory_bytes, None);
        assert_eq!(known.record(&report, ceiling).programs.len(), 3);
        let half_known = servers(usage(10, 0), None);
        let text = printed(&half_known, 1_000, Some(10.0));
        assert!(text.contains("mallbox 3.00, Redis 1.00, MySQL out of reach"), "{text}");
        let cost = half_known.record(&report, ceiling);
        assert_eq!(
            (cost.cpu_ratio, cost.cpu_us_per_operation, cost.written_bytes_per_order),
            (None, None, None)
        );
        assert!(half_known.figures(&report, ceiling).is_empty());
    }

    #[test]
    fn no_orders_have_no_bytes() {
        assert_eq!(per_order(usage(0, 5).unwrap(), 0), None);
    }
}
