//! Messages and stable codes of refusals, in each language.
//!
//! One `match` per kind: the compiler rejects a refusal without a message.

mod audit_fault;
mod body;
mod cash;
mod claim_gateways;
mod clock;
mod codes;
mod guard;
mod judgement;
mod names;
mod parts;
mod printer;
mod second_factor;
mod staff;
mod states;
mod subscribers;
mod waiting_list;

use std::time::Duration;

pub(in crate::http) use self::audit_fault::of_audit_fault;
use self::body::detailed;
pub(in crate::http) use self::body::{Details, NextWave, RefusalBody, fixed, made, millis};
pub(in crate::http) use self::codes::{CODES, is_code};
use self::names::{allowed, field, thing};
use self::parts::{shortened, waiting};
use self::states::{amount_differs, dead_letter_stands, order_stands, still_dead};
use super::bad_request::BadRequest;
use crate::language::{BilingualText, Language};
use crate::mall::base::whole_seconds;
use crate::mall::{CallbackError, InputError, Refusal};

/// Returns the message for a request without exactly one host.
pub(in crate::http) fn bad_host(l: Language) -> RefusalBody {
    fixed!(
        l,
        "BAD_HOST",
        "请求应有且只有一个有效的Host请求头",
        "A request needs exactly one valid Host header."
    )
}

/// Returns the message for a host that is no name of the mall.
pub(in crate::http) fn unknown_host(name: &str, l: Language) -> RefusalBody {
    made(
        l,
        "UNKNOWN_HOST",
        format!("这座商城不叫{name}；如需使用这个名字，请在启动时加--host {name}"),
        format!("This mall is not called {name}; start it with --host {name} to allow that name."),
    )
}

/// Returns the message for a change by a page of another site.
pub(in crate::http) fn cross_site(l: Language) -> RefusalBody {
    fixed!(l, "CROSS_SITE", "其他网站的页面不能替用户操作", "A page of another site may not do that.")
}

