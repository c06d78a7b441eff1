//! `mallbox backup` and `mallbox restore`, as an operator types them: under load, killed at random moments,
//! with files that are damaged, and into directories that hold something.
//!
//! `MALLBOX_BACKUPS` sets the number of backups under load (50 by hand), `MALLBOX_CRASH_CYCLES` the number of
//! kills, `MALLBOX_SEED` repeats a plan.

mod common;
#[path = "common/process.rs"]
#[expect(clippy::unwrap_used, reason = "a command that cannot be run fails the test")]
mod process;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{Claim, ClaimOutcome, FencingToken, OrderId, VoucherId};
use mallbox_storage_embedded::EmbeddedOptions;
use mallbox_test_checker::Connection;
use mallbox_test_patience::Deadline;
use parking_lot::Mutex;
use tempfile::TempDir;

use common::ballast::Ballast;
use common::dice::{Dice, number_from};
use common::image::DiskSite;
use common::mall::{self, Mall, Size};
use common::server::{self, Server};
use process::mallbox;

/// Users of the mall under load: each buys once in each sale.
const PEOPLE: usize = 1_500;
const BUYERS: usize = 6;

/// A mall in a directory, and room beside it.
struct Site {
    site: TempDir,
    mall: Mall,
}

impl Site {
    fn make(people: usize, sales: usize) -> anyhow::Result<Self> {
        let site = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
        let mall = mall::make(&site.path().join("mall"), Size { people, sales, units: people as u64 })?;
        Ok(Self { site, mall })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.site.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn data(&self) -> PathBuf {
        self.path("mall")
    }

    fn serve(&self) -> anyhow::Result<Server> {
        Server::start(&self.data(), &self.path("log"), "power")
    }

    /// Runs a command whose arguments may name files of the site, as `@name`.
    fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        let named = arguments.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => self.text(name),
            None => (*word).to_owned(),
        });
        let named: Vec<String> = named.collect();
        Ok(mallbox(&named.iter().map(String::as_str).collect::<Vec<_>>()).output()?)
    }

    /// Runs a command that has to succeed. Returns its standard output.
    fn done(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(arguments)?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{arguments:?}: {}\n{out}{err}", output.status);
        Ok(out.into_owned())
    }

    /// Runs a command that has to fail with this exit code. Returns its last line on standard error.
    fn refused(&self, arguments: &[&str], code: i32) -> anyhow::Result<String> {
        let output = self.run(arguments)?;
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(code), "{arguments:?}: {}\n{err}", output.status);
        Ok(err.lines().last().unwrap_or_default().to_owned())
    }

    /// Returns the orders among `orders` that a mall lacks: neither in its database nor in its log.
    fn missing(&self, data: &Path, orders: &[OrderId]) -> anyhow::Result<Vec<OrderId>> {
        mall::runtime()?.block_on(async {
            let storage = mall::open(data).await?;
            let mut missing = Vec::new();
            for order in orders {
                let is_known = storage.selling.orders.get(*order).await?.is_some()
                    || storage.selling.order_log.find(*order).await?.is_some();
                if !is_known {
                    missing.push(*order);
                }
            }
            storage.base.upkeep.close().await?;
            Ok(missing)
        })
    }
}

/// Buyers of one sale, each of whom notes what the mall has acknowledged.
struct Crowd {
    acknowledged: Arc<Mutex<Vec<OrderId>>>,
    stop: Arc<AtomicBool>,
    buyers: Vec<JoinHandle<anyhow::Result<()>>>,
}

