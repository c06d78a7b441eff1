//! The bundle of ports provided by a back end.

use std::sync::Arc;

use crate::{
    Audit, Cache, Comments, DeadLetters, Deadlines, Feeds, Follows, GeoIndex, Import, LedgerRows, Likes,
    Locks, Notes, OrderLog, Orders, Outbox, PaymentRows, Pictures, RateLimits, Reports, Sales, Sequences,
    Sessions, Shops, SignIns, Upkeep, Users, Visitors, Vouchers,
};

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
