//! Every screen in every size: it opens without an error, fits, uses one language, and is accessible.
//!
//! With `SCREENSHOTS` set to a directory, the tests also write a screenshot of each screen; `tests/look` does
//! so.

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use mallbox::fixture::Mall;
use mallbox_storage::PaymentMode;
use mallbox_test_payment_gateway::PaymentGateway;
use serde_json::json;

use crate::gateway::mall_with_gateway;
use crate::guards::guard;
use crate::harness::{Browser, Page, Place as _, Screen};
use crate::judgement::judged_sale;
use crate::levels::members_sale;
use crate::people::{
    ANNE, BEN, CARL, CAUTIOUS, DORA, EVE, NOBODY, OPENING, OPERATOR, RUNNING, appoint_cautious, browser_of,
    buy, evening, pay, set_payment_mode,
};
use crate::reviews::{posted, used_order};
use crate::waiting_lists::waited_for_sale;
use crate::waiting_rooms::queued_sale;
use crate::waves::sale_between_waves;
use crate::words;

/// A screen: name, phone number of the user, path, and a text shown in Chinese and in English.
type Entry = (&'static str, &'static str, &'static str, [&'static str; 2]);

/// Every screen. New screens belong here.
const SCREENS: &[Entry] = &[
    ("home", NOBODY, "/", ["限时秒杀", "Flash sales"]),
    ("sales", NOBODY, "/#/sales", ["限时秒杀", "Flash sales"]),
    ("login", NOBODY, "/#/login", ["获取验证码", "Send code"]),
    ("shops", NOBODY, "/#/shops", ["离我最近", "Nearest"]),
    ("search", NOBODY, "/#/search", ["搜索店铺", "Search shops"]),
    ("shop", ANNE, "/#/shop/1", ["购买", "Buy"]),
    ("place", NOBODY, "/#/place", ["用我的位置", "Use my location"]),
    ("sale-on", BEN, "/#/sale/51", ["立即抢购", "Buy now"]),
    ("sale-bought", ANNE, "/#/sale/51", ["你已经买到了", "You already have this voucher"]),
    ("sale-strange", NOBODY, "/#/sale/51", ["登录后抢购", "Log in to buy"]),
    ("sale-waves", BEN, "/#/sale/{waves}", ["等待下一批", "Waiting for the next wave"]),
    ("sale-waiting", BEN, "/#/sale/{waited}", ["前面还有 1 人", "1 person before you"]),
    ("sale-queue", BEN, "/#/sale/{queued}", ["前面还有 1 人", "1 person before you"]),
    ("sale-members", ANNE, "/#/sale/{members}", ["需要 9 级会员", "Members of level 9"]),
    ("orders", ANNE, "/#/orders", ["待付款", "Awaiting payment"]),
    ("orders-none", BEN, "/#/orders", ["还没有订单", "No orders yet"]),
    ("order-unpaid", ANNE, "/#/order/{unpaid}", ["内付款", "Pay within"]),
    ("order-paid", ANNE, "/#/order/{paid}", ["到店出示券码即可使用", "Show the code in the shop"]),
    ("order-counter", CARL, "/#/order/{counter}", ["内到柜台付款", "at the counter"]),
    ("order-gateway", EVE, "/#/order/{gateway}", ["等待付款结果", "Waiting for the payment"]),
    ("notes", NOBODY, "/#/notes", ["热门", "Popular"]),
    ("note", ANNE, "/#/note/1", ["评论", "omment"]),
    ("write", ANNE, "/#/write", ["发布", "Publish"]),
    ("person", ANNE, "/#/person/2", ["关注", "Follow"]),
    ("me", ANNE, "/#/me", ["退出登录", "Log out"]),
    ("me-edit", ANNE, "/#/me/edit", ["保存", "Save"]),
    ("me-password", ANNE, "/#/me/password", ["密码", "assword"]),
    ("me-phone", ANNE, "/#/me/phone", ["新的手机号", "New number"]),
    ("me-sessions", ANNE, "/#/me/sessions", ["这台设备", "This device"]),
    ("me-level", ANNE, "/#/me/level", ["积分记录", "Credits"]),
    ("me-reviews", ANNE, "/#/me/reviews", ["还没有评价", "No reviews yet"]),
    ("me-reviews-some", DORA, "/#/me/reviews", ["查看评价", "View review"]),
    ("orders-used", DORA, "/#/orders", ["查看评价", "See your review"]),
    ("review", ANNE, "/#/review/{review}", ["有用", "Helpful"]),
    ("review-own", DORA, "/#/review/{review}", ["修改", "Edit"]),
    ("review-gone", NOBODY, "/#/review/404", ["看不到这条评价", "This review cannot be shown"]),
    ("review-write", EVE, "/#/review?order={used}", ["发布评价", "Post the review"]),
    ("review-edit", DORA, "/#/review?id={review}", ["保存修改", "Save"]),
    ("review-twice", DORA, "/#/review?order={reviewed}", ["已经评价过了", "has a review already"]),
    ("sign-in", ANNE, "/#/sign-in", ["签到", "heck"]),
    ("api", NOBODY, "/api.html", ["登录", "Log in"]),
    ("manual", NOBODY, "/mall/manual/", ["每页独立成篇", "Each page stands alone"]),
    ("manual-tables", NOBODY, "/mall/manual/redis-mysql", ["持久性", "Durability"]),
    ("manual-code", NOBODY, "/mall/manual/fixture", ["控制接口", "Controls"]),
    ("manual-api", NOBODY, "/mall/manual/api", ["全部接口", "All calls"]),
    ("nowhere", NOBODY, "/#/note/seven", ["页面不存在", "This page does not exist"]),
    ("kiosk", NOBODY, "/?kiosk&attract=0", ["点一下就开始", "Tap to start"]),
    ("kiosk-sale", NOBODY, "/?kiosk#/sale/51", ["登录后抢购", "Log in to buy"]),
    ("kiosk-waiting", NOBODY, "/?kiosk#/sale/{waited}", ["登录后候补", "Log in to join"]),
    ("kiosk-review", NOBODY, "/?kiosk#/review/{review}", ["汤很鲜", "汤很鲜"]),
    ("kiosk-login", NOBODY, "/?kiosk#/login", ["获取验证码", "Send code"]),
    ("kiosk-place", NOBODY, "/?kiosk#/place", ["按地段选", "By area"]),
    ("kiosk-attract", NOBODY, "/?kiosk&attract=0.1", ["距结束", "Ends in"]),
    ("kiosk-shop", NOBODY, "/?kiosk&shop=1&attract=0", ["购买", "Buy"]),
    ("kiosk-shop-none", NOBODY, "/?kiosk&shop=one&attract=0", ["没有这家店", "There is no such shop"]),
    ("console-door", NOBODY, "/console", ["只有管理员能进入", "For operators only"]),
    ("console-customer", ANNE, "/console", ["这里只对管理员开放", "Operators only"]),
    ("console-live", OPERATOR, "/console#/live", ["正在进行的秒杀", "Open sales"]),
    ("console-sales", OPERATOR, "/console#/sales", ["进行中", "Open"]),
    ("console-new-sale", OPERATOR, "/console#/sales/new", ["创建秒杀", "Create sale"]),
    ("console-waves", OPERATOR, "/console#/sale/{waves}", ["待放出", "To come"]),
    ("console-waiting", OPERATOR, "/console#/sale/{waited}", ["2 人候补", "2 waiting"]),
    ("console-queue", OPERATOR, "/console#/sale/{queued}", ["2 人在排队", "2 waiting"]),
    ("console-guard", OPERATOR, "/console#/sale/{guarded}", ["关闭防护", "Turn off the guard"]),
    ("console-judged", OPERATOR, "/console#/sale/{judged}", ["修改风控", "Change the judgement"]),
    ("console-attempts", OPERATOR, "/console#/sale/{judged}/attempts", ["其他 1", "other: 1"]),
    (
        "console-rules",
        OPERATOR,
        "/console#/judgement?sale={judged}",
        ["滑动的快慢变化", "Variation of the slide"],
    ),
    ("console-kiosks", OPERATOR, "/console#/kiosks", ["添加终端", "Add a kiosk"]),
    ("console-gateways", OPERATOR, "/console#/claim-gateways", ["添加网关", "Add a gateway"]),
    ("console-sale", OPERATOR, "/console#/sale/51", ["账目平衡", "The ledger balances"]),
    ("console-orders", OPERATOR, "/console#/orders", ["未支付", "Unpaid"]),
    ("console-order", OPERATOR, "/console#/order/{paid}", ["去核销", "Redeem"]),
    ("console-redeem", OPERATOR, "/console#/redeem", ["输入凭证码", "Enter or scan the code"]),
    ("console-till", OPERATOR, "/console#/redeem?code={counter}", ["柜台收款", "Record a payment"]),
    ("console-cash", OPERATOR, "/console#/cash", ["已开班", "The drawer is open"]),
    ("console-letters", OPERATOR, "/console#/letters", ["没有待处理的死信", "Nothing pending"]),
    ("console-retries", OPERATOR, "/console#/retries", ["没有最终失败的任务", "No task has failed for good"]),
    ("console-reports", OPERATOR, "/console#/reports", ["举报", "Reports"]),
    ("console-reviews", OPERATOR, "/console#/reviews", ["店家回复", "Reply of the shop"]),
    ("console-votes", OPERATOR, "/console#/votes", ["每一票一行", "One line per vote"]),
    (
        "console-vote-archive",
        OPERATOR,
        "/console#/vote-archive",
        ["一天从 UTC 零点算起", "Days are those of UTC"],
    ),
    ("console-shops", OPERATOR, "/console#/shops", ["新增店铺", "New shop"]),
    ("console-new-shop", OPERATOR, "/console#/shops/new", ["创建店铺", "Create shop"]),
    ("console-shop", OPERATOR, "/console#/shop/1", ["看店铺页", "View in the storefront"]),
    ("console-shop-types", OPERATOR, "/console#/shop-types", ["新增类型", "New category"]),
    ("console-users", OPERATOR, "/console#/users", ["停用", "Block"]),
    ("console-levels", OPERATOR, "/console#/levels", ["1 级所需积分", "Credits for level 1"]),
    ("console-security", OPERATOR, "/console#/security", ["登录失败", "Failed log-ins"]),
    ("console-account", OPERATOR, "/console#/account", ["启用两步验证", "Turn on"]),
    ("console-code", CAUTIOUS, "/console#/live", ["手机不在身边", "Use a recovery code"]),
    ("console-events", OPERATOR, "/console#/events", ["新增订阅", "New subscriber"]),
    ("console-audit", OPERATOR, "/console#/audit", ["核对整条链", "Verify the chain"]),
    ("console-nowhere", OPERATOR, "/console#/no-such-page", ["没有这个页面", "This page does not exist"]),
];

