//! The units of `.packaging/systemd/`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, ensure};

/// Exposure that `systemd-analyze security` may compute, in tenths: 0 is none, 100 is a service without
/// limits.
const EXPOSURE_MAX: &str = "15";

#[test]
#[cfg_attr(
    not(feature = "systemd-tests"),
    ignore = "needs systemd-analyze; tests/run turns it on where systemd is installed"
)]
fn the_units_are_valid_and_leave_the_service_few_rights() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (units, programs) = (site.path().join("etc/systemd/system"), site.path().join("usr/bin"));
    fs::create_dir_all(&units)?;
    fs::create_dir_all(&programs)?;
    symlink(env!("CARGO_BIN_EXE_mallbox"), programs.join("mallbox"))?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join(".packaging/systemd");
    // The binary of the test stands for the installed one.
    let installed = programs.join("mallbox").display().to_string();
    for (from, name) in [("mallbox.service", "mallbox.service"), ("socket/mallbox.socket", "mallbox.socket")]
    {
        let unit = fs::read_to_string(here.join(from))?;
        fs::write(units.join(name), unit.replace("/usr/bin/mallbox", &installed))?;
    }
    let checked = analyze(&["verify", "--man=no"], &units, &["mallbox.service", "mallbox.socket"])?;
    let complaints = String::from_utf8_lossy(&checked.stderr);
    let ours: Vec<&str> = complaints.lines().filter(|line| line.contains("mallbox")).collect();
    ensure!(checked.status.success() && ours.is_empty(), "{}: {complaints}", checked.status);
    let threshold = format!("--threshold={EXPOSURE_MAX}");
    let judged =
        analyze(&["security", "--offline=yes", &threshold, "--no-pager"], &units, &["mallbox.service"])?;
    ensure!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    Ok(())
}

fn analyze(how: &[&str], units: &Path, names: &[&str]) -> anyhow::Result<Output> {
    let files = names.iter().map(|name| units.join(name));
    Command::new("systemd-analyze").args(how).args(files).output().context("systemd-analyze")
}
