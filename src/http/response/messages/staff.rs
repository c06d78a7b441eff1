//! Messages about staff and their PINs.

use super::body::{RefusalBody, fixed};
use super::made;
use crate::language::Language;
use crate::mall::base::StaffRefusal;

/// Returns the message of a refusal.
pub(super) fn of_refusal(refusal: StaffRefusal, l: Language) -> RefusalBody {
    match refusal {
        StaffRefusal::UnknownKiosk => fixed!(
            l,
            "KIOSK_UNKNOWN",
            "这台设备不是受信任的自助终端，不能凭PIN登录：请管理员在管理台的“自助终端”里添加",
            "This device is not a trusted kiosk. Ask an operator to add it under Kiosks in the console."
        ),
        StaffRefusal::WrongPin => fixed!(l, "PIN_WRONG", "PIN错误", "Wrong PIN."),
        StaffRefusal::PinForm => {
            fixed!(l, "PIN_FORM", "PIN须为6到12位数字", "A PIN has 6 to 12 digits.")
        }
        StaffRefusal::PinGuessable => fixed!(
            l,
            "PIN_GUESSABLE",
            "这个PIN太容易被猜到：请不要用连号、重复的数字或日期",
            "This PIN is easily guessed; avoid runs, repeated digits and dates."
        ),
        StaffRefusal::PinTaken => {
            fixed!(l, "PIN_TAKEN", "请换一个PIN", "Choose another PIN; this one cannot be used.")
        }
        StaffRefusal::NameTaken => fixed!(
            l,
            "STAFF_NAME_TAKEN",
            "已有同名的店员，请换一个姓名",
            "Another staff member has this name; choose another."
        ),
        StaffRefusal::TooMany(most) => made(
            l,
            "STAFF_FULL",
            format!("最多{most}名店员，请先移除离职的"),
            format!("There can be at most {most} people; remove one first."),
        ),
        StaffRefusal::SaleDiffers => fixed!(
            l,
            "REQUEST_ID_REUSED",
            "这个requestId已用于另一笔金额不同的销售，请换一个",
            "This requestId was used for a sale with another amount; choose another."
        ),
        StaffRefusal::NoCounterCodes => fixed!(
            l,
            "COUNTER_CODES_OFF",
            "本商城没有开启柜台登录码：启动时须加上--counter-codes",
            "Login codes at the counter are off; the mall has to be started with --counter-codes."
        ),
        StaffRefusal::CodeOfOperator => fixed!(
            l,
            "OPERATOR_PHONE",
            "这是管理员的手机号，柜台不能为管理员生成登录码",
            "This is an operator's phone number. Login codes at the counter are for customers."
        ),
    }
}
