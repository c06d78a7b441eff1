//! The accounts of a day, downloaded by operators.

use serde_json::{Value, json};

use super::world::world;

#[test]
fn an_operator_downloads_the_accounts_of_a_day_and_the_audit_log_says_so() {
    let w = world();
    let order =
        w.ok("POST", "/voucher-order/seckill/2", &w.customer)["dataText"].as_str().unwrap().to_owned();
    w.ok("POST", &format!("/voucher-order/{order}/pay"), &w.customer);
    let download = |day: &str, file: &str| {
        let response = w.call("GET", &format!("/ops/accounts/{day}/{file}"), &w.operator, "");
        assert_eq!(response.status, 200, "{response:?}");
        let name = format!("content-disposition: attachment; filename=\"{file}-{day}.csv\"");
        assert!(response.head.contains(&name), "{}", response.head);
        assert!(response.head.contains("cache-control: no-store"), "{}", response.head);
        let text = response.text.strip_prefix('\u{feff}').expect("a byte order mark").to_owned();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let payments = download("2026-11-21", "payments");
    assert_eq!(payments.len(), 2, "{payments:?}");
    assert!(payments[1].contains("2026-11-21T20:00:00.000+08:00,paid,order,"), "{payments:?}");
    assert!(payments[1].contains(&order), "{payments:?}");
    let orders = download("2026-11-21", "orders");
    assert!(orders.len() == 2 && orders[1].contains(",paid,2,100元秒杀券,"), "{orders:?}");
    let books = download("2026-11-21", "books");
    assert!(books.len() == 2 && books[1].starts_with("2026-11-21,2,sale,100元秒杀券,"), "{books:?}");
    assert_eq!(download("2026-11-20", "payments").len(), 1, "nothing but the columns");
    assert_eq!(w.call("GET", "/ops/accounts/2026-11-21/books", &w.customer, "").status, 403);
    let log = w.ok("GET", "/ops/audit?max=1", &w.operator)["data"][0].clone();
    let want = [json!("accounts.download"), json!("payments 2026-11-20")];
    assert_eq!([log["action"].clone(), log["subject"].clone()], want, "{log}");
    assert_eq!(log["userId"].as_u64(), Some(1), "{log}");
    assert_ne!(log["detail"], Value::Null);
}
