//! The database: users, shops, vouchers, orders and payments, authoritative, in a single SQLite file.
//!
//! [`Database`] is the file with its threads: a writer with group commit, two readers, a checkpointer.
//! Every port is a few statements run on the threads. No other part of the crate names SQLite.
//!
//! Start: [`Database::open`]; then `log_marks` and `setting_blocking`, with the expected contents of the
//! order log; then the ports; then [`Holders`] for each sale. Stop: [`Database::close`].

mod archive;
mod archive_rows;
mod attempts;
mod audit;
#[cfg(test)]
mod audit_tests;
mod cash;
mod checkpoint;
mod claim_batches;
mod claim_gateways;
mod columns;
mod comments;
mod commit_witness;
mod counts;
mod credits;
mod database;
#[cfg(test)]
mod database_tests;
mod dead_letter_rows;
mod dead_letters;
mod errors;
mod event_rows;
mod event_subscribers;
mod events;
mod feed_rows;
mod follows;
mod holders;
mod import;
mod integrity;
#[cfg(test)]
mod integrity_tests;
mod ledger;
mod likes;
mod meta;
mod migrations;
mod notes;
mod opening;
mod order_lists;
#[cfg(test)]
mod order_lists_tests;
mod order_rows;
mod orders;
mod orders_by_user;
#[cfg(test)]
mod orders_tests;
mod outbox;
mod payments;
mod persist;
mod personal_data;
mod picture_files;
mod pictures;
mod purchases;
mod readers;
mod reports;
mod retry_rows;
mod retry_tasks;
mod review_rows;
mod reviews;
mod sale_rows;
mod scrubber;
mod second_factors;
mod sequences;
mod settings;
mod shop_ratings;
mod shops;
mod sign_blocks;
mod sign_ins;
mod steps;
mod stock_changes;
mod task;
mod terms_fence;
mod users;
mod visitors;
mod vote_lines;
mod vote_rows;
mod votes;
mod vouchers;
mod waiting_lists;
mod waves;
mod writer;

pub(crate) use archive::EmbeddedArchive;
pub(crate) use attempts::EmbeddedAttempts;
pub(crate) use audit::EmbeddedAudit;
pub(crate) use cash::EmbeddedCashSessions;
pub(crate) use checkpoint::COPY_PAGES;
pub(crate) use claim_batches::EmbeddedClaimBatches;
pub(crate) use claim_gateways::EmbeddedClaimGateways;
pub(crate) use comments::EmbeddedComments;
pub(crate) use credits::EmbeddedCredits;
pub(crate) use database::{Database, DatabaseOptions};
pub(crate) use dead_letters::EmbeddedDeadLetters;
pub(crate) use event_subscribers::EmbeddedEventSubscribers;
pub(crate) use events::EmbeddedEvents;
pub(crate) use feed_rows::EmbeddedFeedRows;
pub(crate) use follows::EmbeddedFollows;
pub(crate) use holders::Holders;
pub(crate) use import::EmbeddedImport;
pub(crate) use integrity::{APPLICATION_ID, forget as forget_integrity};
pub(crate) use ledger::EmbeddedLedgerRows;
pub(crate) use likes::EmbeddedLikes;
pub(crate) use migrations::NEWEST as NEWEST_SCHEMA;
pub(crate) use notes::EmbeddedNotes;
pub(crate) use orders::EmbeddedOrders;
pub(crate) use outbox::EmbeddedOutbox;
pub(crate) use payments::EmbeddedPayments;
pub(crate) use personal_data::EmbeddedPersonalData;
pub(crate) use pictures::EmbeddedPictures;
pub(crate) use reports::EmbeddedReports;
pub(crate) use retry_tasks::EmbeddedRetryTasks;
pub(crate) use reviews::EmbeddedReviews;
pub(crate) use second_factors::EmbeddedSecondFactors;
pub(crate) use sequences::EmbeddedSequences;
pub(crate) use settings::forget_log;
pub use settings::payment_mode_in;
pub(crate) use shops::{EmbeddedShops, places};
pub(crate) use sign_ins::EmbeddedSignIns;
pub(crate) use users::EmbeddedUsers;
pub(crate) use visitors::EmbeddedVisitors;
pub(crate) use vote_lines::EmbeddedVoteLines;
pub(crate) use votes::EmbeddedVotes;
pub(crate) use vouchers::EmbeddedVouchers;
pub(crate) use waiting_lists::EmbeddedWaitingLists;
pub(crate) use waves::EmbeddedWaves;
