//! The running mall: services over one storage back end, and background work.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mallbox_storage::{Storage, StoreError, Timestamp, deadlines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::base::cache_aside::CacheMetrics;
use super::base::chores::Chores;
use super::base::event_bus::{self, EventMetrics};
use super::base::last_run::{StoreLastRun, judge_clock, last_run};
use super::base::retry::RetryQueue;
use super::base::{AuditLog, Clock, Context, IMPORTED, Random, Settings};
use super::catalogue::refresh_caches::RefreshCaches;
use super::catalogue::{Shops, Vouchers};
use super::operator::UserAdmin;
use super::operator::alerts::{AlertReceiver, PostAlerts};
use super::operator::ledger::LedgerCheck;
use super::operator::printing::PrinterOptions;
use super::operator::{
    ArchiveAdmin, Bookkeeping, CashAdmin, ClaimGatewayAdmin, ClockAdmin, CounterCodes, CounterSales,
    DeadLetterAdmin, EventAdmin, KioskAdmin, LevelAdmin, OrderAdmin, PrinterAdmin, ReportAdmin, RetryAdmin,
    ReviewAdmin, SaleAdmin, StaffAdmin, VoucherAdmin,
};
use super::people::accounts::CodeKey;
use super::people::sms::{Inbox, SmsSender};
use super::people::staff::StaffKey;
use super::people::{Accounts, Follows, Levels, SignIns, Staff, Visits};
use super::privacy::{AccountDeletion, DataExport};
use super::selling::cashier::Cashier;
use super::selling::challenge_service::ChallengeService;
use super::selling::http_gateway::HttpGateway;
use super::selling::order_workers::{OrderWorkers, WorkerMetrics};
use super::selling::payments::{Payments, Sandbox};
use super::selling::reconciliation::{end_blocked_sessions, load_sales, settle_deleted_users};
use super::selling::{BatchClaims, FlashSales, Orders, Receipts, sale_chores};
use super::writing::reviews::marks;
use super::writing::{Comments, Feeds, Likes, Notes, Pictures, Reviews};

/// Dependencies of a mall. Nothing here is process-wide.
pub struct Dependencies {
    /// Storage ports of the back end.
    pub storage: Storage,
    /// The mall's clock.
    pub clock: Arc<dyn Clock>,
    /// Time zone for times shown to people.
    pub zone: TimeZone,
    /// Settings of the mall.
    pub settings: Settings,
    /// Delivery of login codes.
    pub sms: Arc<dyn SmsSender>,
    /// Source of `GET /demo/inbox` in a demo; `sms` must deliver to the same inbox.
    pub inbox: Option<Arc<Inbox>>,
    /// The gateway of imaginary money.
    pub payments: Arc<dyn Payments>,
    /// The payment gateway over HTTP, for orders in
    /// [`PaymentMode::Webhook`](mallbox_storage::PaymentMode::Webhook).
    pub http_gateway: Option<HttpGateway>,
    /// The external service that gives challenges of guarded sales.
    pub challenge_service: Option<ChallengeService>,
    /// Where the mall posts its state, if anywhere.
    pub alerts: Option<AlertReceiver>,
    /// The receipt printer of this process.
    pub printer: Option<PrinterOptions>,
    /// Source of codes and tokens.
    pub random: Arc<Random>,
    /// Where the key of login codes is kept.
    pub code_key: CodeKey,
    /// Secret outside of the database that stored PINs of staff depend on.
    pub staff_key: StaffKey,
}

impl Dependencies {
    /// Creates dependencies for tests, benches and templates: UTC, no limits, imaginary money, login codes
    /// that nobody reads, and a fixed random seed.
    #[must_use]
    pub fn simulated(storage: Storage, clock: Arc<dyn Clock>) -> Self {
        Self {
            storage,
            clock,
            zone: TimeZone::UTC,
            settings: Settings::default().without_limits(),
            sms: Arc::new(Inbox::default()),
            inbox: None,
            payments: Arc::new(Sandbox::default()),
            http_gateway: None,
            challenge_service: None,
            alerts: None,
            printer: None,
            random: Arc::new(Random::seeded(0)),
            code_key: CodeKey::Database,
            staff_key: StaffKey::default(),
        }
    }
}

