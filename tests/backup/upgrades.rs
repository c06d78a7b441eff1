//! Directories of earlier formats, upgraded as an operator does it: a command on the directory.
//!
//! `tests/formats/` has a small directory of each schema from 33 on. `MALLBOX_WRITE_FORMAT=1` writes the one
//! of the present schema, with the claims and orders that the checks here expect.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use mallbox_storage::VoucherId;
use rusqlite::Connection;

use crate::common::ballast::Ballast;
use crate::common::dice::{Dice, number_from};
use crate::common::image::DiskSite;
use crate::common::server::{self, Server};
use crate::process::mallbox;
use crate::site::{Held, Site, held};

/// What every directory in `tests/formats/` holds.
const HELD: Held = Held { pending: 5, orders: 3 };

fn archive(schema: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/schema-{schema}.tar.gz"))
}

/// Returns the schemas of which there is a directory, ascending.
fn formats() -> anyhow::Result<Vec<u32>> {
    let mut schemas = Vec::new();
    for entry in fs::read_dir(archive(0).parent().context("a directory")?)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let schema = name.strip_prefix("schema-").and_then(|name| name.strip_suffix(".tar.gz")?.parse().ok());
        schemas.push(schema.with_context(|| format!("{name} is no directory of a format"))?);
    }
    schemas.sort_unstable();
    Ok(schemas)
}

/// Unpacks a directory. Returns the sale of its claims and orders.
fn unpack(schema: u32, dir: &Path) -> anyhow::Result<VoucherId> {
    tar::Archive::new(GzDecoder::new(File::open(archive(schema))?)).unpack(dir)?;
    let database = Connection::open(dir.join("mall.sqlite"))?;
    let found: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
    ensure!(found == schema, "schema {found} instead of {schema}");
    let sale: i64 = database.query_row("SELECT voucher_id FROM orders LIMIT 1", [], |row| row.get(0))?;
    drop(database);
    // Of the look above, and not of the mall.
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(dir.join(format!("mall.sqlite{ending}")));
    }
    Ok(VoucherId::new(u64::try_from(sale)?))
}

/// Returns the oldest of the formats, which needs an upgrade.
fn oldest() -> anyhow::Result<u32> {
    formats()?.first().copied().context("no formats")
}

fn copies(dir: &Path) -> anyhow::Result<usize> {
    let names = fs::read_dir(dir)?.collect::<std::io::Result<Vec<_>>>()?;
    Ok(names
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("before-upgrade-"))
        .count())
}

#[test]
fn a_directory_of_each_format_is_upgraded_and_the_present_format_is_among_them() -> anyhow::Result<()> {
    let site = Site::make(8, 1)?;
    let present: u32 = {
        let database = Connection::open(site.data().join("mall.sqlite"))?;
        database.pragma_query_value(None, "user_version", |row| row.get(0))?
    };
    if number_from("MALLBOX_WRITE_FORMAT").is_some() {
        site.claim_for_all()?;
        let mut tar = tar::Builder::new(GzEncoder::new(File::create(archive(present))?, Compression::best()));
        tar.append_dir_all(".", site.data())?;
        tar.into_inner()?.finish()?;
    }
    let formats = formats()?;
    ensure!(
        formats.contains(&present),
        "no directory of schema {present}; MALLBOX_WRITE_FORMAT=1 writes one: {formats:?}"
    );
    for schema in formats {
        let dir = site.path(&format!("schema-{schema}"));
        let sale = unpack(schema, &dir)?;
        server::verify(&dir)?;
        ensure!(held(&dir, sale)? == HELD, "{:?} in schema {schema}", held(&dir, sale)?);
        ensure!(copies(&dir)? == usize::from(schema < present), "copies of schema {schema}");
    }
    Ok(())
}

