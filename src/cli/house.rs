//! A mall from its directory to its address, and back to a clean stop.

use std::fmt::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox_storage::{Durability, EmbeddedOptions, OpenError, Place, Storage};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

use super::words::{Hindrance, Misuse};
use crate::config::SiteConfig;
use crate::http::control::Control;
use crate::http::{App, Bound, ServerOptions, SiteOptions, site};
use crate::language::{Language, both, padded};
use crate::mall::payments::Sandbox;
use crate::mall::sms::{Inbox, SmsSender};
use crate::mall::{Mall, Means, Random, Settings, SystemClock, ZONE};

/// Everything there is to know before a mall can open.
pub(super) struct Plan {
    pub(super) place: EmbeddedOptions,
    pub(super) zone: Option<TimeZone>,
    pub(super) settings: Settings,
    pub(super) sms: Arc<dyn SmsSender>,
    pub(super) inbox: Option<Arc<Inbox>>,
}

/// The file that marks a demo's directory.
const DEMO_MARK: &str = "DEMO";
/// Signals that come closer together than this ask for one stop, not for one at once.
const ONE_WISH: Duration = Duration::from_millis(500);
/// Files that the mall itself keeps open, and some to spare.
const OWN_FILES: u64 = 128;

/// Runs a task on a runtime for the mall's own work; connections have theirs.
pub(super) fn block_on<T>(task: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("mall")
        .enable_all()
        .build()
        .map_err(|error| Hindrance::NoThreads.since(error))?;
    runtime.block_on(task)
}

/// Whether a mall was made in this directory.
pub(super) fn is_mall(dir: &Path) -> bool {
    dir.join("mall.sqlite").exists()
}

/// Whether the mall in this directory is a demo's.
pub(super) fn is_demo(dir: &Path) -> bool {
    dir.join(DEMO_MARK).exists()
}

/// Refuses a directory that is somebody else's. A new mall writes `lock`, replaces `control.sock` and sets a `log/` aside
/// that it does not know: in `/var` that would be the machine's logs.
pub(super) fn check_dir(dir: &Path) -> Result<(), Misuse> {
    /// What a mall has there before it has its record, what a file system has, and where pictures may have been put.
    const OWN: [&str; 5] = [DEMO_MARK, "lock", "control", "uploads", "lost+found"];
    if is_mall(dir) {
        return Ok(());
    }
    if dir.exists() && !dir.is_dir() {
        return Err(Misuse::IsAFile(dir.to_owned()));
    }
    // What cannot be read cannot be written either, and is told when the directory is to be made.
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    let foreign = entries.flatten().map(|entry| entry.file_name()).find(|name| {
        let name = name.to_string_lossy();
        !name.starts_with('.') && !OWN.contains(&&*name)
    });
    match foreign {
        None => Ok(()),
        Some(name) => Err(Misuse::HoldsOther(dir.to_owned(), name.display().to_string())),
    }
}

/// Refuses a `--web` that is no directory.
pub(super) fn check_web(config: &SiteConfig) -> Result<(), Misuse> {
    match config.web.as_deref().filter(|web| !web.is_dir()) {
        Some(web) => Err(Misuse::NoWeb(web.to_owned())),
        None => Ok(()),
    }
}

/// Marks the directory as a demo's.
pub(super) fn mark_as_demo(dir: &Path) -> anyhow::Result<()> {
    let text = "This mall was made by `mallbox demo`: its people and shops are invented.\n";
    make_dir(dir)?;
    std::fs::write(dir.join(DEMO_MARK), text)
        .map_err(|error| Hindrance::CannotWrite(dir.to_owned()).since(error))
}

/// Makes a data directory that only its owner may look into: there are phone numbers in it.
pub(super) fn make_dir(dir: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| Hindrance::CannotMake(dir.to_owned()).since(error))
}

/// Opens a mall: its store, its services. Nothing works in the background yet.
pub(super) async fn open(plan: Plan) -> anyhow::Result<App> {
    let Plan { place, zone, settings, sms, inbox } = plan;
    make_dir(&place.dir)?;
    let storage = Storage::open(&Place::Embedded(place)).await?;
    let (zone, new) = zone_of(&storage, zone).await?;
    if let Some(name) = new {
        storage.upkeep.put_setting(ZONE, &name).await?;
    }
    let means = Means {
        storage,
        clock: Arc::new(SystemClock),
        zone,
        settings,
        sms,
        inbox,
        payments: Arc::new(Sandbox::default()),
        random: Arc::new(Random::system()),
    };
    Mall::open(means).await.map_err(|error| Hindrance::MallUnreadable.since(error))
}

/// The zone that the mall was made with; for a new mall the one that was asked for, or the machine's, and its name, which
/// is to be kept.
pub(super) async fn zone_of(
    storage: &Storage,
    asked: Option<TimeZone>,
) -> anyhow::Result<(TimeZone, Option<String>)> {
    let asked_name = asked.as_ref().and_then(TimeZone::iana_name);
    if let Some(kept) = storage.upkeep.setting(ZONE).await? {
        if let Some(asked) = asked_name.filter(|asked| *asked != kept) {
            return Err(Hindrance::ZoneStays(kept, asked.to_owned()).into());
        }
        return match TimeZone::get(&kept) {
            Ok(zone) => Ok((zone, None)),
            Err(error) => Err(Hindrance::ZoneUnknown(kept).since(error)),
        };
    }
    let zone = asked.unwrap_or_else(TimeZone::system);
    // A machine whose zone has no name, such as one set by offset, counts in UTC.
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    Ok((TimeZone::get(&name).unwrap_or(TimeZone::UTC), Some(name)))
}

