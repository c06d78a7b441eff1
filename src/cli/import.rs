//! `mallbox import`: creates a mall from a dump of an hm-dianping database.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jiff::tz::TimeZone;
use mallbox_storage::{Importing, PaymentMode, Storage, StoreError, UnpaidOrders, geo_index};
use mallbox_storage_embedded::EmbeddedOptions;

use super::messages::{CommandFailure, UsageError};
use super::output::print;
use super::progress::Progress;
use super::runtime::block_on;
use super::{log, mall_directory, private_data, running_mall};
use crate::config::{self, LocationError, LogFormat, PlaceConfig};
use crate::import::{self, Fetched, ImportError, Report, Survey};
use crate::language::{Language, both, sentence};
use crate::mall::{Clock as _, SystemClock};
use crate::place::Place;

/// The flags of `import`.
#[derive(Args)]
pub(super) struct Import {
    /// A dump of an hm-dianping database, written by mysqldump or Navicat.
    #[arg(value_name = "FILE.sql")]
    file: PathBuf,
    /// Location of the new mall.
    #[command(flatten)]
    mall: PlaceConfig,
    /// The front end's folder of pictures; pictures named by rows are copied into the mall.
    #[arg(long, value_name = "DIR")]
    imgs: Option<PathBuf>,
    /// The folder of pictures of a mall in Redis and MySQL; a mall in a directory keeps pictures inside.
    #[arg(long, env = "MALLBOX_UPLOADS", value_name = "DIR")]
    uploads: Option<PathBuf>,
    /// The time zone of the mall and of the dump's times, such as Asia/Shanghai; default: the machine's.
    #[arg(long, env = "MALLBOX_ZONE", value_name = "NAME", value_parser = config::zone)]
    zone: Option<TimeZone>,
    /// Treatment of unpaid orders: keep them unchanged, cancel them, or allow a time to pay from now on, such
    /// as 15m, 24h, 3d.
    #[arg(long, value_name = "keep|cancel|SPAN", default_value = "keep", value_parser = unpaid)]
    unpaid: UnpaidOrders,
    /// How orders are paid for from now on; stored in the mall. `none`: an order is final, as in hm-dianping.
    #[arg(long, env = "MALLBOX_PAYMENT", default_value = "none", value_name = "none|sandbox|counter")]
    payment: config::PaymentChoice,
    /// Imports a dump that is cut off or lacks a mark of its end: only the rows in the file.
    #[arg(long)]
    cut_off_is_fine: bool,
    /// Fetches pictures that rows name at other http and https addresses, from the public internet only, and
    /// stores them in the mall; a picture that cannot be fetched keeps its address.
    #[arg(long, conflicts_with = "dry_run")]
    fetch_pictures: bool,
    /// Prints what would be imported, and imports nothing.
    #[arg(long)]
    dry_run: bool,
    /// Prints the report as JSON.
    #[arg(long)]
    json: bool,
}

/// Parses `keep`, `cancel`, or a span from a minute to a year.
fn unpaid(text: &str) -> Result<UnpaidOrders, String> {
    match text {
        "keep" => return Ok(UnpaidOrders::Keep),
        "cancel" => return Ok(UnpaidOrders::Cancel),
        _ => {}
    }
    config::span(text, config::MINUTE_S..=365 * config::DAY_S)
        .map(UnpaidOrders::PayWithin)
        .ok_or_else(|| "expected keep, cancel, or a time to pay from 1m to 365d, such as 24h".to_owned())
}

/// Imports the dump and prints the report.
///
/// # Errors
/// One sentence for the user of the command line; a directory is then unchanged, a database empty.
pub(super) fn run(import: &Import, l: Language) -> anyhow::Result<()> {
    let target = Target::of(import)?;
    if matches!(import.unpaid, UnpaidOrders::PayWithin(_))
        && PaymentMode::from(import.payment) == PaymentMode::None
    {
        return Err(UsageError::NoPaymentsToWaitFor.into());
    }
    if import.payment == config::PaymentChoice::Webhook {
        return Err(UsageError::ImportThroughGateway.into());
    }
    running_mall::check_is_dir("--imgs", import.imgs.as_deref())?;
    let cannot_read = |error| CommandFailure::CannotRead(import.file.clone()).with_cause(error);
    let mut dump = seekable(File::open(&import.file).map_err(cannot_read)?).map_err(cannot_read)?;
    let length = dump.metadata().map_err(cannot_read)?.len();
    log::start(LogFormat::Text);
    let mut progress = ImportProgress::new(2 * length, l);
    let survey = import::survey(&dump, import.cut_off_is_fine, |bytes| progress.show(bytes, 0));
    let survey =
        survey.map_err(|error| CommandFailure::NotImported(import.file.clone()).with_cause(error))?;
    dump.rewind().map_err(cannot_read)?;
    progress.begun = length;
    let report = if import.dry_run {
        let room = tempfile::tempdir()
            .map_err(|error| CommandFailure::CannotMake(std::env::temp_dir()).with_cause(error))?;
        let target = Target::directory(room.path());
        block_on(into_mall(import, &target, (dump, survey), progress))?
    } else {
        let made = target.place.dir().map(NewDirs::make).transpose()?;
        let done = block_on(into_mall(import, &target, (dump, survey), progress));
        if let (Err(_), Some(made)) = (&done, made) {
            made.remove_empty();
        }
        done?
    };
    print(&if import.json {
        format!("{:#}\n", report.json())
    } else {
        report_text(import, &report, &target, l)
    });
    Ok(())
}

