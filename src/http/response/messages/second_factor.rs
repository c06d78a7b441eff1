//! Messages about second factors.

use super::body::{RefusalBody, fixed};
use crate::language::Language;
use crate::mall::FactorRefusal;

/// Returns the message for a wrong code.
pub(super) fn wrong(l: Language) -> RefusalBody {
    fixed!(
        l,
        "SECOND_FACTOR_WRONG",
        "动态码或恢复码错误；如一直出错，请检查手机时间是否准确",
        "Wrong code. If codes are never right, check the clock of your phone."
    )
}

/// Returns the message for a code that was used before.
pub(super) fn used(l: Language) -> RefusalBody {
    fixed!(
        l,
        "SECOND_FACTOR_USED",
        "这个动态码已用过，请等应用显示下一个",
        "This code was used already; wait for the next one."
    )
}

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: FactorRefusal, l: Language) -> RefusalBody {
    match refusal {
        FactorRefusal::Required => fixed!(
            l,
            "SECOND_FACTOR_REQUIRED",
            "请先完成两步验证：输入身份验证器应用中的6位数字，或一个恢复码",
            "Give your second factor first: the code of your authenticator app, or a recovery code."
        ),
        FactorRefusal::EnrolmentRequired => fixed!(
            l,
            "SECOND_FACTOR_ENROLMENT_REQUIRED",
            "商城要求管理员使用两步验证：请先在管理台设置",
            "This mall requires a second factor of operators; set it up in the console first."
        ),
        FactorRefusal::Stays => fixed!(
            l,
            "SECOND_FACTOR_STAYS",
            "商城要求管理员使用两步验证，不能关闭，只能更换",
            "This mall requires a second factor of operators; replace it instead of removing it."
        ),
        FactorRefusal::FreshLogInNeeded => fixed!(
            l,
            "FRESH_LOGIN_NEEDED",
            "请填写密码，或退出后重新登录，再在10分钟内设置",
            "Enter your password, or log out, log in again, and set it up within 10 minutes."
        ),
    }
}
