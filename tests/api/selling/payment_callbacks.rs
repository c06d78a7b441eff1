//! Callbacks of a payment gateway: forged, old, repeated, contradicting, in a race with the expiry, and of
//! money taken back.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::http::Profile;
use mallbox_storage::PaymentState;
use mallbox_test_payment_gateway::{OnCreation, Payment};
use serde_json::json;

use super::gateway_world::{GRACE, PAY_WITHIN, POLL_DELAY, PRICE, notice, now, shop, shop_with};
use super::world::{CUSTOMER, OPERATOR, Response};

/// Returns a response of every kind, with the calls, for the comparison with their description.
pub fn exchange() -> Vec<(&'static str, Response)> {
    let s = shop();
    let order = s.order();
    let pending = s.step(&order, "pay");
    let id = s.gateway.of_order(&order).pop().unwrap().id;
    let mut responses = vec![("POST /voucher-order/{id}/pay", pending)];
    for body in [notice("7-7", PRICE, "captured"), notice(&id, 1, "captured"), notice(&id, PRICE, "declined")]
    {
        for headers in [(String::new(), String::new()), s.gateway.signed(now(), &body)] {
            responses.push(("POST /payment/callback", s.send_callback(&headers, &body)));
        }
    }
    let customer = s.w.log_in(CUSTOMER);
    let declined = s.w.call("GET", &format!("/voucher-order/{order}"), &customer, "");
    assert_eq!(declined.body["data"]["paymentState"], "declined");
    responses.push(("GET /voucher-order/{id}", declined));
    responses
}

/// Buyers pay while their orders expire. Each is paid and kept, or cancelled and refunded.
#[test]
fn of_callback_and_expiry_exactly_one_wins() {
    const BUYERS: usize = 60;
    let s = shop();
    let orders: Vec<String> = (0..BUYERS).map(|_| s.order()).collect();
    let payments: Vec<Payment> = orders.iter().map(|order| s.pending(order)).collect();
    s.w.advance(PAY_WITHIN - Duration::from_secs(1));
    let captured = std::thread::scope(|scope| {
        let paying = scope.spawn(|| {
            let mut captured = 0;
            for payment in &payments {
                captured += usize::from(s.gateway.buyer_pays(&payment.id));
                let _ = s.gateway.deliver();
            }
            captured
        });
        s.w.advance(Duration::from_secs(2));
        paying.join().unwrap()
    });
    let _ = s.gateway.deliver();
    s.w.advance(GRACE);
    let paid = orders.iter().filter(|order| s.status(order) == 2).count();
    let cancelled = orders.iter().filter(|order| s.status(order) == 4).count();
    println!("{captured} of {BUYERS} paid at the gateway, {paid} orders are paid");
    assert_eq!(paid + cancelled, BUYERS);
    assert_eq!(s.gateway.money().kept(), i64::try_from(paid).unwrap() * PRICE);
    s.assert_balanced();
}

#[test]
fn a_callback_counts_only_with_signature_time_payment_and_amount_of_its_own() {
    for profile in [Profile::Strict, Profile::Original] {
        let s = shop_with(profile);
        let order = s.order();
        let id = s.pending(&order).id;
        let body = notice(&id, PRICE, "captured");
        let good = s.gateway.signed(now(), &body);
        let other = notice("7-7", PRICE, "captured");
        let cheap = notice(&id, 1, "captured");
        let odd = "{}".to_owned();
        for (headers, body, status, code) in [
            ((String::new(), String::new()), &body, 401, "BAD_SIGNATURE"),
            ((good.0.clone(), "sha256=00".to_owned()), &body, 401, "BAD_SIGNATURE"),
            (s.gateway.signed(now() - 301, &body), &body, 401, "BAD_SIGNATURE"),
            (s.gateway.signed(now() + 330, &body), &body, 401, "BAD_SIGNATURE"),
            (good.clone(), &cheap, 401, "BAD_SIGNATURE"),
            (s.gateway.signed(now(), &cheap), &cheap, 409, "PAYMENT_DIFFERS"),
            (s.gateway.signed(now(), &other), &other, 404, "NOT_FOUND"),
            (s.gateway.signed(now(), &odd), &odd, 400, "BAD_REQUEST"),
        ] {
            assert_eq!(s.callback(&headers, body), (status, code.to_owned()), "{profile:?}: {body}");
            assert_eq!(s.states(&order), [PaymentState::Started], "{profile:?}: {body}");
        }
        // Good but for its length.
        let large = body.replacen('{', &format!("{{\"note\":\"{}\",", "x".repeat(16 << 10)), 1);
        let refused = s.callback(&s.gateway.signed(now(), &large), &large);
        assert_eq!(refused, (400, "BAD_REQUEST".to_owned()), "{profile:?}");
        assert_eq!(s.states(&order), [PaymentState::Started], "{profile:?}");
        assert_eq!(s.callback(&good, &body), (200, String::new()));
        assert_eq!(s.callback(&good, &body), (200, String::new()), "a replay changes nothing");
        assert_eq!(s.states(&order), [PaymentState::Captured]);
        let operator = s.w.log_in(OPERATOR);
        let security = s.w.ok("GET", "/ops/security", &operator).to_string();
        assert!(security.contains("callback_forged") && security.contains("callback_contradicted"));
    }
}

