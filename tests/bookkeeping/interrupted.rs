//! Exports that are killed, stopped, or meet a full disk.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::ensure;

use crate::common::ballast::Ballast;
use crate::common::dice::{Dice, number_from};
use crate::common::image::DiskSite;
use crate::export::{Export, command};
use crate::{Site, has_no_file};

/// Time from the start of an export to the kill, in milliseconds.
const KILL_WITHIN_MS: (u64, u64) = (5, 300);
/// Free space of the full disk: room for the directory, not for the files.
const FREE_BYTES: u64 = 8_192;

#[test]
fn no_kill_leaves_a_file_that_is_not_whole() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(8).min(40);
    let mut dice = Dice::from_environment("export");
    let site = Site::new()?;
    site.furnish()?;
    let whole = site.export("whole", &[])?;
    let mut killed = 0;
    for cycle in 0..cycles {
        let dir = site.dir.path().join(format!("accounts-{cycle}"));
        fs::create_dir(&dir)?;
        let mut export = command(&dir);
        export.arg("--data").arg(site.data()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut export = export.spawn()?;
        std::thread::sleep(dice.millis(KILL_WITHIN_MS.0, KILL_WITHIN_MS.1));
        export.kill()?;
        export.wait()?;
        if !dir.join("summary.json").exists() {
            killed += 1;
            for name in ["orders.csv", "payments.csv", "books.csv", "cash.csv"] {
                let left = fs::read_to_string(dir.join(name)).ok();
                ensure!(left.is_none_or(|text| whole.text(name).is_ok_and(|want| want == text)), "{name}");
            }
        }
    }
    println!("{killed} of {cycles} exports were killed before their end");
    let dir = site.dir.path().join("again");
    fs::create_dir(&dir)?;
    fs::create_dir(dir.join(".mallbox-backup-left"))?;
    fs::write(dir.join(".mallbox-backup-left/orders.csv"), "half")?;
    let again = Export::of_directory(&site.data(), &dir, &[])?;
    ensure!(again.code == 0 && !dir.join(".mallbox-backup-left").exists(), "{}", again.output);
    Ok(())
}

#[test]
fn an_export_that_is_told_to_stop_leaves_nothing() -> anyhow::Result<()> {
    let site = Site::new()?;
    site.furnish()?;
    let dir = site.dir.path().join("accounts");
    fs::create_dir(&dir)?;
    let mut export = command(&dir);
    let mut export = export.arg("--data").arg(site.data()).stdout(Stdio::null()).spawn()?;
    // The directory for the files is made after the signals are heard.
    while fs::read_dir(&dir)?.next().is_none() && export.try_wait()?.is_none() {}
    let _ = Command::new("kill").args(["-s", "TERM", &export.id().to_string()]).status()?;
    let code = export.wait()?.code();
    let is_whole = dir.join("summary.json").exists();
    ensure!(is_whole || code == Some(143) && has_no_file(&dir), "{code:?}");
    ensure!(is_whole || fs::read_dir(&dir)?.next().is_none(), "something was left");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_full_disk_is_named_and_keeps_no_file() -> anyhow::Result<()> {
    let site = Site::new()?;
    site.furnish()?;
    let disks = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let disk = disks.mount_memory("tmpfs")?;
    let dir = disk.path().join("accounts");
    fs::create_dir(&dir)?;
    let ballast = Ballast::leave(disk.path(), FREE_BYTES)?;
    let full = Export::of_directory(&site.data(), &dir, &[])?;
    ensure!(full.code == 1 && full.output.contains("No space left on device"), "{}", full.output);
    ensure!(full.output.contains("cannot write to") && full.is_empty()?, "{}", full.output);
    drop(ballast);
    let again = Export::of_directory(&site.data(), &dir, &[])?;
    ensure!(again.code == 0, "{}", again.output);
    Ok(())
}
