//! Tests of a shop, as an example. No test waits, and none depends on another: each has its own mall in the
//! test process, and `cargo test` runs all at the same time.

use std::error::Error;
use std::thread;
use std::time::Duration;

use mallbox::fixture::{Answer, Fault, FixtureError, Mall};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn Error>>;

const EVENING: &str = "2026-11-21T20:00:00";
const ANNA: &str = "13800000001";
const BEN: &str = "13800000002";
const UNPAID: u64 = 1;
const CANCELLED: u64 = 4;
const CLAIM: &str = "POST /voucher-order/seckill/{voucherId}";
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Returns a fresh mall. Its clock stands still until the test moves it.
fn mall() -> Result<Mall, Box<dyn Error>> {
    Ok(Mall::builder().start_at(EVENING).frozen().start()?)
}

/// Opens a sale for the whole evening, as operator. Returns the id.
fn open_sale(mall: &Mall, units: u32) -> Result<u64, Box<dyn Error>> {
    let sale = json!({
        "shopId": 1, "title": "A coffee for one yuan", "subTitle": "", "rules": "",
        "payValue": 100, "actualValue": 3000, "stock": units,
        "beginTime": "2026-11-21T19:00:00", "endTime": "2026-11-21T23:00:00",
    });
    let answer = mall.call("POST", "/api/voucher/seckill", &mall.operator(), &sale)?;
    answer.body["data"].as_u64().ok_or_else(|| answer.body.to_string().into())
}

fn claim(mall: &Mall, sale: u64, token: &str) -> Result<Answer, FixtureError> {
    mall.call("POST", &format!("/api/voucher-order/seckill/{sale}"), token, &Value::Null)
}

/// Returns the `data` of a success.
fn get(mall: &Mall, path: &str, token: &str) -> Result<Value, Box<dyn Error>> {
    let mut answer = mall.call("GET", path, token, &Value::Null)?;
    if answer.body["success"] == true {
        Ok(answer.body["data"].take())
    } else {
        Err(answer.body.to_string().into())
    }
}

fn stock(mall: &Mall, sale: u64) -> Result<Value, Box<dyn Error>> {
    Ok(get(mall, &format!("/api/sale/{sale}"), "")?["stock"].take())
}

fn order_status(mall: &Mall, order: &str, token: &str) -> Result<Value, Box<dyn Error>> {
    Ok(get(mall, &format!("/api/voucher-order/{order}"), token)?["status"].take())
}

#[test]
fn the_last_unit_is_sold_once() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 1)?;
    let (anna, ben) = (mall.log_in(ANNA)?.token, mall.log_in(BEN)?.token);
    let (one, other) = thread::scope(|at_once| {
        let one = at_once.spawn(|| claim(&mall, sale, &anna).unwrap());
        let other = at_once.spawn(|| claim(&mall, sale, &ben).unwrap());
        (one.join().unwrap(), other.join().unwrap())
    });
    let (bought, refused) = if one.body["success"] == true { (one, other) } else { (other, one) };
    assert_eq!(bought.body["success"], true);
    assert_eq!(refused.body["code"], "SOLD_OUT");
    assert_eq!(stock(&mall, sale)?, 0);
    mall.idle(10 * SECOND)?;
    let books = mall.books()?;
    assert!(books.balances(), "{books}");
    Ok(())
}

#[test]
fn an_unpaid_order_is_cancelled_after_15_minutes() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 1)?;
    let (anna, ben) = (mall.log_in(ANNA)?.token, mall.log_in(BEN)?.token);
    // An order's id exceeds 2^53. As text the id is exact in every language.
    let bought = claim(&mall, sale, &anna)?;
    let order = bought.body["dataText"].as_str().unwrap();
    assert_eq!(claim(&mall, sale, &ben)?.body["code"], "SOLD_OUT");
    mall.advance(15 * MINUTE - SECOND)?;
    assert_eq!(order_status(&mall, order, &anna)?, UNPAID);
    mall.advance(SECOND)?;
    assert_eq!(order_status(&mall, order, &anna)?, CANCELLED);
    assert_eq!(claim(&mall, sale, &ben)?.body["success"], true);
    Ok(())
}

#[test]
fn a_session_ends_after_30_minutes_unused() -> Tested {
    let mall = mall()?;
    let anna = mall.log_in(ANNA)?.token;
    mall.advance(29 * MINUTE)?;
    get(&mall, "/api/user/me", &anna)?;
    mall.advance(30 * MINUTE)?;
    let answer = mall.call("GET", "/api/user/me", &anna, &Value::Null)?;
    assert_eq!((answer.status, &answer.body["code"]), (401, &json!("NOT_LOGGED_IN")));
    Ok(())
}

#[test]
fn who_lost_the_answer_asks_again_and_has_bought_once() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 5)?;
    let anna = mall.log_in(ANNA)?.token;
    mall.faults().add(Fault::at_endpoint(CLAIM).lose_answer().times(1))?;
    assert!(claim(&mall, sale, &anna).is_err());
    let again = claim(&mall, sale, &anna)?;
    assert_eq!(again.body["code"], "ALREADY_BOUGHT");
    let orders = get(&mall, "/api/voucher-order/of/me", &anna)?;
    assert_eq!(orders.as_array().map(Vec::len), Some(1));
    assert_eq!(orders[0]["id"], again.body["dataText"]);
    assert_eq!(stock(&mall, sale)?, 4);
    Ok(())
}

#[test]
fn trouble_with_the_storage_is_answered_503_and_passes() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 5)?;
    let anna = mall.log_in(ANNA)?.token;
    mall.faults().add(Fault::at_port("sales.claim").error().times(2))?;
    for status in [503, 503, 200] {
        assert_eq!(claim(&mall, sale, &anna)?.status, status);
    }
    assert_eq!(stock(&mall, sale)?, 4);
    Ok(())
}

#[test]
fn a_restore_brings_back_what_was_sold() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 1)?;
    let (anna, ben) = (mall.log_in(ANNA)?.token, mall.log_in(BEN)?.token);
    let before_the_rush = mall.snapshot()?;
    assert_eq!(claim(&mall, sale, &anna)?.body["success"], true);
    mall.restore(&before_the_rush)?;
    assert_eq!(stock(&mall, sale)?, 1);
    assert_eq!(claim(&mall, sale, &ben)?.body["success"], true);
    Ok(())
}

#[test]
fn a_reset_leads_back_to_the_start() -> Tested {
    let mall = mall()?;
    let sale = open_sale(&mall, 1)?;
    mall.faults().add(Fault::at_endpoint(CLAIM).error(503))?;
    mall.advance(48 * 60 * MINUTE)?;
    mall.reset()?;
    assert_eq!(mall.wall_time()?, EVENING);
    let answer = mall.call("GET", &format!("/api/sale/{sale}"), "", &Value::Null)?;
    assert_eq!(answer.body["code"], "UNKNOWN_SALE");
    assert!(mall.faults().list().is_empty());
    Ok(())
}

#[test]
fn malls_share_nothing() -> Tested {
    let (one, other) = (mall()?, mall()?);
    let sale = open_sale(&one, 1)?;
    assert_eq!(open_sale(&other, 1)?, sale);
    for mall in [&one, &other] {
        assert_eq!(claim(mall, sale, &mall.log_in(ANNA)?.token)?.body["success"], true);
    }
    one.advance(15 * MINUTE)?;
    assert_eq!(stock(&one, sale)?, 1);
    assert_eq!(stock(&other, sale)?, 0);
    assert_eq!(other.wall_time()?, EVENING);
    Ok(())
}
