//! Webhooks at the console: an operator subscribes a program, follows its retries, and decides about what
//! failed for good.

#[path = "../common/webhook_receiver.rs"]
mod webhook_receiver;

use std::env;
use std::path::Path;
use std::time::Duration;

use mallbox::fixture::Mall;
use serde_json::json;

use self::webhook_receiver::{Switches, WebhookReceiver};
use crate::harness::{Page, Place as _, Screen, until};
use crate::people::{ANNE, OPENING, OPERATOR, RUNNING, browser_of, evening};

/// Pauses before the retries of a webhook, in seconds.
const RETRIES: [u64; 8] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400];

/// Adds a unit to a sale: an event `stock.changed`.
fn add_unit(mall: &Mall, sale: u64) {
    let path = format!("/api/ops/sales/{sale}/stock");
    let added = mall.call("POST", &path, &mall.operator(), &json!({ "add": 1 })).unwrap();
    assert!(added.is_success(), "{}", added.text);
}

/// Publishes notes: an event each, of a key of its own.
fn publish(mall: &Mall, notes: usize) {
    let token = mall.log_in(ANNE).unwrap().token;
    let note = json!({ "shopId": 1, "title": "一碗面", "content": "好吃" });
    for _ in 0..notes {
        assert!(mall.call("POST", "/api/blog", &token, &note).unwrap().is_success());
    }
}

/// Lets the relay run, and the requests be sent.
fn relay(mall: &Mall) {
    for _ in 0..2 {
        mall.advance(Duration::from_secs(1)).unwrap();
    }
}

/// Subscribes the receiver through the form, and gives it the key of the signature.
fn subscribe(page: &Page, receiver: &WebhookReceiver) {
    page.sees("还没有订阅");
    page.button("新增订阅").click();
    let form = page.part("新增事件订阅");
    form.field("名称").fill("erp");
    form.field("接收地址").fill("http://erp.example/");
    form.button("创建").click();
    form.sees("https://");
    form.field("接收地址").fill(&receiver.url());
    form.button("创建").click();
    let key = page.part("签名密钥");
    key.sees("之后无法再次查看");
    let secret = page.run("document.querySelector('dialog .hash').innerText");
    receiver.set_secret(secret.as_str().unwrap());
    key.button("已保存").click();
    page.row("erp").sees("正常 0 0");
}

/// Checks the look of a screen. With `SCREENSHOTS` set to a directory, writes a screenshot there.
fn looks_right(page: &Page, name: &str) {
    page.is_accessible();
    page.fits();
    if let Some(folder) = env::var_os("SCREENSHOTS") {
        page.take_picture(&Path::new(&folder).join(format!("{name}.png")));
    }
}

/// Waits until the receiver got a number of requests.
fn wait_for_requests(receiver: &WebhookReceiver, number: usize) {
    until("requests arrive", || match receiver.requests() {
        found if found == number => Ok(()),
        found => Err(format!("{found} of {number}")),
    });
}

fn follows_a_webhook(screen: Screen) {
    let mall = evening().start().unwrap();
    let receiver = WebhookReceiver::start("");
    let console = |path: &str| browser_of(&mall, OPERATOR).on(screen).open(&format!("/console#/{path}"));
    let name = |step: &str| format!("webhook-{step}-{screen:?}").to_lowercase();
    {
        // The receiver refuses. The numbers change on the open screens.
        let (events, retries) = (console("events"), console("retries"));
        events.forgive("/api/ops/events/subscribers");
        subscribe(&events, &receiver);
        receiver.set(Switches { fails_every: 1, ..Switches::default() });
        add_unit(&mall, RUNNING);
        add_unit(&mall, OPENING);
        relay(&mall);
        events.sees("最新事件：第 2 个");
        events.row("erp").sees("正常 2 0");
        looks_right(&events, &name("events"));
        retries.row("事件推送").sees("事件推送 2 0");
        retries.sees("没有最终失败的任务");
    }
    // Longer than a session.
    for (retries, pause) in (1..).zip(RETRIES) {
        wait_for_requests(&receiver, 2 * retries);
        mall.advance(Duration::from_secs(pause)).unwrap();
    }
    wait_for_requests(&receiver, 18);
    let (events, retries) = (console("events"), console("retries"));
    decides_about_both(&mall, &receiver, &retries, &name("retries"));

    // The receiver is away: the breaker opens, and later events wait behind the cursor.
    receiver.kill();
    publish(&mall, 12);
    relay(&mall);
    retries.row("事件推送").sees("断开：post/erp");
    looks_right(&retries, &name("breaker"));
    publish(&mall, 3);
    relay(&mall);
    events.sees("最新事件：第 17 个");
    events.row("erp").sees("受阻 接收程序一直失败，事件在等待");
    looks_right(&events, &name("held-up"));
    receiver.restart();
    receiver.wait_while(16, || mall.advance(Duration::from_secs(61)).unwrap());
    events.row("erp").sees("正常 17 0");
    let report = mall.books().unwrap();
    assert!(report.balances(), "{}", report.text(mallbox::language::Language::En));
}

/// Both events are dead letters, the newest first: one is sent again, the other discarded.
fn decides_about_both(mall: &Mall, receiver: &WebhookReceiver, retries: &Page, picture: &str) {
    retries.row("事件推送").sees("事件推送 0 2");
    retries.sees("发送请求，9 次：responded with 503");
    looks_right(retries, picture);
    receiver.set(Switches::default());
    retries.button("重试").first().click();
    retries.sees("已重新排队");
    retries.sees_no("erp/1/2");
    retries.row("事件推送").sees("事件推送 1 1");
    relay(mall);
    let received = receiver.wait_for(1);
    assert_eq!((&received[0]["kind"], &received[0]["position"]), (&json!("stock.changed"), &json!(2)));
    retries.row("事件推送").sees("事件推送 0 1");
    retries.sees("erp/1/1");
    retries.button("放弃").click();
    retries.part("放弃这个任务？").button("放弃").click();
    retries.sees("已放弃");
    retries.sees("没有最终失败的任务");
    retries.row("事件推送").sees("事件推送 0 0");
    assert_eq!((receiver.events().len(), receiver.forged()), (1, 0));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_follows_a_webhook_at_a_desk() {
    follows_a_webhook(Screen::Desktop);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_follows_a_webhook_on_a_phone() {
    follows_a_webhook(Screen::Phone);
}