/// A mall with some history, and the ids used in the paths above.
struct Town {
    mall: Mall,
    _gateway: PaymentGateway,
    unpaid: String,
    paid: String,
    counter: String,
    /// An order with a review, its review, and a used order without.
    reviewed: String,
    review: String,
    used: String,
    /// An order in the hands of the payment gateway.
    gateway: String,
    members: u64,
    waves: u64,
    waited: u64,
    guarded: u64,
    queued: u64,
    judged: u64,
}

impl Town {
    fn new() -> Self {
        let (mall, gateway) = mall_with_gateway();
        set_payment_mode(&mall, PaymentMode::Sandbox);
        mall.advance(Duration::from_secs(30)).unwrap();
        let paid = buy(&mall, ANNE, OPENING);
        pay(&mall, ANNE, &paid);
        let unpaid = buy(&mall, ANNE, RUNNING);
        set_payment_mode(&mall, PaymentMode::Counter);
        let counter = buy(&mall, CARL, RUNNING);
        set_payment_mode(&mall, PaymentMode::Sandbox);
        appoint_cautious(&mall);
        let (reviewed, _) = used_order(&mall, DORA);
        let review = posted(&mall, DORA, &reviewed, "汤很鲜，老板也热情。\n就是周末要等位，建议早点来。");
        report(&mall, BEN, &review);
        let (used, _) = used_order(&mall, EVE);
        set_payment_mode(&mall, PaymentMode::Webhook);
        let at_gateway = buy(&mall, EVE, OPENING);
        pay(&mall, EVE, &at_gateway);
        set_payment_mode(&mall, PaymentMode::Sandbox);
        drawer(&mall);
        let members = members_sale(&mall, 9);
        let waves = sale_between_waves(&mall);
        let waited = waited_for_sale(&mall);
        let guarded = members_sale(&mall, 0);
        guard(&mall, guarded, &["slider", "work"]);
        let judged = judged_sale(&mall);
        // Last: time admits who waits.
        let queued = queued_sale(&mall);
        Self {
            mall,
            _gateway: gateway,
            unpaid,
            paid,
            counter,
            reviewed,
            review,
            used,
            gateway: at_gateway,
            members,
            waves,
            waited,
            guarded,
            queued,
            judged,
        }
    }