/// Returns the message of a refusal.
pub(in crate::http) fn of_refusal(refusal: &Refusal, l: Language) -> RefusalBody {
    match refusal {
        Refusal::SoldOut => fixed!(l, "SOLD_OUT", "库存不足", "Sold out."),
        Refusal::SoldOutUntil { wave_in, units } => sold_out_until(*wave_in, *units, l),
        Refusal::AlreadyBought(order) => {
            existing(l, "ALREADY_BOUGHT", order.get(), ("不能重复下单", "You have already bought this."))
        }
        Refusal::LimitReached(per_user) => made(
            l,
            "LIMIT_REACHED",
            format!("每人限购{per_user}份，您已经买满了"),
            format!("This sale allows {per_user} per user, and you have bought {per_user}."),
        ),
        Refusal::NotOpen => fixed!(l, "NOT_OPEN", "秒杀尚未开始", "The sale has not started."),
        Refusal::Ended => fixed!(l, "ENDED", "秒杀已经结束", "The sale has ended."),
        Refusal::Paused => {
            fixed!(l, "PAUSED", "秒杀已暂停，请稍后再试", "The sale is paused; try again later.")
        }
        Refusal::UnknownSale => fixed!(l, "UNKNOWN_SALE", "秒杀不存在", "This sale does not exist."),
        Refusal::AccountTooNew { old_enough_in } => {
            let span = waiting(whole_seconds(*old_enough_in), l);
            made(
                l,
                "ACCOUNT_TOO_NEW",
                format!("您的账号注册时间太短，{span}后才能抢购"),
                format!("Your account is too new for this sale; it is old enough in {span}."),
            )
        }
        Refusal::SmsCodeNeeded => fixed!(
            l,
            "SMS_CODE_NEEDED",
            "请用短信验证码重新登录后再抢购",
            "Log in again with an SMS code to buy in this sale."
        ),
        Refusal::LevelTooLow => {
            fixed!(l, "LEVEL_TOO_LOW", "会员等级不够", "This sale is for members of a higher level.")
        }
        Refusal::LooksAutomated => fixed!(
            l,
            "LOOKS_AUTOMATED",
            "操作异常，这次没有抢到；请稍后用常用的设备和网络再试",
            "This claim looks automated and was refused; try again later with your usual device and network."
        ),
        Refusal::BadRules(error) => judgement::of_rules_error(error, l),
        Refusal::NotFound(what) => {
            let what = thing(what, l);
            made(l, "NOT_FOUND", format!("{what}不存在"), format!("This {what} does not exist."))
        }
        Refusal::NotLoggedIn => fixed!(l, "NOT_LOGGED_IN", "请先登录", "Please log in first."),
        Refusal::Forbidden => fixed!(
            l,
            "FORBIDDEN",
            "没有权限：仅管理员可操作。在商城的服务器上运行 mallbox user grant 手机号 可任命管理员",
            "Only operators may do this. Run mallbox user grant PHONE on the mall's machine to appoint one."
        ),
        Refusal::Blocked => {
            fixed!(l, "BLOCKED", "账号已被停用，请联系商城", "This account is blocked; contact the mall.")
        }
        Refusal::PhoneTaken => {
            fixed!(
                l,
                "PHONE_TAKEN",
                "这个手机号已属于另一个账号",
                "This phone number belongs to another account."
            )
        }
        Refusal::CodeLoginNeeded => fixed!(
            l,
            "CODE_LOGIN_NEEDED",
            "请退出后用短信验证码重新登录，再在10分钟内设置密码",
            "Log out, log in with a code by text message, then set the password within 10 minutes."
        ),
        Refusal::SecondFactor(refusal) => second_factor::of_refusal(*refusal, l),
        Refusal::LastOperator => fixed!(
            l,
            "LAST_OPERATOR",
            "这是最后一位管理员，不能降级、停用或注销；请先任命另一位",
            "This is the last operator and cannot be demoted, blocked or deleted; appoint another one first."
        ),
        Refusal::Mistyped(mistake) => of_mistake(*mistake, l),
        Refusal::SoldInSale => fixed!(
            l,
            "BAD_REQUEST",
            "请求有误：这张优惠券只能在秒杀中购买",
            "Bad request: this voucher is sold in a flash sale; claim it there."
        ),
        Refusal::BadValue(name) => made(
            l,
            "BAD_REQUEST",
            format!("请求有误：{}不合要求：{}", field(name, l), allowed(name, l)),
            format!("Bad request: {}: expected {}.", field(name, l), allowed(name, l)),
        ),
        Refusal::RateLimited { .. } => {
            fixed!(l, "RATE_LIMITED", "操作太频繁，请稍后再试", "Too many requests; try again later.")
        }
        Refusal::Crowded { .. } => {
            fixed!(l, "CROWDED", "人太多了，请稍后再试", "Too many people at once; try again in a moment.")
        }
        Refusal::TooManyUnpaid(max) => made(
            l,
            "TOO_MANY_UNPAID",
            format!("您有{max}笔订单尚未支付，请先支付或取消"),
            format!("You have {max} unpaid orders; pay or cancel some first."),
        ),
        Refusal::PaidOrders(count) => made(
            l,
            "PAID_ORDERS",
            format!("您有{count}张已支付、未使用的券，请先使用或退款；如放弃这些券，请在注销时确认"),
            format!(
                "You have {count} paid vouchers left; use or refund them first, or give them up (forfeit)."
            ),
        ),
        Refusal::TooManyTries { retry_after } => {
            let seconds = whole_seconds(*retry_after);
            made(
                l,
                "RATE_LIMITED",
                format!("尝试次数过多，请{}后再试；急需登录请联系商城管理员", waiting(seconds, l)),
                format!(
                    "Too many attempts; try again in {}, or ask the mall's operator.",
                    waiting(seconds, l)
                ),
            )
        }
        Refusal::NotYet => fixed!(
            l,
            "NOT_YET",
            "订单正在处理，请稍后再试",
            "The order is still being processed; try again in a moment."
        ),
        Refusal::OrderStands(status) => stands(l, "ORDER_STANDS", order_stands(*status)),
        Refusal::OrderNotUsed => fixed!(
            l,
            "ORDER_NOT_USED",
            "券使用后才能评价",
            "The order can be reviewed once the voucher is used."
        ),
        Refusal::AlreadyReviewed(review) => existing(
            l,
            "ALREADY_REVIEWED",
            review.get(),
            (
                "这笔订单已评价过，每笔订单只能评价一次",
                "This order was reviewed before; an order has one review.",
            ),
        ),
        Refusal::ReviewDiffers(review) => existing(
            l,
            "REVIEW_DIFFERS",
            review.get(),
            (
                "这条评价之前已经发布，内容与这次提交的不同；如需更改，请修改评价",
                "This review was posted before, with other contents; edit the review to change it.",
            ),
        ),
        Refusal::ReviewFolded => fixed!(
            l,
            "REVIEW_FOLDED",
            "这条评价已被折叠，不能点“有用”",
            "This review is folded and accepts no votes."
        ),
        Refusal::OwnReview => {
            fixed!(l, "OWN_REVIEW", "不能给自己的评价点“有用”", "You cannot vote for your own review.")
        }
        Refusal::ReceiptMistyped => fixed!(
            l,
            "RECEIPT_MISTYPED",
            "券码输入有误，请核对后重试",
            "The code is mistyped; compare it with the receipt."
        ),
        Refusal::Unlimited => fixed!(
            l,
            "UNLIMITED",
            "这场秒杀不限量，没有库存可增减",
            "This sale is unlimited: there is no stock to change."
        ),
        Refusal::SaleIsOn => fixed!(
            l,
            "SALE_IS_ON",
            "秒杀进行中不能改价，请先暂停秒杀",
            "The price of a running sale cannot be changed; pause the sale first."
        ),
        Refusal::SaleChanged => fixed!(
            l,
            "SALE_CHANGED",
            "修改没有生效：处理期间其他操作可能已更改秒杀，请查看后重试",
            "The change was not made: another change may have come first. Check the sale, then try again."
        ),
        Refusal::StillDead(reason, words) => stands(l, "STILL_DEAD", still_dead(*reason, words)),
        Refusal::DeadLetterStands(state) => stands(l, "DEAD_LETTER_STANDS", dead_letter_stands(*state)),
        Refusal::SignedAlready => {
            fixed!(l, "SIGNED_ALREADY", "这一天已签到，无需补签", "You have already signed in on that day.")
        }
        Refusal::MakeUpsUsed(most) => made(
            l,
            "MAKE_UPS_USED",
            format!("本月补签次数已用完（每月{most}次）"),
            format!("No make-up sign-ins left this month ({most} per month)."),
        ),
        Refusal::PicturesFull(most) => made(
            l,
            "PICTURES_FULL",
            format!("每人最多保存{most}张图片，请先删除不用的图片"),
            format!("You can store at most {most} pictures; delete some first."),
        ),
        Refusal::PictureBytesFull(most) => made(
            l,
            "PICTURES_FULL",
            format!("每人的图片最多共{}MB，请先删除不用的图片", most >> 20),
            format!("Your pictures can take at most {} MiB; delete some first.", most >> 20),
        ),
        Refusal::PaymentDeclined => fixed!(l, "PAYMENT_DECLINED", "支付未成功", "The payment was declined."),
        Refusal::PayAtCounter => fixed!(
            l,
            "PAY_AT_COUNTER",
            "请到柜台付款，并出示订单号",
            "Pay at the counter; show this order's number there."
        ),
        Refusal::RefundAtCounter => fixed!(
            l,
            "REFUND_AT_COUNTER",
            "这张订单在柜台付款，请到柜台退款，并出示订单号",
            "This order was paid at the counter; get the refund there and show the order's number."
        ),
        Refusal::NotAtCounter => {
            fixed!(l, "NOT_AT_COUNTER", "这张订单不在柜台收款", "This order is not paid at the counter.")
        }
        Refusal::AmountDiffers(price) => stands(l, "AMOUNT_DIFFERS", amount_differs(*price)),
        Refusal::Callback(error) => of_callback(*error, l),
        Refusal::Guard(refusal) => guard::of_refusal(*refusal, l),
        Refusal::ClaimGateway(refusal) => claim_gateways::of_refusal(*refusal, l),
        Refusal::WaitingList(refusal) => waiting_list::of_refusal(*refusal, l),
        Refusal::Subscriber(refusal) => subscribers::of_refusal(*refusal, l),
        Refusal::Staff(refusal) => staff::of_refusal(*refusal, l),
        Refusal::Printer(refusal) => printer::of_refusal(*refusal, l),
        Refusal::Clock(refusal) => clock::of_refusal(*refusal, l),
        Refusal::Cash(refusal) => cash::of_refusal(*refusal, l),
        Refusal::Busy => {
            fixed!(l, "BUSY", "系统繁忙，请稍后再试", "The mall is busy; try again in a moment.")
        }
    }
}

