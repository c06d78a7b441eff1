//! Money at the counter: the buyer is sent there, and the operator records payment and refund.

use mallbox_storage::PaymentMode;

use crate::harness::Place as _;
use crate::people::{ANNE, OPERATOR, RUNNING, browser_of, buy, evening, orders_of, set_payment_mode};

const REFUNDED: u64 = 6;

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn an_order_is_paid_and_refunded_at_the_counter() {
    let mall = evening().start().unwrap();
    set_payment_mode(&mall, PaymentMode::Counter);
    let order = buy(&mall, ANNE, RUNNING);
    let buyer = browser_of(&mall, ANNE).open(&format!("/#/order/{order}"));
    buyer.sees("内到柜台付款，并出示订单号");
    buyer.sees(&order);
    buyer.button("支付").is_gone();

    let till = browser_of(&mall, OPERATOR).open("/console#/redeem");
    till.field("输入凭证码").fill(&order);
    till.press("Enter");
    till.button("柜台收款").click();
    till.part("柜台收款").field("收款方式").choose("自有收款终端");
    till.part("柜台收款").button("已收").click();
    till.sees("已登记收款");
    // The order is on the screen, and can be redeemed at once.
    till.button("核销").is_enabled();
    buyer.sees("到店出示券码即可使用");
    buyer.sees("如需退款，请到柜台办理");
    buyer.button("申请退款").is_gone();

    till.go(&format!("/console#/order/{order}"));
    till.button("柜台退款").click();
    till.part("柜台退款").field("原因").fill("买错了");
    till.part("柜台退款").button("退还").click();
    till.sees("已登记退款");
    till.sees("已退款");
    assert_eq!(orders_of(&mall, ANNE), [REFUNDED]);
    buyer.sees("钱款已退回");
    till.is_content();
    buyer.is_content();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn the_console_names_imaginary_money() {
    let mall = evening().start().unwrap();
    let console = browser_of(&mall, OPERATOR).open("/console#/live");
    console.sees("支付：模拟支付（不收真钱）");
    set_payment_mode(&mall, PaymentMode::Counter);
    console.reload();
    console.sees("支付：柜台收款");
}