    fn address(&self, path: &str) -> String {
        let path = path.replace("{unpaid}", &self.unpaid).replace("{paid}", &self.paid);
        let path = path.replace("{reviewed}", &self.reviewed).replace("{review}", &self.review);
        let path = path.replace("{counter}", &self.counter).replace("{used}", &self.used);
        let path = path.replace("{gateway}", &self.gateway);
        let path = path.replace("{guarded}", &self.guarded.to_string());
        let path = path.replace("{queued}", &self.queued.to_string());
        let path = path.replace("{judged}", &self.judged.to_string());
        let path = path.replace("{waited}", &self.waited.to_string());
        path.replace("{members}", &self.members.to_string()).replace("{waves}", &self.waves.to_string())
    }
}

/// Closes a session with cash missing, and opens the drawer again.
fn drawer(mall: &Mall) {
    let token = mall.log_in(OPERATOR).unwrap().token;
    let call = |path: &str, body: serde_json::Value| {
        assert!(mall.call("POST", &format!("/api/ops/cash{path}"), &token, &body).unwrap().is_success());
    };
    call("", json!({ "float": 30_000 }));
    call("/1/close", json!({ "counted": 29_950, "expected": 30_000, "requestId": "a" }));
    call("", json!({ "float": 30_000 }));
    call("/2/out", json!({ "amount": 1_250, "reason": "买零钱袋", "requestId": "b" }));
}

