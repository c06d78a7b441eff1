//! Ports of selling.

pub mod attempts;
pub mod cancellations;
pub mod cash;
pub mod claim_batches;
pub mod claim_gateways;
pub mod dead_letters;
pub mod deadlines;
pub mod fencing;
pub mod group_claims;
pub mod order_counts;
pub mod order_lists;
pub mod order_log;
pub mod orders;
pub mod orders_model;
pub mod outbox;
pub mod passes;
pub mod payment_modes;
pub mod payments;
pub mod purchases;
pub mod sales;
pub mod units_per_user;
pub mod waiting_lists;
pub mod waiting_rooms;
pub mod walk_ins;

use crate::case::Case;

/// The cases of the area, by module.
pub(crate) const CASES: &[(&str, &[Case])] = &[
    ("attempts", attempts::CASES),
    ("cancellations", cancellations::CASES),
    ("cash", cash::CASES),
    ("claim_batches", claim_batches::CASES),
    ("claim_gateways", claim_gateways::CASES),
    ("dead_letters", dead_letters::CASES),
    ("deadlines", deadlines::CASES),
    ("fencing", fencing::CASES),
    ("group_claims", group_claims::CASES),
    ("order_counts", order_counts::CASES),
    ("order_lists", order_lists::CASES),
    ("order_log", order_log::CASES),
    ("orders", orders::CASES),
    ("orders_model", orders_model::CASES),
    ("outbox", outbox::CASES),
    ("passes", passes::CASES),
    ("payment_modes", payment_modes::CASES),
    ("payments", payments::CASES),
    ("purchases", purchases::CASES),
    ("sales", sales::CASES),
    ("units_per_user", units_per_user::CASES),
    ("waiting_lists", waiting_lists::CASES),
    ("waiting_rooms", waiting_rooms::CASES),
    ("walk_ins", walk_ins::CASES),
];
