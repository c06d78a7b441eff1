//! A dump from elsewhere, if available: `MALLBOX_DUMP=FILE cargo test --test import -- --ignored`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{CommandOutput, Place, Served};

/// Every row of the file is in the mall; its first user logs in by code, and buys in a sale created over
/// HTTP.
#[test]
#[ignore = "needs a dump: MALLBOX_DUMP names it"]
fn a_given_dump_moves_in_whole_and_its_first_user_buys() {
    let file = PathBuf::from(std::env::var_os("MALLBOX_DUMP").expect("MALLBOX_DUMP names no dump"));
    let place = Place::new();
    let report = place.imported(&file, &["--zone", "Asia/Shanghai"]);
    assert!(!report.contains("omitted     "), "{report}");
    let phone = place.rows("SELECT phone FROM users ORDER BY id LIMIT 1").remove(0);
    let shop: u64 = place.rows("SELECT id FROM shops ORDER BY id LIMIT 1").remove(0).parse().unwrap();
    place.verify();

    let CommandOutput { code, err, .. } = place.on_mall(&["user", "grant", "13911111111"]);
    assert_eq!(code, 0, "{err}");
    let served = Served::start(&place);
    let (operator, user) = (served.log_in("13911111111"), served.log_in(&phone));
    let form = json!({
        "shopId": shop, "title": "new", "payValue": 100, "actualValue": 200, "stock": 1,
        "beginTime": "2022-01-01T00:00:00", "endTime": "2037-01-01T00:00:00"
    });
    let sale = served.call("POST", "/voucher/seckill", &operator, &form)["data"].as_u64().unwrap();
    let claim =
        |token: &str| served.call("POST", &format!("/voucher-order/seckill/{sale}"), token, &Value::Null);
    assert_eq!(claim(&user)["success"], true);
    assert_eq!(claim(&operator)["code"], "SOLD_OUT");
    assert_eq!(served.stop(), 0);
    place.verify();
}
