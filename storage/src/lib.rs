//! Storage of the mall: the ports, each with its contract in its documentation, and the back ends behind
//! them.
//!
//! Ports are shaped by the needs of the mall, not by the features of an engine. A missing item is an
//! `Option`, a business refusal an enum inside `Ok`, and a failure a [`StoreError`]. `storage/contract/`
//! verifies the documented contracts on every back end.
//!
//! Reasons and figures: `storage/decisions/0023-refusals-inside-ok.md`.
//!
//! [`Storage`] holds the ports, in one bundle per area:
//!
//! - `selling`: [`Sales`], [`OrderLog`], [`Deadlines`], [`Orders`], [`Outbox`], [`DeadLetters`],
//!   [`PaymentRows`], [`CashSessions`], [`ClaimGateways`], [`ClaimBatches`]
//! - `catalogue`: [`Shops`], [`GeoIndex`], [`Vouchers`]
//! - `people`: [`Users`], [`Credits`], [`Codes`], [`Sessions`], [`SecondFactors`], [`Follows`],
//!   [`SignIns`], [`Visitors`], [`PersonalData`]
//! - `writing`: [`Notes`], [`Comments`], [`Likes`], [`Feeds`], [`Reviews`], [`Votes`],
//!   [`VoteLines`], [`Reports`], [`Pictures`]
//! - `operator`: [`Audit`], [`Archive`], [`LedgerRows`], [`Import`]
//! - `base`: [`Cache`], [`Locks`], [`RateLimits`], [`RetryTasks`], [`Sequences`], [`Events`],
//!   [`EventSubscribers`], [`EventStreams`], [`Upkeep`]
//!
//! The crates `mallbox-storage-embedded` and `mallbox-storage-production` implement them; code above knows
//! ports only:
//!
//! ```
//! use mallbox_storage::{Claim, ClaimOutcome, Sales, StoreError};
//!
//! /// Claims one unit; returns whether the user holds one now.
//! async fn buy(sales: &dyn Sales, claim: Claim) -> Result<bool, StoreError> {
//!     Ok(match sales.claim(claim).await? {
//!         ClaimOutcome::Accepted | ClaimOutcome::AlreadyBought(_) => true,
//!         _ => false,
//!     })
//! }
//! ```

mod day;
mod error;
mod hex;
mod ids;
mod money;
mod page;
mod pass;
mod thresholds;
mod time;
mod trace_spans;

mod archive;
mod attempts;
mod audit;
mod batcher;
mod cache;
mod cash;
mod cash_report;
mod cash_session;
mod claim_batches;
mod claim_gateways;
pub mod codes;
mod comments;
mod credits;
mod dead_letters;
mod dead_reason;
pub mod deadlines;
mod event_kinds;
mod event_streams;
mod event_subscribers;
mod events;
pub mod feeds;
mod follows;
pub mod geo_index;
mod guard;
mod import;
mod judgement;
mod ledger;
mod likes;
pub mod locks;
mod notes;
mod order_log;
mod order_status;
mod orders;
mod outbox;
mod payments;
mod personal_data;
mod pictures;
mod places;
mod plans;
mod posts;
mod rate_limits;
mod reports;
mod retry_plans;
mod retry_tasks;
mod review_text;
mod reviews;
mod sale_columns;
mod sale_setting;
mod sales;
mod second_factors;
mod sequences;
pub mod sessions;
mod shop_rating;
mod shops;
mod sign_ins;
mod upkeep;
mod user_ids;
mod users;
mod visitors;
mod vote_lines;
mod votes;
mod vouchers;
mod waiting_lists;
mod waiting_rooms;
mod wave;
mod waves;

pub mod backend;
mod storage;
mod stored;