#[test]
fn a_mall_before_its_upgrade_is_put_back_by_a_command() -> anyhow::Result<()> {
    let site = Site::make(1, 1)?;
    let (schema, dir) = (oldest()?, site.path("older"));
    unpack(schema, &dir)?;
    let said = site.refused(&["downgrade", "--before-upgrade", "--data", "@older"], 2)?;
    ensure!(said.contains("no copy from before an upgrade"), "{said}");
    server::verify(&dir)?;
    let said = site.done(&["downgrade", "--before-upgrade", "--data", "@older"])?;
    let upgraded = site.text("older/before-restore-1");
    ensure!(said.contains(&format!("(schema {schema})")) && said.contains(&upgraded), "{said}");
    let database = Connection::open(dir.join("mall.sqlite"))?;
    ensure!(database.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0))? == schema);
    drop(database);
    server::verify(Path::new(&upgraded))
}

#[test]
fn an_upgrade_killed_at_any_moment_is_completed_and_its_copy_is_whole() -> anyhow::Result<()> {
    let kills = number_from("MALLBOX_CRASH_CYCLES").unwrap_or(8);
    let mut dice = Dice::from_environment("killed upgrade");
    let site = Site::make(1, 1)?;
    let (schema, mut upgraded) = (oldest()?, 0);
    for number in 0..kills {
        let name = format!("mall-{number}");
        let (dir, text) = (site.path(&name), site.text(&name));
        let sale = unpack(schema, &dir)?;
        for _ in 0..3 {
            let mut child =
                mallbox(&["verify", "--data", &text]).stdout(std::process::Stdio::null()).spawn()?;
            std::thread::sleep(dice.millis(0, 160));
            child.kill()?;
            child.wait()?;
        }
        let was_upgraded = copies(&dir)?;
        upgraded += was_upgraded;
        ensure!(held(&dir, sale)? == HELD, "after kills: {:?}", held(&dir, sale)?);
        server::verify(&dir)?;
        ensure!(copies(&dir)? == 1, "one copy, whenever it was made");
        site.done(&["downgrade", "--before-upgrade", "--data", &text])?;
        let database = Connection::open(dir.join("mall.sqlite"))?;
        ensure!(database.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0))? == schema);
        drop(database);
        ensure!(held(&dir, sale)? == HELD, "put back: {:?}", held(&dir, sale)?);
        fs::remove_dir_all(&dir)?;
    }
    println!("killed upgrade: {} kills, {upgraded} of {kills} malls had been copied by then", 3 * kills);
    Ok(())
}

#[test]
#[cfg_attr(
    not(feature = "power-tests"),
    ignore = "needs root and loop devices; tests/run turns it on where they are there"
)]
fn a_disk_without_room_for_the_copy_refuses_the_upgrade_and_nothing_changes() -> anyhow::Result<()> {
    let disks = DiskSite::new(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let disk = disks.mount(&disks.format("ext4.img")?, "ext4")?;
    let site = Site::make(1, 1)?;
    let (schema, dir) = (oldest()?, disk.path().join("mall"));
    let sale = unpack(schema, &dir)?;
    let text = dir.display().to_string();
    let before = fs::read(dir.join("mall.sqlite"))?;
    let ballast = Ballast::leave(disk.path(), 100 << 10)?;
    let said = site.refused(&["verify", "--data", &text], 1)?;
    ensure!(
        said.contains("before the upgrade the mall is copied") && said.contains("MiB are free"),
        "{said}"
    );
    ensure!(fs::read(dir.join("mall.sqlite"))? == before && copies(&dir)? == 0);
    drop(ballast);
    // Room for the mall, and none for a copy with what the mall keeps free.
    let second = disk.path().join("second");
    unpack(schema, &second)?;
    let ballast = Ballast::leave(disk.path(), 16 << 20)?;
    let text = second.display().to_string();
    let said = site.refused(&["verify", "--data", &text], 1)?;
    ensure!(said.contains("mallbox serve --upgrade-without-copy"), "{said}");
    let log = site.path("log");
    Server::start_with(&second, &log, &["--upgrade-without-copy"])?.stop()?;
    ensure!(copies(&second)? == 0);
    server::verify(&second)?;
    drop(ballast);
    server::verify(&dir)?;
    ensure!(held(&dir, sale)? == HELD && copies(&dir)? == 1);
    Ok(())
}
