//! `mallbox bench`: load over real connections against a real server, with a ceiling for comparison.
//!
//! A claim about speed is a command that anybody can run. The server is a separate process, started from the
//! same binary. Every rate is printed beside the rate of a bare axum handler under equal load in the same
//! run, since the machine decides more than the program does.

#[cfg(feature = "ladder")]
mod about_way;
mod agent;
mod batch_door;
mod call_counts;
pub mod ceiling;
mod claim_cost;
mod columns;
mod compare;
mod comparison;
mod concurrent;
mod content;
mod drive;
mod evidence;
mod export;
mod foreign;
mod generator;
mod guarded_dir;
mod histogram_text;
#[cfg(feature = "ladder")]
mod ladder;
#[cfg(feature = "ladder")]
mod learn;
mod listening_process;
pub mod load;
mod load_bench;
mod load_settings;
mod log_ins;
mod new_file;
mod numbers;
mod people;
mod ports;
mod preset;
mod process_usage;
mod programs;
#[cfg(feature = "ladder")]
mod queues;
mod ramp;
mod ramp_bench;
#[cfg(feature = "ladder")]
mod reads;
mod report;
mod result;
mod round;
mod run_record;
mod running_mall;
mod rush;
mod sale;
mod sale_bench;
mod server;
mod site;
#[cfg(feature = "ladder")]
mod step;
mod submit;
mod summary;
mod turns;
#[cfg(feature = "ladder")]
mod verdicts;
mod watch;
#[cfg(feature = "ladder")]
mod way_settings;

#[cfg(feature = "ladder")]
pub use about_way::AboutWay;
pub use agent::{AgentAddress, AgentBench, serve as run_agent};
pub use compare::{
    Appends, CompareBench, ComparedSystem, ForeignMall, ServerSetting, Topology, Workload, run as run_compare,
};
pub use export::run as run_export;
pub use foreign::{Dialect, DialectError, RuleFault, Target, TargetError, error_line as toml_error_line};
pub use generator::Generator;
#[cfg(feature = "ladder")]
pub use ladder::{AnyRung, LadderBench, run as run_ladder};
#[cfg(feature = "ladder")]
pub use learn::serve as serve_learn;
pub use load_bench::run as run_load;
pub use load_settings::{LoadBench, UserSource};
pub use mallbox_bench_ports::{Effort, PORTS, Side, run_part};
#[cfg(feature = "ladder")]
pub use mallbox_bench_queues::{Effort as QueueEffort, WAYS, run_station};
pub use ports::{PortsBench, run as run_ports};
pub use preset::{PRESETS, Preset};
#[cfg(feature = "ladder")]
pub use queues::{QueuesBench, STATION, run as run_queues};
pub use ramp_bench::run as run_ramp;
#[cfg(feature = "ladder")]
pub use reads::{ReadsBench, ReadsSubject, run as run_reads};
pub use report::run as run_report;
pub use sale::run as run_sale;
pub use sale_bench::{BenchMalls, RampBench, SaleBench};
pub use server::BENCH_VARIABLE;
pub use site::BenchTarget;
pub use submit::run as run_submit;
