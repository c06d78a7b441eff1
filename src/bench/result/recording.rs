//! A document under construction, from the begin of a bench to its file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use mallbox_bench_ports::Measurement;
use mallbox_storage::Timestamp;
use serde_json::Value;

use super::disk_sync::DiskSyncSampler;
use super::document::{Document, Mallbox, SCHEMA, Warning};
use super::latency::Latency;
use super::machine::Machine;
use super::run::{Run, System};
use super::statistics::{comparisons, summary};
use crate::bench::new_file::write_new;

/// Settings of a bench, by name.
pub(in crate::bench) type Settings = BTreeMap<&'static str, Value>;

/// The document of a bench. Recorded also when no file is asked for, so that the figures are the same.
pub(in crate::bench) struct Recording {
    document: Document,
    began: Instant,
    disk_sync: Option<DiskSyncSampler>,
}

impl Recording {
    /// Begins a document of a kind, with all settings of the bench. The malls' directories are made in the
    /// current directory.
    pub(in crate::bench) fn begin(kind: &'static str, settings: Settings, now: Timestamp) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let document = Document {
            schema: SCHEMA,
            kind,
            mallbox: Mallbox {
                version: env!("CARGO_PKG_VERSION"),
                commit: option_env!("MALLBOX_COMMIT").map(str::to_owned),
            },
            began: instant(now),
            lasted_s: 0.0,
            command: std::env::args_os().map(|word| shown(&word.to_string_lossy())).collect(),
            settings,
            machine: Machine::look(&here),
            disk_sync: None,
            systems: Vec::new(),
            runs: Vec::new(),
            measurements: Vec::new(),
            #[cfg(feature = "ladder")]
            rungs: Vec::new(),
            sections: BTreeMap::new(),
            summary: Vec::new(),
            comparisons: Vec::new(),
            warnings: Vec::new(),
        };
        Self { document, began: Instant::now(), disk_sync: DiskSyncSampler::start(&here).ok() }
    }

    /// Adds a run, and its system unless it is known.
    pub(in crate::bench) fn add(&mut self, system: System, run: Run) {
        self.know(system);
        self.add_run(run);
    }

    /// Adds a system, unless it is known.
    pub(in crate::bench) fn know(&mut self, system: System) {
        if !self.document.systems.iter().any(|known| known.id == system.id) {
            self.document.systems.push(system);
        }
    }

    /// Adds a run.
    pub(in crate::bench) fn add_run(&mut self, run: Run) {
        self.document.runs.push(run);
    }

    /// Adds measurements of ports.
    pub(in crate::bench) fn measured(&mut self, measurements: impl IntoIterator<Item = Measurement>) {
        self.document.measurements.extend(measurements);
    }

    /// Adds reports of the ladder's rungs.
    #[cfg(feature = "ladder")]
    pub(in crate::bench) fn climbed(&mut self, rungs: Vec<mallbox_bench_ladder::RungReport>) {
        self.document.rungs = rungs;
    }

    /// Sets the section of a comparison of ways.
    #[cfg(feature = "ladder")]
    pub(in crate::bench) fn section(&mut self, name: &'static str, section: Value) {
        self.document.sections.insert(name, section);
    }

    /// Adds a warning, once.
    pub(in crate::bench) fn warn(&mut self, code: &'static str, text: String) {
        let warning = Warning { code, text };
        if !self.document.warnings.contains(&warning) {
            self.document.warnings.push(warning);
        }
    }

    /// Ends the document and writes it to a new file.
    ///
    /// # Errors
    /// A file that exists or cannot be written.
    pub(in crate::bench) fn write(mut self, file: &Path) -> anyhow::Result<()> {
        let document = &mut self.document;
        document.lasted_s = self.began.elapsed().as_secs_f64();
        document.disk_sync =
            self.disk_sync.take().and_then(DiskSyncSampler::stop).map(|syncs| Latency::of(&syncs));
        document.summary = summary(&document.systems, &document.runs);
        document.comparisons = comparisons(&document.systems, &document.runs);
        let text = serde_json::to_string_pretty(document)? + "\n";
        write_new(file, "the result to ", &text)
    }
}

/// Returns an instant as RFC 3339, in UTC.
fn instant(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default().to_string()
}

/// Returns a word of the command line for others: without user and password of a URL, and of a path only the
/// name.
fn shown(word: &str) -> String {
    let (before, value) = match word.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => (&word[..=flag.len()], value),
        _ => ("", word),
    };
    let value = match (value.find("://"), value.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}…{}", &value[..scheme + 3], &value[at..]),
        (Some(_), _) => value.to_owned(),
        (None, _) => value.rsplit('/').next().unwrap_or(value).to_owned(),
    };
    format!("{before}{value}")
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{run, system};
    use super::*;

    #[test]
    fn passwords_and_folders_stay_out_of_the_document() {
        for (word, want) in [
            ("--redis=redis://:secret@host:1", "--redis=redis://…@host:1"),
            ("mysql://root:p@ss@host/mall", "mysql://…@host/mall"),
            ("http://host/@", "http://…@"),
            ("http://host:81/api", "http://host:81/api"),
            ("--json=/home/me/a.json", "--json=a.json"),
            ("/home/me/bin/mallbox", "mallbox"),
            ("--users", "--users"),
            ("a@b", "a@b"),
        ] {
            assert_eq!(shown(word), want);
        }
    }

    #[test]
    fn a_document_is_never_written_over() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("result.json");
        let record = || {
            let settings = BTreeMap::from([("users", Value::from(7))]);
            let mut recording = Recording::begin("sale", settings, Timestamp::from_millis(1_795_262_400_000));
            recording.add(system("a", "power"), run("a", 5.0));
            recording.add(system("a", "power"), run("a", 7.0));
            recording.warn("ceiling_swings", "twice the same".to_owned());
            recording.warn("ceiling_swings", "twice the same".to_owned());
            recording.write(&file)
        };
        record().unwrap();
        let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(written["began"], "2026-11-21T12:00:00Z");
        assert_eq!(written["systems"].as_array().unwrap().len(), 1);
        assert_eq!(written["runs"].as_array().unwrap().len(), 2);
        assert_eq!(written["warnings"].as_array().unwrap().len(), 1);
        assert_eq!(written["summary"][0]["median"], 6.0);
        let refused = record().unwrap_err().to_string();
        assert!(refused.contains("result.json"), "{refused}");
    }
}
