//! A data directory in use by another mall, or not writable.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::ensure;

use crate::common::aftermath;
use crate::common::image::DiskSite;
use crate::common::mall::{self, Size};
use crate::drill::Drill;

fn serve(under: &[&str], data: &Path) -> anyhow::Result<(Option<i32>, String)> {
    let words =
        [under, &[env!("CARGO_BIN_EXE_mallbox"), "serve", "--listen", "127.0.0.1:0", "--data"]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(data).stdin(Stdio::null());
    let Output { status, stderr, .. } = command.output()?;
    Ok((status.code(), String::from_utf8_lossy(&stderr).into_owned()))
}

#[test]
fn a_second_mall_on_the_directory_is_refused_and_the_sale_goes_on() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut drill = Drill::begin("second process", site.path(), &site.path().join("mallbox.log"))?;
    for _ in 0..3 {
        let (code, complaint) = serve(&[], drill.data())?;
        let owner = format!("in use by another mallbox (process {})", drill.server.id());
        ensure!(
            code == Some(1) && complaint.contains(&owner) && complaint.lines().count() == 1,
            "{code:?}: {complaint}"
        );
    }
    drill.claims_are("accepted", |reply| reply.body["success"] == true)?;
    drill.reading_goes_on()?;
    drill.end("3 more were refused")
}

/// Any clean-up may remove the lock file; the directory of a running mall cannot be removed.
#[test]
fn a_removed_lock_file_let_a_second_mall_in() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut drill = Drill::begin("removed lock", site.path(), &site.path().join("mallbox.log"))?;
    std::fs::remove_file(drill.data().join("lock"))?;
    let (code, complaint) = serve(&[], drill.data())?;
    ensure!(code == Some(1) && complaint.contains("in use by another mallbox"), "{code:?}: {complaint}");
    drill.claims_are("accepted", |reply| reply.body["success"] == true)?;
    drill.end("a second one was refused")
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_directory_that_may_not_be_written_is_refused_in_a_sentence() -> anyhow::Result<()> {
    let site = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let image = site.format("disk.img")?;
    {
        let disk = site.mount(&image, "before")?;
        mall::make(&disk.path().join("mall"), Size { people: 2, sales: 1, units: 1 })?;
    }
    let disk = site.mount_read_only(&image, "after")?;
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let theirs = site.path().join("theirs");
    std::fs::create_dir(&theirs)?;
    let copy = aftermath::copy(&disk.path().join("mall"), site.path())?;
    for (under, data, words) in [
        (&[][..], disk.path().join("mall"), "Read-only file system"),
        (&[], disk.path().join("new"), "Read-only file system"),
        (&nobody, theirs.join("new"), "ermission denied"),
        (&nobody, copy.path().to_owned(), "Operation not permitted"),
    ] {
        let (code, complaint) = serve(under, &data)?;
        let is_refused =
            complaint.matches(words).count() == 1 && complaint.contains(&*data.to_string_lossy());
        ensure!(
            code == Some(1) && is_refused && complaint.lines().count() == 1,
            "{}: {code:?}: {complaint}",
            data.display()
        );
        println!("{}", complaint.trim());
    }
    Ok(())
}
