//! Messages about the machine's clock.

use super::body::{RefusalBody, fixed};
use crate::language::Language;
use crate::mall::ClockRefusal;

/// Returns the message of a refusal: what is wrong, and what to do.
pub(super) fn of_refusal(refusal: ClockRefusal, l: Language) -> RefusalBody {
    match refusal {
        ClockRefusal::Unsure => fixed!(
            l,
            "CLOCK_UNSURE",
            "商城的时钟可能不准，抢购和签到暂停；请店员校准时间，或在管理台确认时间",
            "The mall's clock may be wrong: sales and sign-ins wait until the staff sets or confirms the time."
        ),
        ClockRefusal::Moved => fixed!(
            l,
            "CLOCK_MOVED",
            "时钟已经变了，没有确认：请看清现在的时间，再确认一次",
            "The clock has moved and was not confirmed; read its present time, then confirm again."
        ),
        ClockRefusal::BeforeRelease => fixed!(
            l,
            "CLOCK_IMPOSSIBLE",
            "时钟早于mallbox本身的日期，不可能正确：请先校准本机的时间",
            "The clock is earlier than mallbox itself and cannot be right; set the machine's clock first."
        ),
    }
}
