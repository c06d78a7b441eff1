//! One mall: its services over one store, and what works in its background.

use std::sync::Arc;

use jiff::tz::TimeZone;
use mallbox_storage::{Storage, StoreError, deadlines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::cache_aside::CacheFigures;
use super::cashier::Cashier;
use super::chores::Chores;
use super::clock_notes::{NoteTime, compare_with_last_run};
use super::copy_chores::LookAfterCopies;
use super::ledger::LedgerCheck;
use super::operator::{DeadLetterOffice, OrderOffice, ReportOffice, SaleOffice, VoucherOffice};
use super::order_workers::{OrderWorkers, WorkerFigures};
use super::payments::{Payments, Sandbox};
use super::repairs::{load_sales, see_out_the_blocked};
use super::sms::{Inbox, SmsSender};
use super::{
    Accounts, AuditLog, Clock, CommentBook, Context, FeedBook, FollowBook, IMPORTED, LikeBook, NoteBook,
    OrderDesk, PeopleOffice, PictureAlbum, Random, ReceiptBook, SaleCounter, Settings, ShopDirectory,
    SignBook, VisitBook, VoucherShelf, sale_chores,
};

/// What a mall is made of. Nothing in it is process-wide.
pub struct Means {
    /// What it remembers.
    pub storage: Storage,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The zone in which times are written for people.
    pub zone: TimeZone,
    /// How it behaves.
    pub settings: Settings,
    /// How login codes reach people.
    pub sms: Arc<dyn SmsSender>,
    /// Where `GET /demo/inbox` finds them, in a demo; `sms` must send there too.
    pub inbox: Option<Arc<Inbox>>,
    /// Who takes people's money.
    pub payments: Arc<dyn Payments>,
    /// Where codes and tokens come from.
    pub random: Arc<Random>,
}

impl Means {
    /// Of a mall for tests, benches and templates: in UTC, without limits, with imaginary money, codes that nobody reads, and
    /// the same random numbers each time.
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
            random: Arc::new(Random::seeded(0)),
        }
    }
}

/// One mall.
pub struct Mall {
    /// What its services share.
    pub context: Context,
    /// People.
    pub accounts: Accounts,
    /// What those whom one follows have written.
    pub feeds: FeedBook,
    /// Who likes what.
    pub likes: LikeBook,
    /// Who follows whom.
    pub follows: FollowBook,
    /// What people write about shops.
    pub notes: NoteBook,
    /// What others say to it.
    pub comments: CommentBook,
    /// Shops and their types.
    pub shops: Arc<ShopDirectory>,
    /// What people upload.
    pub pictures: PictureAlbum,
    /// The days on which people sign in.
    pub sign_ins: SignBook,
    /// How many come, and how often.
    pub visits: VisitBook,
    /// Vouchers.
    pub vouchers: VoucherShelf,
    /// Flash sales.
    pub sales: SaleCounter,
    /// Orders and their steps.
    pub orders: OrderDesk,
    /// What buyers show at the counter.
    pub receipts: ReceiptBook,
    /// What operators do with people.
    pub people: PeopleOffice,
    /// What operators did.
    pub audit: AuditLog,
    /// Sales from the operator's side.
    pub sale_office: SaleOffice,
    /// Vouchers from the operator's side.
    pub voucher_office: VoucherOffice,
    /// Orders from the operator's side.
    pub order_office: OrderOffice,
    /// Claims that did not become orders.
    pub dead_letter_office: DeadLetterOffice,
    /// Notes and comments that were reported.
    pub report_office: ReportOffice,
    /// Whether everything adds up.
    pub books: LedgerCheck,
    /// Whether it moved in from elsewhere: not all pictures that it names may have come with it.
    pub is_imported: bool,
    workers: OrderWorkers,
    chores: Chores,
}

