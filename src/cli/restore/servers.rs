//! `mallbox restore FILE --redis URL --mysql URL`: makes a mall on servers of a backup.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use mallbox_storage_production::ProductionOptions;
use mallbox_storage_production::backup::ServersRestore;

use super::restored::{forgotten, hint_at_signer, hint_at_users, settings_of_restored};
use super::source::Source;
use crate::backup::fault::BackupFault;
use crate::backup::manifest::VISITS;
use crate::backup::reader::{Kind, Unpacked, unpack};
use crate::backup::{TABLES, UPLOADS};
use crate::cli::copy_errors::explained;
use crate::cli::messages::CommandFailure;
use crate::cli::output::{print, warn};
use crate::cli::progress::Progress;
use crate::cli::room::{Room, remove_rooms_on_stop};
use crate::cli::runtime::block_on;
use crate::cli::verify::check_place;
use crate::config::{PlaceConfig, ServerUrl, ServersConfig};
use crate::language::{Language, sentence};
use crate::mall::{Clock as _, SystemClock};

/// How a backup is restored on servers.
#[derive(Clone, Copy)]
pub(super) struct Manner<'a> {
    /// The directory below which the backup is unpacked.
    pub(super) scratch: &'a Path,
    /// The folder for pictures that an import has left as files; `None` to leave them out.
    pub(super) uploads: Option<&'a Path>,
    pub(super) keep_keys: bool,
}

/// Restores a backup into a new or empty database. Returns whether the ledger balances.
///
/// # Errors
/// One sentence for the user of the command line. After an error in the middle no mall opens the database,
/// and a repeated restore begins anew.
pub(super) fn run(
    from: Source<'_>,
    options: &ProductionOptions,
    Manner { scratch, uploads, keep_keys }: Manner<'_>,
    l: Language,
) -> anyhow::Result<bool> {
    let length = fs::metadata(from.file);
    let length =
        length.map_err(|error| CommandFailure::CannotRead(from.file.to_owned()).with_cause(error))?.len();
    remove_rooms_on_stop(false).map_err(|error| CommandFailure::NoThreads.with_cause(error))?;
    let room = Room::make(scratch)?;
    let mut progress = Progress::new(length);
    let show = |read: u64| {
        let mib = read >> 20;
        let line = || sentence!(l, "恢复：已读{mib} MiB", "restore: {mib} MiB read");
        progress.show(read, || sentence!(l, "解开", "unpacking"), line);
    };
    let unpacked = unpack(from.file, Kind::Servers, room.path(), from.credentials, show);
    let not_restored = |fault| CommandFailure::NotRestored(from.file.to_owned()).with_cause(fault);
    let unpacked = unpacked.map_err(not_restored)?;
    let pictures = take_pictures(&room.path().join(UPLOADS), uploads)?;
    let filled = block_on(fill(options, (room.path(), &unpacked), keep_keys, &mut progress, l));
    progress.end();
    filled.map_err(|error| CommandFailure::RestoreUnfinished(from.file.to_owned()).with_cause(error))?;
    drop(room);
    let Unpacked { header, claims } = unpacked;
    if pictures > 0 && uploads.is_none() {
        warn(&sentence!(
            l,
            "备份里有{pictures}个图片文件没有恢复；需要时请加上--uploads 目录，恢复到另一个数据库",
            "{pictures} picture files of the backup were not restored; to have them, restore with --uploads DIR into another \
             database"
        ));
    }
    hint_at_signer(&header, from.credentials, l);
    let (when, claims) = (&header.taken, claims.len());
    print(&sentence!(
        l,
        "已恢复到{when}的状态；{claims}条当时待处理的抢购已成为订单或死信\n",
        "restored to the state of {when}; {claims} claims that were pending are orders or dead letters now\n"
    ));
    hint_at_users(keep_keys, l);
    let checked = check_place(&place_of(options), l)?;
    if checked.balances {
        let prefix = &options.redis.prefix;
        print(&sentence!(
            l,
            "账目相符。用同样的--redis和--mysql启动：mallbox serve --redis-prefix {prefix}\n",
            "the ledger balances. To start the mall, with the same --redis and --mysql: mallbox serve --redis-prefix \
             {prefix}\n"
        ));
    } else {
        print(&checked.text);
    }
    Ok(checked.balances)
}

