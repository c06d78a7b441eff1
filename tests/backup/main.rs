//! `mallbox backup` and `mallbox restore`, as an operator types them: under load, killed at random moments,
//! with files that are damaged, and into directories that hold something.
//!
//! `MALLBOX_BACKUPS` sets the number of backups under load (50 by hand), `MALLBOX_CRASH_CYCLES` the number of
//! kills, `MALLBOX_SEED` repeats a plan.

#[path = "../common/mod.rs"]
mod common;
mod keys;
mod mall_on_servers;
mod mishaps;
#[path = "../common/process.rs"]
#[expect(clippy::unwrap_used, reason = "a command that cannot be run fails the test")]
mod process;
mod servers;
mod site;
mod stream;
mod upgrades;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox_storage::OrderId;
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_test_checker::Connection;
use mallbox_test_patience::Deadline;

use common::dice::{Dice, number_from};
use common::mall;
use common::server::{self, Server};
use process::mallbox;
use site::{Crowd, Held, PEOPLE, Site};

#[test]
fn a_backup_under_load_has_everything_that_was_acknowledged_before() -> anyhow::Result<()> {
    let backups = number_from("MALLBOX_BACKUPS").unwrap_or(4);
    let mut dice = Dice::from_environment("backup");
    let site = Site::make(PEOPLE, usize::try_from(backups)?)?;
    fs::create_dir_all(site.data().join("uploads/shops"))?;
    fs::write(site.data().join("uploads/shops/面.svg"), "<svg/>")?;
    let server = site.serve()?;
    let (mut sold, mut in_backups, mut pending) = (0, 0, 0);
    for (number, sale) in site.mall.sales.iter().enumerate() {
        let crowd = Crowd::start(server.address, &site.mall, *sale);
        std::thread::sleep(dice.millis(0, 250));
        let before = crowd.acknowledged();
        let (file, dir) = (format!("@{number}.backup"), format!("@restored-{number}"));
        let said = site.done(&["backup", &file, "--data", "@mall"])?;
        let all = crowd.end()?;
        ensure!(said.contains("the ledger balances"), "{said}");
        let restored = site.done(&["restore", &file, &dir])?;
        ensure!(restored.contains("the ledger balances"), "{restored}");
        let in_words: u64 = restored
            .split(" with ")
            .nth(1)
            .and_then(|words| words.split(' ').next()?.parse().ok())
            .with_context(|| format!("no number of pending claims: {restored}"))?;
        let data = site.path(&dir[1..]);
        let missing = site.missing(&data, &before)?;
        ensure!(missing.is_empty(), "{} of {} acknowledged orders are missing", missing.len(), before.len());
        ensure!(fs::read_to_string(data.join("uploads/shops/面.svg"))? == "<svg/>", "the picture");
        server::verify(&data)?;
        (sold, in_backups, pending) = (sold + all.len(), in_backups + before.len(), pending + in_words);
        fs::remove_dir_all(&data)?;
        fs::remove_file(site.path(&file[1..]))?;
    }
    println!(
        "backup: {backups} backups, {sold} claims, {in_backups} before a backup, {pending} pending in them"
    );
    server.stop()?;
    server::verify(&site.data())
}

#[test]
fn claims_that_wait_are_in_the_backup_and_wait_in_the_restored_mall() -> anyhow::Result<()> {
    let site = Site::make(8, 1)?;
    let (sale, orders) = (site.mall.sales[0], site.claim_for_all()?);
    let said = site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    ensure!(said.contains("with 5 pending claims"), "{said}");
    site.done(&["restore", "@one.backup", "@restored"])?;
    ensure!(site.missing(&site.path("restored"), &orders)?.is_empty(), "some claims are missing");
    let held = site::held(&site.path("restored"), sale)?;
    ensure!(held == Held { pending: 5, orders: 3 }, "{held:?}");
    // The workers of the restored mall settle them.
    Server::start(&site.path("restored"), &site.path("log"), "power")?.stop()?;
    mall::drained(&EmbeddedOptions::new(site.path("restored")).into(), Duration::from_secs(10))?;
    server::verify(&site.path("restored"))
}

