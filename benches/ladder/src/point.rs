//! Named points of a request, at which a trigger can hold, stop or kill its instance.

use serde::{Deserialize, Serialize};

/// A point between two steps of a request or of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// The lock is set, its expiry is not.
    Locked,
    /// Stock and buyer are checked, nothing is written.
    Checked,
    /// A unit has left the stock, the order is not written.
    Taken,
    /// The lock is released, the transaction is not committed.
    Unlocked,
    /// The work is over, the lock is still held.
    Releasing,
    /// The owner of the lock is compared, the lock is not deleted.
    OwnerChecked,
    /// A worker has a message, the order is not written.
    Dequeued,
    /// A worker has committed the order, the message is not marked as done.
    Stored,
}
