//! `mallbox kiosk remove`: takes away what an installation has made.

use std::fs;
use std::io;
use std::path::Path;

use super::account;
use super::files::{KEY, STATE_DIR, UNIT};
use super::record::{self, Record};
use super::system;
use super::writing;
use crate::cli::messages::{CommandFailure, KioskFailure};
use crate::cli::output::print;
use crate::language::{Language, sentence};

/// Removes the kiosk. Returns whether nothing of it is left.
///
/// # Errors
/// One sentence for the user of the command line. A repeat goes on.
pub(super) fn run(force: bool, l: Language) -> anyhow::Result<bool> {
    system::check_root("remove")?;
    system::open_new_files();
    let failed = |error: io::Error| CommandFailure::Kiosk(KioskFailure::NotRemoved).with_cause(error);
    let Some(mut record) = Record::read().map_err(failed)? else {
        print(&sentence!(l, "这里没有安装终端\n", "no kiosk is installed here\n"));
        return Ok(true);
    };
    let kept = remove(&mut record, force).map_err(failed)?;
    for path in &kept {
        print(&sentence!(
            l,
            "{path}已被手动改动，因此保留；要删除请加--force\n",
            "{path} was changed by hand, and stays; pass --force to remove it\n"
        ));
    }
    if kept.is_empty() {
        print(&sentence!(
            l,
            "终端已移除；商城和它的mallbox.service保持不变\n",
            "the kiosk is removed; the mall and its mallbox.service stay as they are\n"
        ));
    }
    Ok(kept.is_empty())
}

/// Removes the parts, first what runs and last the record. Returns the files that stay.
fn remove(record: &mut Record, force: bool) -> io::Result<Vec<String>> {
    // Either fails without the unit, after an installation that ended before it. A browser that cannot be
    // stopped keeps the account, whose removal fails then.
    for verb in ["stop", "disable"] {
        system::output("systemctl", &[verb, UNIT])?;
    }
    let kept = remove_files(record, force)?;
    writing::remove(Path::new(KEY))?;
    match fs::remove_dir_all(STATE_DIR) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    if record.has_account() && account::exists()? {
        account::remove()?;
    }
    if system::is_booted() {
        system::run("systemctl", &["daemon-reload"])?;
    }
    if !kept.is_empty() {
        record.store()?;
        return Ok(kept);
    }
    for directory in record.directories() {
        // Not empty: somebody else's files are inside.
        let _ = fs::remove_dir(directory);
    }
    writing::remove(Path::new(record::FILE))?;
    let _ = fs::remove_dir(record::DIR);
    Ok(kept)
}

fn remove_files(record: &mut Record, force: bool) -> io::Result<Vec<String>> {
    let mut kept = Vec::new();
    for path in record.paths() {
        match writing::read(Path::new(&path))? {
            Some(content) if !force && !record.has(&path, &content) => kept.push(path),
            _ => {
                writing::remove(Path::new(&path))?;
                record.forget(&path);
            }
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::kiosk::files::ACCOUNT;

    #[test]
    fn the_profile_is_the_accounts_own_directory() {
        // A constant of a later edit could name a directory of the system.
        assert!(STATE_DIR.starts_with("/var/lib/") && STATE_DIR.ends_with(ACCOUNT));
    }
}
