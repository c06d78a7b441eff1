//! Messages about waiting lists.

use super::body::{RefusalBody, fixed};
use crate::language::Language;
use crate::mall::base::WaitingRefusal;

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: WaitingRefusal, l: Language) -> RefusalBody {
    match refusal {
        WaitingRefusal::NoList => {
            fixed!(l, "NO_WAITING_LIST", "这场秒杀没有开放候补", "This sale has no waiting list.")
        }
        WaitingRefusal::Full => {
            fixed!(l, "WAITING_LIST_FULL", "候补名单已满", "The waiting list is full.")
        }
        WaitingRefusal::UnitsLeft => fixed!(
            l,
            "UNITS_LEFT",
            "还有库存，不用候补，直接抢购吧",
            "Units are left: buy now, without waiting."
        ),
    }
}