#[test]
fn old_callbacks_do_not_undo_what_was_done_since() {
    let s = shop();
    s.gateway.set(|switches| switches.on_creation = OnCreation::Captures);
    let order = s.unit();
    s.step(&order, "pay");
    s.step(&order, "refund");
    let id = s.gateway.of_order(&order).pop().unwrap().id;
    for state in ["captured", "declined", "pending", "refunding", "refunded", "reversed"] {
        let body = notice(&id, 100, state);
        assert_eq!(s.callback(&s.gateway.signed(now(), &body), &body).0, 200, "{state}");
        assert_eq!((s.status(&order), s.states(&order)), (json!(6), vec![PaymentState::Refunded]), "{state}");
    }
    assert_eq!(s.left(), 2, "the unit is back once");
    s.assert_balanced();
}

#[test]
fn a_callback_with_the_wrong_secret_is_refused_and_asking_finds_the_money() {
    let s = shop();
    s.gateway.set(|switches| switches.signs_wrongly = true);
    let order = s.order();
    let payment = s.pending(&order);
    assert!(s.gateway.buyer_pays(&payment.id));
    assert_eq!(s.gateway.deliver(), [401]);
    assert_eq!(s.status(&order), 1);
    s.w.advance(POLL_DELAY);
    assert_eq!(s.status(&order), 2);
    s.assert_balanced();
}

#[test]
fn a_chargeback_refunds_an_unused_order_and_leaves_a_used_one_used() {
    let s = shop();
    s.gateway.set(|switches| switches.on_creation = OnCreation::Captures);
    let (unused, used) = (s.unit(), s.order());
    for order in [&unused, &used] {
        assert_eq!(s.step(order, "pay").body["data"]["status"], 2);
    }
    let _ = s.gateway.deliver();
    let operator = s.w.log_in(OPERATOR);
    s.w.ok("POST", &format!("/voucher-order/{used}/use"), &operator);
    s.gateway.set(|switches| switches.extra_callbacks = 1);
    for order in [&unused, &used] {
        assert!(s.gateway.reverse(&s.gateway.of_order(order)[0].id));
    }
    assert_eq!(s.gateway.deliver(), [200; 4]);
    assert_eq!((s.status(&unused), s.states(&unused)), (json!(6), vec![PaymentState::Refunded]));
    assert_eq!((s.status(&used), s.states(&used)), (json!(3), vec![PaymentState::Reversed]));
    assert_eq!(s.left(), 2, "the unit of the unused order is back");
    let found = s.w.ok("GET", &format!("/ops/orders?id={used}"), &operator);
    assert_eq!(found["data"][0]["paymentState"], "reversed");
    assert_eq!(s.gateway.money().kept(), 0);
    s.assert_balanced();
    let report = s.w.mall.books().unwrap();
    assert_eq!((report.reversed.as_slice(), report.totals.payments.reversed_cents), (&[used][..], PRICE));
    let security = s.w.ok("GET", "/ops/security", &operator).to_string();
    assert!(security.contains("payment_reversed"), "{security}");
}

#[test]
fn money_for_an_order_cancelled_while_the_gateway_was_away_goes_back() {
    let s = shop();
    let order = s.order();
    let payment = s.pending(&order);
    s.gateway.refuse_connections(true);
    assert_eq!(s.step(&order, "cancel").body["data"]["status"], 4, "the buyer's wish counts");
    s.gateway.refuse_connections(false);
    assert!(s.gateway.buyer_pays(&payment.id));
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!((s.status(&order), s.states(&order)), (json!(4), vec![PaymentState::Refunded]));
    assert_eq!(s.gateway.money().kept(), 0);
    s.assert_balanced();
}

#[test]
fn a_callback_for_a_cancelled_order_is_accepted_only_once_the_money_is_back() {
    let s = shop();
    let order = s.order();
    let payment = s.pending(&order);
    s.gateway.refuse_connections(true);
    assert_eq!(s.step(&order, "cancel").body["data"]["status"], 4);
    assert!(s.gateway.buyer_pays(&payment.id));
    assert_eq!(s.gateway.deliver(), [503], "the gateway takes no refund now");
    assert_eq!(s.states(&order), [PaymentState::Started]);
    s.gateway.refuse_connections(false);
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!((s.status(&order), s.states(&order)), (json!(4), vec![PaymentState::Refunded]));
    assert_eq!(s.gateway.money().kept(), 0);
    s.assert_balanced();
}

#[test]
fn a_callback_is_accepted_only_once_its_effect_is_durable() {
    let s = shop();
    let order = s.order();
    let payment = s.pending(&order);
    assert!(s.gateway.buyer_pays(&payment.id));
    s.w.mall.faults().add(Fault::at_port("orders.step").error().times(1)).unwrap();
    assert!(s.gateway.deliver()[0] >= 500);
    assert_eq!(s.status(&order), 1);
    assert_eq!(s.gateway.deliver(), [200]);
    assert_eq!(s.status(&order), 2);
    s.assert_balanced();
}
