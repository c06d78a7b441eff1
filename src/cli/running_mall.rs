//! Life cycle of a mall: open the storage, serve at an address, drain, and stop cleanly.
//!
//! Reasons and figures: `src/decisions/0033-stops-are-drained.md`.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mallbox_storage::{
    Durability, OrderFilter, OrderStatus, Page, PaymentId, PaymentMode, Storage, StoreError,
};
use mallbox_storage_embedded::backup::belongs_to_exchange;
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use super::capacity;
use super::listeners::{Listeners, Servers};
use super::mall_directory;
use super::messages::{CommandFailure, UsageError};
use super::output::print;
use super::parent::bench_ended;
use super::private_data;
use super::recovery;
use super::service;
use super::staff_key;
use crate::config::SiteConfig;
use crate::http::control::Control;
use crate::http::{App, Audience, Gateway, HostNames, Profile, ServerOptions, SiteOptions};
use crate::language::{Bilingual, Language, both, padded};
use crate::mall::base::wall_time;
use crate::mall::operator::alerts::AlertReceiver;
use crate::mall::operator::backups::report_incarnation;
use crate::mall::operator::printing::PrinterOptions;
use crate::mall::people::accounts::CodeKey;
use crate::mall::people::sms::{Inbox, SmsSender};
use crate::mall::selling::challenge_service::ChallengeService;
use crate::mall::selling::http_gateway::HttpGateway;
use crate::mall::selling::payments::Sandbox;
use crate::mall::{Dependencies, Mall, Random, Settings, WatchedClock, ZONE};
use crate::place::Place;

/// Boot options of a mall.
pub(super) struct BootOptions {
    pub(super) place: Place,
    /// Creates the mall if missing.
    pub(super) create_if_missing: bool,
    pub(super) zone: Option<TimeZone>,
    pub(super) settings: Settings,
    pub(super) sms: Arc<dyn SmsSender>,
    pub(super) inbox: Option<Arc<Inbox>>,
    pub(super) http_gateway: Option<HttpGateway>,
    pub(super) challenge_service: Option<ChallengeService>,
    pub(super) alerts: Option<AlertReceiver>,
    pub(super) printer: Option<PrinterOptions>,
    /// The secret of `--staff-secret`.
    pub(super) staff_secret: Option<String>,
}

/// An open mall.
pub(super) struct RunningMall {
    pub(super) app: App,
    /// The data directory, if the mall is in one.
    dir: Option<PathBuf>,
}

/// Signals closer together than this count as one request to stop, not as a request to exit immediately.
const STOP_SIGNALS_MERGE: Duration = Duration::from_millis(500);
/// How long a command waits for a free connection of the database.
#[cfg(feature = "production")]
const CONNECTION_WAIT_MAX: Duration = Duration::from_secs(10);

/// Refuses a directory with foreign files. A new mall writes `lock`, replaces `control.sock` and moves an
/// unknown `log/` aside: in `/var`, `log/` would be the machine's logs.
pub(super) fn check_dir(dir: &Path) -> Result<(), UsageError> {
    /// Files of a mall before it has a database, `lost+found` of a file system, and a folder where pictures
    /// may already be.
    const OWN: [&str; 6] =
        [mall_directory::DEMO_MARK, "lock", "control", "uploads", "lost+found", staff_key::FILE];
    if mall_directory::is_mall(dir) {
        return Ok(());
    }
    if dir.exists() && !dir.is_dir() {
        return Err(UsageError::IsAFile(dir.to_owned()));
    }
    // An unreadable directory is not writable either; creating the mall reports the error.
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    let foreign = entries.flatten().map(|entry| entry.file_name()).find(|name| {
        let name = name.to_string_lossy();
        let is_own = name.starts_with(mall_directory::BEGUN) || OWN.contains(&&*name);
        !name.starts_with('.') && !is_own && !belongs_to_exchange(&name)
    });
    match foreign {
        None => Ok(()),
        Some(name) => Err(UsageError::HoldsOther(dir.to_owned(), name.display().to_string())),
    }
}