/// Reports a review to the operators.
fn report(mall: &Mall, phone: &str, review: &str) {
    let token = mall.log_in(phone).unwrap().token;
    let body = json!({ "kind": "review", "id": review.parse::<u64>().unwrap(), "reason": "广告或刷单" });
    assert!(mall.call("POST", "/api/report", &token, &body).unwrap().is_success());
}

/// Leaves the screen and returns: the screen is then drawn from its cached state, before the mall responds.
fn comes_back(page: &Page, says: &str) {
    page.run("location.hash = '#/no-such-place'; 0");
    page.rests();
    page.run("history.back()");
    page.sees(says);
    page.rests();
}

/// Fails unless the page, once at rest, can be used without scrolling sideways. Takes a picture if asked to.
fn fits(page: &Page, name: &str, way: &str) {
    page.rests();
    page.fits();
    if let Some(folder) = env::var_os("SCREENSHOTS") {
        page.take_picture(&Path::new(&folder).join(format!("{name}-{way}.png")));
    }
}

/// Opens and checks every screen: on a phone also in the dark and with large text, on a desktop also in the
/// size of a tablet; on an upright touch screen only those of a kiosk.
fn look(way: &str, dressed: impl Fn(Browser) -> Browser) {
    let town = Town::new();
    let (language, at) = if way.ends_with("english") { ("en", 1) } else { ("zh", 0) };
    // On a phone each screen is opened directly, in one browser per user. Elsewhere a page moves from one
    // screen to the next, which is faster.
    let browsers = RefCell::new(HashMap::<&str, Browser>::new());
    let visits = RefCell::new(HashMap::<&str, Page>::new());
    let look = |(name, phone, path, says): &Entry| {
        let address = town.address(path);
        let former = visits.borrow_mut().remove(phone);
        let page = if let Some(page) = former {
            page.go(&address);
            page
        } else {
            let mut browsers = browsers.borrow_mut();
            let browser = browsers
                .entry(phone)
                .or_insert_with(|| dressed(browser_of(&town.mall, phone)).running(words::LISTEN));
            browser.open(&address)
        };
        page.sees(says[at]);
        if !way.ends_with("english") {
            page.is_accessible();
        }
        fits(&page, name, way);
        // The API's page and the manual show code, and names shared by both languages.
        if *name != "api" && !name.starts_with("manual") {
            words::speaks(&page, language);
        }
        match way {
            "phone" => {
                page.is_dark();
                page.has_contrast();
                fits(&page, name, "dark");
                // A kiosk is not a phone, and enlarges its text by itself.
                if !name.starts_with("kiosk") {
                    page.is_light();
                    page.enlarges_text();
                    fits(&page, name, "large");
                }
            }
            "desktop" => {
                comes_back(&page, says[at]);
                page.is_on(Screen::Tablet);
                fits(&page, name, "tablet");
                page.is_on(Screen::Desktop);
            }
            _ => {}
        }
        page.is_content();
        if way != "phone" {
            visits.borrow_mut().insert(phone, page);
        }
    };
    // Checks all screens, even after failures.
    let wanted = SCREENS.iter().filter(|(name, ..)| !way.starts_with("upright") || name.starts_with("kiosk"));
    let bad = wanted.filter(|entry| {
        let failed = catch_unwind(AssertUnwindSafe(|| look(entry))).is_err();
        if failed {
            eprintln!("that was {}, {way}", entry.0);
        }
        failed
    });
    let bad: Vec<_> = bad.map(|(name, ..)| *name).collect();
    assert_eq!(bad, [""; 0], "screens that are not as they should be");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_on_a_phone_in_the_dark_and_with_large_text() {
    look("phone", |browser| browser.on(Screen::Phone));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_on_a_desktop_and_a_tablet() {
    look("desktop", |browser| browser.on(Screen::Desktop));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_in_english() {
    look("english", Browser::in_english);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn screens_of_a_kiosk_on_an_upright_screen() {
    look("upright", |browser| browser.on(Screen::Kiosk));
    look("upright-english", |browser| browser.on(Screen::Kiosk).in_english());
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn language_that_was_chosen_is_kept() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, NOBODY).on(Screen::Desktop).open("/");
    page.sees("限时秒杀");
    page.button("English").click();
    page.sees("Flash sales");
    page.sees_no("限时秒杀");
    page.reload();
    page.sees("Flash sales");
    page.button("中文").click();
    page.sees("限时秒杀");
}
