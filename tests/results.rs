//! The results in `benches/results/`: folders that can be read, and the table of the README made of them.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary may fail loudly")]

#[path = "common/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results");
const BEGIN: &str = "<!-- results: MALLBOX_REWRITE_RESULTS=1 cargo test --test results -->\n";
const END: &str = "<!-- end of results -->\n";

/// A figure of a row: name in the result, heading, and how a value is shown.
type Column = (&'static str, &'static str, fn(f64) -> String);

const COLUMNS: [Column; 4] = [
    ("accepted_per_s", "accepted and durable", per_second),
    ("persisted_per_s", "as rows of the database", per_second),
    ("p99_us", "p99", milliseconds),
    ("cpu_us_per_operation", "CPU a claim", microseconds),
];

fn per_second(value: f64) -> String {
    let hundreds = format!("{:.0}", value / 100.0);
    let whole = format!("{hundreds}00");
    let (thousands, rest) = whole.split_at(whole.len() - 3);
    if thousands.is_empty() { format!("{rest} /s") } else { format!("{thousands},{rest} /s") }
}

fn milliseconds(us: f64) -> String {
    format!("{:.1} ms", us / 1e3)
}

fn microseconds(us: f64) -> String {
    format!("{us:.0} µs")
}

/// Rates of a comparison: workload, figure and heading.
const RATES: [(&str, &str, &str); 5] = [
    ("flash sale", "accepted_per_s", "claims accepted"),
    ("sold out", "answered_per_s", "sold out"),
    ("browse", "accepted_per_s", "shops and notes"),
    ("feed", "accepted_per_s", "feeds"),
    ("mixed day", "accepted_per_s", "mixed day"),
];

/// Returns the table of a comparison: a system a row, the rates of its workloads, and what a kill took.
fn comparison(name: &str, result: &Value) -> String {
    let mut text = String::from("| system | an accepted claim survives");
    RATES.iter().for_each(|(_, _, heading)| text += &format!(" | {heading}"));
    text += " | lost by kill -9 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for system in result["systems"].as_array().unwrap() {
        let survives = match system["class"]["durable"].as_str().unwrap() {
            "power" => "loss of power",
            "process" => "end of the process",
            _ => "neither",
        };
        text += &format!("| {} | {survives}", system["name"].as_str().unwrap());
        for (workload, figure, _) in RATES {
            let is_it = |row: &&Value| {
                row["system"] == system["id"] && row["figure"] == figure && row["workload"] == workload
            };
            let found = result["summary"].as_array().unwrap().iter().find(is_it);
            let median = found.and_then(|row| row["median"].as_f64()).map(per_second);
            text += &format!(" | {}", median.unwrap_or_else(|| "–".to_owned()));
        }
        let runs = result["runs"].as_array().unwrap().iter().filter(|run| run["system"] == system["id"]);
        let lost = runs.filter_map(|run| run["books"]["lost_after_kill"].as_u64());
        let (rounds, lost) = lost.fold((0, 0), |(rounds, sum), lost| (rounds + 1, sum + lost));
        text += &format!(" | {lost} claims in {rounds} rounds |\n");
    }
    let connections = &result["settings"]["connections"];
    text + &format!(
        "\nMedians of the rounds of `mallbox bench compare`, {connections} connections, all servers and the load\n\
         generator on the same cores. Systems that promise different things are not ranked.\n\
         [Result and notes](benches/results/{name}/notes.md).\n\n"
    )
}

/// Returns the folders of results, oldest first.
fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(RESULTS).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Returns the results in a folder, by name.
fn results(folder: &Path) -> Vec<(String, Value)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
    };
    files.iter().map(read).collect()
}

/// Whether no system of a result was tuned.
fn has_defaults(result: &Value) -> bool {
    result["systems"].as_array().unwrap().iter().all(|system| system["tuned"] == false)
}

