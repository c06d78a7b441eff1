//! The ports of selling: stock and order log in memory and in the journal, the rest in the database.

use std::sync::Arc;

use mallbox_storage::{Orders, SellingPorts};

use crate::deadlines::EmbeddedDeadlines;
use crate::journal::Journal;
use crate::order_log::EmbeddedOrderLog;
use crate::pending::Pending;
use crate::queue::Queue;
use crate::sales::EmbeddedSales;
use crate::settled::Settled;
use crate::sqlite::{
    Database, EmbeddedAttempts, EmbeddedCashSessions, EmbeddedClaimBatches, EmbeddedClaimGateways,
    EmbeddedDeadLetters, EmbeddedOrders, EmbeddedOutbox, EmbeddedPayments, EmbeddedWaitingLists, Holders,
};
use crate::waiting_rooms::EmbeddedWaitingRooms;

/// Creates the ports over the claims recovered from the log.
pub(crate) fn ports(
    database: &Database,
    journal: &Arc<Journal>,
    pending: &Arc<Pending>,
    queue: Arc<Queue>,
    settled: Arc<Settled>,
) -> SellingPorts {
    let orders: Arc<dyn Orders> = Arc::new(EmbeddedOrders::new(database.clone(), Arc::clone(&settled)));
    SellingPorts {
        sales: Arc::new(EmbeddedSales::new(
            Arc::clone(journal),
            Arc::clone(pending),
            Arc::clone(&orders),
            Holders::new(database.clone()),
        )),
        order_log: Arc::new(EmbeddedOrderLog {
            journal: Arc::clone(journal),
            pending: Arc::clone(pending),
            queue,
            settled,
        }),
        deadlines: Arc::new(EmbeddedDeadlines::default()),
        orders,
        outbox: Arc::new(EmbeddedOutbox::new(database.clone())),
        dead_letters: Arc::new(EmbeddedDeadLetters::new(database.clone())),
        payments: Arc::new(EmbeddedPayments::new(database.clone())),
        cash: Arc::new(EmbeddedCashSessions::new(database.clone())),
        waiting_lists: Arc::new(EmbeddedWaitingLists::new(database.clone())),
        waiting_rooms: Arc::new(EmbeddedWaitingRooms::default()),
        attempts: Arc::new(EmbeddedAttempts::new(database.clone())),
        claim_gateways: Arc::new(EmbeddedClaimGateways::new(database.clone())),
        claim_batches: Arc::new(EmbeddedClaimBatches::new(database.clone())),
    }
}
