//! The state file of a run: complete parts with their measurements, a line each.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{BenchError, ensure};
use crate::measurement::Measurement;
use crate::settings::Settings;

/// What a run measures: equal when a run is resumed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunKey {
    /// Settings of the measurements.
    pub settings: Settings,
    /// The ports by name.
    pub ports: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// Whether the servers are the user's.
    pub has_foreign_servers: bool,
}

/// A complete part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DonePart {
    /// Its [id](crate::Part::id).
    pub part: String,
    /// Its measurements.
    pub measurements: Vec<Measurement>,
}

impl DonePart {
    /// Returns whether a measurement failed: the part is measured again when the run is resumed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.measurements.iter().any(|measurement| measurement.is_failed)
    }
}

/// The state file, open for further parts.
#[derive(Debug)]
pub struct ProgressFile {
    path: PathBuf,
    file: File,
}

impl ProgressFile {
    /// Returns the path of the state file beside a result.
    #[must_use]
    pub fn beside(result: &Path) -> PathBuf {
        let mut name = result.as_os_str().to_owned();
        name.push(".part");
        name.into()
    }

    /// Checks that there is a state to resume, or none in the way of a new run.
    ///
    /// # Errors
    /// [`BenchError::Wrong`]: there is none, or one.
    pub fn check(path: &Path, resume: bool) -> Result<(), BenchError> {
        let path_text = path.display();
        ensure(path.exists() || !resume, || format!("there is no run to resume in {path_text}"))?;
        ensure(!path.exists() || resume, || {
            format!("{path_text} is left of an interrupted run; pass --resume, or remove the file")
        })
    }

    /// Creates the state file of a new run.
    ///
    /// # Errors
    /// [`BenchError::Wrong`]: the file exists. [`BenchError::Io`]: it cannot be written.
    pub fn create(path: &Path, key: &RunKey) -> Result<Self, BenchError> {
        Self::check(path, false)?;
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let mut progress = Self { path: path.to_owned(), file };
        progress.append(key)?;
        Ok(progress)
    }

    /// Opens the state file of an interrupted run, and returns its complete parts. A last line that was cut
    /// off is dropped.
    ///
    /// # Errors
    /// [`BenchError::Wrong`]: there is no run to resume, the run had other settings, or the file is none of a
    /// run. [`BenchError::Io`]: the file cannot be used.
    pub fn resume(path: &Path, key: &RunKey) -> Result<(Self, Vec<DonePart>), BenchError> {
        Self::check(path, true)?;
        let text = fs::read_to_string(path)?;
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let earlier: RunKey =
            lines.next().and_then(|line| serde_json::from_str(line).ok()).ok_or_else(|| {
                BenchError::Wrong(format!("{} is no state of a run; remove the file", path.display()))
            })?;
        ensure(earlier == *key, || {
            format!("{} is of a run with other settings: {}", path.display(), difference(&earlier, key))
        })?;
        let mut whole = text.lines().next().unwrap_or_default().len() + 1;
        let mut done: Vec<DonePart> = Vec::new();
        for line in lines {
            let Ok(part) = serde_json::from_str::<DonePart>(line) else { break };
            whole += line.len();
            // A part that had failed and was measured again counts once.
            done.retain(|earlier| earlier.part != part.part);
            done.push(part);
        }
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(whole as u64)?;
        Ok((Self { path: path.to_owned(), file }, done))
    }

    /// Appends a complete part.
    ///
    /// # Errors
    /// [`BenchError::Io`].
    pub fn add(&mut self, part: &DonePart) -> Result<(), BenchError> {
        self.append(part)
    }

    /// Removes the file: the result is written.
    ///
    /// # Errors
    /// [`BenchError::Io`].
    pub fn remove(self) -> Result<(), BenchError> {
        Ok(fs::remove_file(self.path)?)
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), BenchError> {
        let line = serde_json::to_string(line)? + "\n";
        self.file.write_all(line.as_bytes())?;
        Ok(self.file.sync_data()?)
    }
}

fn difference(earlier: &RunKey, now: &RunKey) -> String {
    let text = |key: &RunKey| {
        let RunKey { settings, ports, version, has_foreign_servers } = key;
        let sides: Vec<_> = settings.sides.iter().map(|side| side.name()).collect();
        let servers = if *has_foreign_servers { "given servers" } else { "own servers" };
        let (effort, threads) = (settings.effort, settings.threads);
        let (ports, sides) = (ports.join(" "), sides.join(" and "));
        format!("{ports}, {effort:?}, {threads} threads, on {sides}, {servers}, version {version}")
    };
    format!("then {}; now {}", text(earlier), text(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Effort, Side};

    fn key(threads: usize) -> RunKey {
        RunKey {
            settings: Settings { effort: Effort::Quick, threads, sides: vec![Side::Directory] },
            ports: vec!["claim".to_owned()],
            version: "1".to_owned(),
            has_foreign_servers: false,
        }
    }

    fn done(part: &str, per_s: f64) -> DonePart {
        let measurement = Measurement { per_s: Some(per_s), ..Measurement::new("a", "b") };
        DonePart { part: part.to_owned(), measurements: vec![measurement] }
    }

    #[test]
    fn complete_parts_are_found_again_and_a_torn_line_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = ProgressFile::beside(&dir.path().join("a.json"));
        assert_eq!(path, dir.path().join("a.json.part"));
        let mut progress = ProgressFile::create(&path, &key(1)).unwrap();
        progress.add(&done("a/1", 1.0)).unwrap();
        progress.add(&done("a/2", 2.0)).unwrap();
        progress.file.write_all(b"{\"part\":\"a/3\",\"meas").unwrap();
        let (mut progress, found) = ProgressFile::resume(&path, &key(1)).unwrap();
        assert_eq!(found, [done("a/1", 1.0), done("a/2", 2.0)]);
        progress.add(&done("a/1", 3.0)).unwrap();
        let (progress, found) = ProgressFile::resume(&path, &key(1)).unwrap();
        assert_eq!(found, [done("a/2", 2.0), done("a/1", 3.0)], "a part counts once");
        progress.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn other_settings_and_other_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let refused = ProgressFile::resume(&path, &key(1)).unwrap_err().to_string();
        assert!(refused.contains("no run to resume"), "{refused}");
        ProgressFile::create(&path, &key(1)).unwrap();
        let refused = ProgressFile::resume(&path, &key(2)).unwrap_err().to_string();
        assert!(refused.contains("1 threads") && refused.contains("2 threads"), "{refused}");
        let refused = ProgressFile::create(&path, &key(1)).unwrap_err().to_string();
        assert!(refused.contains("--resume"), "{refused}");
        fs::write(&path, "notes\n").unwrap();
        let refused = ProgressFile::resume(&path, &key(1)).unwrap_err().to_string();
        assert!(refused.contains("is no state of a run"), "{refused}");
    }
}
