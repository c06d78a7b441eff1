//! What `kiosk install` writes and `kiosk remove` takes away.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use crate::root::Root;
use crate::{KEY, POLICY, UNIT, WATCHDOG, output_in, root_with_mallbox};

const INSTALL: [&str; 3] = ["mallbox", "kiosk", "install"];

/// Runs `mallbox kiosk install` inside, with further flags.
fn install(root: &Root, flags: &[&str]) -> anyhow::Result<(i32, String)> {
    output_in(root, &[&INSTALL, flags].concat())
}

/// Returns every file and directory of the system's configuration and state, with time of change and size.
fn snapshot(root: &Root) -> anyhow::Result<BTreeSet<String>> {
    let found = root.run("find", &["/etc", "/var/lib/mallbox-kiosk", "-printf", "%p %T@ %s\\n"]);
    // The state's directory is made by systemd.
    let found = found.or_else(|_| root.run("find", &["/etc", "-printf", "%p %T@ %s\\n"]))?;
    Ok(found.lines().map(str::to_owned).collect())
}

/// Returns the names in a snapshot, without backups that the system's own tools make.
fn names(snapshot: &BTreeSet<String>) -> BTreeSet<String> {
    let names = snapshot.iter().filter_map(|line| line.split(' ').next());
    names.filter(|name| !name.ends_with('-') && !name.ends_with(".lock")).map(str::to_owned).collect()
}

fn has(root: &Root, path: &str) -> bool {
    fs::symlink_metadata(root.path().join(path)).is_ok()
}

