//! `mallbox import`: a mall from a dump of an hm-dianping database.

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use mallbox_storage::{EmbeddedOptions, Place, Storage};

use super::{Usage, house, log};
use crate::config::{self, LogFormat};
use crate::import::{self, Report};
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
pub(super) fn run(import: Import) -> anyhow::Result<()> {
    let (dir, file) = (&import.data, &import.file);
    if house::is_demo(dir) {
        return Err(Usage(format!("{} is a demo's; {ELSEWHERE}", dir.display())).into());
    }
    house::check_dir(dir)?;
    if let Some(imgs) = import.imgs.as_deref().filter(|imgs| !imgs.is_dir()) {
        return Err(Usage(format!("--imgs {}: there is no such directory", imgs.display())).into());
    }
    let cannot_read = || format!("{} cannot be read", file.display());
    let dump = File::open(file).with_context(cannot_read)?;
    let length = dump.metadata().with_context(cannot_read)?.len();
    log::start(LogFormat::Text);
    house::make_dir(dir)?;
    let report = house::block_on(into_mall(&import, dump, Progress::new(length)))?;
    super::say(&format!("{report}\nEverything is in. Next: mallbox serve --data {}\n", dir.display()));
    Ok(())
}

/// What to do about a directory that cannot be imported into.
const ELSEWHERE: &str = "import wants an empty mall: say --data with a new directory";

async fn into_mall(import: &Import, dump: File, mut progress: Progress) -> anyhow::Result<Report> {
    let dir = &import.data;
    let (was_there, had_pictures) = (house::is_mall(dir), dir.join("uploads").exists());
    let place = Place::Embedded(EmbeddedOptions::new(dir));
    let storage = tokio::task::spawn_blocking(move || Storage::open(&place)).await??;
    let done = take_in(import, dump, &storage, &mut progress).await;
    progress.end();
    let closed = storage.upkeep.close().await;
    if done.is_err() && !was_there {
        // Still locked: nobody else has begun anything there meanwhile.
        clean_up(dir, had_pictures)?;
    }
    let report = done?;
    closed.context("everything is in, but the stop was not clean")?;
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
        let text = format!("the mall in {} is in use; {ELSEWHERE}", import.data.display());
        return Err(Usage(text).into());
    };
    let work = import::Import {
        zone,
        new_zone,
        imgs: import.imgs.clone(),
        uploads: import.data.join("uploads"),
        now: SystemClock.now(),
    };
    let done = work.run(dump, into, |bytes, rows| progress.show(bytes, rows)).await;
    done.with_context(|| format!("{}: nothing was imported", import.file.display()))
}

/// Leaves the directory as it was found.
fn clean_up(dir: &Path, had_pictures: bool) -> anyhow::Result<()> {
    let removed = import::remove_unborn(dir).and_then(|()| match had_pictures {
        true => Ok(()),
        false => match std::fs::remove_dir_all(dir.join("uploads")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    });
    removed.with_context(|| format!("what was begun in {} could not be removed", dir.display()))
}

/// A bar on a terminal, a line now and then elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    length: u64,
    told: Instant,
}

impl Progress {
    /// Between two lines.
    const EVERY: Duration = Duration::from_secs(5);

    fn new(length: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(length);
            let form = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}";
            if let Ok(style) = ProgressStyle::with_template(form) {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, length, told: Instant::now() }
    }

    fn show(&mut self, bytes: u64, rows: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
            bar.set_message(format!("{rows} rows"));
        } else if self.told.elapsed() >= Self::EVERY {
            self.told = Instant::now();
            let (done, of) = (bytes >> 20, self.length >> 20);
            // There is nobody to tell if standard error is closed.
            let _ = writeln!(std::io::stderr(), "import: {done} of {of} MiB read, {rows} rows");
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