pub use archive::{
    Archive, ArchiveDraft, ArchiveFault, ArchiveLedger, ArchiveOutcome, ArchivedDay, ArchivedVotes,
    LineCursor, LinesPage, RegisterOutcome, archive_file_name, utc_day, utc_span, vote_text,
};
pub use attempts::{ATTEMPTS_SWEEP_MAX, Attempt, AttemptOutcome, Attempts, StoredAttempt};
pub use audit::{Actor, Audit, AuditCheck, AuditEntry, AuditFault, AuditFaultKind};
pub use batcher::{BatchCall, Batcher};
pub use cache::{Cache, CacheEntry, CacheKey, CacheLease, LeasedLookup};
pub use cash::{
    CashAddOutcome, CashCount, CashDrawer, CashSessions, CashStepOutcome, CloseCashOutcome, OpenCashOutcome,
};
pub use cash_report::{
    CASH_REPORT_ACTION, CashReport, CashReportDetail, StoredCashReport, UnreadableCashReport,
    number_of_report,
};
pub use cash_session::{
    CASH_MAX, CASH_MOVES_MAX, CashEntry, CashKind, CashLimit, CashSession, CashTotals, NewCashEntry, TillName,
};
pub use claim_batches::{ClaimBatch, ClaimBatches};
pub use claim_gateways::{AddGatewayOutcome, ClaimGateway, ClaimGateways, NewClaimGateway};
pub use codes::{
    CheckOutcome, CodeAttempt, CodeHash, CodeRequest, CodeRules, Codes, IssueOutcome, Requester, TicketHash,
};
pub use comments::{Comment, CommentOutcome, Comments, Thread};
pub use credits::{CreditCause, CreditLine, Credits, SIGN_IN_CREDITS, SetLevelOutcome, credits_of_order};
pub use day::{Day, DaySpan};
pub use dead_letters::{DeadLetter, DeadLetters, DeadState, ReplayOutcome, VoidOutcome};
pub use dead_reason::DeadReason;
pub use deadlines::Deadlines;
pub use error::{LogLoss, OpenError, Source, StoreError, UpgradeState};
pub use event_kinds::{EventKind, PAYMENT_DUE_BEFORE};
pub use event_streams::{EventStreams, STREAM_MAX_EVENTS};
pub use event_subscribers::{
    EventSubscribers, EventTarget, NewSubscriber, SUBSCRIBER_ERROR_MAX_CHARS, SubscribeOutcome, Subscriber,
};
pub use events::{EVENTS_MAX, EventCounts, EventEnds, EventPage, Events, StoredEvent};
pub use feeds::{FeedEntry, Feeds};
pub use follows::{FollowCounts, Follows};
pub use geo_index::{GeoIndex, NearbyQuery, NearbyShop};
pub use guard::{ChallengeKind, ChallengeKinds, Guard};
pub use hex::{hex, unhex};
pub use ids::{
    CashSessionId, ClaimGatewayId, CommentId, DeadLetterId, NoteId, OrderId, PARTITIONS, PaymentId, Phone,
    RetryTaskId, ReviewId, ShopId, ShopTypeId, SubscriberId, UserId, VoucherId,
};
pub use import::{
    FinishOptions, Import, ImportFinding, ImportFindings, ImportRow, ImportRowKind, ImportSequence,
    ImportedComment, ImportedNote, ImportedOrder, ImportedSale, ImportedVoucher, Importing, UnpaidOrders,
};
pub use judgement::{Judgement, Signal, Signals};
pub use ledger::{
    LedgerRows, LetterFacts, OrderFacts, OrderPage, PaymentFacts, RowCheck, SaleFacts, Violations,
};
pub use likes::{LikeChange, LikeOutcome, Likes};
pub use locks::{Fenced, FencingToken, HeldLock, LockEntry, LockOutcome, LockOwner, Locker, Locks};
pub use money::{Cents, yuan};
pub use notes::{Note, NoteText, Notes, Visibility, picture_name, picture_names};
pub use order_log::{LogPosition, LogState, LoggedClaim, OrderLog, PendingClaims};
pub use order_status::OrderStatus;
pub use orders::{
    NO_DEADLINE, Order, OrderCounts, OrderFilter, Orders, PersistOutcome, PurchaseOutcome, Transition,
    TransitionOutcome, WALK_IN_TIME_TO_PAY,
};
pub use outbox::{Outbox, OutboxEntry};
pub use page::Page;
pub use pass::Pass;
pub use payments::{Payment, PaymentContradictions, PaymentMode, PaymentRows, PaymentState};
pub use personal_data::{DeleteOutcome, GivenLike, PaidOrders, PersonalData};
pub use pictures::{
    NewPicture, Picture, PictureKind, PictureSweep, PictureUsage, Pictures, PutOutcome, RemoveOutcome,
    is_picture_file,
};
pub use places::{LatLng, PlacedShop};
pub use posts::Post;
pub use rate_limits::{Limit, RateLimitOutcome, RateLimits};
pub use reports::{OpenReports, ReportOutcome, Reports};
pub use retry_tasks::{
    FailedTask, FailedTaskCursor, LeasedTask, NewRetryTask, RetryCounts, RetryLease, RetryLimits,
    RetryReplayOutcome, RetrySettlement, RetryStep, RetryTasks, SubmitOutcome,
};
pub use review_text::{ReviewTags, ReviewText, Stars};
pub use reviews::{
    NewReview, OrderReview, Review, ReviewCounts, ReviewCursor, ReviewFilter, ReviewOrder, ReviewOrigin,
    ReviewOutcome, ReviewReply, ReviewSearch, ReviewState, Reviews,
};
pub use sales::{Claim, ClaimOutcome, ClosedReason, ReleaseOutcome, ReserveOutcome, SaleUnits, Sales, Terms};
pub use second_factors::{
    ActiveFactor, FactorSeed, PendingFactor, RecoveryHash, SecondFactor, SecondFactors,
};
pub use sequences::{CLOSED_COUNTER, Sequences};
pub use sessions::{LiveSession, NewSession, SessionOrigin, SessionRecord, Sessions, TokenHash};
pub use shops::{Shop, ShopArea, ShopOrder, ShopText, ShopType, ShopTypeEdit, Shops};
pub use sign_ins::{MakeUpOutcome, SignIns, SignedDay};
pub use storage::{
    BasePorts, CataloguePorts, OperatorPorts, PeoplePorts, SellingPorts, Storage, WritingPorts,
};
pub use thresholds::Thresholds;
pub use time::Timestamp;
pub use trace_spans::SPAN_TARGET;
pub use upkeep::{
    CircuitHealth, CircuitState, Durability, Health, PageFindings, PartHealth, Recovery, Upkeep,
};
pub use users::{
    Block, LastOperator, PhoneOutcome, Profile, RightsChange, RightsOutcome, Role, User, UserFilter, Users,
};
pub use visitors::{
    Salt, VISITS_RETENTION_DAYS, Visit, VisitCounts, VisitTarget, Visitor, Visitors, VisitsOfDay,
};
pub use vote_lines::{ReviewVotes, VoteLines};
pub use votes::{VOTE_MARK_TTL, VoteCause, VoteCursor, VoteLine, VoteOutcome, Votes};
pub use vouchers::{
    NewSale, SaleRecord, StockChange, StockChangeOutcome, Voucher, VoucherEdit, VoucherFilter, VoucherStatus,
    VoucherText, Vouchers,
};
pub use waiting_lists::{
    FirstToJoin, JoinOutcome, PromoteOutcome, WaitingEntry, WaitingLists, WaitingPlace, WaitingState,
};
pub use waiting_rooms::{
    RETURN_GRACE, RoomEntry, RoomFigures, RoomFlow, RoomRank, RoomState, RoomView, WaitingRoom, WaitingRooms,
};
pub use wave::Wave;
pub use waves::{NewWave, PutWavesOutcome, ReleaseWaveOutcome, WaveRecord, Waves};
