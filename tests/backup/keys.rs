//! Backups that are encrypted and signed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::common::server;
use crate::process::mallbox;
use crate::site::Site;

/// Returns the names of files in a directory and below.
fn files_below(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn an_encrypted_and_signed_backup_is_restored_with_its_key_alone() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    fs::create_dir(site.path("usb"))?;
    for (purpose, file) in [("encryption", "@safe"), ("encryption", "@spare"), ("signature", "@sign")] {
        let said = site.done(&["keygen", purpose, file])?;
        ensure!(said.contains(&site.text(&format!("{}.pub", &file[1..]))), "{said}");
        let mode = fs::metadata(site.path(&file[1..]))?.permissions().mode();
        ensure!(mode & 0o077 == 0, "{file}: {mode:o}");
    }
    let spare = fs::read_to_string(site.path("spare.pub"))?;
    let said = site.done(&[
        "backup",
        "@usb",
        "--data",
        "@mall",
        "--encrypt",
        "@safe.pub",
        "--encrypt",
        spare.trim(),
        "--sign",
        "@sign",
    ])?;
    ensure!(said.contains("DIR --key FILE"), "{said}");
    let mut made = Vec::new();
    files_below(&site.path("usb"), &mut made);
    let [file] = &made[..] else { anyhow::bail!("{made:?}") };
    ensure!(file.to_string_lossy().ends_with(".mallbox-backup.age"), "{file:?}");
    let file = file.to_str().context("a name")?;

    for (arguments, expected) in [
        (&[][..], "it is encrypted; pass the private key with --key FILE"),
        (&["--key", "@other"], "it is encrypted for another key"),
        (&["--key", "@safe", "--signed-by", "@foreign.pub"], "it is signed with another key"),
    ] {
        for key in ["other", "foreign"] {
            let purpose = if key == "other" { "encryption" } else { "signature" };
            if !site.path(key).exists() {
                site.done(&["keygen", purpose, &format!("@{key}")])?;
            }
        }
        let said = site.refused(&[&["restore", file, "@new"], arguments].concat(), 1)?;
        ensure!(said.contains(expected) && !site.path("new").exists(), "{arguments:?}: {said}");
    }
    for (key, signed_by) in [("@safe", &["--signed-by", "@sign.pub"][..]), ("@spare", &[])] {
        let arguments = [&["restore", file, "@restored", "--key", key], signed_by].concat();
        let said = site.done(&arguments)?;
        ensure!(said.contains("the ledger balances"), "{said}");
        ensure!(said.contains("is signed with key") == signed_by.is_empty(), "{said}");
        server::verify(&site.path("restored"))?;
        fs::remove_dir_all(site.path("restored"))?;
    }
    site.done(&["backup", "@plain", "--data", "@mall"])?;
    let said = site.refused(&["restore", "@plain", "@new", "--signed-by", "@sign.pub"], 1)?;
    ensure!(said.contains("it is not signed"), "{said}");
    Ok(())
}

/// A disk that is stolen with its backups has never held the plain text.
#[test]
fn nothing_that_is_not_encrypted_is_ever_beside_an_encrypted_backup() -> anyhow::Result<()> {
    let site = Site::make(300, 1)?;
    fs::create_dir(site.path("usb"))?;
    site.done(&["keygen", "encryption", "@safe"])?;
    let (done, usb) = (AtomicBool::new(false), site.path("usb"));
    let arguments =
        ["backup", &site.text("usb"), "--data", &site.text("mall"), "--encrypt", &site.text("safe.pub")];
    let (seen, plain) = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut seen, mut plain) = (0_u32, Vec::new());
            while !done.load(Ordering::Relaxed) {
                let mut files = Vec::new();
                files_below(&usb, &mut files);
                for file in files {
                    let content = fs::read(&file).unwrap_or_default();
                    seen += u32::from(content.starts_with(b"age-encryption.org/"));
                    if content.starts_with(b"SQLite") || content.starts_with(&[0x1f, 0x8b]) {
                        plain.push(file);
                    }
                }
                thread::sleep(Duration::from_millis(1));
            }
            (seen, plain)
        });
        let output = mallbox(&arguments).output();
        done.store(true, Ordering::Relaxed);
        let watched = watcher.join().ok().context("the watcher panicked")?;
        let output = output?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(watched)
    })?;
    ensure!(seen > 0, "the encrypted file was seen");
    ensure!(plain.is_empty(), "{plain:?}");
    Ok(())
}

#[test]
fn old_encrypted_backups_are_removed_as_plain_ones_are() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    fs::create_dir(site.path("usb"))?;
    site.done(&["keygen", "encryption", "@safe"])?;
    for name in ["mallbox-20240101T000000Z.mallbox-backup.age", "mallbox-20240101T000000Z.mallbox-backup"] {
        fs::write(site.path("usb").join(name), "old")?;
    }
    fs::write(site.path("usb/notes.age"), "mine")?;
    let said = site.done(&["backup", "@usb", "--data", "@mall", "--encrypt", "@safe.pub", "--keep", "1d"])?;
    ensure!(said.matches("no longer needed, removed").count() == 2, "{said}");
    let mut left = Vec::new();
    files_below(&site.path("usb"), &mut left);
    ensure!(left.len() == 2 && site.path("usb/notes.age").exists(), "{left:?}");
    Ok(())
}

#[test]
fn a_key_is_never_replaced() -> anyhow::Result<()> {
    let site = Site::make(1, 1)?;
    fs::write(site.path("mine"), "mine")?;
    fs::write(site.path("other.pub"), "mine")?;
    for file in ["mine", "other"] {
        let said = site.refused(&["keygen", "signature", &format!("@{file}")], 2)?;
        ensure!(said.contains("exists, and a key is never replaced"), "{said}");
    }
    ensure!(fs::read_to_string(site.path("mine"))? == "mine" && !site.path("other").exists());
    Ok(())
}
