//! `mallbox import`: a mall from a dump of an hm-dianping database.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use mallbox_storage::{EmbeddedOptions, Place, Storage};

use super::words::{Hindrance, Misuse};
use super::{house, log};
use crate::config::{self, LogFormat};
use crate::import::{self, Report};
use crate::language::{Language, sentence};
use crate::mall::{Clock as _, SystemClock};

/// The flags of `import`.
#[derive(Args)]
pub(super) struct Import {
    /// What mysqldump or Navicat wrote of an hm-dianping database.
    #[arg(value_name = "FILE.sql")]
    file: PathBuf,
    /// The directory of the new mall.
    #[arg(long, env = "MALLBOX_DATA", value_name = "DIR")]
    data: PathBuf,
    /// The front end's folder of pictures, to be copied into the mall as far as rows name them.
    #[arg(long, value_name = "DIR")]
    imgs: Option<PathBuf>,
    /// The time zone of the mall and of the dump's clock, such as Asia/Shanghai; the machine's unless told.
    #[arg(long, env = "MALLBOX_ZONE", value_name = "NAME", value_parser = config::zone)]
    zone: Option<TimeZone>,
}

/// Imports, and says what came of it.
///
/// # Errors
/// One sentence for whoever typed the command; the directory is then as it was.
pub(super) fn run(import: &Import, l: Language) -> anyhow::Result<()> {
    let (dir, file) = (&import.data, &import.file);
    if house::is_demo(dir) {
        return Err(Misuse::ImportIntoDemo(dir.clone()).into());
    }
    house::check_dir(dir)?;
    house::check_is_dir("--imgs", import.imgs.as_deref())?;
    let cannot_read = |error| Hindrance::CannotRead(file.clone()).since(error);
    let dump = File::open(file).map_err(cannot_read)?;
    let length = dump.metadata().map_err(cannot_read)?.len();
    log::start(LogFormat::Text);
    house::make_dir(dir)?;
    let report = house::block_on(into_mall(import, dump, Progress::new(length, l)))?;
    let (report, dir) = (report.text(l), dir.display());
    super::say(&sentence!(
        l,
        "{report}\n已全部导入。下一步：mallbox serve --data {dir}\n",
        "{report}\nEverything is in. Next: mallbox serve --data {dir}\n"
    ));
    Ok(())
}

async fn into_mall(import: &Import, dump: File, mut progress: Progress) -> anyhow::Result<Report> {
    let dir = &import.data;
    let (was_there, had_pictures) = (house::is_mall(dir), house::uploads(dir).exists());
    let storage = Storage::open(&Place::Embedded(EmbeddedOptions::new(dir))).await?;
    let done = take_in(import, dump, &storage, &mut progress).await;
    progress.end();
    let closed = storage.upkeep.close().await;
    if done.is_err() && !was_there {
        // Still locked: nobody else has begun anything there meanwhile.
        clean_up(dir, had_pictures)?;
    }
    let report = done?;
    closed.map_err(|error| Hindrance::ImportedNotClosed.since(error))?;
    Ok(report)
}

async fn take_in(
    import: &Import,
    dump: File,
    storage: &Storage,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let (zone, new_zone) = house::zone_of(storage, import.zone.clone()).await?;
    let Some(into) = storage.import.begin().await? else {
        return Err(Misuse::ImportIntoUsed(import.data.clone()).into());
    };
    let work = import::Import {
        zone,
        new_zone,
        imgs: import.imgs.clone(),
        uploads: house::uploads(&import.data),
        now: SystemClock.now(),
    };
    let done = work.run(dump, into, |bytes, rows| progress.show(bytes, rows)).await;
    done.map_err(|error| Hindrance::NotImported(import.file.clone()).since(error))
}

/// Leaves the directory as it was found.
fn clean_up(dir: &Path, had_pictures: bool) -> anyhow::Result<()> {
    let removed = import::remove_unborn(dir).and_then(|()| match had_pictures {
        true => Ok(()),
        false => match std::fs::remove_dir_all(house::uploads(dir)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    });
    removed.map_err(|error| Hindrance::NotCleanedUp(dir.to_owned()).since(error))
}

/// A bar on a terminal, a line now and then elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    length: u64,
    language: Language,
    told: Instant,
}

impl Progress {
    /// Between two lines.
    const EVERY: Duration = Duration::from_secs(5);

    fn new(length: u64, language: Language) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(length);
            let form = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}";
            if let Ok(style) = ProgressStyle::with_template(form) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, length, language, told: Instant::now() }
    }

    fn show(&mut self, bytes: u64, rows: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(sentence!(self.language, "{rows}行", "{rows} rows"));
        } else if self.told.elapsed() >= Self::EVERY {
            self.told = Instant::now();
            let (done, of) = (bytes >> 20, self.length >> 20);
            // There is nobody to tell if standard error is closed.
            let line = sentence!(
                self.language,
                "导入：已读{done} / {of} MiB，{rows}行",
                "import: {done} of {of} MiB read, {rows} rows"
            );
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