impl Crowd {
    fn start(address: SocketAddr, mall: &Mall, sale: VoucherId) -> Self {
        let (acknowledged, stop) = (Arc::<Mutex<Vec<OrderId>>>::default(), Arc::<AtomicBool>::default());
        let buyers = (0..BUYERS).map(|buyer| {
            let (mall, acknowledged, stop) = (mall.clone(), Arc::clone(&acknowledged), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut connection = Connection::open(address)?;
                let path = format!("/voucher-order/seckill/{sale}");
                for person in mall.people.iter().skip(buyer).step_by(BUYERS) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let (_, answer) = connection.ask("POST", &path, &person.token)?;
                    let order = answer["dataText"].as_str().and_then(|id| id.parse().ok());
                    let order = order.with_context(|| format!("a claim was refused: {answer}"))?;
                    acknowledged.lock().push(OrderId::new(order));
                }
                Ok(())
            })
        });
        let buyers = buyers.collect();
        Self { acknowledged, stop, buyers }
    }

    fn acknowledged(&self) -> Vec<OrderId> {
        self.acknowledged.lock().clone()
    }

    /// Waits for the buyers. Returns everything acknowledged.
    fn end(self) -> anyhow::Result<Vec<OrderId>> {
        self.stop.store(true, Ordering::Relaxed);
        for buyer in self.buyers {
            buyer.join().ok().context("a buyer panicked")??;
        }
        let acknowledged = self.acknowledged.lock().clone();
        Ok(acknowledged)
    }
}

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

/// No process writes the claims to the database: they are in the log alone, but for three that are in both.
#[test]
fn claims_that_wait_are_in_the_backup_and_wait_in_the_restored_mall() -> anyhow::Result<()> {
    let site = Site::make(8, 1)?;
    let (sale, now) = (site.mall.sales[0], SystemClock.now());
    let orders: Vec<OrderId> = mall::runtime()?.block_on(async {
        let storage = mall::open(&site.data()).await?;
        let voucher = storage.catalogue.vouchers.get(sale).await?.and_then(|voucher| voucher.sale);
        let _ = storage.selling.sales.put(voucher.context("no sale")?.terms, FencingToken::new(1)).await?;
        // The ids of the orders below, for the ledger check.
        for _ in 0..=8 {
            storage.base.sequences.next("order", OrderId::day(now).context("before 2022")?).await?;
        }
        let mut orders = Vec::new();
        for (person, number) in site.mall.people.iter().zip(1..) {
            let order = OrderId::compose(now, number, sale).context("before 2022")?;
            let claim = Claim { order, voucher: sale, user: person.id, at: now };
            ensure!(storage.selling.sales.claim(claim).await? == ClaimOutcome::Accepted, "claim {number}");
            orders.push(order);
        }
        let taken = storage.selling.order_log.take("worker", 8, Duration::ZERO).await?;
        storage.selling.orders.persist(&taken[5..], now).await?;
        storage.base.upkeep.close().await?;
        anyhow::Ok(orders)
    })?;
    let said = site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    ensure!(said.contains("with 5 pending claims"), "{said}");
    site.done(&["restore", "@one.backup", "@restored"])?;
    ensure!(site.missing(&site.path("restored"), &orders)?.is_empty(), "some claims are missing");
    mall::runtime()?.block_on(async {
        let storage = mall::open(&site.path("restored")).await?;
        ensure!(storage.selling.order_log.count(sale).await?.durable == 5, "pending claims");
        ensure!(storage.selling.orders.count(sale).await?.held() == 3, "orders");
        Ok(storage.base.upkeep.close().await?)
    })?;
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
        (&["backup", "@x", "--redis", "redis://h", "--mysql", "mysql://h/d"], 2, "backup"),
        (&["restore", "@text", "@new"], 1, "not a backup"),
        (&["restore", "@nothing", "@new"], 1, "cannot read"),
        (&["restore", "@flipped", "@new"], 1, "damaged"),
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
        if names.len() == 3 && !names[0].starts_with('.') {
            ensure!(
                names[0] == "mallbox-20200101T010000Z.mallbox-backup",
                "the newest of its day: {names:?}"
            );
            ensure!(names[1].starts_with("mallbox-2") && names[2] == "photo.jpg", "{names:?}");
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
