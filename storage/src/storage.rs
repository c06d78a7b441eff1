//! The bundle of ports provided by a back end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::production::ProductionOptions;
use crate::{
    Audit, Cache, Comments, DeadLetters, Deadlines, DiskFaults, Durability, Feeds, Follows, GeoIndex, Import,
    LedgerRows, Likes, Locks, Notes, OpenError, OrderLog, Orders, Outbox, PaymentRows, Pictures, RateLimits,
    Reports, Sales, Sequences, Sessions, Shops, SignIns, Upkeep, Users, Visitors, Vouchers, embedded,
    production,
};

/// Location of a mall's data.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory of this machine.
    Embedded(EmbeddedOptions),
    /// Redis and MySQL. Connections belong to the runtime that opened them, and end with the runtime.
    Production(ProductionOptions),
}

impl Place {
    /// Returns the data directory; `None` for servers.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        match self {
            Self::Embedded(options) => Some(&options.dir),
            Self::Production(_) => None,
        }
    }
}

/// Options for opening a data directory.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// The data directory; created if missing.
    pub dir: PathBuf,
    /// Durability of a call that has returned.
    pub durability: Durability,
    /// Starts although this number of accepted claims is lost from the order log. Must equal
    /// [`LogLoss::number`](crate::LogLoss::number) from the error of a start without the option; other
    /// numbers are refused.
    pub accept_lost_log: Option<u64>,
    /// Fault injection for the disk. `None`: only real faults occur.
    pub disk_faults: Option<Arc<DiskFaults>>,
}

impl EmbeddedOptions {
    /// Returns default options: durable against power cuts; refuses a damaged log.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), durability: Durability::Power, accept_lost_log: None, disk_faults: None }
    }
}

/// Storage of a mall: one handle per port. Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    /// Stock of flash sales.
    pub sales: Arc<dyn Sales>,
    /// Accepted claims on their way to the database.
    pub order_log: Arc<dyn OrderLog>,
    /// Payment deadlines of unpaid orders.
    pub deadlines: Arc<dyn Deadlines>,
    /// Counters for unique numbers.
    pub sequences: Arc<dyn Sequences>,
    /// Login codes and sessions.
    pub sessions: Arc<dyn Sessions>,
    /// Rate limits per key.
    pub rate_limits: Arc<dyn RateLimits>,
    /// Cache of database rows.
    pub cache: Arc<dyn Cache>,
    /// Locks shared by instances.
    pub locks: Arc<dyn Locks>,
    /// User accounts and profiles.
    pub users: Arc<dyn Users>,
    /// Follow relations between users.
    pub follows: Arc<dyn Follows>,
    /// Feeds of followed authors.
    pub feeds: Arc<dyn Feeds>,
    /// Likes of notes and comments.
    pub likes: Arc<dyn Likes>,
    /// Notes about shops.
    pub notes: Arc<dyn Notes>,
    /// Comments on notes.
    pub comments: Arc<dyn Comments>,
    /// Readers' reports of content.
    pub reports: Arc<dyn Reports>,
    /// Shops and their types.
    pub shops: Arc<dyn Shops>,
    /// Geographical index of shops.
    pub geo_index: Arc<dyn GeoIndex>,
    /// Vouchers and flash sales.
    pub vouchers: Arc<dyn Vouchers>,
    /// Orders in the database.
    pub orders: Arc<dyn Orders>,
    /// Rows for the ledger check.
    pub ledger: Arc<dyn LedgerRows>,
    /// Transactional outbox of database changes.
    pub outbox: Arc<dyn Outbox>,
    /// Claims that could not become orders.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Payments in the database.
    pub payments: Arc<dyn PaymentRows>,
    /// Pictures uploaded by users.
    pub pictures: Arc<dyn Pictures>,
    /// Daily sign-ins of users.
    pub sign_ins: Arc<dyn SignIns>,
    /// Visit statistics (UV and PV).
    pub visitors: Arc<dyn Visitors>,
    /// Audit log of operators' actions.
    pub audit: Arc<dyn Audit>,
    /// Import of a whole mall.
    pub import: Arc<dyn Import>,
    /// Maintenance and health of the back end.
    pub upkeep: Arc<dyn Upkeep>,
}

impl Storage {
    /// Opens the back end at `place`. The only function that knows all back ends.
    ///
    /// # Errors
    /// [`OpenError`], with a message that tells the operator what to do.
    pub async fn open(place: &Place) -> Result<Self, OpenError> {
        match place {
            Place::Embedded(options) => embedded::open(options.clone()).await,
            Place::Production(options) => production::open(options).await,
        }
    }
}