/// Refuses a flag whose value is not a directory.
pub(super) fn check_is_dir(flag: &'static str, path: Option<&Path>) -> Result<(), UsageError> {
    match path.filter(|path| !path.is_dir()) {
        Some(path) => Err(UsageError::NoDirectory(flag, path.to_owned())),
        None => Ok(()),
    }
}

/// Returns the folder of pictures of a mall in a directory.
pub(super) fn uploads(dir: &Path) -> PathBuf {
    dir.join("uploads")
}

/// Marks the directory as a demo's.
pub(super) fn mark_as_demo(dir: &Path) -> anyhow::Result<()> {
    let text = "This mall was created by `mallbox demo`: its users and shops are fictitious.\n";
    make_dir(dir)?;
    std::fs::write(dir.join(mall_directory::DEMO_MARK), text)
        .map_err(|error| CommandFailure::CannotWrite(dir.to_owned()).with_cause(error))
}

/// Creates a data directory readable by its owner only, because the database contains phone numbers.
pub(super) fn make_dir(dir: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| CommandFailure::CannotMake(dir.to_owned()).with_cause(error))
}

/// Opens a mall: storage and services. Background jobs are not started yet.
pub(super) async fn open(plan: BootOptions) -> anyhow::Result<RunningMall> {
    let dir = plan.place.dir().map(Path::to_owned);
    let mut closed_entries = 0;
    if let Some(dir) = &dir {
        make_dir(dir)?;
        closed_entries = private_data::restrict(dir)?;
    }
    let storage = plan.place.open().await?;
    report_incarnation(&storage).await?;
    let (mut zone, new) = zone_of(&storage, plan.zone.clone()).await?;
    if let Some(name) = new {
        if !plan.create_if_missing {
            return Err(UsageError::NoMallOnServers.into());
        }
        // Of several processes that create the mall concurrently, the first one decides.
        storage.base.upkeep.keep_setting(ZONE, &name).await?;
        (zone, _) = zone_of(&storage, plan.zone.clone()).await?;
    }
    let app = assemble(storage, zone, plan).await?;
    if let Some(dir) = &dir {
        private_data::report(dir, closed_entries);
    }
    Ok(RunningMall { app, dir })
}

async fn assemble(storage: Storage, zone: TimeZone, plan: BootOptions) -> anyhow::Result<App> {
    let staff_key = staff_key::of(plan.place.dir(), plan.staff_secret.as_deref())?;
    let means = Dependencies {
        storage,
        clock: Arc::new(WatchedClock::default()),
        zone,
        settings: plan.settings,
        sms: plan.sms,
        inbox: plan.inbox,
        payments: Arc::new(Sandbox::default()),
        http_gateway: plan.http_gateway,
        challenge_service: plan.challenge_service,
        alerts: plan.alerts,
        printer: plan.printer,
        random: Arc::new(Random::system()),
        staff_key,
        code_key: if plan.place.dir().is_some() { CodeKey::Process } else { CodeKey::Database },
    };
    // On the heap: the future has more than 100 KiB, each future around it would contain it, and a thread of
    // a command has a stack of 2 MiB.
    let opened = Box::pin(Mall::open(means)).await;
    opened.map_err(|error| CommandFailure::MallUnreadable.with_cause(error))
}

/// Returns the stored time zone. For a new mall, returns `asked` or else the machine's zone, with the name to
/// store.
pub(super) async fn zone_of(
    storage: &Storage,
    requested_zone: Option<TimeZone>,
) -> anyhow::Result<(TimeZone, Option<String>)> {
    let asked_name = requested_zone.as_ref().and_then(TimeZone::iana_name);
    if let Some(kept) = storage.base.upkeep.setting(ZONE).await? {
        if let Some(requested_zone) = asked_name.filter(|requested_zone| *requested_zone != kept) {
            return Err(CommandFailure::ZoneStays(kept, requested_zone.to_owned()).into());
        }
        return match TimeZone::get(&kept) {
            Ok(zone) => Ok((zone, None)),
            Err(error) => Err(CommandFailure::ZoneUnknown(kept).with_cause(error)),
        };
    }
    let (zone, name) = wall_time::zone_to_keep(requested_zone);
    Ok((zone, Some(name)))
}

