//! The steps of an installation: each finds out what is left to do, so that a repeat changes nothing.

use std::io;
use std::path::Path;

use super::account::{self, USERADD};
use super::files::{ACCOUNT, KioskFile, UNIT};
use super::record::Record;
use super::system;
use super::writing::{self, Access};
use crate::language::{Language, sentence};

/// A step.
pub(super) enum Step<'a> {
    /// Makes the account.
    Account,
    /// Writes a file.
    File(&'a KioskFile),
    /// Has systemd read the unit.
    Reload,
    /// Has systemd start a unit at power-on.
    Enable(&'static str),
}

/// What a step finds, before it does anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Finding {
    /// It is as it should be.
    Done,
    /// There is something to do.
    ToDo,
    /// A file was changed by hand, or is somebody else's.
    Foreign,
}

/// Returns the steps. `with_mall`: the mall's own unit is started at power-on, too.
pub(super) fn steps(files: &[KioskFile], with_mall: bool) -> Vec<Step<'_>> {
    let mut steps = vec![Step::Account];
    steps.extend(files.iter().map(Step::File));
    steps.extend([Step::Reload, Step::Enable(UNIT)]);
    steps.extend(with_mall.then_some(Step::Enable("mallbox.service")));
    steps
}

impl Step<'_> {
    /// Returns the step as a command, or the name of the file.
    pub(super) fn words(&self, l: Language) -> String {
        match self {
            Self::Account => sentence!(l, "账号{ACCOUNT}", "the account {ACCOUNT}"),
            Self::File(file) => file.path.to_owned(),
            Self::Reload => "systemctl daemon-reload".to_owned(),
            Self::Enable(unit) => format!("systemctl enable {unit}"),
        }
    }

    /// Returns the command of the step; `None` for a file.
    pub(super) fn command(&self) -> Option<String> {
        match self {
            Self::Account => Some(format!("useradd {}", USERADD.join(" "))),
            Self::File(_) => None,
            Self::Reload | Self::Enable(_) => Some(self.words(Language::En)),
        }
    }

    /// Finds out what is left to do.
    ///
    /// # Errors
    /// A file cannot be read, or a command cannot be run.
    pub(super) fn finding(&self, record: &Record) -> io::Result<Finding> {
        let is_done = match self {
            Self::Account => account::exists()?,
            Self::File(file) => return file_finding(file, record),
            Self::Reload => !system::is_booted() || !needs_reload()?,
            Self::Enable(unit) => is_enabled(unit)?,
        };
        Ok(if is_done { Finding::Done } else { Finding::ToDo })
    }

    /// Takes the step. `record` is stored before anything that it describes.
    ///
    /// # Errors
    /// The step is not taken, or not wholly: a repeat goes on.
    pub(super) fn take(&self, record: &mut Record) -> io::Result<()> {
        match self {
            Self::Account => {
                record.expect_account();
                record.store()?;
                account::make()
            }
            Self::File(file) => write(file, record),
            Self::Reload => system::run("systemctl", &["daemon-reload"]),
            Self::Enable(unit) => system::run("systemctl", &["enable", unit]),
        }
    }
}

fn file_finding(file: &KioskFile, record: &Record) -> io::Result<Finding> {
    Ok(match writing::read(Path::new(file.path))? {
        Some(found) if found == file.content.as_bytes() => Finding::Done,
        Some(found) if !record.has(file.path, &found) => Finding::Foreign,
        _ => Finding::ToDo,
    })
}

/// Writes a file, and makes missing directories.
fn write(file: &KioskFile, record: &mut Record) -> io::Result<()> {
    let path = Path::new(file.path);
    let mut missing: Vec<&Path> = path.ancestors().skip(1).take_while(|dir| !dir.exists()).collect();
    missing.reverse();
    record.expect(file.path, &file.content);
    missing.iter().filter_map(|dir| dir.to_str()).for_each(|dir| record.expect_directory(dir));
    record.store()?;
    for directory in missing {
        writing::make_dir(directory)?;
    }
    let may_replace = std::fs::symlink_metadata(path).is_ok();
    writing::put(path, &file.content, Access::Everybody, may_replace)
}

fn needs_reload() -> io::Result<bool> {
    let shown = system::output("systemctl", &["show", "--property=NeedDaemonReload", "--value", UNIT])?;
    Ok(String::from_utf8_lossy(&shown.stdout).trim() == "yes")
}

fn is_enabled(unit: &str) -> io::Result<bool> {
    let ended = system::output("systemctl", &["is-enabled", "--quiet", unit])?;
    Ok(ended.status.success())
}