/// The running mall.
pub struct Mall {
    /// Dependencies shared by all services.
    pub context: Context,
    /// Users: login, profile and password.
    pub accounts: Accounts,
    /// Feeds of followed users' notes.
    pub feeds: Feeds,
    /// Likes of notes and comments.
    pub likes: Likes,
    /// Follows between users.
    pub follows: Follows,
    /// Notes about shops.
    pub notes: Notes,
    /// Comments on notes.
    pub comments: Comments,
    /// Reviews of shops, and votes for reviews.
    pub reviews: Reviews,
    /// Shops and shop types.
    pub shops: Arc<Shops>,
    /// Pictures uploaded by users.
    pub pictures: Pictures,
    /// Daily sign-ins of users.
    pub sign_ins: SignIns,
    /// Levels and credits of users.
    pub levels: Levels,
    /// Counts of visits and visitors.
    pub visits: Visits,
    /// Vouchers of shops.
    pub vouchers: Vouchers,
    /// Flash sales and claims.
    pub sales: FlashSales,
    /// Claims in batches, by gateways.
    pub batch_claims: BatchClaims,
    /// Orders and their steps.
    pub orders: Orders,
    /// Payments and refunds, and callbacks of the payment gateway.
    pub cashier: Cashier,
    /// Receipt codes for the counter.
    pub receipts: Receipts,
    /// Downloads of a user's own data.
    pub export: DataExport,
    /// Deletion of accounts by their users.
    pub deletion: AccountDeletion,
    /// Users from the operator's side.
    pub people: UserAdmin,
    /// Levels from the operator's side.
    pub level_admin: LevelAdmin,
    /// Audit log of operators' actions.
    pub audit: AuditLog,
    /// Sales from the operator's side.
    pub sale_admin: SaleAdmin,
    /// Vouchers from the operator's side.
    pub voucher_admin: VoucherAdmin,
    /// Orders from the operator's side.
    pub order_admin: OrderAdmin,
    /// Dead letters: claims that did not become orders.
    pub dead_letter_admin: DeadLetterAdmin,
    /// Reported notes, comments and reviews.
    pub report_admin: ReportAdmin,
    /// The retry queue from the operator's side.
    pub retry_admin: RetryAdmin,
    /// Reviews from the operator's side.
    pub review_admin: ReviewAdmin,
    /// Events of the mall, and their subscribers.
    pub event_admin: EventAdmin,
    /// Trusted kiosks.
    pub kiosk_admin: KioskAdmin,
    /// Log-ins of staff.
    pub staff: Staff,
    /// Staff from the operator's side.
    pub staff_admin: StaffAdmin,
    /// Login codes that staff make for customers.
    pub counter_codes: CounterCodes,
    /// Counter sales to walk-in customers.
    pub counter_sales: CounterSales,
    /// The receipt printer.
    pub printer_admin: PrinterAdmin,
    /// The machine's clock from the operator's side.
    pub clock_admin: ClockAdmin,
    /// Cash sessions of tills, and Z reports.
    pub cash_admin: CashAdmin,
    /// Claim gateways.
    pub claim_gateway_admin: ClaimGatewayAdmin,
    /// The retry queue.
    pub retries: RetryQueue,
    /// Archived days of ledgers.
    pub archive_admin: ArchiveAdmin,
    /// The mall's accounts for a bookkeeper.
    pub bookkeeping: Bookkeeping,
    /// The ledger check.
    pub ledger: LedgerCheck,
    /// The last stored time of the run before.
    pub last_run: Option<Timestamp>,
    /// Whether the mall was imported. Pictures named by imported data may be missing then.
    pub is_imported: bool,
    workers: OrderWorkers,
    chores: Chores,
    events: Arc<EventMetrics>,
}

