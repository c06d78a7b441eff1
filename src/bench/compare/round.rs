//! A round of a comparison: every workload on one system, the kill, and the ledger check.

use std::time::Instant;

use mallbox_storage::Timestamp;

use super::findings::Findings;
use super::foreign_mall;
use super::kill;
use super::loads::{self, Measured};
use super::settings::{CompareBench, ComparedSystem};
use super::subject::Subject;
use super::table::cpu_ratio;
use super::workload::Workload;
use crate::bench::ceiling::Ceiling;
use crate::bench::load::Report;
use crate::bench::numbers::{count, millis, rate};
use crate::bench::summary::warning;

/// Runs a round on a system, prints what it finds, and adds it to the findings. A failure is a finding, and
/// ends the round of this system.
pub(super) fn run(
    bench: &CompareBench,
    (system, round): (&ComparedSystem, usize),
    now: Timestamp,
    findings: &mut Findings,
) {
    let id = system.id();
    let began = Instant::now();
    let subject = match Subject::start(bench, system, now) {
        Ok(subject) => subject,
        Err(error) => return findings.fail((&id, "start", round), &error),
    };
    match (subject, system) {
        (Some(subject), _) => {
            println!("{:16} {} with {} users", "made", millis(began.elapsed()), count(bench.users as u64));
            findings.know(subject.system(system));
            on_own_mall(bench, subject, (&id, round), now, findings);
        }
        (None, ComparedSystem::Foreign(mall)) if bench.has(foreign_mall::workload(mall)) => {
            findings.know(foreign_mall::system(mall));
            match foreign_mall::measure(mall, bench, round) {
                Ok((measured, wrong)) => {
                    print_line(&measured);
                    add(measured, findings);
                    wrong.into_iter().for_each(|text| findings.wrong(&id, text));
                }
                Err(error) => findings.fail((&id, foreign_mall::workload(mall).name(), round), &error),
            }
        }
        (None, _) => println!("none of its workloads was asked for"),
    }
}

fn on_own_mall(
    bench: &CompareBench,
    mut subject: Subject,
    (id, round): (&str, usize),
    now: Timestamp,
    findings: &mut Findings,
) {
    for workload in Workload::ALL.into_iter().filter(|workload| bench.has(*workload)) {
        match loads::measure(bench, &subject, (workload, id, round), now) {
            Ok(measured) => {
                print_line(&measured);
                add(measured, findings);
            }
            Err(error) => return findings.fail((id, workload.name(), round), &error),
        }
    }
    if bench.kill {
        let is_all_killed = subject.is_all_own();
        match kill::measure(bench, &mut subject) {
            Ok(after) => {
                println!(
                    "{:16} {} claims accepted before: {} lost, {} unmatched orders; up again with all orders after {}",
                    "kill -9",
                    count(after.accepted),
                    count(after.lost),
                    count(after.unmatched),
                    millis(after.recovery)
                );
                findings.survived((id, round), after, is_all_killed);
            }
            Err(error) => return findings.fail((id, "kill -9", round), &error),
        }
    } else if let Err(error) = subject.mall.stop() {
        return findings.fail((id, "stop", round), &error);
    }
    match subject.mall.check(bench.verbose, None) {
        Ok(ending) => {
            let verdict = if ending.books_balance { "balance" } else { "DO NOT balance" };
            println!("{:16} {verdict}: {}", "books", ending.books);
            findings.checked((id, round), ending.books_balance);
        }
        Err(error) => findings.fail((id, "ledger check", round), &error),
    }
}

fn add(measured: Measured, findings: &mut Findings) {
    let Measured { run, ceiling, report, unknown } = measured;
    if let Some((code, text)) = warning(&report) {
        findings.warn(code, text.to_owned());
    }
    if ceiling.is_some_and(|ceiling| ceiling.swings()) {
        let text = "The ceiling changed by more than 15 %: other work ran on this machine.";
        findings.warn("ceiling_swings", text.to_owned());
    }
    if ceiling.is_some_and(Ceiling::cpu_swings) {
        let text = "The CPU of a bare request changed by more than 15 %: ratios to it are unreliable.";
        findings.warn("ceiling_cpu_swings", text.to_owned());
    }
    if let Some(answer) = unknown {
        findings
            .wrong(&run.system.clone(), format!("{}: unexpected answers, the first: {answer}", run.workload));
    }
    if report.errors.total() > 0 {
        let errors = count(report.errors.total());
        findings.wrong(
            &run.system.clone(),
            format!("{}: {errors} requests without a readable answer", run.workload),
        );
    }
    findings.add(run);
}

fn print_line(measured: &Measured) {
    let Measured { run, report, ceiling, .. } = measured;
    let is_sold_out = run.workload == Workload::SoldOut.name();
    let main = if is_sold_out { run.rates.answered_per_s } else { run.rates.accepted_per_s };
    let persisted = run
        .rates
        .persisted_per_s
        .map(|persisted| format!(", persisted {}", rate(persisted)))
        .unwrap_or_default();
    let ceiling = ceiling
        .map(|ceiling| format!(", {:.0} % of the bare handler", ceiling.percent(main)))
        .unwrap_or_default();
    let cpu = run.cost.cpu_us_per_operation.map(|cpu| format!(", CPU {cpu:.1} µs each")).unwrap_or_default();
    let times = cpu_ratio(run).map(|ratio| format!(", CPU ratio {ratio:.2}")).unwrap_or_default();
    println!(
        "{:16} {:>12}{persisted}{ceiling}; {}{cpu}{times}",
        run.workload,
        rate(main),
        percentiles(report)
    );
}

fn percentiles(report: &Report) -> String {
    format!("p50 {}, p99 {}", millis(report.p50()), millis(report.quantile(0.99)))
}