impl RunningMall {
    /// Serves until a signal arrives, then drains and closes.
    pub(super) async fn serve(
        self,
        listeners: Listeners,
        uploads: Option<PathBuf>,
        (config, hosts): (&SiteConfig, HostNames),
        l: Language,
        more: &str,
    ) -> anyhow::Result<()> {
        if rustix::process::geteuid().is_root() {
            tracing::warn!("running as root: a mall needs no privileges; run it under an account of its own");
        }
        let background = self.app.start();
        let site_options = SiteOptions {
            prefix: config.api_prefix.clone(),
            uploads,
            web: config.web.clone(),
            profile: config.profile(),
            proxies: config.proxies(),
            hosts,
            audience: Audience::Everybody,
            endpoint_limits: config.endpoint_limit.clone(),
            traced_share: config.traced_share(),
        };
        let most_connections = capacity::connections(config, &self.app.context.settings);
        let connections_per_address = config.connections_per_address;
        let options = ServerOptions { most_connections, connections_per_address, ..ServerOptions::default() };
        let sites = listeners.sites(&self.app, &site_options);
        let control = self.open_control(&sites.main);
        let mut stopped = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        // With SIGXFSZ handled, a write beyond the file size limit fails with an error, which is reported;
        // unhandled, the signal would end the process.
        let _heard = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?;
        let servers = listeners.serve(&sites, options)?;
        print(&(self.banner(&servers, config.profile(), l).await + more));
        recovery::report(&self.app, l).await;
        service::ready(servers.main.address(), l);
        let upkeep = Arc::clone(&self.app.context.storage.base.upkeep);
        let watchdog = service::watch(upkeep, servers.threads());

        tokio::select! {
            _ = stopped.recv() => {}
            _ = interrupted.recv() => {}
            () = bench_ended() => {}
        }
        tracing::info!("stopping: draining requests in flight");
        service::stopping(l);
        if let Some(watchdog) = watchdog {
            watchdog.abort();
        }
        tokio::spawn(exit_on_second_signal());
        servers.drain().await;
        tracing::debug!("drained all requests");
        if let Some(control) = control {
            control.close().await;
        }
        background.stop().await;
        tracing::debug!("stopped the background jobs");
        self.close().await?;
        tracing::info!("stopped");
        Ok(())
    }

    /// Stores the payment mode of new orders: the flag, else the stored mode, else the default for these
    /// flags, which is `usual` without --web.
    pub(super) async fn choose_payment(&self, config: &SiteConfig, usual: PaymentMode) -> anyhow::Result<()> {
        let context = &self.app.context;
        let upkeep = &context.storage.base.upkeep;
        let (requested, stored) =
            (config.payments.payment.map(PaymentMode::from), upkeep.setting(PaymentMode::SETTING).await?);
        let mode = requested.map(PaymentMode::name).or(stored.as_deref());
        if mode == Some(PaymentMode::Webhook.name()) && !self.app.cashier.has_http_gateway() {
            return Err(UsageError::NoPaymentUrl.into());
        }
        match (requested, stored) {
            (Some(requested), stored) if stored.as_deref() == Some(requested.name()) => {}
            (Some(requested), _) => context.set_payment_mode(requested).await?,
            (None, Some(stored)) if config.web.is_some() && stored != PaymentMode::None.name() => {
                tracing::warn!(
                    payment = stored,
                    "unpaid orders are cancelled, but the pages of --web may have no button to pay: \
                     --payment none makes new orders final"
                )
            }
            (None, Some(_)) => {}
            // A full disk refuses the write; a later start tries again.
            (None, None) => {
                let first = config.first_payment_mode(usual);
                match context.keep_payment_mode(first).await {
                    Ok(()) => self.report_first_payment_mode(first).await?,
                    Err(error) => {
                        tracing::warn!(payment = first.name(), %error, "could not store the payment mode");
                    }
                }
            }
        }
        if usual != PaymentMode::Sandbox && context.payment_mode().await.ok() == Some(PaymentMode::Sandbox) {
            tracing::warn!(
                payment = PaymentMode::Sandbox.name(),
                "payments are simulated: buyers mark their own orders as paid; with --payment counter \
                 operators record payments"
            );
        }
        self.report_missing_gateway().await?;
        Ok(())
    }

