//! Codes and texts about second factors.

use crate::language::{Bilingual, both};
use crate::mall::FactorRefusal;

/// A code of the API, and its text.
pub(super) type CodeAndText = (&'static str, Bilingual);

/// A wrong code.
pub(super) const WRONG: CodeAndText = (
    "SECOND_FACTOR_WRONG",
    both(
        "动态码或恢复码错误；如一直出错，请检查手机时间是否准确",
        "Wrong code. If codes are never right, check the clock of your phone.",
    ),
);
/// A code that was used before.
pub(super) const USED: CodeAndText = (
    "SECOND_FACTOR_USED",
    both("这个动态码已用过，请等应用显示下一个", "This code was used already; wait for the next one."),
);

/// Returns code and text of a refusal.
pub(super) fn of_refusal(refusal: FactorRefusal) -> CodeAndText {
    match refusal {
        FactorRefusal::Required => (
            "SECOND_FACTOR_REQUIRED",
            both(
                "请先完成两步验证：输入身份验证器应用中的6位数字，或一个恢复码",
                "Give your second factor first: the code of your authenticator app, or a recovery code.",
            ),
        ),
        FactorRefusal::EnrolmentRequired => (
            "SECOND_FACTOR_ENROLMENT_REQUIRED",
            both(
                "商城要求管理员使用两步验证：请先在管理台设置",
                "This mall requires a second factor of operators; set it up in the console first.",
            ),
        ),
        FactorRefusal::Stays => (
            "SECOND_FACTOR_STAYS",
            both(
                "商城要求管理员使用两步验证，不能关闭，只能更换",
                "This mall requires a second factor of operators; replace it instead of removing it.",
            ),
        ),
        FactorRefusal::FreshLogInNeeded => (
            "FRESH_LOGIN_NEEDED",
            both(
                "请填写密码，或退出后重新登录，再在10分钟内设置",
                "Enter your password, or log out, log in again, and set it up within 10 minutes.",
            ),
        ),
    }
}