/// Returns the message of a callback that is not taken.
fn of_callback(error: CallbackError, l: Language) -> RefusalBody {
    match error {
        CallbackError::Signature => fixed!(
            l,
            "BAD_SIGNATURE",
            "签名缺失、有误或已过期",
            "The signature is missing, wrong or too old."
        ),
        CallbackError::Malformed => {
            fixed!(l, "BAD_REQUEST", "回调内容不符合协议", "The callback is not as the protocol demands.")
        }
        CallbackError::Unknown => {
            fixed!(l, "NOT_FOUND", "没有这笔付款", "This mall has no such payment.")
        }
        CallbackError::Differs => fixed!(
            l,
            "PAYMENT_DIFFERS",
            "金额或币种与付款不符",
            "Amount or currency differ from the payment."
        ),
        CallbackError::NotDurable => {
            fixed!(l, "BUSY", "尚未处理完成，请重发", "The callback is not recorded yet; send it again.")
        }
    }
}

/// Returns the message of a malformed request.
pub(in crate::http) fn of_wrong(wrong: &BadRequest, l: Language) -> RefusalBody {
    let detail = wrong.words(l);
    let detail = shortened(&detail);
    made(l, "BAD_REQUEST", format!("请求有误：{detail}"), format!("Bad request: {detail}"))
}

