//! Payments in the hands of a call in this process.

use std::collections::HashMap;
use std::sync::Arc;

use mallbox_storage::PaymentId;
use parking_lot::Mutex;

/// Payments being processed by a call in this process. The background job skips them, however far the clock
/// was moved.
#[derive(Debug, Default)]
pub(super) struct PaymentsInProgress {
    calls: Mutex<HashMap<PaymentId, usize>>,
}

impl PaymentsInProgress {
    /// Marks a payment until the result is dropped.
    pub(super) fn hold(self: &Arc<Self>, payment: PaymentId) -> Holding {
        *self.calls.lock().entry(payment).or_default() += 1;
        Holding { in_hand: Arc::clone(self), payment }
    }

    /// Returns whether a call has the payment in hand.
    pub(super) fn has(&self, payment: PaymentId) -> bool {
        self.calls.lock().contains_key(&payment)
    }
}

/// The mark of a payment in progress.
pub(super) struct Holding {
    in_hand: Arc<PaymentsInProgress>,
    payment: PaymentId,
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut calls = self.in_hand.calls.lock();
        if let Some(count) = calls.get_mut(&self.payment) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.payment);
            }
        }
    }
}