    /// Warns of payments at a gateway over HTTP that this start does not name: nobody settles them.
    async fn report_missing_gateway(&self) -> Result<(), StoreError> {
        if self.app.cashier.has_http_gateway() {
            return Ok(());
        }
        let payments = &self.app.context.storage.selling.payments;
        let some = payments.started(PaymentMode::Webhook, PaymentId::new(0), 1).await?;
        if !some.is_empty() {
            tracing::warn!(
                "payments at a gateway are unsettled: start with --payment-url until they are settled"
            );
        }
        Ok(())
    }

    /// Names the mode of new orders at the first start that chooses one, and the orders that keep theirs.
    async fn report_first_payment_mode(&self, first: PaymentMode) -> Result<(), StoreError> {
        let orders = &self.app.context.storage.selling.orders;
        let unpaid = OrderFilter { status: Some(OrderStatus::Unpaid), ..OrderFilter::default() };
        let (_, unpaid_orders) = orders.find(unpaid, Page::new(1, 1)).await?;
        if unpaid_orders > 0 {
            tracing::warn!(
                payment = first.name(),
                unpaid_orders,
                "stored the payment mode of new orders; unpaid orders keep their own mode and deadline; \
                 --payment chooses another mode"
            );
        }
        Ok(())
    }

    /// Marks the stop as clean.
    pub(super) async fn close(&self) -> anyhow::Result<()> {
        self.app
            .context
            .storage
            .base
            .upkeep
            .close()
            .await
            .map_err(|error| CommandFailure::NotClosed.with_cause(error))
    }

    /// Opens the control socket for the command line. A mall on servers needs none: the command line opens
    /// the same storage directly.
    fn open_control(&self, front: &Gateway) -> Option<Control> {
        let opened = Control::open(self.dir.as_deref()?, Arc::clone(&self.app), front);
        opened
            .inspect_err(|error| {
                tracing::warn!(%error, "could not open the control socket: `mallbox user` and `verify` have no access");
            })
            .ok()
    }

    async fn banner(&self, servers: &Servers, profile: Profile, l: Language) -> String {
        let context = &self.app.context;
        let health = context.storage.base.upkeep.health().await;
        let limits = match context.settings.claim_limit {
            Some(_) => both("开", "on"),
            None => both("关：仅用于压测和演示", "off: for benches and demos"),
        };
        let mut facts = vec![(both("mallbox", "mallbox"), format!("http://{}/", servers.main.address()))];
        facts.extend(
            servers.operators.as_ref().map(|operators| {
                (both("管理", "operators"), format!("http://{}/console", operators.address()))
            }),
        );
        if let Some(dir) = &self.dir {
            let dir = std::path::absolute(dir).unwrap_or(dir.clone());
            facts.push((both("目录", "data"), dir.display().to_string()));
        }
        facts.extend(health.servers().map(|(server, address)| {
            let durability = server.durability.unwrap_or_default();
            (both(server.name, server.name), format!("{address} ({durability})"))
        }));
        let promise = durability_words(health.durability).spoken(l);
        let payment = context.payment_mode().await.map_or_else(
            |error| error.to_string(),
            |mode| format!("{} ({})", mode.name(), payment_words(mode).spoken(l)),
        );
        facts.extend([
            (both("存储", "backend"), health.backend.to_owned()),
            (both("持久性", "durability"), format!("{} ({promise})", health.durability.name())),
            (both("时区", "zone"), context.zone.iana_name().unwrap_or("UTC").to_owned()),
            (both("支付", "payment"), payment),
            (both("接口", "profile"), format!("{} ({})", profile.name(), profile_words(profile).spoken(l))),
            (both("限流", "limits"), limits.spoken(l).to_owned()),
        ]);
        facts.extend(
            self.app
                .printer_admin
                .printer()
                .map(|printer| (both("打印机", "printer"), printer.options().address.to_string())),
        );
        let lines = facts.iter().map(|(what, value)| format!("{}{value}\n", padded(what.spoken(l), 12)));
        lines.collect()
    }
}

