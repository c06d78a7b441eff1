//! A mall of others among the systems: the flash sale alone, on a sale of its own in each round.

use std::sync::Arc;

use crate::bench::drive::{Arrivals, drive};
use crate::bench::evidence::Evidence;
use crate::bench::load_bench::{self, orders, settled};
use crate::bench::load_settings::LoadBench;
use crate::bench::process_usage::ProcessUsage;
use crate::bench::result::{Class, Cost, Run, System};
use crate::bench::rush::Claims;
use crate::bench::summary::micros_per_response;

use super::loads::Measured;
use super::settings::{CompareBench, ForeignMall};
use super::workload::Workload;

impl ForeignMall {
    /// Describes the mall for the result document.
    pub(super) fn system(&self) -> System {
        System {
            id: self.name.clone(),
            name: self.name.clone(),
            class: Class { durable: self.durable, one_per_user: None, exactly_once_after_kill: None },
            versions: Vec::new(),
            tuned: false,
        }
    }

    /// Runs the flash sale of a round. Returns also what went wrong, a sentence each.
    pub(super) fn measure(
        &self,
        bench: &CompareBench,
        round: usize,
    ) -> anyhow::Result<(Measured, Vec<String>)> {
        let sale = self.load.sales[(round - 1).min(self.load.sales.len() - 1)];
        let load = LoadBench { sales: vec![sale], generator: bench.generator, ..self.load.clone() };
        let tokens = Arc::new(load_bench::tokens(&load)?);
        let place = (&*load.target.host, &*load.target.prefix);
        let claims =
            Claims::in_dialect(&load.dialect, place, tokens, &load.sales).repeated(load.claims_per_user);
        let before = orders(&load)?;
        let usage =
            || (!self.processes.is_empty()).then(|| ProcessUsage::of(self.processes.iter().copied()))?;
        let used = usage();
        let driven =
            drive(&bench.generator, &[load.target.address], &claims, &Arrivals::Closed, "flash sale")?;
        let settled = before.map(|before| settled(&load, &before, &driven)).transpose()?;
        let used = used.and_then(|before| Some(usage()?.since(before)));
        let evidence = Evidence { bench: &load, driven: &driven, settled: settled.as_ref() };
        let answered = driven.report.answered.max(1) as f64;
        let run = Run {
            system: self.name.clone(),
            workload: Workload::FlashSale.name(),
            round,
            cost: Cost {
                cpu_us_per_operation: used.map(|used| micros_per_response(&driven.report, used.cpu)),
                memory_bytes: used.map(|used| used.memory),
                written_bytes_per_operation: used.map(|used| used.written as f64 / answered),
            },
            ..load_bench::record(&evidence)
        };
        let findings = evidence.findings();
        let (report, unknown) = (driven.report, driven.unknown);
        Ok((Measured { run, ceiling: None, report, unknown }, findings))
    }
}
