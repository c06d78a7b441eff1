//! Order ids do not depend on Redis: numbers, days and secret are in MySQL.

use std::collections::HashSet;

use super::{DUMP, OPERATOR, Site, claimed, log_in, open_sale, readyz};

#[test]
#[cfg_attr(not(feature = "production-tests"), ignore = "needs redis-server and mariadbd")]
fn after_the_loss_of_redis_two_processes_draw_no_order_id_twice() {
    let mut site = Site::new();
    site.done(&["import", DUMP]);
    let (one, other) = (site.serve("one"), site.serve("other"));
    site.done(&["user", "grant", OPERATOR]);
    let operator = log_in(&one, OPERATOR);
    let sale = open_sale(&one, &operator, 50);
    let mut orders = Vec::new();
    let mut buyers = 0..;
    for loss in 0..3 {
        for number in buyers.by_ref().take(2) {
            let server = if number % 2 == 0 { &one } else { &other };
            let token = log_in(server, &format!("1391111{number:04}"));
            orders.push(claimed(server, &sale, &token));
        }
        readyz(&one, 200, r#""backlog":0"#);
        if loss < 2 {
            site.redis.kill();
            std::fs::remove_dir_all(site.redis.dir().join("appendonlydir")).unwrap();
            site.redis.restart().unwrap();
            readyz(&one, 200, "");
            readyz(&other, 200, "");
        }
    }
    let distinct: HashSet<_> = orders.iter().collect();
    assert_eq!(distinct.len(), 6, "an id came twice: {orders:?}");
    assert!(site.done(&["verify"]).contains("the ledger balances"));
    one.stop().unwrap();
    other.stop().unwrap();
}