/// Describes the effect of a payment mode on orders.
pub(super) fn payment_words(mode: PaymentMode) -> Bilingual {
    match mode {
        PaymentMode::None => both("下单即生效，无需支付", "no payment: orders are final"),
        PaymentMode::Sandbox => both(
            "模拟支付：买家自己点一下即已支付；逾期未付即取消",
            "imaginary money: buyers mark their own orders as paid; unpaid orders are cancelled at their deadline",
        ),
        PaymentMode::Counter => both(
            "柜台付款，由管理员登记；秒杀结束24小时后仍未付即取消",
            "paid at the counter and recorded by an operator; unpaid orders are cancelled 24 h after their sale",
        ),
        PaymentMode::Webhook => both(
            "通过支付网关收款；逾期未付即取消",
            "paid through the payment gateway; unpaid orders are cancelled at their deadline",
        ),
    }
}

/// Describes the effect of a profile on clients.
fn profile_words(profile: Profile) -> Bilingual {
    match profile {
        Profile::Original => both("按hm-dianping页面的预期响应", "responds as hm-dianping's pages expect"),
        Profile::Strict => both("按接口文档响应", "responds as the API document describes"),
    }
}

/// Describes the failures an acknowledged result survives.
fn durability_words(durability: Durability) -> Bilingual {
    match durability {
        Durability::Power => both("断电不丢失已确认的结果", "acknowledged results survive a power cut"),
        Durability::Process => {
            both("断电可能丢失已确认的结果", "acknowledged results may NOT survive a power cut")
        }
        Durability::Relaxed => {
            both("崩溃会丢失最后片刻已确认的结果", "a crash loses the last moments' acknowledged results")
        }
        Durability::Memory => {
            both("存储停止即丢失已确认的结果", "acknowledged results are lost when the storage stops")
        }
    }
}

async fn exit_on_second_signal() {
    // `timeout`, `cargo run` and service managers signal the program and then its group: both signals mean
    // one stop. Subscribing anew drops signals received meanwhile.
    tokio::time::sleep(STOP_SIGNALS_MERGE).await;
    let (Ok(mut stopped), Ok(mut interrupted)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return;
    };
    tokio::select! { _ = stopped.recv() => {} _ = interrupted.recv() => {} }
    tracing::warn!("stopping immediately after a second signal");
    std::process::exit(1);
}

/// Limits the wait for a free database connection, for commands run at a terminal.
pub(super) fn at_a_terminal(place: Place) -> Place {
    match place {
        Place::Embedded(_) => place,
        #[cfg(feature = "production")]
        Place::Production(mut options) => {
            options.connection_wait = Some(CONNECTION_WAIT_MAX);
            Place::Production(options)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_begun_by_a_killed_start_is_no_foreign_file() {
        let dir = tempfile::TempDir::new().unwrap();
        for name in ["lock", "mall.sqlite.new", "mall.sqlite.new-journal"] {
            std::fs::write(dir.path().join(name), "").unwrap();
            assert!(check_dir(dir.path()).is_ok(), "{name}");
        }
        std::fs::write(dir.path().join("notes.txt"), "").unwrap();
        assert!(check_dir(dir.path()).is_err());
    }
}