impl Mall {
    /// Creates the services. Loads the sales that have not ended, and the deadlines of unpaid orders.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn open(means: Dependencies) -> Result<Arc<Self>, StoreError> {
        let Dependencies {
            storage,
            clock,
            zone,
            settings,
            sms,
            inbox,
            payments,
            http_gateway,
            challenge_service,
            alerts,
            printer,
            random,
            code_key,
            staff_key,
        } = means;
        let is_imported = storage.base.upkeep.setting(IMPORTED).await?.is_some();
        let context = Context::new(storage, Arc::clone(&clock), zone, Arc::new(settings));
        let last_run = last_run(&context).await?;
        judge_clock(&context, last_run);
        let sales = FlashSales::with_random(context.clone(), Arc::clone(&random))
            .with_challenge_service(challenge_service);
        let cashier = Cashier::with_http_gateway(context.clone(), payments, http_gateway);
        let events = Arc::<EventMetrics>::default();
        let works = vec![cashier.refund_work(), event_bus::webhook_work(&context, &events)];
        let retries = RetryQueue::new(context.clone(), works);
        let cashier = cashier.with_retries(retries.clone());
        let shops = Arc::new(Shops::new(context.clone()));
        let pictures = Pictures::new(context.clone(), Arc::clone(&random));
        let mut chores = sale_chores::chores(&context, &sales, &cashier);
        chores.push(Arc::new(RefreshCaches::new(&shops, &sales)));
        let visits = Visits::new(context.clone());
        chores.extend(pictures.sweepers());
        chores.extend(retries.chores());
        chores.extend([Feeds::passer(&context), visits.gatherer(), marks::pruner(&context)]);
        chores.push(event_bus::relay(&context, retries.clone(), &events));
        if let Some(receiver) = alerts {
            chores.push(Arc::new(PostAlerts::new(&context, &sales, receiver)));
        }
        if context.clock.guard().is_some() {
            chores.push(Arc::new(StoreLastRun::new(&context, last_run)));
        }
        let audit = AuditLog::new(context.clone());
        let orders = Orders::with_random(context.clone(), cashier.clone(), Arc::clone(&random));
        let receipts = Receipts::new(context.clone(), orders.clone(), Arc::clone(&random));
        let accounts =
            Accounts::new(context.clone(), Arc::clone(&random), sms, inbox).with_code_key(code_key);
        let staff = Staff::new(
            context.clone(),
            audit.clone(),
            Arc::clone(&random),
            (staff_key, accounts.passwords()),
        );
        let order_admin = OrderAdmin::new(context.clone(), orders.clone(), audit.clone());
        let books = LedgerCheck::new(context.clone(), sales.clone());
        let sale_admin =
            SaleAdmin::new(context.clone(), sales.clone(), Arc::clone(&shops), books.clone(), audit.clone());
        let mall = Self {
            feeds: Feeds::new(context.clone()),
            likes: Likes::new(context.clone()),
            follows: Follows::new(context.clone()),
            notes: Notes::new(context.clone(), audit.clone(), pictures.clone()),
            comments: Comments::new(context.clone(), audit.clone()),
            reviews: Reviews::new(context.clone(), audit.clone(), pictures.clone()),
            report_admin: ReportAdmin::new(context.clone(), audit.clone()),
            retry_admin: RetryAdmin::new(context.clone(), retries.clone(), audit.clone()),
            review_admin: ReviewAdmin::new(context.clone(), audit.clone()),
            archive_admin: ArchiveAdmin::new(context.clone(), audit.clone()),
            bookkeeping: Bookkeeping::new(context.clone(), audit.clone(), is_imported),
            sign_ins: SignIns::new(context.clone()),
            levels: Levels::new(context.clone()),
            level_admin: LevelAdmin::new(context.clone(), audit.clone()),
            visits,
            vouchers: Vouchers::new(context.clone(), sales.clone()),
            is_imported,
            deletion: AccountDeletion::new(context.clone(), cashier.clone(), pictures.clone()),
            export: DataExport::new(context.clone(), orders.clone(), receipts.clone()),
            pictures,
            clock_admin: ClockAdmin::new(context.clone(), audit.clone()),
            last_run,
            printer_admin: PrinterAdmin::new(context.clone(), receipts.clone(), audit.clone(), printer),
            counter_codes: CounterCodes::new(context.clone(), audit.clone()),
            counter_sales: CounterSales::new(
                context.clone(),
                sales.clone(),
                (orders.clone(), order_admin.clone()),
                receipts.clone(),
                audit.clone(),
            ),
            staff_admin: StaffAdmin::new(
                context.clone(),
                audit.clone(),
                Arc::clone(&random),
                staff.register().clone(),
            ),
            staff,
            receipts,
            cash_admin: CashAdmin::new(context.clone(), audit.clone()),
            people: UserAdmin::new(context.clone(), audit.clone(), Arc::clone(&random)),
            event_admin: EventAdmin::new(context.clone(), audit.clone(), Arc::clone(&random)),
            kiosk_admin: KioskAdmin::new(context.clone(), audit.clone(), Arc::clone(&random)),
            claim_gateway_admin: ClaimGatewayAdmin::new(context.clone(), audit.clone(), Arc::clone(&random)),
            accounts,
            voucher_admin: VoucherAdmin::new(
                context.clone(),
                sales.clone(),
                sale_admin.clone(),
                audit.clone(),
            ),
            sale_admin,
            shops,
            order_admin,
            dead_letter_admin: DeadLetterAdmin::new(
                context.clone(),
                sales.clone(),
                orders.clone(),
                audit.clone(),
            ),
            orders,
            cashier,
            retries,
            audit,
            ledger: books,
            workers: OrderWorkers::new(context.clone()),
            batch_claims: BatchClaims::new(context.clone(), sales.clone()),
            sales,
            chores: Chores::new(clock, chores),
            events,
            context,
        };
        let storage = &mall.context.storage;
        load_sales(&mall.sales, mall.context.now()).await?;
        deadlines::restore(&*storage.selling.deadlines, &*storage.selling.orders, None).await?;
        // Not a reason to fail the start: on a full disk, for example, nothing can be bought either.
        if let Err(error) = end_blocked_sessions(storage).await {
            tracing::error!(%error, "could not end the sessions of blocked users");
        }
        if let Err(error) = settle_deleted_users(&mall.context, &mall.cashier, mall.context.now()).await {
            tracing::error!(%error, "could not settle sessions and orders of deleted users");
        }
        Ok(Arc::new(mall))
    }

    /// Starts the background work on the current runtime.
    #[must_use]
    pub fn start(self: &Arc<Self>) -> Background {
        /// The database has a single writer: a second worker would only wait for the first.
        const WORKERS: usize = 1;
        let stop = CancellationToken::new();
        let (mall, stop_signal) = (Arc::clone(self), stop.clone());
        let workers = tokio::spawn(async move { mall.workers.run(WORKERS, stop_signal).await });
        let (mall, stop_signal) = (Arc::clone(self), stop.clone());
        let chores = tokio::spawn(async move {
            mall.chores.run(stop_signal).await;
            // The background job has stopped: store the visits still in memory.
            mall.visits.take_down(mall.context.now()).await;
        });
        Background { stop, workers, chores }
    }

    /// Runs all due background jobs, and jobs that become due through the runs. Called after the clock was
    /// moved.
    pub async fn catch_up(&self) {
        self.chores.run_all_due(self.context.now()).await;
    }

    /// Returns the names of the background jobs due now.
    pub async fn chores_due(&self) -> Vec<&'static str> {
        self.chores.due(self.context.now()).await
    }

    /// Returns the metrics of every cache.
    #[must_use]
    pub fn cache_figures(&self) -> Vec<Arc<CacheMetrics>> {
        let (shops, copies) = (self.shops.cache_figures(), self.context.copies.figures());
        let reviews = [self.reviews.cache_figures()];
        shops.into_iter().chain(self.sales.cache_figures()).chain(reviews).chain(copies).collect()
    }

    /// Returns the metrics of the event bus.
    #[must_use]
    pub fn event_metrics(&self) -> Arc<EventMetrics> {
        Arc::clone(&self.events)
    }

    /// Returns the metrics of the order workers.
    #[must_use]
    pub fn worker_figures(&self) -> Arc<WorkerMetrics> {
        self.workers.figures()
    }
}

/// The mall's background work.
pub struct Background {
    stop: CancellationToken,
    workers: JoinHandle<()>,
    chores: JoinHandle<()>,
}

impl Background {
    /// Stops the background work after the work in progress has finished.
    pub async fn stop(self) {
        self.stop.cancel();
        // A panic has already been logged.
        let _ = tokio::join!(self.workers, self.chores);
    }

    /// Stops the background work without waiting for the workers. Requires an order log that is
    /// [drained](super::selling::order_workers::drained) and stays drained, so the workers have nothing in
    /// hand.
    pub async fn stop_drained(self) {
        self.stop.cancel();
        self.workers.abort();
        let _ = tokio::join!(self.workers, self.chores);
    }
}