/// Copies pictures into a folder, if there is one. Returns the number of pictures.
fn take_pictures(from: &Path, to: Option<&Path>) -> anyhow::Result<u64> {
    if !from.is_dir() {
        return Ok(0);
    }
    let path = to.unwrap_or(from);
    copy_below(from, to).map_err(|error| CommandFailure::CannotWrite(path.to_owned()).with_cause(error))
}

fn copy_below(from: &Path, to: Option<&Path>) -> io::Result<u64> {
    let mut copied = 0;
    if let Some(to) = to {
        fs::create_dir_all(to)?;
    }
    for entry in fs::read_dir(from)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let target = to.map(|to| to.join(name));
        if path.is_dir() {
            copied += copy_below(&path, target.as_deref())?;
        } else {
            copied += 1;
            if let Some(target) = target {
                fs::copy(&path, &target)?;
                File::open(&target)?.sync_all()?;
            }
        }
    }
    Ok(copied)
}

/// Returns the flags that name a mall on servers.
pub(in crate::cli) fn place_of(options: &ProductionOptions) -> PlaceConfig {
    let url = |url: &str| Some(ServerUrl::from(url));
    let servers = ServersConfig {
        redis: url(&options.redis.url),
        mysql: url(&options.mysql),
        redis_prefix: Some(options.redis.prefix.clone()),
    };
    PlaceConfig { data: None, servers }
}

/// Fills an empty database, and a prefix that nobody uses, from an unpacked backup.
pub(in crate::cli) async fn fill(
    options: &ProductionOptions,
    (dir, unpacked): (&Path, &Unpacked),
    keep_keys: bool,
    progress: &mut Progress,
    l: Language,
) -> anyhow::Result<()> {
    let Unpacked { header, claims } = unpacked;
    let schema = header.servers.ok_or(BackupFault::OfDirectory)?.schema;
    let mut restore = ServersRestore::begin(options, schema).await.map_err(|error| explained(error, dir))?;
    let tables = dir.join(TABLES);
    let cannot_read = |error: io::Error| CommandFailure::CannotRead(tables.clone()).with_cause(error);
    let mut files =
        fs::read_dir(&tables).map_err(cannot_read)?.collect::<io::Result<Vec<_>>>().map_err(cannot_read)?;
    files.sort_by_key(fs::DirEntry::file_name);
    let all: u64 = files.iter().map(|file| file.metadata().map_or(0, |file| file.len())).sum();
    let mut done = 0;
    for file in files {
        let (path, name) = (file.path(), file.file_name());
        let name = name.to_string_lossy();
        let open = File::open(&path).map_err(cannot_read)?;
        let show = |read: u64| {
            done += read;
            let (done_mib, all) = (done >> 20, all >> 20);
            let line = || {
                sentence!(
                    l,
                    "已载入{done_mib} / {all} MiB（{name}）",
                    "{done_mib} of {all} MiB loaded ({name})"
                )
            };
            progress.note(|| sentence!(l, "载入", "loading"), line);
        };
        let loaded = restore.load_table(BufReader::with_capacity(1 << 16, open), show).await;
        loaded.map_err(|error| explained(error, &path))?;
    }
    let visits = dir.join(VISITS);
    let (file, now) = (File::open(&visits).map_err(cannot_read)?, SystemClock.now());
    let loaded = restore.load_visits(BufReader::new(file), now).await;
    loaded.map_err(|error| explained(error, &visits))?;
    let settings = settings_of_restored(header.taken.clone());
    let finished = restore.finish(claims, forgotten(keep_keys), &settings, now).await;
    finished.map_err(|error| explained(error, dir))
}