/// Returns the message of a temporary obstacle.
pub(in crate::http) fn busy_with(what: &BilingualText, l: Language) -> RefusalBody {
    RefusalBody::Made { code: "BUSY", sentence: what.spoken(l).to_owned(), details: Details::default() }
}

/// Returns the message with the id of what exists, so that a client that lost the first response still finds
/// the order or the review.
fn existing(l: Language, code: &'static str, id: u64, (zh, en): (&str, &str)) -> RefusalBody {
    let details = Details { existing: Some(id), ..Details::default() };
    detailed(l, code, (zh.to_owned(), en.to_owned()), details)
}

/// Returns the message between two waves of a sale.
fn sold_out_until(wave_in: Duration, units: u64, l: Language) -> RefusalBody {
    let span = waiting(whole_seconds(wave_in), l);
    let words = (
        format!("这一批已抢光，{span}后再放出{units}份"),
        format!("Sold out for now: {units} more in {span}."),
    );
    let next_wave = Some(NextWave::new(wave_in, units));
    detailed(l, "SOLD_OUT", words, Details { next_wave, ..Details::default() })
}

fn stands(l: Language, code: &'static str, (zh, en): (String, String)) -> RefusalBody {
    made(l, code, zh, en)
}

/// Returns the message about the code of the present number: the page has another field for the code of the
/// new number, with the same codes of refusals.
fn of_old_code(l: Language, code: &'static str, zh: &str, en: &str) -> RefusalBody {
    let details = Details { field: Some("oldCode"), ..Details::default() };
    detailed(l, code, (zh.to_owned(), en.to_owned()), details)
}