#[test]
fn a_dry_run_prints_every_file_and_command_and_needs_no_root() -> anyhow::Result<()> {
    let flags = ["--url", "http://localhost:81/", "--shop", "3", "--idle", "90", "--attract", "0"];
    for (lang, words) in [("en", "(to do)"), ("zh", "(待完成)")] {
        let printed = Command::new(env!("CARGO_BIN_EXE_mallbox"))
            .args(["kiosk", "install", "--dry-run", "--lang", lang])
            .args(flags)
            .output()?;
        let text = String::from_utf8_lossy(&printed.stdout);
        ensure!(printed.status.success() && printed.stderr.is_empty(), "{printed:?}");
        for line in [
            words,
            "## useradd --system --user-group --no-create-home --home-dir /var/lib/mallbox-kiosk",
            "## /etc/systemd/system.conf.d/mallbox-kiosk.conf (",
            "RuntimeWatchdogSec=15s\n",
            "## /etc/chromium/policies/managed/mallbox-kiosk.json (",
            "\"http://localhost:81\"\n",
            "## /etc/systemd/system/mallbox-kiosk.service (",
            "/usr/bin/mallbox kiosk watch --key /etc/mallbox-kiosk/key \
             http://localhost:81/?kiosk=90&shop=3&attract=0 -- \\\n",
            "\nRestart=always\n",
            "## systemctl enable mallbox-kiosk.service (",
        ] {
            ensure!(text.contains(line), "{line} is not in {text}");
        }
        let language = if lang == "zh" { "\"zh-CN\"" } else { "\"en-US\"" };
        ensure!(text.contains(language), "{text}");
        ensure!(text.contains(&format!("## systemctl daemon-reload {words}\n")), "{text}");
    }
    ensure!(!Path::new("/").join(UNIT).exists() && !Path::new("/etc/mallbox-kiosk").exists());
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "kiosk-tests"),
    ignore = "needs root, cage, chromium and overlay file systems; tests/run turns it on where they are there"
)]
fn a_kiosk_is_installed_once_kept_where_changed_and_removed() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let root = root_with_mallbox(site.path())?;
    root.write(
        "etc/systemd/system/mallbox.service",
        include_str!("../../.packaging/systemd/mallbox.service"),
    )?;
    let theirs = "etc/chromium/policies/managed/theirs.json";
    fs::create_dir_all(root.path().join("etc/chromium/policies/managed"))?;
    root.write(theirs, "{}\n")?;
    let before = snapshot(&root)?;

    let (code, said) = install(&root, &[])?;
    ensure!(
        code == 0 && said.starts_with("the kiosk is set up: http://127.0.0.1:8080/?kiosk\nstart "),
        "{said}"
    );
    ensure!(said.contains("done  systemctl enable mallbox.service\n"), "{said}");
    for file in [UNIT, POLICY, WATCHDOG] {
        ensure!(said.contains(&format!("done  /{file}\n")), "{said}");
        let mode = root.run("stat", &["-c", "%a %U", &format!("/{file}")])?;
        ensure!(mode == "644 root\n", "{file}: {mode}");
    }
    for unit in ["mallbox", "mallbox-kiosk"] {
        ensure!(has(&root, &format!("etc/systemd/system/multi-user.target.wants/{unit}.service")), "{unit}");
    }
    let account = root.run("getent", &["passwd", "mallbox-kiosk"])?;
    ensure!(account.trim().ends_with(":/var/lib/mallbox-kiosk:/usr/sbin/nologin"), "{account}");
    serde_json::from_str::<serde_json::Value>(&root.read(POLICY)?)?;
    let (code, verdict) = output_in(
        &root,
        &["systemd-analyze", "verify", "--man=no", "/etc/systemd/system/mallbox-kiosk.service"],
    )?;
    ensure!(!verdict.contains("mallbox-kiosk"), "{code}: {verdict}");
    let (code, sums) = output_in(&root, &["sha256sum", "--check", "/etc/mallbox-kiosk/installed.sha256"])?;
    ensure!(code == 0 && sums.matches(": OK").count() == 3, "{sums}");

    // Again, nothing changes; with other flags, only what depends on them.
    let installed = snapshot(&root)?;
    let (code, said) = install(&root, &[])?;
    ensure!(code == 0 && said.starts_with("nothing changed, the kiosk is set up: "), "{said}");
    ensure!(!said.contains("done  ") && snapshot(&root)? == installed, "the second run changed something");
    let (code, said) = install(&root, &["--shop", "3"])?;
    ensure!(code == 0 && said.contains(&format!("done  /{UNIT}\n")), "{said}");
    ensure!(said.matches("done  ").count() == 1 && root.read(UNIT)?.contains("/?kiosk&shop=3 "), "{said}");

    // A change by hand stays, and is named, until --force.
    let by_hand = root.read(UNIT)?.replace("RestartSec=3", "RestartSec=9");
    root.write(UNIT, &by_hand)?;
    let (code, said) = install(&root, &["--shop", "4"])?;
    ensure!(code == 1 && said.contains(&format!("/{UNIT} was changed by hand")), "{code}: {said}");
    ensure!(root.read(UNIT)? == by_hand, "a change by hand is gone");
    let (_, preview) = install(&root, &["--shop", "4", "--dry-run"])?;
    ensure!(preview.contains(&format!("## /{UNIT} (changed by hand, stays)")), "{preview}");
    let (code, said) = install(&root, &["--shop", "4", "--force"])?;
    ensure!(code == 0 && root.read(UNIT)?.contains("&shop=4 "), "{said}");

    root.write(KEY, "a key\n")?;
    fs::create_dir_all(root.path().join("var/lib/mallbox-kiosk/chromium"))?;
    root.write("var/lib/mallbox-kiosk/chromium/x", "of a browser")?;
    root.write(POLICY, "{\"URLBlocklist\": []}\n")?;
    let (code, said) = output_in(&root, &["mallbox", "kiosk", "remove"])?;
    ensure!(code == 1 && said.contains(&format!("/{POLICY} was changed by hand")), "{code}: {said}");
    ensure!(has(&root, POLICY) && !has(&root, UNIT), "{said}");
    let (code, said) = output_in(&root, &["mallbox", "kiosk", "remove", "--force"])?;
    ensure!(code == 0 && said.starts_with("the kiosk is removed; "), "{code}: {said}");
    let mut expected = names(&before);
    // The mall's own unit stays as it is.
    expected.insert("/etc/systemd/system/multi-user.target.wants/mallbox.service".to_owned());
    let left = names(&snapshot(&root)?);
    ensure!(left == expected, "{:?}", left.symmetric_difference(&expected).collect::<Vec<_>>());
    ensure!(!has(&root, "var/lib/mallbox-kiosk"), "the profile stays");
    ensure!(root.run("getent", &["passwd", "mallbox-kiosk"]).is_err(), "the account stays");
    ensure!(root.read(theirs)? == "{}\n");
    let (code, said) = output_in(&root, &["mallbox", "kiosk", "remove"])?;
    ensure!(code == 0 && said == "no kiosk is installed here\n", "{code}: {said}");
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "kiosk-tests"),
    ignore = "needs root, cage, chromium and overlay file systems; tests/run turns it on where they are there"
)]
fn an_installation_that_cannot_be_is_refused_or_goes_on_later() -> anyhow::Result<()> {
    let site = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let root = root_with_mallbox(site.path())?;
    let before = names(&snapshot(&root)?);

    let unprivileged = [&["setpriv", "--reuid=65534", "--clear-groups"][..], &INSTALL].concat();
    let (code, said) = output_in(&root, &unprivileged)?;
    ensure!(code == 1 && said.starts_with("mallbox: this needs root: sudo mallbox kiosk install"), "{said}");
    let (code, said) = output_in(&root, &[&unprivileged[..], &["--dry-run"]].concat())?;
    ensure!(code == 0 && said.contains("## systemctl enable mallbox-kiosk.service"), "{code}: {said}");
    for (missing, words) in [
        (&["usr/bin/cage"][..], "type: sudo apt-get install cage\n"),
        (&["usr/bin/cage", "usr/bin/chromium"], "type: sudo apt-get install cage chromium\n"),
        (&["etc/debian_version"], "this is no Debian with systemd, and nothing was changed"),
    ] {
        for path in missing {
            let path = root.path().join(path);
            fs::rename(&path, path.with_extension("away"))?;
        }
        let (code, said) = install(&root, &[])?;
        ensure!(code == 1 && said.contains(words) && said.lines().count() == 1, "{code}: {said}");
        for path in missing {
            let path = root.path().join(path);
            fs::rename(path.with_extension("away"), &path)?;
        }
    }
    ensure!(names(&snapshot(&root)?) == before, "a refused installation made something");
    let (code, said) = output_in(&root, &["mallbox", "kiosk", "key"])?;
    ensure!(code == 1 && said.contains("no kiosk is installed here"), "{code}: {said}");

    // The directory cannot be read as a file: an obstacle in the middle.
    fs::create_dir(root.path().join(UNIT))?;
    let (code, said) = install(&root, &[])?;
    let failed = format!(
        "mallbox: not done: /{UNIT}; nor what follows: systemctl daemon-reload, systemctl enable \
         mallbox-kiosk.service; "
    );
    ensure!(code == 1 && said.contains(&failed) && said.contains("Is a directory"), "{code}: {said}");
    ensure!(said.contains(&format!("done  /{POLICY}\n")) && said.contains("done  the account"), "{said}");
    fs::remove_dir(root.path().join(UNIT))?;
    let (code, said) = install(&root, &[])?;
    ensure!(code == 0 && said.contains("mall first"), "{code}: {said}");
    ensure!(
        said.contains(&format!("done  /{UNIT}\n")) && !said.contains(&format!("done  /{POLICY}")),
        "{said}"
    );
    let (code, said) = output_in(&root, &["mallbox", "kiosk", "remove"])?;
    let left = names(&snapshot(&root)?);
    ensure!(
        code == 0 && left == before,
        "{said}{:?}",
        left.symmetric_difference(&before).collect::<Vec<_>>()
    );
    Ok(())
}
