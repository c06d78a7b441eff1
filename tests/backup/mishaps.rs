//! Killed at random moments, on full disks, and with directories copied by hand.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::common::ballast::Ballast;
use crate::common::dice::{Dice, number_from};
use crate::common::image::DiskSite;
use crate::common::mall::{self, Size};
use crate::common::server;
use crate::process::mallbox;
use crate::site::{Crowd, PEOPLE, Site};

#[test]
fn a_copy_of_a_running_mall_that_cannot_be_used_says_why_and_what_to_do() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    let copy = |name: &str| -> anyhow::Result<()> {
        let (from, to) = (site.text("mall"), site.text(name));
        ensure!(std::process::Command::new("cp").args(["-r", &from, &to]).status()?.success());
        Ok(())
    };
    copy("of-a-stopped-one")?;
    site.done(&["verify", "--data", "@of-a-stopped-one"])?;
    let server = site.serve()?;
    copy("of-a-running-one")?;
    fs::remove_dir_all(site.path("of-a-running-one/log"))?;
    copy("whole")?;
    server.kill()?;
    for (language, expected) in
        [("en", "mallbox backup, or stop it before copying"), ("zh", "商城运行时复制的")]
    {
        // A refused start does not make the copy an original.
        let said = site.refused(&["verify", "--data", "@of-a-running-one", "--lang", language], 1)?;
        ensure!(said.contains(expected), "{said}");
    }
    // Nothing happened while it was copied.
    site.done(&["verify", "--data", "@whole"])?;
    site.done(&["verify", "--data", "@mall"]).map(drop)
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_full_disk_ends_backup_and_restore_with_a_reason_and_nothing_half_done() -> anyhow::Result<()> {
    let disks = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let disk = disks.mount(&disks.format("ext4.img")?, "ext4")?;
    let site = Site::make(50, 1)?;
    fs::create_dir(site.data().join("uploads"))?;
    // Hardly compressible.
    let mut picture = vec![0; 6 << 20];
    rand::fill(&mut picture[..]);
    fs::write(site.data().join("uploads/large.png"), &picture)?;
    site.done(&["backup", "@good.backup", "--data", "@mall"])?;
    let (file, dir) = (disk.path().join("one.backup"), disk.path().join("mall"));
    let (file, dir) = (file.display().to_string(), dir.display().to_string());
    let left = || -> anyhow::Result<Vec<String>> {
        let names =
            fs::read_dir(disk.path())?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let names: Vec<String> = names.collect::<std::io::Result<_>>()?;
        Ok(names.into_iter().filter(|name| name != "lost+found" && name != "ballast").collect())
    };
    let mut refused = [0, 0];
    for free_kib in [0, 64, 512, 4_096, 8_192, 20_480, 51_200] {
        let _ballast = Ballast::leave(disk.path(), free_kib << 10)?;
        for (number, arguments) in
            [&["backup", &file, "--data", "@mall"][..], &["restore", "@good.backup", &dir]]
                .into_iter()
                .enumerate()
        {
            let output = site.run(arguments)?;
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.success() {
                if number == 1 {
                    server::verify(Path::new(&dir))?;
                    fs::remove_dir_all(&dir)?;
                } else {
                    site.done(&["restore", &file, "@restored"])?;
                    fs::remove_dir_all(site.path("restored"))?;
                    fs::remove_file(&file)?;
                }
            } else {
                refused[number] += 1;
                let names_the_disk = ["o space left", "is full", "MiB left", "free space", "not enough"];
                ensure!(
                    names_the_disk.iter().any(|words| said.contains(words)),
                    "{free_kib} KiB, {arguments:?}: {said}"
                );
            }
            ensure!(left()?.is_empty(), "{free_kib} KiB, {arguments:?}: {:?} are left; {said}", left()?);
        }
    }
    println!("full disk: {refused:?} of 7 backups and restores were refused");
    ensure!(refused.iter().all(|times| (1..7).contains(times)), "{refused:?}");
    Ok(())
}

/// The copying process is then the only one that has the database open.
#[test]
fn a_mall_killed_while_it_is_copied_starts_again_with_everything() -> anyhow::Result<()> {
    let site = Site::make(PEOPLE, 1)?;
    let server = site.serve()?;
    let crowd = Crowd::start(server.address, &site.mall, site.mall.sales[0]);
    while crowd.acknowledged().len() < 100 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let (copied, data) = (site.path("copied"), site.data());
    let (mut copy, mut server) = (Some(server), None);
    mallbox_storage_embedded::backup::copy_database(&data, &copied, |_| {
        if let Some(running) = copy.take() {
            server = Some(running.kill());
        }
    })?;
    server.context("nothing was copied")??;
    let acknowledged = crowd.acknowledged();
    // The buyers' connections are gone.
    let _ = crowd.end();
    site.serve()?.stop()?;
    let missing = site.missing(&site.data(), &acknowledged)?;
    ensure!(missing.is_empty(), "{} of {} are missing", missing.len(), acknowledged.len());
    server::verify(&site.data())
}

#[test]
fn a_killed_backup_leaves_no_file_that_is_not_whole() -> anyhow::Result<()> {
    let kills = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(6);
    let mut dice = Dice::from_environment("killed backup");
    let site = Site::make(50, 1)?;
    let server = site.serve()?;
    let mut whole = 0;
    for number in 0..kills {
        let file = site.text(&format!("{number}.backup"));
        let mut child = mallbox(&["backup", &file, "--data", &site.text("mall")]).spawn()?;
        std::thread::sleep(dice.millis(0, 700));
        child.kill()?;
        child.wait()?;
        if Path::new(&file).exists() {
            whole += 1;
            let dir = format!("@from-{number}");
            site.done(&["restore", &file, &dir])?;
        }
    }
    site.done(&["backup", "@last.backup", "--data", "@mall"])?;
    println!("killed backup: {kills} kills, {whole} had a whole file by then");
    server.stop()
}

#[test]
fn a_restore_killed_at_any_moment_leaves_one_mall_or_the_other() -> anyhow::Result<()> {
    let kills = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(8);
    let mut dice = Dice::from_environment("killed restore");
    let site = Site::make(50, 1)?;
    site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    // Told from the restored one by its user.
    let (newer, later) = (site.path("newer"), Size { people: 51, sales: 1, units: 1 });
    mall::make(&newer, later)?;
    let (mut restored, mut former) = (0, 0);
    for number in 0..kills {
        let dir = site.text(&format!("dir-{number}"));
        ensure!(std::process::Command::new("cp").args(["-r", &site.text("newer"), &dir]).status()?.success());
        let mut child = mallbox(&["restore", &site.text("one.backup"), &dir])
            .stdout(std::process::Stdio::null())
            .spawn()?;
        std::thread::sleep(dice.millis(0, 250));
        child.kill()?;
        child.wait()?;
        server::verify(Path::new(&dir))?;
        let is_restored = mall::runtime()?.block_on(async {
            let storage = mall::open(Path::new(&dir)).await?;
            let incarnation = storage.base.upkeep.setting("incarnation").await?;
            storage.base.upkeep.close().await?;
            anyhow::Ok(incarnation.is_some())
        })?;
        if is_restored {
            restored += 1
        } else {
            former += 1
        }
        ensure!(!Path::new(&dir).join("RESTORING").exists(), "the exchange is complete");
        fs::remove_dir_all(&dir)?;
    }
    println!(
        "killed restore: {kills} kills, {restored} times the restored mall, {former} times the former one"
    );
    Ok(())
}
