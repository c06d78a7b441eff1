//! Places in waiting lists in the export of personal data.

use jiff::tz::TimeZone;
use mallbox_storage::{OrderId, WaitingEntry};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mall::base::wall_time;

/// A place in a waiting list in an export.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitingPart {
    voucher_id: u64,
    /// `WAITING`, `OFFERED`, `PROMOTED`, `LEFT`, `EXPIRED` or `DROPPED`.
    #[schemars(example = &"WAITING")]
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"662319245210910723")]
    order_id: Option<String>,
    #[schemars(example = &"2026-11-21T10:09:17")]
    joined_time: String,
    /// Time of the last change of the state.
    #[schemars(example = &"2026-11-21T10:09:17")]
    changed_time: String,
}

impl WaitingPart {
    pub(super) fn new(entry: &WaitingEntry, zone: &TimeZone) -> Self {
        Self {
            voucher_id: entry.voucher.get(),
            state: entry.state.name(),
            order_id: entry.order.as_ref().map(OrderId::to_string),
            joined_time: wall_time::text(entry.joined, zone),
            changed_time: wall_time::text(entry.changed, zone),
        }
    }
}