#[test]
fn a_restored_mall_sells_on_knows_its_buyers_and_has_no_session() -> anyhow::Result<()> {
    let site = Site::make(20, 1)?;
    let sale = site.mall.sales[0];
    let path = format!("/voucher-order/seckill/{sale}");
    let server = site.serve()?;
    let mut connection = Connection::open(server.address)?;
    let token = site.mall.people[0].token.clone();
    let (_, bought) = connection.ask("POST", &path, &token)?;
    site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    site.done(&["backup", "@two.backup", "--data", "@mall", "--scratch", "@"])?;
    server.stop()?;

    site.done(&["restore", "@one.backup", "@restored"])?;
    let restored = Server::start(&site.path("restored"), &site.path("log"), "power")?;
    let mut connection = Connection::open(restored.address)?;
    let (status, refused) = connection.ask("POST", &path, &token)?;
    ensure!(status == 401, "a session of the mall before: {status} {refused}");
    // The same phone logs in again, and has the order.
    let phone = "13900000000";
    let (_, sent) = connection.ask("POST", &format!("/user/code?phone={phone}"), "")?;
    ensure!(sent["success"] == true, "{sent}");
    restored.stop()?;
    let order = bought["dataText"].as_str().and_then(|id| id.parse().ok()).context("no order")?;
    ensure!(site.missing(&site.path("restored"), &[OrderId::new(order)])?.is_empty(), "the order");

    // Each restored mall has an incarnation of its own, and the mall itself has none.
    site.done(&["restore", "@one.backup", "@again"])?;
    let incarnation = |name: &str| {
        mall::runtime()?.block_on(async {
            let storage = mall::open(&site.path(name)).await?;
            let setting = storage.base.upkeep.setting("incarnation").await?;
            storage.base.upkeep.close().await?;
            anyhow::Ok(setting)
        })
    };
    let [own, first, second] = [incarnation("mall")?, incarnation("restored")?, incarnation("again")?];
    ensure!(
        own.is_none() && first.is_some() && second.is_some() && first != second,
        "{own:?} {first:?} {second:?}"
    );
    Ok(())
}

#[test]
fn a_stopped_mall_is_backed_up_and_replaced_inside_its_directory() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    fs::write(site.data().join("archive-note"), "mine")?;
    let inode = |path: PathBuf| {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).map(|file| file.ino())
    };
    let before = inode(site.data())?;
    let said = site.done(&["restore", "@one.backup", "@mall", "--keep-keys"])?;
    ensure!(inode(site.data())? == before, "the directory itself stays");
    let former = site.data().join("before-restore-1");
    ensure!(said.contains(&*former.to_string_lossy()), "{said}");
    ensure!(fs::read_to_string(former.join("archive-note"))? == "mine", "what was there is set aside");
    server::verify(&site.data())?;
    server::verify(&former)?;
    // Others may not read a backup.
    use std::os::unix::fs::PermissionsExt as _;
    ensure!(fs::metadata(site.path("one.backup"))?.permissions().mode() & 0o077 == 0);
    Ok(())
}

#[test]
fn what_cannot_be_backed_up_or_restored_is_refused_and_changes_nothing() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    fs::create_dir(site.path("other"))?;
    fs::write(site.path("other/photo.jpg"), "holiday")?;
    fs::write(site.path("text"), "not a backup")?;
    fs::create_dir(site.data().join("uploads"))?;
    site.done(&["backup", "@good.backup", "--data", "@mall"])?;
    let good = fs::read(site.path("good.backup"))?;
    let (mut flipped, half) = (good.clone(), &good[..good.len() / 2]);
    flipped[good.len() / 2] ^= 1;
    fs::write(site.path("flipped"), flipped)?;
    fs::write(site.path("half"), half)?;
    for (arguments, code, expected) in [
        (&["backup", "@good.backup", "--data", "@mall"][..], 2, "exists"),
        (&["backup", "@mall/x", "--data", "@mall"], 2, "inside the mall's own directory"),
        (&["backup", "@mall/uploads", "--data", "@mall"], 2, "inside the mall's own directory"),
        (&["backup", "@nowhere/x", "--data", "@mall"], 2, "there is no directory"),
        (&["backup", "@x", "--data", "@other"], 2, "there is no mall in"),
        (&["backup", "@x", "--data", "@mall", "--keep", "7d"], 2, "--keep takes a directory"),
        (
            &["backup", "@x", "--redis", "redis://h", "--mysql", "mysql://h/d", "--stream"],
            2,
            "--stream is for malls",
        ),
        (&["restore", "@text", "@new"], 1, "not a backup"),
        (&["restore", "@nothing", "@new"], 1, "cannot read"),
        (&["restore", "@flipped", "@new"], 1, "nothing was restored: it is "),
        (&["restore", "@half", "@new"], 1, "its end is missing"),
        (&["restore", "@good.backup", "@other"], 2, "holds no mall, but other files (photo.jpg)"),
    ] {
        let said = site.refused(arguments, code)?;
        ensure!(said.contains(expected), "{arguments:?}: {said}");
    }
    ensure!(fs::read_to_string(site.path("other/photo.jpg"))? == "holiday");
    ensure!(fs::read_dir(site.path("other"))?.count() == 1);
    ensure!(!site.path("new").exists(), "a directory made for a restore that was refused");
    let server = site.serve()?;
    let said = site.refused(&["restore", "@good.backup", "@mall"], 1)?;
    ensure!(said.contains("is in use by another mallbox"), "{said}");
    server.stop()?;
    ensure!(!site.path("x").exists(), "no file of a refused backup");
    server::verify(&site.data())
}

