//! What a backup of a mall on servers contains, and its trial.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use mallbox_storage_production::backup::ServersSnapshot;
use mallbox_storage_production::{ProductionOptions, TemporaryMall};

use super::contents::{Contents, Trial, claim_lines, now};
use super::plain_files::{PlainFile, files_below};
use crate::backup::manifest::{ClaimLine, FORMAT_OF_SERVERS, Header, OfServers, VISITS};
use crate::backup::reader::{Credentials, Kind, Unpacked, unpack};
use crate::backup::{TABLES, UPLOADS};
use crate::cli::copy_errors::explained;
use crate::cli::messages::CommandFailure;
use crate::cli::output::warn;
use crate::cli::progress::Progress;
use crate::cli::restore::servers::{fill, place_of};
use crate::cli::running_mall::make_dir;
use crate::cli::runtime::{block_on, runtime};
use crate::cli::undo::UndoOnStop;
use crate::cli::verify::check_place;
use crate::language::{Language, sentence};
use crate::mall::operator::backups::INCARNATION;
use crate::mall::{Clock as _, SystemClock};

/// A mall on servers.
#[derive(Clone, Copy)]
pub(super) struct ServersMall<'a> {
    pub(super) options: &'a ProductionOptions,
    /// The servers on which each backup is restored as a trial; `None` to only read it back.
    pub(super) trial: Option<&'a ProductionOptions>,
    /// The folder of pictures that an import has left as files.
    pub(super) uploads: Option<&'a Path>,
}

impl ServersMall<'_> {
    /// Copies all tables and visits to `scratch`.
    pub(super) fn contents(
        self,
        scratch: &Path,
        progress: &mut Progress,
        l: Language,
    ) -> anyhow::Result<Contents> {
        block_on(async {
            let taken = now()?;
            let unread = |error| explained(error, scratch);
            let mut snapshot = ServersSnapshot::begin(self.options).await.map_err(unread)?;
            let incarnation = snapshot.setting(INCARNATION).await.map_err(unread)?;
            let claims: Vec<ClaimLine> = snapshot.claims().iter().map(|claim| (*claim).into()).collect();
            let header = Header {
                format: FORMAT_OF_SERVERS,
                program: env!("CARGO_PKG_VERSION").to_owned(),
                taken: taken.to_string(),
                incarnation,
                is_demo: false,
                claims: claims.len() as u64,
                bytes: 0,
                signer: None,
                is_base: false,
                servers: Some(OfServers { schema: snapshot.schema() }),
                point: None,
            };
            let dir = scratch.join(TABLES);
            make_dir(&dir)?;
            let mut copies = Copies { files: Vec::new(), bytes: 0, progress, l };
            for table in snapshot.tables() {
                let name = format!("{TABLES}/{table}.jsonl");
                let mut file = copies.begin(scratch, &name)?;
                let copied =
                    snapshot.copy_table(&table, |piece| copies.write(&mut file, &table, piece)).await;
                copied.map_err(|error| explained(error, &file.path))?;
                copies.end(file)?;
            }
            let mut file = copies.begin(scratch, VISITS)?;
            let copied =
                snapshot.copy_visits(SystemClock.now(), |line| copies.write(&mut file, VISITS, line)).await;
            copied.map_err(|error| explained(error, &file.path))?;
            copies.end(file)?;
            let claims = claim_lines(&claims)?;
            let files = self.uploads.map_or(Ok(Vec::new()), |uploads| files_below(uploads, UPLOADS))?;
            Ok(Contents { header, copies: copies.files, claims, files })
        })
    }

    /// Reads a backup back, and restores it on the servers of the trial, if there are any.
    ///
    /// # Errors
    /// The backup cannot be read back.
    pub(super) fn try_out(
        self,
        backup: &Path,
        credentials: &Credentials,
        scratch: &Path,
        progress: &mut Progress,
        l: Language,
    ) -> anyhow::Result<Option<Trial>> {
        let dir = scratch.join("trial");
        make_dir(&dir)?;
        let show = |read: u64| {
            let mib = read >> 20;
            let line = || sentence!(l, "备份：读回，已读{mib} MiB", "backup: read back, {mib} MiB");
            progress.note(|| sentence!(l, "读回", "reading back"), line);
        };
        let unpacked = unpack(backup, Kind::Servers, &dir, credentials, show)?;
        Ok(self.trial.map(|servers| restore_as_trial(servers, (&dir, &unpacked), progress, l)))
    }
}

/// Restores an unpacked backup on the servers of a trial, checks its ledger, and removes it.
fn restore_as_trial(
    servers: &ProductionOptions,
    unpacked: (&Path, &Unpacked),
    progress: &mut Progress,
    l: Language,
) -> Trial {
    // Kept to the end: the connections live on it.
    let runtime = runtime()?;
    let mall = runtime.block_on(TemporaryMall::beside(servers, "trial"))?;
    let options = mall.options().clone();
    let _undo = UndoOnStop::new(move || remove_trial(options));
    let tried = runtime
        .block_on(fill(mall.options(), unpacked, false, progress, l))
        .and_then(|()| check_place(&place_of(mall.options()), l));
    if let Err(error) = runtime.block_on(mall.remove()) {
        let names = mall.names();
        warn(&sentence!(
            l,
            "试恢复的商城没能删除，请自行删除{names}：{error}",
            "the mall of the trial could not be removed; remove {names}: {error}"
        ));
    }
    tried
}

/// Removes the mall of a trial that is stopped.
fn remove_trial(options: ProductionOptions) {
    let removed = block_on(async { Ok(TemporaryMall::at(options).await?.remove().await?) });
    if let Err(error) = removed {
        tracing::warn!(%error, "could not remove the mall of the trial");
    }
}

/// Copies that were written.
struct Copies<'a> {
    files: Vec<PlainFile>,
    bytes: u64,
    progress: &'a mut Progress,
    l: Language,
}

/// A copy being written.
struct CopyFile {
    name: String,
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
}

impl Copies<'_> {
    fn begin(&self, scratch: &Path, name: &str) -> anyhow::Result<CopyFile> {
        let path = scratch.join(name);
        let file = File::create(&path)
            .map_err(|error| CommandFailure::CannotWrite(path.clone()).with_cause(error))?;
        Ok(CopyFile { name: name.to_owned(), path, out: BufWriter::new(file), bytes: 0 })
    }

    fn write(&mut self, file: &mut CopyFile, what: &str, piece: &[u8]) -> io::Result<()> {
        file.out.write_all(piece)?;
        file.bytes += piece.len() as u64;
        self.bytes += piece.len() as u64;
        let (l, mib) = (self.l, self.bytes >> 20);
        let line = || sentence!(l, "备份：已复制{mib} MiB（{what}）", "backup: {mib} MiB copied ({what})");
        self.progress.note(|| sentence!(l, "复制", "copying"), line);
        Ok(())
    }

    fn end(&mut self, file: CopyFile) -> anyhow::Result<()> {
        let CopyFile { name, path, mut out, bytes } = file;
        out.flush().map_err(|error| CommandFailure::CannotWrite(path.clone()).with_cause(error))?;
        self.files.push(PlainFile { name, path, bytes });
        Ok(())
    }
}
