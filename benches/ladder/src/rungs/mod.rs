//! The rungs, one file each, to be read in the order of the [catalogue](crate::catalogue).

pub(crate) mod check_then_delete;
pub(crate) mod conditional_update;
pub(crate) mod decr_below_zero;
pub(crate) mod delete_blindly;
pub(crate) mod delete_by_script;
pub(crate) mod fencing_token;
pub(crate) mod for_update;
pub(crate) mod get_lock;
pub(crate) mod get_then_decr;
pub(crate) mod message_table;
pub(crate) mod multi_lock;
pub(crate) mod owner_is_user;
pub(crate) mod process_lock;
pub(crate) mod read_then_write;
pub(crate) mod script_and_queue;
pub(crate) mod script_and_stream;
mod seller;
pub(crate) mod setnx_then_expire;
mod shop;
pub(crate) mod spin;
pub(crate) mod stock_buckets;
pub(crate) mod unlock_after_commit;
pub(crate) mod unlock_before_commit;
mod user_locks;
pub(crate) mod version_number;
pub(crate) mod watchdog;

pub(crate) use seller::{LEASE, Seller};