impl Mall {
    /// Puts the services together and loads the sales that are not over and the deadlines of unpaid orders.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub async fn open(means: Means) -> Result<Arc<Self>, StoreError> {
        let Means { storage, clock, zone, settings, sms, inbox, payments, random } = means;
        let is_imported = storage.upkeep.setting(IMPORTED).await?.is_some();
        let context = Context::new(storage, Arc::clone(&clock), zone, Arc::new(settings));
        let sales = SaleCounter::new(context.clone());
        let cashier = Cashier::new(context.clone(), payments);
        let shops = Arc::new(ShopDirectory::new(context.clone()));
        let pictures = PictureAlbum::new(context.clone(), Arc::clone(&random));
        let mut chores = sale_chores::chores(&context, &sales, &cashier);
        chores.push(Arc::new(LookAfterCopies::new(&shops, &sales)));
        let visits = VisitBook::new(context.clone());
        chores.extend([pictures.sweeper(), FeedBook::passer(&context), visits.gatherer()]);
        if context.clock.is_machines() {
            compare_with_last_run(&context).await?;
            chores.push(Arc::new(NoteTime::new(&context)));
        }
        let audit = AuditLog::new(context.clone());
        let orders = OrderDesk::new(context.clone(), cashier);
        let books = LedgerCheck::new(context.clone(), sales.clone());
        let sale_office =
            SaleOffice::new(context.clone(), sales.clone(), Arc::clone(&shops), books.clone(), audit.clone());
        let mall = Self {
            feeds: FeedBook::new(context.clone()),
            likes: LikeBook::new(context.clone()),
            follows: FollowBook::new(context.clone()),
            notes: NoteBook::new(context.clone(), audit.clone(), pictures.clone()),
            comments: CommentBook::new(context.clone(), audit.clone()),
            report_office: ReportOffice::new(context.clone(), audit.clone()),
            sign_ins: SignBook::new(context.clone()),
            visits,
            vouchers: VoucherShelf::new(context.clone(), sales.clone()),
            is_imported,
            pictures,
            receipts: ReceiptBook::new(context.clone(), orders.clone(), Arc::clone(&random)),
            people: PeopleOffice::new(context.clone(), audit.clone(), Arc::clone(&random)),
            accounts: Accounts::new(context.clone(), random, sms, inbox),
            voucher_office: VoucherOffice::new(
                context.clone(),
                sales.clone(),
                sale_office.clone(),
                audit.clone(),
            ),
            sale_office,
            shops,
            order_office: OrderOffice::new(context.clone(), orders.clone(), audit.clone()),
            dead_letter_office: DeadLetterOffice::new(
                context.clone(),
                sales.clone(),
                orders.clone(),
                audit.clone(),
            ),
            orders,
            audit,
            books,
            workers: OrderWorkers::new(context.clone()),
            sales,
            chores: Chores::new(clock, chores),
            context,
        };
        let storage = &mall.context.storage;
        load_sales(&mall.sales, mall.context.now()).await?;
        deadlines::restore(&*storage.deadlines, &*storage.orders, None).await?;
        // No reason not to open: a full disk, say, and then nothing can be bought either.
        if let Err(error) = see_out_the_blocked(storage).await {
            tracing::error!(%error, "sessions that blocked users may have could not be ended");
        }
        Ok(Arc::new(mall))
    }

    /// Starts what works in the background, on the runtime this is called on.
    #[must_use]
    pub fn start(self: &Arc<Self>) -> Background {
        /// The record has one writer: a second worker would only wait for the first.
        const WORKERS: usize = 1;
        let stop = CancellationToken::new();
        let (mall, told) = (Arc::clone(self), stop.clone());
        let workers = tokio::spawn(async move { mall.workers.run(WORKERS, told).await });
        let (mall, told) = (Arc::clone(self), stop.clone());
        let chores = tokio::spawn(async move {
            mall.chores.run(told).await;
            // Nobody gathers them any more.
            mall.visits.take_down(mall.context.now()).await;
        });
        Background { stop, workers, chores }
    }

    /// Does everything that is due now, and what falls due by doing it: what moving the clock means.
    pub async fn catch_up(&self) {
        self.chores.run_all_due(self.context.now()).await;
    }

    /// The names of the chores that are due now.
    pub async fn chores_due(&self) -> Vec<&'static str> {
        self.chores.due(self.context.now()).await
    }

    /// What has been counted about copies of the record, of each kind.
    #[must_use]
    pub fn cache_figures(&self) -> Vec<Arc<CacheFigures>> {
        let (shops, copies) = (self.shops.cache_figures(), self.context.copies.figures());
        shops.into_iter().chain(self.sales.cache_figures()).chain(copies).collect()
    }

    /// What the order workers have done so far.
    #[must_use]
    pub fn worker_figures(&self) -> Arc<WorkerFigures> {
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
    /// Lets everybody finish what they have in hand.
    pub async fn stop(self) {
        self.stop.cancel();
        // Whoever broke off has said so.
        let _ = tokio::join!(self.workers, self.chores);
    }

    /// The same where the log is known to be [drained](super::order_workers::drained) and to stay so: the workers have
    /// nothing in hand, and are not waited for.
    pub async fn stop_drained(self) {
        self.stop.cancel();
        self.workers.abort();
        let _ = tokio::join!(self.workers, self.chores);
    }
}