fn of_mistake(mistake: InputError, l: Language) -> RefusalBody {
    match mistake {
        InputError::Phone => {
            fixed!(l, "PHONE_INVALID", "手机号格式错误", "This is not a valid mainland mobile number.")
        }
        InputError::Code => fixed!(l, "CODE_WRONG", "验证码错误", "Wrong code."),
        InputError::NoCode => {
            fixed!(
                l,
                "NO_CODE",
                "验证码已失效，请重新获取",
                "The code is no longer valid; request a new one."
            )
        }
        InputError::FactorCode => second_factor::wrong(l),
        InputError::FactorCodeUsed => second_factor::used(l),
        InputError::OldCode => {
            of_old_code(l, "CODE_WRONG", "原手机号的验证码错误", "The code of the present number is wrong.")
        }
        InputError::NoOldCode => of_old_code(
            l,
            "NO_CODE",
            "原手机号的验证码已失效，请重新获取",
            "The code of the present number is no longer valid; request a new one.",
        ),
        InputError::Password => {
            fixed!(l, "PASSWORD_WRONG", "手机号或密码错误", "Wrong phone number or password.")
        }
        InputError::OldPassword => {
            fixed!(l, "PASSWORD_WRONG", "原密码错误", "The current password is wrong.")
        }
        InputError::PasswordLength => {
            fixed!(
                l,
                "PASSWORD_LENGTH",
                "密码长度须为8到72个字符",
                "The password must have 8 to 72 characters."
            )
        }
        InputError::PasswordGuessable => fixed!(
            l,
            "PASSWORD_GUESSABLE",
            "这个密码太容易被猜到，请换一个，例如几个不相关的词",
            "This password is easily guessed; choose another, such as a few unrelated words."
        ),
        InputError::CodeTooSoon(seconds) => made(
            l,
            "CODE_TOO_SOON",
            format!("验证码发送太频繁，请 {seconds} 秒后再试"),
            format!("A code was sent recently; try again in {seconds} s."),
        ),
        InputError::CodesSpent(seconds) => made(
            l,
            "CODES_SPENT",
            format!("验证码发送已达上限，请{}后再试，或用密码登录，或联系商城管理员", waiting(seconds, l)),
            format!(
                "No more codes can be sent; try again in {}, log in by password, or ask the mall's operator.",
                waiting(seconds, l)
            ),
        ),
        InputError::Missing(name) => made(
            l,
            "MISSING",
            format!("请填写{}", field(name, l)),
            format!("Please fill in: {}.", field(name, l)),
        ),
        InputError::OutOfRange(name) => made(
            l,
            "OUT_OF_RANGE",
            format!("{}不合要求：{}", field(name, l), allowed(name, l)),
            format!("Invalid {}: expected {}.", field(name, l), allowed(name, l)),
        ),
        InputError::NoPicture => fixed!(
            l,
            "PICTURE_INVALID",
            "只能上传JPG、PNG、WebP或GIF图片，且文件须完整",
            "Only complete JPEG, PNG, WebP and GIF pictures can be uploaded."
        ),
        InputError::TooManyPixels(most) => made(
            l,
            "PICTURE_TOO_LARGE",
            format!("图片尺寸太大（最多{most}00万像素），请缩小后再上传"),
            format!("The picture has more than {most} million pixels; scale it down first."),
        ),
        InputError::Oneself => fixed!(l, "ONESELF", "不能关注自己", "You cannot follow yourself."),
    }
}
