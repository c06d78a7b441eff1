//! `bench ports`: every port on both back ends.

mod location;
mod table;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use mallbox_bench_ports::{
    DonePart, Effort, Measurement, Part, ProgressFile, RunKey, Settings, Side, measure_part, plan,
};
use mallbox_storage::Timestamp;
use serde_json::json;

use self::location::PortsLocation;
use super::drive::step_bar;
use super::new_file::check_new;
use super::result::{self, Recording};

/// Settings of `bench ports`.
#[derive(Clone, Debug)]
pub struct PortsBench {
    /// Names of the ports.
    pub ports: Vec<&'static str>,
    /// How much is measured.
    pub effort: Effort,
    /// Greatest number of concurrent callers.
    pub threads: usize,
    /// The back ends.
    pub sides: Vec<Side>,
    /// URLs of the user's Redis and MySQL; `None` = the bench starts servers.
    pub servers: Option<(String, String)>,
    /// File to create with the result as JSON.
    pub json: Option<PathBuf>,
    /// Whether to continue an interrupted run.
    pub resume: bool,
}

/// Runs the bench and prints the results. Returns whether no measurement failed.
///
/// # Errors
/// The result exists; servers that are not empty or cannot be reached; a run that cannot be resumed.
pub fn run(bench: &PortsBench, now: Timestamp) -> anyhow::Result<bool> {
    check_new(bench.json.as_deref())?;
    if let Some(json) = &bench.json {
        ProgressFile::check(&ProgressFile::beside(json), bench.resume)?;
    }
    let (location, sides, missing) = place(bench)?;
    let settings = Settings { effort: bench.effort, threads: bench.threads, sides };
    let parts = plan(&bench.ports, &settings);
    let mut recording = Recording::begin("ports", document_settings(bench, &settings), now);
    if let Some(missing) = missing {
        recording.warn("left_out", missing);
    }
    let (mut progress, done) = progress(bench, &settings)?;
    println!("{}", estimate(&parts, &done));
    let bar = step_bar(parts.iter().map(|part| part.measurements as u64).sum());
    let mut are_right = true;
    for port in &bench.ports {
        let mut measured = Vec::new();
        for part in parts.iter().filter(|part| part.port == *port) {
            measured.extend(measure(part, &settings, &location, &done, (progress.as_mut(), &bar))?);
        }
        are_right &= measured.iter().all(|measurement| !measurement.is_failed);
        bar.suspend(|| print!("\n{}", table::text(port, &measured)));
        recording.measured(measured);
    }
    bar.finish_and_clear();
    bench.json.as_deref().map_or(Ok(()), |file| recording.write(file))?;
    progress.map_or(Ok(()), ProgressFile::remove)?;
    Ok(are_right)
}

/// Finds the servers. Returns the sides that can be measured, and why others cannot.
fn place(bench: &PortsBench) -> anyhow::Result<(PortsLocation, Vec<Side>, Option<String>)> {
    let (location, missing) =
        PortsLocation::find(bench.sides.contains(&Side::Servers), bench.servers.as_ref())?;
    let Some(program) = missing else { return Ok((location, bench.sides.clone(), None)) };
    if bench.sides == [Side::Servers] {
        bail!("{program} is not installed; install it, or pass --redis URL and --mysql URL");
    }
    let sentence = format!("{program} is not installed: only the back end in a directory is measured");
    println!("{sentence}");
    Ok((location, vec![Side::Directory], Some(sentence)))
}

/// Opens the state file, if a result is asked for. Returns the parts that an interrupted run completed.
fn progress(
    bench: &PortsBench,
    settings: &Settings,
) -> anyhow::Result<(Option<ProgressFile>, Vec<DonePart>)> {
    let Some(json) = &bench.json else { return Ok((None, Vec::new())) };
    let key = RunKey {
        settings: settings.clone(),
        ports: bench.ports.iter().map(|port| (*port).to_owned()).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        has_foreign_servers: bench.servers.is_some(),
    };
    let path = ProgressFile::beside(json);
    if !bench.resume {
        return Ok((Some(ProgressFile::create(&path, &key)?), Vec::new()));
    }
    let (file, done) = ProgressFile::resume(&path, &key)?;
    Ok((Some(file), done.into_iter().filter(|part| !part.is_failed()).collect()))
}

/// Measures a part, unless an interrupted run did.
fn measure(
    part: &Part,
    settings: &Settings,
    location: &PortsLocation,
    done: &[DonePart],
    (progress, bar): (Option<&mut ProgressFile>, &ProgressBar),
) -> anyhow::Result<Vec<Measurement>> {
    let end = bar.position() + part.measurements as u64;
    let id = part.id();
    if let Some(earlier) = done.iter().find(|done| done.part == id) {
        bar.set_position(end);
        return Ok(earlier.measurements.clone());
    }
    bar.set_message(id.clone());
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["bench", "ports-part"]);
    let place = (location.dir(), location.servers());
    let measurements = measure_part(command, (part, settings), place, |_| bar.inc(1))?;
    bar.set_position(end);
    let whole = DonePart { part: id, measurements };
    progress.map_or(Ok(()), |file| file.add(&whole))?;
    Ok(whole.measurements)
}

fn document_settings(bench: &PortsBench, settings: &Settings) -> result::Settings {
    let sides: Vec<_> = settings.sides.iter().map(|side| side.name()).collect();
    let servers = if bench.servers.is_some() { "given" } else { "started by the bench" };
    [
        ("ports", json!(bench.ports)),
        ("quick", json!(bench.effort == Effort::Quick)),
        ("threads", json!(bench.threads)),
        ("grounds", json!(sides)),
        ("servers", json!(settings.sides.contains(&Side::Servers).then_some(servers))),
    ]
    .into()
}

/// Returns a sentence about the work ahead.
fn estimate(parts: &[Part], done: &[DonePart]) -> String {
    let (known, ahead): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| done.iter().any(|done| done.part == part.id()));
    let count = |parts: &[&Part]| parts.iter().map(|part| part.measurements).sum::<usize>();
    let minutes = (ahead.iter().map(|part| part.seconds).sum::<f64>() / 60.0).ceil();
    let known = match count(&known) {
        0 => String::new(),
        known => format!("; {known} are known from the interrupted run"),
    };
    format!("{} measurements, about {minutes} min{known}", count(&ahead))
}
