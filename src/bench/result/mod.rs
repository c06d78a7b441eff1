//! `result.json`: what a bench measured, for the report page and for other programs.
//!
//! The schema is described in the manual (`web/manual/results.md`); `web/report/result.js` reads it.

mod disk_sync;
mod document;
mod latency;
mod machine;
mod recording;
mod run;
mod statistics;

pub(super) use latency::Latency;
pub(super) use recording::{Recording, Settings};
pub(super) use run::{
    Answers, Books, Ceilings, Class, Cost, GeneratorShare, ProgramCost, Rates, Run, System, TimelinePoint,
    Trial, Version,
};
pub(super) use statistics::{RAMP, SOLD_OUT, comparisons, median};
