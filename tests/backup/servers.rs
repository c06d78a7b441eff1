//! Backups of a mall in Redis and MySQL: under load, compared row by row, cut short, and with servers that
//! refuse, are silent or hold something.
#![cfg(feature = "production")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mallbox::mall::{Clock as _, SystemClock};
use mallbox_storage::{Day, DaySpan, Visit, VisitTarget, Visitor};
use mallbox_test_patience::{self as patience, Deadline};
use mallbox_test_servers::{Behaviour, Proxy};

use crate::common::dice::{Dice, number_from};
use crate::common::server::{self, Server};
use crate::mall_on_servers::{MALL, Named, RESTORED, Servers};
use crate::process::mallbox;
use crate::site::{Crowd, PEOPLE, claim_for_all};

/// Longest time of a command whose servers are silent, with a margin for the start of the process.
const SILENT_TIMEOUT: Duration = Duration::from_secs(20);

/// Name of a setting that a restored mall has anew, unless it keeps its keys.
const SECRET: &str = "receipt secret";
/// Parts of the names of all such settings.
const NEW_SETTINGS: [&str; 5] = [SECRET, "guard key ", "login code key", "incarnation", "restored from"];

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_backup_of_servers_under_load_has_everything_that_was_acknowledged_before() -> anyhow::Result<()> {
    let backups = number_from("MALLBOX_BACKUPS").unwrap_or(2);
    let mut dice = Dice::from_environment("backup of servers");
    let servers = Servers::start()?;
    let made = servers.fill(PEOPLE, usize::try_from(backups)?)?;
    let server = servers.serve()?;
    let (trial_redis, trial_mysql) = (servers.redis.url(), servers.mysql.url("unused"));
    let (mut sold, mut in_backups) = (0, 0);
    for (number, sale) in made.sales.iter().enumerate() {
        let crowd = Crowd::start(server.address, &made, *sale);
        std::thread::sleep(dice.millis(0, 400));
        let before = crowd.acknowledged();
        let file = format!("@{number}.backup");
        let trial = ["backup", &*file, "--trial-redis", &*trial_redis, "--trial-mysql", &*trial_mysql];
        let said = servers.done(MALL, &trial)?;
        let all = crowd.end()?;
        ensure!(said.contains("the ledger balances"), "{said}");
        let restored = servers.done(RESTORED, &["restore", &file])?;
        ensure!(restored.contains("the ledger balances"), "{restored}");
        let missing = servers.missing(RESTORED, &before)?;
        ensure!(missing == 0, "{missing} of {} acknowledged orders are missing", before.len());
        servers.remove(RESTORED)?;
        (sold, in_backups) = (sold + all.len(), in_backups + before.len());
    }
    println!("backup of servers: {backups} backups, {sold} claims, {in_backups} before a backup");
    // The trials have left nothing behind.
    let left: Vec<String> = servers.databases()?.into_iter().chain(servers.all_keys()?).collect();
    ensure!(!left.iter().any(|name| name.contains("trial")), "{left:?}");
    server.stop()?;
    servers.verify(MALL)
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn every_row_and_what_redis_alone_has_is_restored() -> anyhow::Result<()> {
    let servers = Servers::start()?;
    let (redis, mysql) = (servers.redis.url(), servers.mysql.url("mall"));
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/dumps/mysqldump.sql");
    servers.done(MALL, &["import", dump, "--zone", "Asia/Shanghai"])?;
    servers.serve()?.stop()?;
    // Bytes that are no text, in a picture larger than a piece of the copy; and an id that was given up.
    servers.add_picture(7, "UNHEX(REPEAT('FFD8000A', 90000))", 360_000)?;
    let given_up = "INSERT INTO users (id, phone, nick_name, icon, role, created_ms, updated_ms)
                    VALUES (900001, '19900000001', '😀', '', 0, 1, 1)";
    servers.sql("mall", given_up)?;
    servers.sql("mall", "DELETE FROM users WHERE id = 900001")?;
    servers.verify(MALL)?;
    // Tables of others stay out.
    servers.sql("mall", "CREATE TABLE of_the_shop (id INT PRIMARY KEY)")?;
    let today =
        jiff::Timestamp::from_millisecond(SystemClock.now().as_millis())?.strftime("%Y-%m-%d").to_string();
    let today = Day::parse(&today).context("a day")?;
    let visits: Vec<Visit> = (0..700_u64)
        .map(|number| Visit {
            of: VisitTarget::Mall,
            day: today,
            visitor: Visitor(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            views: 2,
        })
        .collect();
    let span = DaySpan::new(today, today).context("a day")?;
    let counted = servers.with(MALL, async |storage| {
        storage.people.visitors.note(&visits, today).await?;
        storage.people.visitors.salt(today, [7; 16]).await?;
        Ok(storage.people.visitors.count(VisitTarget::Mall, span, today).await?)
    })?;
    ensure!(counted.visitors > 600 && counted.days[0].views == 1_400, "{counted:?}");

    servers.with(MALL, async |storage| Ok(storage.base.upkeep.put_setting(SECRET, "of the test").await?))?;
    let before = servers.tables(MALL)?;
    fs::create_dir_all(servers.path("uploads/shops"))?;
    fs::write(servers.path("uploads/shops/面.svg"), "<svg/>")?;
    let said = servers.done(MALL, &["backup", "@one.backup", "--uploads", "@uploads"])?;
    ensure!(said.contains("not restored as a trial"), "{said}");
    let restored = servers.done(RESTORED, &["restore", "@one.backup", "--uploads", "@pictures"])?;
    ensure!(restored.contains("mallbox serve --redis-prefix restored"), "{restored}");
    ensure!(fs::read_to_string(servers.path("pictures/shops/面.svg"))? == "<svg/>", "the picture");
    let (mut mall, mut restored) = (servers.tables(MALL)?, servers.tables(RESTORED)?);
    ensure!(mall == before, "the backup has changed the mall");
    ensure!(mall.remove("of_the_shop").is_some(), "the table of the shop");
    for changed in ["server_epochs", "order_instances"] {
        mall.remove(changed);
        restored.remove(changed);
    }
    // Of the settings, secrets are made anew, and the incarnation is new.
    for settings in [mall.get_mut("settings"), restored.get_mut("settings")].into_iter().flatten() {
        let is_new = |row: &String| NEW_SETTINGS.iter().any(|name| row.contains(name));
        settings.retain(|row| !is_new(row));
        ensure!(settings.len() > 3, "{settings:?}");
    }
    for (table, rows) in &mall {
        let found = restored.get(table).with_context(|| format!("no table {table}"))?;
        let differing = rows.iter().zip(found).find(|(row, found)| row != found);
        ensure!(differing.is_none() && rows.len() == found.len(), "{table}: {differing:?}");
    }
    ensure!(mall.len() == restored.len(), "{restored:?}");
    servers.with(RESTORED, async |storage| {
        let again = storage.people.visitors.count(VisitTarget::Mall, span, today).await?;
        ensure!(again == counted, "{again:?}");
        let salt = storage.people.visitors.salt(today, [8; 16]).await?;
        ensure!(salt == [7; 16], "{salt:?}");
        ensure!(storage.base.upkeep.setting("incarnation").await?.is_some(), "no incarnation");
        ensure!(storage.base.upkeep.setting(SECRET).await?.is_none(), "a secret was restored");
        Ok(())
    })?;
    // The restored mall is one.
    Server::start_on_with(
        &redis,
        &servers.mysql.url("restored"),
        &servers.dir.path().join("log"),
        &["--redis-prefix", "restored"],
    )?
    .stop()?;
    server::verify_on(&redis, &mysql)
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn claims_that_wait_in_redis_are_orders_of_the_restored_mall() -> anyhow::Result<()> {
    let servers = Servers::start()?;
    let made = servers.fill(8, 1)?;
    let orders = servers.with(MALL, async |storage| claim_for_all(storage, &made).await)?;
    let said = servers.backup("@one.backup")?;
    ensure!(said.contains("with 8 pending claims"), "{said}");
    let restored = servers.done(RESTORED, &["restore", "@one.backup"])?;
    ensure!(restored.contains("8 claims that were pending are orders or dead letters now"), "{restored}");
    ensure!(servers.missing(RESTORED, &orders)? == 0, "some claims are missing");
    let counted = servers.with(RESTORED, async |storage| {
        let pending = storage.selling.order_log.count(made.sales[0]).await?.durable;
        Ok((pending, storage.selling.orders.count(made.sales[0]).await?.held()))
    })?;
    ensure!(counted == (0, 8), "{counted:?}");
    servers.verify(RESTORED)
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_restore_that_is_killed_leaves_no_mall_and_is_repeated() -> anyhow::Result<()> {
    let cycles = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(3);
    let mut dice = Dice::from_environment("killed restore on servers");
    let servers = Servers::start()?;
    let made = servers.fill(400, 1)?;
    servers.backup("@one.backup")?;
    let began = Instant::now();
    servers.done(RESTORED, &["restore", "@one.backup"])?;
    let whole = began.elapsed();
    let (mut cut_short, mut finished) = (0, 0);
    for _ in 0..cycles {
        servers.remove(RESTORED)?;
        let mut restore = servers.command(RESTORED, &["restore", "@one.backup"]);
        let mut restore = restore.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(dice.within(whole));
        restore.kill()?;
        restore.wait()?;
        let tables = match servers.databases()?.contains(&"restored".to_owned()) {
            true => servers.tables(RESTORED)?,
            false => BTreeMap::new(),
        };
        let is_marked = |rows: &Vec<String>| rows.iter().any(|row| row.contains("restoring"));
        if tables.is_empty() || tables.get("mallbox_schema").is_some_and(is_marked) {
            cut_short += 1;
            if !tables.is_empty() {
                servers.refused(RESTORED, &["verify"], "a restore into it has not finished")?;
                servers.refused(RESTORED, &["doctor"], "a restore into it has not finished")?;
            }
            let again = Deadline::after(Duration::from_secs(20));
            // The server notices a moment later that the connection is gone, and with it the lock.
            while let (_, said) = servers.run(RESTORED, &["restore", "@one.backup"])?
                && !said.contains("the ledger balances")
            {
                ensure!(said.contains("another restore into it is running") && !again.is_over(), "{said}");
            }
        } else {
            finished += 1;
        }
        let people = servers.with(RESTORED, async |storage| {
            let mut found = 0;
            for person in made.people.iter() {
                found += usize::from(storage.people.users.get(person.id).await?.is_some());
            }
            Ok(found)
        })?;
        ensure!(people == made.people.len(), "{people} people");
        servers.verify(RESTORED)?;
    }
    println!("killed restores: {cut_short} were cut short, {finished} had finished");
    Ok(())
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn what_cannot_be_restored_changes_nothing() -> anyhow::Result<()> {
    let servers = Servers::start()?;
    servers.fill(20, 1)?;
    servers.backup("@one.backup")?;
    let before = (servers.tables(MALL)?, servers.databases()?);
    // Into what holds something.
    servers.refused(MALL, &["restore", "@one.backup"], "it has keys of a mall with the prefix mallbox;")?;
    servers.refused(Named { prefix: "other", ..MALL }, &["restore", "@one.backup"], "it is not empty")?;
    servers.refused(Named { database: "new", ..MALL }, &["restore", "@one.backup"], "--redis-prefix")?;
    // Into the wrong kind of place.
    let mut into_directory = mallbox(&["restore", &servers.path("one.backup"), &servers.path("dir")]);
    let said = String::from_utf8(into_directory.output()?.stderr)?;
    ensure!(said.contains("it is of a mall on servers; pass --redis URL and --mysql URL"), "{said}");
    let site = crate::site::Site::make(1, 1)?;
    site.done(&["backup", "@one.backup", "--data", "@mall"])?;
    let words = "it is of a mall in a directory; pass the directory";
    servers.refused(RESTORED, &["restore", &site.text("one.backup")], words)?;
    servers.refused(
        RESTORED,
        &["restore", "@one.backup", "--at", "latest"],
        "--at is for malls in a directory",
    )?;
    servers.refused(
        RESTORED,
        &["restore", "@one.backup", "@dir"],
        "either into a directory or into --redis",
    )?;
    servers.refused(MALL, &["backup", "@", "--stream"], "shorten the interval with --every")?;
    let half = ["backup", "@", "--trial-redis", "redis://127.0.0.1:1"];
    servers.refused(MALL, &half, "--trial-redis also needs --trial-mysql")?;
    servers.refused(RESTORED, &["backup", "@two.backup"], "Unknown database")?;
    // Damaged files.
    let whole = fs::read(servers.path("one.backup"))?;
    for place in (0..whole.len()).step_by(whole.len() / 12) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        fs::write(servers.path("damaged"), damaged)?;
        let (code, said) = servers.run(RESTORED, &["restore", "@damaged"])?;
        if code == Some(0) {
            // Bits in the header of gzip, and behind the list of contents, mean nothing.
            ensure!(place < 10 || place + 200 > whole.len(), "{place} of {}: {said}", whole.len());
            servers.remove(RESTORED)?;
        } else {
            ensure!(said.contains("nothing was restored"), "{place}: {said}");
        }
    }
    ensure!(before == (servers.tables(MALL)?, servers.databases()?), "something has changed");
    servers.verify(MALL)
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn servers_that_refuse_or_are_silent_end_a_backup_with_a_message() -> anyhow::Result<()> {
    let servers = Servers::start()?;
    servers.fill(20, 1)?;
    let (redis, mysql) = (Proxy::before(servers.redis.port())?, Proxy::before(servers.mysql.port())?);
    let run = |arguments: &[&str]| {
        let mut command = servers.command(MALL, arguments);
        command.env("MALLBOX_REDIS", format!("redis://127.0.0.1:{}", redis.port()));
        command.env("MALLBOX_MYSQL", format!("mysql://root@127.0.0.1:{}/mall", mysql.port()));
        command
    };
    for behaviour in [Behaviour::Refused, Behaviour::Silent] {
        for (proxy, name) in [(&redis, "Redis"), (&mysql, "MySQL")] {
            proxy.set(behaviour);
            let began = Instant::now();
            let output = run(&["backup", "@one.backup"]).output()?;
            let said = String::from_utf8(output.stderr)?;
            ensure!(!output.status.success() && said.contains(name), "{behaviour:?}: {said}");
            ensure!(patience::is_within(began.elapsed(), SILENT_TIMEOUT), "{:?}", began.elapsed());
            proxy.set(Behaviour::Good);
        }
    }
    let left: Vec<_> = fs::read_dir(servers.dir.path())?.flatten().map(|entry| entry.file_name()).collect();
    ensure!(left.iter().all(|name| name == "log"), "{left:?}");
    // In the middle of the tables: large ones, and a server that stops.
    for number in 1..9 {
        servers.add_picture(number, "REPEAT('x', 8000000)", 8_000_000)?;
    }
    let sent = mysql.sent();
    mysql.set(Behaviour::Slow(Duration::from_millis(5)));
    let backup = run(&["backup", "@one.backup"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let until = Deadline::after(Duration::from_secs(60));
    while mysql.sent() < sent + 100 {
        ensure!(!until.is_over(), "the backup does not begin: {} pieces", mysql.sent() - sent);
        std::thread::sleep(Duration::from_millis(5));
    }
    mysql.set(Behaviour::Silent);
    let output = backup.wait_with_output()?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(!output.status.success() && said.contains("no response within"), "{said}");
    mysql.set(Behaviour::Good);
    let output = run(&["backup", "@one.backup"]).output()?;
    ensure!(output.status.success(), "{output:?}");
    servers.done(RESTORED, &["restore", "@one.backup"]).map(drop)
}

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn a_trial_that_fails_keeps_the_backup_and_one_that_is_stopped_leaves_nothing() -> anyhow::Result<()> {
    let servers = Servers::start()?;
    servers.fill(400, 1)?;
    let (redis, mysql) = (servers.redis.url(), servers.mysql.url("unused"));
    // Servers that are away say nothing about the file.
    let away =
        ["backup", "@one.backup", "--trial-redis", &*redis, "--trial-mysql", "mysql://root@127.0.0.1:1/x"];
    let (code, said) = servers.run(MALL, &away)?;
    ensure!(code == Some(1) && said.contains("the backup is kept, but its trial failed"), "{code:?} {said}");
    servers.done(RESTORED, &["restore", "@one.backup"])?;
    servers.remove(RESTORED)?;
    // Encrypted and signed, with keys that stay.
    servers.with(MALL, async |storage| Ok(storage.base.upkeep.put_setting(SECRET, "of the test").await?))?;
    servers.done(MALL, &["keygen", "encryption", "@safe.key"])?;
    servers.done(MALL, &["keygen", "signature", "@sign.key"])?;
    let protected =
        ["backup", "@two.backup", "--encrypt", "@safe.key.pub", "--sign", "@sign.key", "--scratch", "@"];
    servers.done(MALL, &protected)?;
    servers.refused(RESTORED, &["restore", "@two.backup"], "it is encrypted")?;
    let opened =
        ["restore", "@two.backup", "--key", "@safe.key", "--signed-by", "@sign.key.pub", "--keep-keys"];
    servers.done(RESTORED, &opened)?;
    let secret = |mall| servers.with(mall, async |storage| Ok(storage.base.upkeep.setting(SECRET).await?));
    ensure!(secret(MALL)? == secret(RESTORED)? && secret(MALL)?.is_some(), "a key has changed");
    // Stopped in the middle of the trial.
    let trial = ["backup", "@three.backup", "--trial-redis", &*redis, "--trial-mysql", &*mysql];
    let mut backup = servers.command(MALL, &trial).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let is_trial = |name: &String| name.contains("trial");
    let until = Deadline::after(Duration::from_secs(30));
    while !servers.databases()?.iter().any(is_trial) {
        ensure!(backup.try_wait()?.is_none() && !until.is_over(), "no trial begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    let stopped =
        std::process::Command::new("kill").args(["-s", "TERM", &backup.id().to_string()]).status()?;
    ensure!(stopped.success(), "kill");
    let code = backup.wait()?.code();
    let left: Vec<String> =
        servers.databases()?.into_iter().chain(servers.all_keys()?).filter(is_trial).collect();
    // It may have ended before the signal.
    ensure!(left.is_empty() && [Some(0), Some(143)].contains(&code), "{code:?} {left:?}");
    Ok(())
}