/// Returns the table of a folder.
fn table(folder: &Path) -> String {
    let results = results(folder);
    let mut text = String::from("\n| flash sale");
    for (_, heading, _) in COLUMNS {
        text += &format!(" | {heading}");
    }
    text += " |\n| --- | --- | --- | --- | --- |\n";
    for (name, result) in results.iter().filter(|(_, result)| result["kind"] == "sale") {
        for system in result["systems"].as_array().unwrap() {
            let title = system["name"].as_str().unwrap();
            let connections = &result["settings"]["connections"];
            text += &format!("| {title}, {connections} connections");
            for (figure, _, shown) in COLUMNS {
                let found = result["summary"].as_array().unwrap().iter().find(|row| {
                    row["system"] == system["id"]
                        && row["figure"] == figure
                        && row["workload"] == "flash sale"
                });
                let value = |row: &Value, end: &str| row[end].as_f64().map(shown);
                let cell = found.and_then(|row| {
                    let interval = value(row, "low").zip(value(row, "high"));
                    let interval =
                        interval.map(|(low, high)| format!(" ({low} to {high})")).unwrap_or_default();
                    Some(format!("{}{interval}", value(row, "median")?))
                });
                text += &format!(" | {}", cell.unwrap_or_else(|| "–".to_owned()));
            }
            text += " |\n";
        }
        assert!(!name.is_empty());
    }
    for (_, result) in results.iter().filter(|(_, result)| result["kind"] == "ramp") {
        for row in
            result["summary"].as_array().unwrap().iter().filter(|row| row["figure"] == "accepted_per_s")
        {
            let [median, low, high] = ["median", "low", "high"].map(|end| row[end].as_f64().map(per_second));
            let interval = low.zip(high).map(|(low, high)| format!(" ({low} to {high})")).unwrap_or_default();
            let connections = &result["settings"]["connections"];
            text += &format!(
                "\nHighest rate with p99 within {} ms, from the instants at which the claims are due, {connections}\nconnections: {}{interval}.\n",
                result["settings"]["p99_ms"].as_f64().unwrap(),
                median.unwrap()
            );
        }
    }
    let machine = &results.first().unwrap().1["machine"];
    let name = folder.file_name().unwrap().to_str().unwrap();
    text + &format!(
        "\nMedians with their intervals over the rounds, on {} cores that also ran the load generator.\n[Results and notes about the machine](benches/results/{name}/notes.md).\n\n",
        machine["cores"]
    )
}

#[test]
fn every_folder_has_results_and_notes() {
    for folder in folders() {
        assert!(folder.join("notes.md").exists(), "{} has no notes.md", folder.display());
        let results = results(&folder);
        assert!(!results.is_empty(), "{} has no result", folder.display());
        for (name, result) in results {
            assert_eq!(result["schema"], 1, "{name} in {}", folder.display());
        }
    }
}

#[test]
fn the_table_of_the_readme_is_made_of_the_newest_results() {
    let folders = folders();
    let newest = folders.iter().rev().find(|folder| {
        let results = results(folder);
        results.iter().any(|(_, result)| result["kind"] == "sale")
            && results.iter().all(|(_, result)| has_defaults(result))
    });
    let newest_comparison = folders.iter().rev().find_map(|folder| {
        let results = results(folder);
        let (_, result) = results.iter().find(|(_, result)| result["kind"] == "compare")?;
        Some(comparison(folder.file_name()?.to_str()?, result))
    });
    let table =
        table(newest.expect("a folder with default settings")) + &newest_comparison.unwrap_or_default();
    let readme = fs::read_to_string(README).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the place of the table");
    let (old, after) = rest.split_once(END).expect("the end of the table");
    if std::env::var_os("MALLBOX_REWRITE_RESULTS").is_some() {
        fs::write(README, [before, BEGIN, &table, END, after].concat()).unwrap();
    } else {
        assert_eq!(old, table, "MALLBOX_REWRITE_RESULTS=1 cargo test --test results writes the table");
    }
}

#[test]
fn a_submission_is_a_folder_with_notes_and_never_written_over() {
    let dir = TempDir::new().unwrap();
    let submit = |arguments: &[&str]| {
        let mut command = process::mallbox(&[&["bench", "submit"], arguments].concat());
        let output = command.current_dir(dir.path()).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let ramp = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/report/ramp.json");
    let (is_fine, text) = submit(&[ramp, "--subject", "my-machine"]);
    assert!(!is_fine && text.contains("run this in a checkout"), "{text}");
    let results = dir.path().join("benches/results");
    fs::create_dir_all(&results).unwrap();
    fs::write(dir.path().join("notes.txt"), "{}").unwrap();
    for (file, subject, words) in [
        (ramp, "My machine", "--subject"),
        (ramp, "../there", "--subject"),
        ("notes.txt", "my-machine", "ends in .json"),
        ("nowhere.json", "my-machine", "cannot read"),
    ] {
        let (is_fine, text) = submit(&[file, "--subject", subject]);
        assert!(!is_fine && text.contains(words), "{words}: {text}");
    }
    assert_eq!(fs::read_dir(&results).unwrap().count(), 0);
    let (is_fine, text) = submit(&[ramp, "--subject", "my-machine"]);
    assert!(is_fine && text.contains("git switch --create results-my-machine"), "{text}");
    let folder = fs::read_dir(&results).unwrap().next().unwrap().unwrap().path();
    assert!(folder.to_str().unwrap().ends_with("-my-machine"), "{}", folder.display());
    let notes = fs::read_to_string(folder.join("notes.md")).unwrap();
    assert!(notes.contains("mallbox bench ramp --users 20000") && notes.contains("## Settings"), "{notes}");
    assert_eq!(fs::read(folder.join("ramp.json")).unwrap(), fs::read(ramp).unwrap());
    let (is_fine, text) = submit(&[ramp, "--subject", "my-machine"]);
    assert!(!is_fine && text.contains("cannot create"), "{text}");
}