/// Serves an opened mall until it is told to stop, then drains and closes it.
pub(super) async fn serve(
    app: App,
    bound: Bound,
    dir: &Path,
    config: &SiteConfig,
    l: Language,
    more: &str,
) -> anyhow::Result<()> {
    let background = app.start();
    let prefix = config.api_prefix.clone();
    let site_options = SiteOptions { prefix, uploads: dir.join("uploads"), web: config.web.clone() };
    let most_connections = config.connections.min(room_for_connections());
    let options = ServerOptions { most_connections, ..ServerOptions::default() };
    let control = match Control::open(dir, Arc::clone(&app)) {
        Ok(control) => Some(control),
        Err(error) => {
            tracing::warn!(%error, "no control socket: `mallbox user` and `verify` cannot reach this mall");
            None
        }
    };
    let mut stopped = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    // A file that may not grow is a write that fails, and is told as such; unheard, the signal would end the process.
    let _heard = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
    let server = bound.serve(&site(&app, &site_options), options)?;
    super::say(&(banner(&app, dir, &server.address().to_string(), l).await + more));

    tokio::select! { _ = stopped.recv() => {} _ = interrupted.recv() => {} }
    tracing::info!("stopping: requests in flight are finished first");
    tokio::spawn(async move {
        // `timeout`, `cargo run` and service managers signal the program and then its group: that is one wish. Listening
        // anew forgets what came meanwhile.
        tokio::time::sleep(ONE_WISH).await;
        let (Ok(mut stopped), Ok(mut interrupted)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return;
        };
        tokio::select! { _ = stopped.recv() => {} _ = interrupted.recv() => {} }
        tracing::warn!("stopped at once, as asked twice");
        std::process::exit(1);
    });
    server.drain().await;
    tracing::debug!("every request is answered");
    if let Some(control) = control {
        control.close().await;
    }
    background.stop().await;
    tracing::debug!("nothing works in the background any more");
    close(&app).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Marks the stop as clean.
pub(super) async fn close(app: &App) -> anyhow::Result<()> {
    app.context.storage.upkeep.close().await.map_err(|error| Hindrance::NotClosed.since(error))
}

async fn banner(app: &App, dir: &Path, address: &str, l: Language) -> String {
    let health = app.context.storage.upkeep.health().await;
    let promise = match health.durability {
        Durability::Power => both("断电也不丢失已应答的结果", "an answer survives a power cut"),
        Durability::Process => both("断电可能丢失已应答的结果", "an answer does NOT survive a power cut"),
        Durability::Relaxed => {
            both("崩溃会丢失最后200毫秒的应答", "answers of the last 200 ms are lost in a crash")
        }
    };
    let limits = match app.context.settings.claim_limit {
        Some(_) => both("开", "on"),
        None => both("关：仅用于压测和演示", "off: for benches and demos"),
    };
    let mut out = String::new();
    for (what, value) in [
        (both("mallbox", "mallbox"), format!("http://{address}/")),
        (both("目录", "data"), std::path::absolute(dir).unwrap_or(PathBuf::from(dir)).display().to_string()),
        (both("存储", "backend"), health.backend.to_owned()),
        (both("持久性", "durability"), format!("{} ({})", health.durability.name(), promise.spoken(l))),
        (both("时区", "zone"), app.context.zone.iana_name().unwrap_or("UTC").to_owned()),
        (both("限流", "limits"), limits.spoken(l).to_owned()),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}{value}", padded(what.spoken(l), 12));
    }
    out
}

/// Raises the limit on open files as far as this user may, and answers how many connections fit below it.
fn room_for_connections() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = if raised.is_ok() { maximum } else { current };
    files.map_or(u64::MAX, |files| files.saturating_sub(OWN_FILES).max(16))
}

/// Asks a mall, running or not, what the control socket answers.
pub(super) fn ask(dir: &Path, method: &str, path: &str, l: Language) -> anyhow::Result<serde_json::Value> {
    use crate::http::control::{ask_here, ask_running};
    if let Err(error) = dir.join("mall.sqlite").try_exists()
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(Hindrance::SomebodyElses(dir.to_owned()).since(error));
    }
    if !is_mall(dir) {
        return Err(Misuse::NoMall(dir.to_owned()).into());
    }
    if let Some(answer) = ask_running(dir, method, path, l)? {
        return Ok(answer);
    }
    let plan = Plan {
        place: EmbeddedOptions::new(dir),
        zone: None,
        settings: Settings::default(),
        sms: Arc::new(Inbox::default()),
        inbox: None,
    };
    block_on(async {
        let app = match open(plan).await {
            Ok(app) => app,
            Err(error) => {
                return match error.downcast::<OpenError>() {
                    Ok(in_use @ OpenError::InUse { .. }) => Err(Hindrance::NoAnswer.since(in_use)),
                    Ok(other) => Err(other.into()),
                    Err(other) => Err(other),
                };
            }
        };
        let answer = ask_here(Arc::clone(&app), method, path, l).await;
        close(&app).await?;
        answer
    })
}
