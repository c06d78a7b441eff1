//! Orders paid through a gateway over HTTP, with all that a gateway may do: decline, delay, repeat, lose and
//! keep silent. The gateway's ledger and the mall's must agree in the end.

use std::time::{Duration, Instant};

use mallbox_storage::{PaymentMode, PaymentState};
use mallbox_test_patience as patience;
use mallbox_test_payment_gateway::OnCreation;
use serde_json::json;

use super::counter_payments::set_payment_mode;
use super::gateway_world::{GRACE, PAY_WITHIN, POLL_DELAY, PRICE, notice, shop};
use super::world::{CUSTOMER, World};

#[test]
fn a_gateway_that_captures_at_once_pays_in_the_call_and_refunds_through_the_same_gateway() {
    let s = shop();
    s.gateway.set(|switches| switches.on_creation = OnCreation::Captures);
    let order = s.unit();
    let paid = s.step(&order, "pay").body["data"].clone();
    assert_eq!((&paid["status"], &paid["payment"]), (&json!(2), &json!("webhook")));
    assert!(paid.get("payUrl").is_none() && paid.get("paymentState").is_none(), "{paid}");
    assert_eq!(s.gateway.deliver(), [200], "the callback says what is known");
    s.assert_balanced();
    // The mode of new orders has changed; the money goes back through the gateway that took it.
    set_payment_mode(&s.w, PaymentMode::Counter);
    assert_eq!(s.step(&order, "refund").body["data"]["status"], 6);
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!((s.gateway.money().captured, s.gateway.money().kept()), (100, 0));
    assert_eq!(s.left(), 2);
    s.assert_balanced();
}

#[test]
fn a_buyer_pays_on_the_gateways_page_in_the_order_s_time() {
    let s = shop();
    let order = s.unit();
    let first = s.step(&order, "pay").body["data"].clone();
    let payment = s.gateway.of_order(&order).pop().unwrap();
    assert_eq!((payment.title.as_str(), payment.amount), ("100元秒杀券", 100));
    assert_eq!((&first["status"], &first["paymentState"]), (&json!(1), &json!("pending")));
    assert_eq!(first["payUrl"], payment.pay_url);
    assert!(first["payQr"]["size"].as_u64().unwrap() > 20, "{first}");
    // The buyer comes back to the order: the same payment at the same URL.
    assert_eq!(s.step(&order, "pay").body["data"]["payUrl"], first["payUrl"]);
    let shown = s.shown(&order);
    assert_eq!((&shown["paymentState"], shown.get("payUrl")), (&json!("pending"), None));
    // Nothing closes the payment while the buyer types.
    for _ in 0..8 {
        s.w.advance(Duration::from_secs(90));
        assert_eq!(s.gateway.of_order(&order).len(), 1);
        assert_eq!(s.gateway.of_order(&order)[0].state, "pending");
    }
    assert!(s.gateway.buyer_pays(&payment.id));
    s.gateway.set(|switches| switches.extra_callbacks = 3);
    assert_eq!(s.gateway.deliver(), [200; 4], "repeated callbacks change nothing");
    assert_eq!(s.status(&order), 2);
    assert_eq!(s.states(&order), [PaymentState::Captured]);
    let customer = s.w.log_in(CUSTOMER);
    s.w.ok("GET", &format!("/voucher-order/{order}/receipt"), &customer);
    s.assert_balanced();
}

#[test]
fn a_lost_callback_is_made_up_for_by_asking() {
    let s = shop();
    s.gateway.set(|switches| switches.loses_callbacks = true);
    let (paid, declined) = (s.order(), s.order());
    let (one, other) = (s.pending(&paid), s.pending(&declined));
    assert!(s.gateway.buyer_pays(&one.id) && s.gateway.buyer_is_declined(&other.id));
    assert!(s.gateway.deliver().is_empty());
    assert_eq!(s.status(&paid), 1);
    s.w.advance(POLL_DELAY);
    assert_eq!((s.status(&paid), s.status(&declined)), (json!(2), json!(1)));
    assert_eq!(s.states(&declined), [PaymentState::Failed]);
    s.assert_balanced();
}

#[test]
fn many_pending_payments_do_not_hide_a_later_one_from_the_background_job() {
    let s = shop();
    s.gateway.set(|switches| switches.loses_callbacks = true);
    let orders: Vec<String> = (0..40).map(|_| s.order()).collect();
    let last = orders.iter().map(|order| s.pending(order)).next_back().unwrap();
    assert!(s.gateway.buyer_pays(&last.id));
    s.w.advance(POLL_DELAY);
    assert_eq!(s.status(orders.last().unwrap()), 2);
    s.assert_balanced();
}