/// Renders the report, the rows that were not imported, and the next command to type.
fn report_text(import: &Import, report: &Report, target: &Target, l: Language) -> String {
    let (text, mall, short) = (report.text(l), target.flags(), report.shortfalls(l));
    if import.dry_run {
        return sentence!(
            l,
            "{text}\n这是试运行，没有导入任何内容。\n",
            "{text}\nThis was a dry run: nothing was imported.\n"
        );
    }
    if short.is_empty() {
        return sentence!(
            l,
            "{text}\n导入完成。下一步：mallbox serve {mall}\n",
            "{text}\nImport complete. Next: mallbox serve {mall}\n"
        );
    }
    let short = short.join(both("；", "; ").spoken(l));
    sentence!(
        l,
        "{text}\n导入完成，但有遗漏：{short}。下一步：mallbox serve {mall}\n",
        "{text}\nImported with omissions: {short}. Next: mallbox serve {mall}\n"
    )
}

/// Returns a seekable file, because the dump is read twice. Input from a pipe is copied to an unnamed
/// temporary file, removed by the system when the process ends.
fn seekable(mut file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut file, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}

/// Directories created by an import, the outermost first.
struct NewDirs(Vec<PathBuf>);

impl NewDirs {
    fn make(dir: &Path) -> anyhow::Result<Self> {
        let missing = dir.ancestors().filter(|dir| !dir.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> = missing.take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
        missing.reverse();
        running_mall::make_dir(dir)?;
        Ok(Self(missing))
    }

    /// Removes the created directories. A directory with new content stays.
    fn remove_empty(self) {
        for dir in self.0.iter().rev() {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

/// Destination of rows and pictures.
struct Target {
    place: Place,
    uploads: Option<PathBuf>,
}

impl Target {
    fn of(import: &Import) -> Result<Self, UsageError> {
        let place = import.mall.place().map_err(UsageError::Where)?;
        let Some(dir) = place.dir() else {
            let brings_pictures = import.imgs.is_some() || import.fetch_pictures;
            return match (brings_pictures, &import.uploads) {
                (true, None) => Err(UsageError::NowhereForPictures),
                (_, uploads) => Ok(Self { uploads: uploads.clone(), place }),
            };
        };
        if import.uploads.is_some() {
            return Err(UsageError::Where(LocationError::OnlyOnServers("--uploads")));
        }
        if mall_directory::is_demo(dir) {
            return Err(UsageError::ImportIntoDemo(dir.to_owned()));
        }
        running_mall::check_dir(dir)?;
        Ok(Self { uploads: Some(running_mall::uploads(dir)), place })
    }

    /// Returns the target for a mall in this directory.
    fn directory(dir: &Path) -> Self {
        Self { uploads: Some(running_mall::uploads(dir)), place: Place::Embedded(EmbeddedOptions::new(dir)) }
    }

    /// Returns the flags of `serve` for this mall. URLs are not repeated.
    fn flags(&self) -> String {
        match (self.place.dir(), &self.uploads) {
            (Some(dir), _) => format!("--data {}", dir.display()),
            (None, Some(uploads)) => format!("--redis URL --mysql URL --uploads {}", uploads.display()),
            (None, None) => "--redis URL --mysql URL".to_owned(),
        }
    }
}

async fn into_mall(
    import: &Import,
    target: &Target,
    dump: (File, Survey),
    mut progress: ImportProgress,
) -> anyhow::Result<Report> {
    let new_dir = target.place.dir().filter(|dir| !mall_directory::is_mall(dir));
    let had_pictures = target.uploads.as_ref().is_some_and(|uploads| uploads.exists());
    match target.place.dir() {
        Some(dir) => private_data::report(dir, private_data::restrict(dir)?),
        // Nothing but pictures is written here, and other accounts may serve them.
        None => private_data::share_new_files(),
    }
    let storage = running_mall::at_a_terminal(target.place.clone()).open().await?;
    let done = import_into(import, target, dump, &storage, &mut progress).await;
    progress.end();
    let closed = storage.base.upkeep.close().await;
    if done.is_err()
        && let Some(dir) = new_dir
    {
        // The lock is still held: no other process has started anything in the directory meanwhile.
        clean_up(dir, had_pictures)?;
    }
    let report = done?;
    closed.map_err(|error| CommandFailure::ImportedNotClosed.with_cause(error))?;
    Ok(report)
}

async fn import_into(
    import: &Import,
    target: &Target,
    (mut dump, survey): (File, Survey),
    storage: &Storage,
    progress: &mut ImportProgress,
) -> anyhow::Result<Report> {
    let (zone, new_zone) = running_mall::zone_of(storage, import.zone.clone()).await?;
    let used = || {
        let used = target.place.dir().map(|dir| UsageError::ImportIntoUsed(dir.to_owned()));
        used.unwrap_or(UsageError::ImportIntoUsedServers)
    };
    let mut into = storage.operator.import.begin().await?.ok_or_else(used)?;
    let mut fetched = Fetched::default();
    if let Some(uploads) = target.uploads.as_ref().filter(|_| import.fetch_pictures) {
        // No transaction stays open while pictures are fetched.
        drop(into);
        fetched = fetch(import, &mut dump, &survey, uploads, progress).await?;
        into = begin_again(storage).await?.ok_or_else(used)?;
    }
    let work = import::Import {
        zone,
        new_zone,
        imgs: import.imgs.clone(),
        uploads: target.uploads.clone(),
        fetched,
        unpaid: import.unpaid,
        payment: import.payment.into(),
        now: SystemClock.now(),
    };
    let done = work.run(dump, &survey, into, |bytes, rows| progress.show(bytes, rows)).await;
    let report = done.map_err(|error| CommandFailure::NotImported(import.file.clone()).with_cause(error))?;
    // Redis may hold negative cache entries from before the import.
    if let Err(error) = storage.base.cache.clear().await {
        tracing::warn!(%error, "could not clear the cache: imported rows may stay hidden for minutes");
    }
    if let Err(error) = geo_index::restore(&*storage.catalogue.geo_index, &*storage.catalogue.shops).await {
        tracing::warn!(%error, "could not rebuild the geo index: a running mall repairs it");
    }
    Ok(report)
}

/// Begins the import again, as soon as the server has rolled back the abandoned transaction.
async fn begin_again(storage: &Storage) -> Result<Option<Box<dyn Importing>>, StoreError> {
    const BEGIN_RETRY_MAX: u32 = 20;
    const BEGIN_RETRY_DELAY: Duration = Duration::from_millis(500);
    for _ in 1..BEGIN_RETRY_MAX {
        match storage.operator.import.begin().await {
            Err(error) if error.is_transient() => tokio::time::sleep(BEGIN_RETRY_DELAY).await,
            begun => return begun,
        }
    }
    storage.operator.import.begin().await
}

async fn fetch(
    import: &Import,
    dump: &mut File,
    survey: &Survey,
    uploads: &Path,
    progress: &mut ImportProgress,
) -> anyhow::Result<Fetched> {
    let not_imported = || CommandFailure::NotImported(import.file.clone());
    let addresses =
        import::remote_pictures(&*dump, survey).map_err(|error| not_imported().with_cause(error))?;
    dump.rewind().map_err(|error| not_imported().with_cause(error))?;
    let fetched = import::fetch(addresses, uploads, |done, of| progress.pictures(done, of)).await;
    fetched.map_err(|error| not_imported().with_cause(ImportError::Pictures(error)))
}

/// Restores the directory to the state before the import.
fn clean_up(dir: &Path, had_pictures: bool) -> anyhow::Result<()> {
    let removed = import::remove_unused_mall(dir).and_then(|()| match had_pictures {
        true => Ok(()),
        false => match std::fs::remove_dir_all(running_mall::uploads(dir)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    });
    removed.map_err(|error| CommandFailure::NotCleanedUp(dir.to_owned()).with_cause(error))
}

/// Progress of an import: rows, and bytes of the dump, which is read twice.
struct ImportProgress {
    shown: Progress,
    length: u64,
    /// Bytes of the first pass.
    begun: u64,
    language: Language,
}

impl ImportProgress {
    fn new(length: u64, language: Language) -> Self {
        Self { shown: Progress::new(length), length, begun: 0, language }
    }

    fn show(&mut self, bytes: u64, rows: u64) {
        let (bytes, l) = (self.begun + bytes, self.language);
        let (done, of) = (bytes >> 20, self.length >> 20);
        let line = || {
            sentence!(
                l,
                "导入：已读{done} / {of} MiB，{rows}行",
                "import: {done} of {of} MiB read, {rows} rows"
            )
        };
        self.shown.show(bytes, || sentence!(l, "{rows}行", "{rows} rows"), line);
    }

    fn pictures(&mut self, done: usize, of: usize) {
        let l = self.language;
        let line = || sentence!(l, "导入：图片{done} / {of}", "import: {done} of {of} pictures tried");
        self.shown.note(|| sentence!(l, "图片{done} / {of}", "pictures {done} / {of}"), line);
    }

    fn end(&self) {
        self.shown.end();
    }
}
