//! The ports provided by a back end, bundled by area.

use std::sync::Arc;

use crate::{
    Archive, Attempts, Audit, Cache, CashSessions, ClaimBatches, ClaimGateways, Codes, Comments, Credits,
    DeadLetters, Deadlines, EventStreams, EventSubscribers, Events, Feeds, Follows, GeoIndex, Import,
    LedgerRows, Likes, Locks, Notes, OrderLog, Orders, Outbox, PaymentRows, PersonalData, Pictures,
    RateLimits, Reports, RetryTasks, Reviews, Sales, SecondFactors, Sequences, Sessions, Shops, SignIns,
    Upkeep, Users, Visitors, VoteLines, Votes, Vouchers, WaitingLists, WaitingRooms, Waves,
};

/// Storage of a mall: one handle per port, in a bundle per area. Cheap to clone.
#[derive(Clone)]
pub struct Storage {
    /// From the claim to the paid or closed order.
    pub selling: SellingPorts,
    /// Shops and their vouchers.
    pub catalogue: CataloguePorts,
    /// Users and their actions outside of selling and writing.
    pub people: PeoplePorts,
    /// Content written by users.
    pub writing: WritingPorts,
    /// For the operators of a mall.
    pub operator: OperatorPorts,
    /// Below every area. Last, so that the back end's own handle is dropped last.
    pub base: BasePorts,
}

/// Ports of selling: from the claim to the paid or closed order.
#[derive(Clone)]
pub struct SellingPorts {
    /// Stock of flash sales.
    pub sales: Arc<dyn Sales>,
    /// Accepted claims on their way to the database.
    pub order_log: Arc<dyn OrderLog>,
    /// Payment deadlines of unpaid orders.
    pub deadlines: Arc<dyn Deadlines>,
    /// Orders in the database.
    pub orders: Arc<dyn Orders>,
    /// Transactional outbox of database changes.
    pub outbox: Arc<dyn Outbox>,
    /// Claims that could not become orders.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Payments in the database.
    pub payments: Arc<dyn PaymentRows>,
    /// Cash sessions of tills, and Z reports.
    pub cash: Arc<dyn CashSessions>,
    /// Waiting lists of sold-out sales.
    pub waiting_lists: Arc<dyn WaitingLists>,
    /// Waiting rooms of busy sales.
    pub waiting_rooms: Arc<dyn WaitingRooms>,
    /// The decision log of judged sales.
    pub attempts: Arc<dyn Attempts>,
    /// Servers of others that may claim for users.
    pub claim_gateways: Arc<dyn ClaimGateways>,
    /// Their batches of claims.
    pub claim_batches: Arc<dyn ClaimBatches>,
}

/// Ports of the catalogue: shops and their vouchers.
#[derive(Clone)]
pub struct CataloguePorts {
    /// Shops and their types.
    pub shops: Arc<dyn Shops>,
    /// Geographical index of shops.
    pub geo_index: Arc<dyn GeoIndex>,
    /// Vouchers and flash sales.
    pub vouchers: Arc<dyn Vouchers>,
    /// Timetables of flash sales.
    pub waves: Arc<dyn Waves>,
}

/// Ports of people: users, their sessions, and their actions outside of selling and writing.
#[derive(Clone)]
pub struct PeoplePorts {
    /// User accounts and profiles.
    pub users: Arc<dyn Users>,
    /// Credits of users, and levels set by operators.
    pub credits: Arc<dyn Credits>,
    /// Login codes, and the requesters known to each phone.
    pub codes: Arc<dyn Codes>,
    /// Sessions.
    pub sessions: Arc<dyn Sessions>,
    /// Second factors of operators.
    pub second_factors: Arc<dyn SecondFactors>,
    /// Follow relations between users.
    pub follows: Arc<dyn Follows>,
    /// Daily sign-ins of users.
    pub sign_ins: Arc<dyn SignIns>,
    /// Visit statistics (UV and PV).
    pub visitors: Arc<dyn Visitors>,
    /// Personal data of one user, and deletion of the account.
    pub personal_data: Arc<dyn PersonalData>,
}

/// Ports of writing: content written by users.
#[derive(Clone)]
pub struct WritingPorts {
    /// Notes about shops.
    pub notes: Arc<dyn Notes>,
    /// Comments on notes.
    pub comments: Arc<dyn Comments>,
    /// Likes of notes and comments.
    pub likes: Arc<dyn Likes>,
    /// Feeds of followed authors.
    pub feeds: Arc<dyn Feeds>,
    /// Reviews of shops by their buyers.
    pub reviews: Arc<dyn Reviews>,
    /// Votes for reviews.
    pub votes: Arc<dyn Votes>,
    /// The ledger of votes as a whole.
    pub vote_lines: Arc<dyn VoteLines>,
    /// Readers' reports of content.
    pub reports: Arc<dyn Reports>,
    /// Pictures uploaded by users.
    pub pictures: Arc<dyn Pictures>,
}

/// Ports for the operators of a mall.
#[derive(Clone)]
pub struct OperatorPorts {
    /// Audit log of operators' actions.
    pub audit: Arc<dyn Audit>,
    /// Archived days of ledgers.
    pub archive: Arc<dyn Archive>,
    /// Rows for the ledger check.
    pub ledger: Arc<dyn LedgerRows>,
    /// Import of a whole mall.
    pub import: Arc<dyn Import>,
}

/// Ports below every area.
#[derive(Clone)]
pub struct BasePorts {
    /// Cache of database rows.
    pub cache: Arc<dyn Cache>,
    /// Locks shared by instances.
    pub locks: Arc<dyn Locks>,
    /// Rate limits per key.
    pub rate_limits: Arc<dyn RateLimits>,
    /// Tasks of the retry queue.
    pub retry_tasks: Arc<dyn RetryTasks>,
    /// Counters for unique numbers.
    pub sequences: Arc<dyn Sequences>,
    /// Events: what happened in the mall.
    pub events: Arc<dyn Events>,
    /// Subscribers of events.
    pub event_subscribers: Arc<dyn EventSubscribers>,
    /// Streams of events on a shared server.
    pub event_streams: Arc<dyn EventStreams>,
    /// Maintenance and health of the back end.
    pub upkeep: Arc<dyn Upkeep>,
}