#[test]
fn a_declined_payment_leaves_the_order_to_be_paid_by_another() {
    let s = shop();
    let order = s.order();
    s.gateway.set(|switches| switches.on_creation = OnCreation::Declines);
    let response = s.step(&order, "pay");
    assert_eq!((response.status, &response.body["code"]), (200, &json!("PAYMENT_DECLINED")));
    assert_eq!(s.shown(&order)["paymentState"], "declined");
    s.gateway.set(|switches| switches.on_creation = OnCreation::Waits);
    let second = s.pending(&order);
    assert!(s.gateway.buyer_is_declined(&second.id));
    // The callback of the first payment is repeated as well, out of order.
    assert_eq!(s.gateway.deliver(), [200, 200]);
    assert_eq!(s.shown(&order)["paymentState"], "declined");
    let third = s.pending(&order);
    assert!(s.gateway.buyer_pays(&third.id));
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!(s.states(&order), [PaymentState::Failed, PaymentState::Failed, PaymentState::Captured]);
    s.assert_balanced();
}

/// Refused at once, silent, and slow: the buyer is told soon, and the payment is in doubt.
#[test]
fn a_gateway_away_holds_nobody_longer_than_its_budget_and_fails_no_payment() {
    for fault in ["refuses", "is silent", "is slow"] {
        let s = shop();
        let order = s.order();
        match fault {
            "refuses" => s.gateway.refuse_connections(true),
            "is silent" => s.gateway.set(|switches| switches.is_silent = true),
            _ => s.gateway.set(|switches| switches.delay = Duration::from_secs(2)),
        }
        let began = Instant::now();
        let response = s.step(&order, "pay");
        assert_eq!((response.status, &response.body["code"]), (503, &json!("BUSY")), "{fault}");
        assert!(patience::is_within(began.elapsed(), Duration::from_millis(1_500)), "{fault}");
        assert_eq!(s.states(&order), [PaymentState::Started], "{fault}: in doubt");
        s.w.advance(POLL_DELAY);
        assert_eq!(s.states(&order), [PaymentState::Started], "{fault}: still in doubt");
        s.gateway.refuse_connections(false);
        s.gateway.set(|switches| *switches = Default::default());
        let payment = s.pending(&order);
        assert!(s.gateway.buyer_pays(&payment.id), "{fault}");
        assert_eq!(s.gateway.deliver(), [200], "{fault}");
        assert_eq!((s.status(&order), s.gateway.of_order(&order).len()), (json!(2), 1), "{fault}");
        s.assert_balanced();
    }
}

#[test]
fn lost_and_doubled_requests_take_money_once() {
    let s = shop();
    let order = s.order();
    s.gateway.set(|switches| {
        switches.on_creation = OnCreation::Captures;
        switches.loses_responses = true;
    });
    assert_eq!(s.step(&order, "pay").status, 503);
    s.gateway.set(|switches| {
        switches.loses_responses = false;
        switches.doubles_requests = true;
    });
    assert_eq!(s.step(&order, "pay").body["data"]["status"], 2);
    let payments = s.gateway.of_order(&order);
    assert_eq!((payments.len(), payments[0].creations), (1, 3));
    assert_eq!(s.gateway.money().captured, PRICE);
    s.gateway.set(|switches| switches.loses_responses = true);
    assert_eq!(s.step(&order, "refund").body["data"]["status"], 5, "in doubt");
    s.gateway.set(|switches| switches.loses_responses = false);
    s.w.advance(POLL_DELAY);
    assert_eq!(s.status(&order), 6);
    assert_eq!(s.gateway.money().returned, PRICE);
    // Twice by the call, and twice each by the retry queue, the settlement of payments, or both.
    let refunds = s.gateway.of_order(&order)[0].refunds;
    assert!([4, 6].contains(&refunds), "{refunds}");
    s.assert_balanced();
}

