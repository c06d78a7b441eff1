//! What each refusal says to a person, in each language, and its code, which never changes.
//!
//! One `match` per kind: the compiler sees to it that nothing is left without words.

use mallbox_storage::OrderId;

use super::language::Language;
use crate::mall::{Mistake, Refusal};

/// The body of a refusal.
#[derive(Debug)]
pub(super) enum Words {
    /// Written out when mallbox was compiled: what is said thousands of times a second.
    Fixed {
        /// Its code.
        code: &'static str,
        /// The whole body.
        body: &'static str,
    },
    /// Made for the occasion.
    Made {
        /// Its code.
        code: &'static str,
        /// The sentence.
        sentence: String,
        /// The order it speaks of.
        order: Option<OrderId>,
    },
}

/// The whole body of a refusal in both languages, and the choice between them.
macro_rules! fixed {
    ($language:expr, $code:literal, $zh:literal, $en:literal) => {
        Words::Fixed {
            code: $code,
            body: match $language {
                Language::Zh => {
                    concat!(r#"{"success":false,"errorMsg":""#, $zh, r#"","code":""#, $code, r#""}"#)
                }
                Language::En => {
                    concat!(r#"{"success":false,"errorMsg":""#, $en, r#"","code":""#, $code, r#""}"#)
                }
            },
        }
    };
}
pub(super) use fixed;

/// Words made for the occasion.
pub(super) fn made(language: Language, code: &'static str, zh: String, en: String) -> Words {
    let sentence = match language {
        Language::Zh => zh,
        Language::En => en,
    };
    Words::Made { code, sentence, order: None }
}

/// What a refusal says.
pub(super) fn of_refusal(refusal: &Refusal, l: Language) -> Words {
    match refusal {
        Refusal::SoldOut => fixed!(l, "SOLD_OUT", "库存不足", "Sold out."),
        Refusal::AlreadyBought(order) => already_bought(*order, l),
        Refusal::NotOpen => fixed!(l, "NOT_OPEN", "秒杀尚未开始", "The sale has not begun."),
        Refusal::Ended => fixed!(l, "ENDED", "秒杀已经结束", "The sale is over."),
        Refusal::Paused => {
            fixed!(l, "PAUSED", "秒杀已暂停，请稍后再试", "The sale is on hold; try again later.")
        }
        Refusal::UnknownSale => fixed!(l, "UNKNOWN_SALE", "没有这场秒杀", "There is no such sale."),
        Refusal::LevelTooLow => {
            fixed!(l, "LEVEL_TOO_LOW", "会员等级不够", "This sale is for members of a higher level.")
        }
        Refusal::NotFound(what) => {
            let what = thing(what, l);
            made(l, "NOT_FOUND", format!("{what}不存在"), format!("There is no such {what}."))
        }
        Refusal::NotLoggedIn => fixed!(l, "NOT_LOGGED_IN", "请先登录", "Please log in first."),
        Refusal::Forbidden => fixed!(l, "FORBIDDEN", "没有权限", "Only an operator may do that."),
        Refusal::Mistyped(mistake) => of_mistake(*mistake, l),
        Refusal::BadRequest(detail) => {
            let detail = shortened(detail);
            made(l, "BAD_REQUEST", format!("请求有误：{detail}"), format!("Bad request: {detail}"))
        }
        Refusal::RateLimited { .. } => {
            fixed!(l, "RATE_LIMITED", "操作太频繁，请稍后再试", "Too many requests; try again later.")
        }
        Refusal::NotYet => fixed!(
            l,
            "NOT_YET",
            "订单正在处理，请稍后再试",
            "The order is still being written; try again in a moment."
        ),
        Refusal::OrderStands(status) => order_stands(*status, l),
        Refusal::PaymentDeclined => fixed!(l, "PAYMENT_DECLINED", "支付未成功", "The payment was declined."),
        Refusal::Busy => {
            fixed!(l, "BUSY", "系统繁忙，请稍后再试", "The mall is busy; try again in a moment.")
        }
    }
}

/// Names the order held, so that who lost the first answer still finds what they bought.
fn already_bought(order: OrderId, l: Language) -> Words {
    let sentence = match l {
        Language::Zh => "不能重复下单",
        Language::En => "You have bought this already.",
    };
    Words::Made { code: "ALREADY_BOUGHT", sentence: sentence.to_owned(), order: Some(order) }
}

fn order_stands(status: u8, l: Language) -> Words {
    let (zh, en) = match status {
        0 => ("订单正在处理", "The order is still being written."),
        1 => ("订单尚未支付", "The order is not paid yet."),
        2 => ("订单已支付", "The order is paid already."),
        3 => ("订单已核销", "The order has been used already."),
        4 => ("订单已取消", "The order has been cancelled."),
        5 => ("订单退款中", "The order is being refunded."),
        6 => ("订单已退款", "The order has been refunded."),
        _ => ("订单状态不允许此操作", "The order does not allow this step."),
    };
    made(l, "ORDER_STANDS", zh.to_owned(), en.to_owned())
}

fn of_mistake(mistake: Mistake, l: Language) -> Words {
    match mistake {
        Mistake::Phone => {
            fixed!(l, "PHONE_INVALID", "手机号格式错误", "That is not a mainland mobile number.")
        }
        Mistake::Code => fixed!(l, "CODE_WRONG", "验证码错误", "The code is wrong."),
        Mistake::NoCode => {
            fixed!(l, "NO_CODE", "验证码已失效，请重新获取", "There is no valid code; ask for a new one.")
        }
        Mistake::Password => {
            fixed!(l, "PASSWORD_WRONG", "手机号或密码错误", "Phone number or password is wrong.")
        }
        Mistake::PasswordLength => {
            fixed!(l, "PASSWORD_LENGTH", "密码长度须为8到72个字节", "A password has 8 to 72 bytes.")
        }
        Mistake::CodeTooSoon(seconds) => made(
            l,
            "CODE_TOO_SOON",
            format!("验证码发送太频繁，请 {seconds} 秒后再试"),
            format!("A code was sent already; ask again in {seconds} s."),
        ),
        Mistake::Missing(name) => made(
            l,
            "MISSING",
            format!("请填写{}", field(name, l)),
            format!("Please fill in: {}.", field(name, l)),
        ),
        Mistake::OutOfRange(name) => made(
            l,
            "OUT_OF_RANGE",
            format!("{}不合要求：{}", field(name, l), allowed(name, l)),
            format!("Not allowed: {}; expected {}.", field(name, l), allowed(name, l)),
        ),
    }
}

/// What something is called.
fn thing(name: &'static str, l: Language) -> &'static str {
    match (l, name) {
        (Language::Zh, "user") => "用户",
        (Language::Zh, "shop") => "店铺",
        (Language::Zh, "shop type") => "店铺类型",
        (Language::Zh, "voucher") => "优惠券",
        (Language::Zh, "order") => "订单",
        (Language::Zh, "sale") => "秒杀",
        (Language::Zh, "code") => "验证码",
        _ => name,
    }
}

/// What a field of a form is called. English keeps the API's own name.
fn field(name: &'static str, l: Language) -> &'static str {
    match (l, name) {
        (Language::Zh, "title") => "标题",
        (Language::Zh, "subTitle") => "副标题",
        (Language::Zh, "rules") => "使用规则",
        (Language::Zh, "name") => "名称",
        (Language::Zh, "address") => "地址",
        (Language::Zh, "area") => "商圈",
        (Language::Zh, "images") => "图片",
        (Language::Zh, "nickName") => "昵称",
        (Language::Zh, "icon") => "头像",
        (Language::Zh, "city") => "城市",
        (Language::Zh, "introduce") => "个人介绍",
        (Language::Zh, "birthday") => "生日",
        (Language::Zh, "stock") => "库存",
        (Language::Zh, "beginTime") => "开始时间",
        (Language::Zh, "endTime") => "结束时间",
        (Language::Zh, "payValue") => "支付金额",
        (Language::Zh, "actualValue") => "抵扣金额",
        (Language::Zh, "phone") => "手机号",
        (Language::Zh, "code") => "验证码",
        (Language::Zh, "password") => "密码",
        (Language::Zh, "shopId") => "店铺编号",
        (Language::Zh, "typeId") => "店铺类型编号",
        (Language::Zh, "id") => "编号",
        (Language::Zh, "x") => "经度",
        (Language::Zh, "y") => "纬度",
        (Language::Zh, "openHours") => "营业时间",
        (Language::Zh, "avgPrice") => "人均价格",
        (Language::Zh, "sold") => "销量",
        (Language::Zh, "comments") => "评论数",
        (Language::Zh, "score") => "评分",
        (Language::Zh, "status") => "状态",
        (Language::Zh, "minLevel") => "会员等级",
        _ => name,
    }
}

/// What may stand in a field: the services' limits in words.
fn allowed(name: &'static str, l: Language) -> &'static str {
    let (zh, en) = match name {
        "title" | "subTitle" | "address" => ("最多255个字", "at most 255 characters"),
        "name" | "area" | "introduce" => ("最多128个字", "at most 128 characters"),
        "rules" => ("最多1024个字", "at most 1024 characters"),
        "city" => ("最多64个字", "at most 64 characters"),
        "nickName" | "openHours" => ("最多32个字", "at most 32 characters"),
        "images" => (
            "须是以/或http(s)://开头的图片地址，用逗号隔开，最多1024个字",
            "addresses of pictures that begin with / or http(s)://, between commas, at most 1024 characters",
        ),
        "icon" => ("须是本站以/开头的图片路径", "the path of a picture of this mall, beginning with /"),
        "birthday" => ("格式为2000-01-31，且不晚于今天", "a day like 2000-01-31, not after today"),
        "stock" => ("须为1以上的整数，-1表示不限量", "1 or more, or -1 for unlimited"),
        "beginTime" => {
            ("格式为2026-11-21T10:00:00，不带时区", "a time like 2026-11-21T10:00:00, without a zone")
        }
        "endTime" => (
            "格式为2026-11-21T10:00:00，不带时区，且晚于开始时间",
            "a time like 2026-11-21T10:00:00, without a zone, after beginTime",
        ),
        "payValue" | "actualValue" | "avgPrice" | "sold" | "comments" => {
            ("须为不小于0的整数，且不能过大", "a whole number from 0 on, not too large")
        }
        "x" => ("须在-180与180之间", "-180 to 180 degrees"),
        "y" => ("须在-85.05与85.05之间", "-85.05 to 85.05 degrees"),
        "score" => {
            ("须为10到50的整数（星级×10），0表示暂无", "10 to 50 (ten times the stars, or 0 for none yet)")
        }
        "status" => ("须为1（上架）、2（下架）或3（过期）", "1 on the shelf, 2 off it, or 3 expired"),
        "minLevel" => ("须为0到9", "0 to 9"),
        _ => ("请检查后重填", "another value"),
    };
    match l {
        Language::Zh => zh,
        Language::En => en,
    }
}

/// A detail may quote what the client sent: a sentence's length of it is enough.
pub(super) fn shortened(detail: &str) -> &str {
    const LONGEST: usize = 200;
    match detail.char_indices().nth(LONGEST) {
        Some((end, _)) => &detail[..end],
        None => detail,
    }
}
