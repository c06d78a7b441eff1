//! The bundle of ports that a back end hands out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::production::ProductionOptions;
use crate::{
    Audit, Cache, Comments, DeadLetters, Deadlines, DiskFaults, Durability, Feeds, Follows, GeoIndex, Import,
    LedgerRows, Likes, Locks, Notes, OpenError, OrderLog, Orders, Outbox, PaymentRows, Pictures, RateLimits,
    Reports, Sales, Sequences, Sessions, Shops, SignIns, Upkeep, Users, Visitors, Vouchers, embedded,
    production,
};

/// Where a mall's memory is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a directory of this machine.
    Embedded(EmbeddedOptions),
    /// In Redis and MySQL. Connections live on the runtime that opens it, and end with it.
    Production(ProductionOptions),
}

impl Place {
    /// The directory, if it is in one.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        match self {
            Self::Embedded(options) => Some(&options.dir),
            Self::Production(_) => None,
        }
    }
}

/// How to open a data directory.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// The directory; made if it is not there.
    pub dir: PathBuf,
    /// How far an answer can be trusted.
    pub durability: Durability,
    /// Start even though this number of accepted claims is lost from the order log: [`LogLoss::number`](crate::LogLoss::number)
    /// of the error that a start without it gives. Any other number is refused.
    pub accept_lost_log: Option<u64>,
    /// The troubles that are played on its disk. `None`: there are only real ones.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl EmbeddedOptions {
    /// Durable against power cuts; refuses a damaged log.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), durability: Durability::Power, accept_lost_log: None, disk_faults: None }
    }
}

/// What the mall needs from storage: one handle per port, cheap to clone.
#[derive(Clone)]
pub struct Storage {
    /// Flash-sale units.
    pub sales: Arc<dyn Sales>,
    /// Accepted claims on their way to the record.
    pub order_log: Arc<dyn OrderLog>,
    /// When unpaid orders end.
    pub deadlines: Arc<dyn Deadlines>,
    /// Counters.
    pub sequences: Arc<dyn Sequences>,
    /// Who is logged in.
    pub sessions: Arc<dyn Sessions>,
    /// How often is too often.
    pub rate_limits: Arc<dyn RateLimits>,
    /// Copies of what the record has.
    pub cache: Arc<dyn Cache>,
    /// Locks that instances share.
    pub locks: Arc<dyn Locks>,
    /// People.
    pub users: Arc<dyn Users>,
    /// Who follows whom.
    pub follows: Arc<dyn Follows>,
    /// What those whom one follows have written.
    pub feeds: Arc<dyn Feeds>,
    /// Who likes what.
    pub likes: Arc<dyn Likes>,
    /// Notes.
    pub notes: Arc<dyn Notes>,
    /// Comments on notes.
    pub comments: Arc<dyn Comments>,
    /// What readers report.
    pub reports: Arc<dyn Reports>,
    /// Shops.
    pub shops: Arc<dyn Shops>,
    /// Shops by where they are.
    pub geo_index: Arc<dyn GeoIndex>,
    /// Vouchers and sales.
    pub vouchers: Arc<dyn Vouchers>,
    /// Orders.
    pub orders: Arc<dyn Orders>,
    /// Rows for the ledger check.
    pub ledger: Arc<dyn LedgerRows>,
    /// What closed orders ask for.
    pub outbox: Arc<dyn Outbox>,
    /// Claims that did not become orders.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Payments.
    pub payments: Arc<dyn PaymentRows>,
    /// What people upload.
    pub pictures: Arc<dyn Pictures>,
    /// The days on which people sign in.
    pub sign_ins: Arc<dyn SignIns>,
    /// How many come, and how often.
    pub visitors: Arc<dyn Visitors>,
    /// What operators did.
    pub audit: Arc<dyn Audit>,
    /// The way in for a whole mall.
    pub import: Arc<dyn Import>,
    /// The back end as a whole.
    pub upkeep: Arc<dyn Upkeep>,
}

impl Storage {
    /// Opens it, or says in words an operator can act on why not.
    ///
    /// The one place that knows which back ends there are.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(place: &Place) -> Result<Self, OpenError> {
        match place {
            Place::Embedded(options) => embedded::open(options.clone()).await,
            Place::Production(options) => production::open(options).await,
        }
    }
}
