//! Orders paid through a payment gateway: on its page, by a QR code, and by a second attempt.

use std::env;
use std::path::Path;

use mallbox::fixture::Mall;
use mallbox::mall::selling::http_gateway::HttpGateway;
use mallbox_storage::PaymentMode;
use mallbox_test_payment_gateway::PaymentGateway;

use crate::harness::{Browser, Page, Place as _, Screen};
use crate::people::{
    ANNE, OPERATOR, PAID, RUNNING, browser_of, buy, evening, log_in_by_code, orders_of, set_payment_mode,
};

const SECRET: &str = "a secret of both sides";

/// Returns a mall whose orders are paid through a payment gateway.
pub fn mall_with_gateway() -> (Mall, PaymentGateway) {
    let gateway = PaymentGateway::start(SECRET);
    let mall = evening().http_gateway(HttpGateway::new(&gateway.url(), SECRET).unwrap()).start().unwrap();
    gateway.call_back_to(&format!("{}/api/payment/callback", mall.url()));
    set_payment_mode(&mall, PaymentMode::Webhook);
    (mall, gateway)
}

/// Presses a button on the gateway's page, which belongs to another origin than the accessibility tree.
fn decide(buyer: &Page, button: &str, state: &str) {
    buyer.sees(button);
    buyer.run(&format!("document.querySelector('form[action$={state}]').submit()"));
    buyer.sees(state);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn an_order_is_paid_on_the_gateways_page_at_the_second_attempt() {
    let (mall, gateway) = mall_with_gateway();
    let order = buy(&mall, ANNE, RUNNING);
    let page = format!("/#/order/{order}");
    let buyer = browser_of(&mall, ANNE).open(&page);
    buyer.button("支付").click();
    decide(&buyer, "Decline", "declined");
    assert_eq!(gateway.deliver(), [200]);
    buyer.go(&page);
    buyer.sees("支付未成功，没有扣款");
    buyer.button("支付").click();
    decide(&buyer, "Pay", "captured");
    // Back before the callback.
    buyer.go(&page);
    buyer.sees("等待付款结果");
    buyer.button("继续付款").is_enabled();
    assert_eq!(gateway.deliver(), [200]);
    buyer.sees("到店出示券码即可使用");
    assert_eq!(orders_of(&mall, ANNE), [PAID]);

    let console = browser_of(&mall, OPERATOR).open(&format!("/console#/order/{order}"));
    console.sees("支付网关");
    console.button("柜台收款").is_gone();
    assert!(gateway.reverse(&gateway.of_order(&order)[1].id));
    assert_eq!(gateway.deliver(), [200]);
    buyer.sees("钱款已退回");
    buyer.is_content();
    console.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_kiosk_stays_with_the_customer_who_pays_by_phone() {
    let (mall, gateway) = mall_with_gateway();
    let kiosk = Browser::at(&mall.url()).on(Screen::Tablet).open("/?kiosk=600");
    kiosk.link("100元代金券秒杀").click();
    kiosk.button("登录后抢购").click();
    log_in_by_code(&kiosk, ANNE);
    kiosk.button("立即抢购").click();
    kiosk.link("去付款").click();
    kiosk.button("支付").click();
    kiosk.sees("用手机扫码付款");
    kiosk.is_accessible();
    kiosk.fits();
    if let Some(folder) = env::var_os("SCREENSHOTS") {
        kiosk.take_picture(&Path::new(&folder).join("kiosk-pays-tablet.png"));
    }
    assert!(gateway.buyer_pays(&gateway.payments()[0].id));
    assert_eq!(gateway.deliver(), [200]);
    kiosk.part("券码").is_there();
    kiosk.is_content();
}