#[test]
fn links_are_followed_and_files_being_written_are_left_out() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    fs::create_dir_all(site.path("large-disk/day"))?;
    fs::write(site.path("large-disk/day/1.png"), "picture")?;
    fs::create_dir(site.data().join("uploads"))?;
    std::os::unix::fs::symlink(site.path("large-disk/day"), site.data().join("uploads/day"))?;
    fs::create_dir(site.data().join("archive"))?;
    fs::write(site.data().join("archive/votes-2026-11-24.jsonl.gz.part"), "half")?;
    site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    site.done(&["restore", "@one.backup", "@restored"])?;
    ensure!(fs::read_to_string(site.path("restored/uploads/day/1.png"))? == "picture");
    ensure!(!site.path("restored/archive").exists(), "a draft");
    std::os::unix::fs::symlink("nowhere", site.data().join("uploads/dangling"))?;
    let said = site.refused(&["backup", "@two.backup", "--data", "@mall"], 1)?;
    ensure!(said.contains("uploads/dangling is a symbolic link to nothing"), "{said}");
    // What a killed backup left is removed by the next one.
    fs::create_dir(site.path(".mallbox-backup-left"))?;
    fs::write(site.path(".mallbox-backup-left/copy"), "phone numbers")?;
    fs::remove_file(site.data().join("uploads/dangling"))?;
    site.done(&["backup", "@two.backup", "--data", "@mall"])?;
    ensure!(!site.path(".mallbox-backup-left").exists(), "a leftover");
    Ok(())
}

#[test]
fn backups_follow_each_other_into_a_disk_that_comes_and_goes_and_old_ones_go() -> anyhow::Result<()> {
    let site = Site::make(5, 1)?;
    let to = site.path("disk");
    let (words, data) = (site.text("disk"), site.text("mall"));
    let mut child = mallbox(&["backup", &words, "--data", &data, "--every", "1m", "--keep", "2d"]).spawn()?;
    std::thread::sleep(Duration::from_millis(300));
    ensure!(child.try_wait()?.is_none(), "it waits for the disk");
    let former = ["mallbox-20200101T000000Z", "mallbox-20200101T010000Z", "mallbox-20190101T000000Z"];
    // As a mount does: with everything in it at once.
    let staged = site.path("staged");
    fs::create_dir(&staged)?;
    for name in former {
        fs::write(staged.join(format!("{name}.mallbox-backup")), "")?;
    }
    // Named by a clock that ran ahead.
    fs::write(staged.join("mallbox-29990101T000000Z.mallbox-backup"), "")?;
    fs::write(staged.join("photo.jpg"), "holiday")?;
    fs::rename(&staged, &to)?;
    let names = || -> anyhow::Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for entry in fs::read_dir(&to)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    };
    let deadline = Deadline::after(Duration::from_secs(40));
    loop {
        let names = names()?;
        if names.len() == 4 && !names[0].starts_with('.') {
            ensure!(
                names[0] == "mallbox-20200101T010000Z.mallbox-backup",
                "the newest of its day: {names:?}"
            );
            ensure!(names[2].starts_with("mallbox-2999") && names[3] == "photo.jpg", "{names:?}");
            break;
        }
        ensure!(!deadline.is_over(), "{names:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    let newest = names()?.remove(1);
    site.done(&["restore", &to.join(newest).display().to_string(), "@restored"])?;
    Ok(())
}