#[test]
fn at_the_deadline_the_payment_is_closed_before_the_order_is_cancelled() {
    let s = shop();
    s.gateway.set(|switches| switches.loses_callbacks = true);
    let (unpaid, paid, untouched) = (s.unit(), s.order(), s.order());
    let (one, other) = (s.pending(&unpaid), s.pending(&paid));
    s.w.advance(PAY_WITHIN - Duration::from_secs(5));
    // In the last moment, and the callback is lost.
    assert!(s.gateway.buyer_pays(&other.id));
    s.w.advance(Duration::from_secs(10));
    assert_eq!((s.status(&unpaid), s.status(&paid), s.status(&untouched)), (json!(4), json!(2), json!(4)));
    assert!(!s.gateway.buyer_pays(&one.id), "closed: nobody pays for a cancelled order");
    s.w.advance(PAY_WITHIN);
    assert_eq!(s.states(&unpaid), [PaymentState::Failed]);
    assert_eq!(s.left(), 2);
    s.assert_balanced();
}

#[test]
fn an_order_waits_a_while_for_a_gateway_that_is_away_at_its_deadline() {
    for is_back_in_time in [true, false] {
        let s = shop();
        s.gateway.set(|switches| switches.loses_callbacks = true);
        let order = s.unit();
        let payment = s.pending(&order);
        assert!(s.gateway.buyer_pays(&payment.id));
        s.gateway.refuse_connections(true);
        s.w.advance(PAY_WITHIN + Duration::from_secs(60));
        assert_eq!(s.status(&order), 1, "perhaps paid");
        if !is_back_in_time {
            s.w.advance(GRACE);
            assert_eq!((s.status(&order), s.left()), (json!(4), json!(2)));
        }
        s.gateway.refuse_connections(false);
        s.w.advance(Duration::from_secs(120));
        let (status, state, kept) = match is_back_in_time {
            true => (2, PaymentState::Captured, 100),
            false => (4, PaymentState::Refunded, 0),
        };
        assert_eq!((s.status(&order), s.states(&order)), (json!(status), vec![state]));
        assert_eq!(s.gateway.money().kept(), kept);
        s.assert_balanced();
    }
}

#[test]
fn a_gateway_that_names_another_amount_pays_for_nothing() {
    let s = shop();
    s.gateway.set(|switches| {
        switches.on_creation = OnCreation::Captures;
        switches.reported_amount = Some(1);
    });
    let order = s.order();
    assert_eq!(s.step(&order, "pay").status, 503, "in doubt");
    assert_eq!(s.gateway.deliver(), [409]);
    s.w.advance(POLL_DELAY);
    assert_eq!((s.status(&order), s.states(&order)), (json!(1), vec![PaymentState::Started]));
    s.gateway.set(|switches| switches.reported_amount = None);
    assert_eq!(s.gateway.deliver(), [200], "repeated until taken");
    assert_eq!(s.status(&order), 2);
    s.assert_balanced();
}

#[test]
fn a_buyer_who_cancels_cannot_pay_afterwards_and_one_who_paid_cannot_cancel() {
    let s = shop();
    let (cancelled, paid) = (s.unit(), s.order());
    let (one, other) = (s.pending(&cancelled), s.pending(&paid));
    assert_eq!(s.step(&cancelled, "cancel").body["data"]["status"], 4);
    assert!(!s.gateway.buyer_pays(&one.id));
    assert_eq!(s.states(&cancelled), [PaymentState::Failed]);
    // Paid, and the callback is still under way.
    assert!(s.gateway.buyer_pays(&other.id));
    assert_eq!(s.step(&paid, "cancel").body["code"], "ORDER_STANDS");
    assert_eq!(s.status(&paid), 2);
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!(s.left(), 2);
    s.assert_balanced();
}

#[test]
fn without_a_gateway_payments_are_in_doubt_and_callbacks_refused() {
    let w = World::with("/api", |mall| mall);
    set_payment_mode(&w, PaymentMode::Webhook);
    let order = w.ok("POST", "/voucher-order/1", &w.customer)["dataText"].as_str().unwrap().to_owned();
    let pay = w.call_once("POST", &format!("/voucher-order/{order}/pay"), &w.customer, "");
    assert_eq!((pay.status, &pay.body["code"]), (503, &json!("BUSY")));
    let callback = w.call_once("POST", "/payment/callback", "", &notice("1-1", 1, "captured"));
    assert_eq!((callback.status, &callback.body["code"]), (401, &json!("BAD_SIGNATURE")));
    w.advance(PAY_WITHIN);
    let customer = w.log_in(CUSTOMER);
    assert_eq!(w.ok("GET", &format!("/voucher-order/{order}"), &customer)["data"]["status"], 4);
    w.assert_balanced();
}
