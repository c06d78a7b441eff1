//! Messages about cash sessions.

use mallbox_storage::CASH_MAX;

use super::body::{RefusalBody, fixed, made};
use crate::language::Language;
use crate::mall::CashRefusal;

/// Returns the message of a refusal: what is wrong, and what to do.
pub(super) fn of_refusal(refusal: CashRefusal, l: Language) -> RefusalBody {
    match refusal {
        CashRefusal::NoSession => fixed!(
            l,
            "CASH_NO_SESSION",
            "这个收银台还没有开班，现金没有记账：请先在“收银”里开班，再收款或退款",
            "This till has no open cash session and no cash was recorded; open the drawer under Cash, then try again."
        ),
        CashRefusal::SessionOpen => fixed!(
            l,
            "CASH_SESSION_OPEN",
            "这个收银台已经开班：请先交班，再重新开班",
            "This till has an open cash session; close that session first."
        ),
        CashRefusal::TillsFull(max) => made(
            l,
            "CASH_TILLS_FULL",
            format!("最多{max}个收银台同时开班，请先让其中一个收银台交班"),
            format!("At most {max} tills can have open cash sessions; close one first."),
        ),
        CashRefusal::Short(held) => made(
            l,
            "CASH_SHORT",
            format!("钱箱按账只有{}元，不够付：请先存入现金", held.yuan()),
            format!(
                "The drawer holds only {} yuan by the books. Pay cash in first, or refund another way.",
                held.yuan()
            ),
        ),
        CashRefusal::TooMuch => made(
            l,
            "CASH_TOO_MUCH",
            format!("一个班次的每项合计最多{}元：请核对金额，或先交班", CASH_MAX.yuan()),
            format!(
                "No sum of a cash session may exceed {} yuan; check the amount, or close the session first.",
                CASH_MAX.yuan()
            ),
        ),
        CashRefusal::TooManyMoves(max) => made(
            l,
            "CASH_MOVES_FULL",
            format!("一个班次最多存取现金{max}次，请先交班"),
            format!("Cash can be paid in or out at most {max} times per session; close the session first."),
        ),
        CashRefusal::KeyUsed => fixed!(
            l,
            "CASH_KEY_USED",
            "这次操作已按另一金额或原因记账，本次没有再记：请核对存取记录，还要记一笔请重新填写（换新的requestId）",
            "Another amount or reason was recorded with this requestId, and nothing now; check the entries, and \
             start again with a new requestId for a further entry."
        ),
        CashRefusal::Changed(expected) => made(
            l,
            "CASH_CHANGED",
            format!("清点期间钱箱又有收支，应有现金现为{}元：请核对后再交班", expected.yuan()),
            format!(
                "The drawer changed since the count: {} yuan are expected now. Check, then close again.",
                expected.yuan()
            ),
        ),
        CashRefusal::Closed(number) => made(
            l,
            "CASH_SESSION_CLOSED",
            format!("这个班次已经交班，见Z报表{number}"),
            format!("This cash session is closed already, by Z report {number}."),
        ),
    }
}
