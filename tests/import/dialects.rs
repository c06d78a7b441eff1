//! One database, dumped by mysqldump and by Navicat: an equal mall.

use crate::world::{Place, dump};

const SHANGHAI: [&str; 2] = ["--zone", "Asia/Shanghai"];

/// Returns the database content determined by the dump, table by table.
fn content(place: &Place) -> Vec<String> {
    [
        "SELECT 'user', id, phone, nick_name, icon, role, password, created_ms FROM users ORDER BY id",
        "SELECT 'card', user_id, city, introduce, gender, birthday, credits, level FROM user_info ORDER BY user_id",
        "SELECT 'type', id, name, icon, sort FROM shop_types ORDER BY id",
        "SELECT 'shop', id, name, images, address, CAST(x AS TEXT), avg_price, sold, score, open_hours FROM shops ORDER BY id",
        "SELECT 'voucher', id, shop_id, title, rules, pay_value, status FROM vouchers ORDER BY id",
        "SELECT 'sale', voucher_id, initial, stock, begin_ms, end_ms, first_order, last_order FROM sales ORDER BY voucher_id",
        "SELECT 'order', id, user_id, voucher_id, slot = 0, status, pay_value, pay_type, created_ms, paid_ms, used_ms, refunded_ms
         FROM orders ORDER BY id",
        "SELECT 'dead', order_id, reason, holds_unit FROM dead_letters ORDER BY order_id",
        "SELECT 'payment', order_id, amount, state FROM payments ORDER BY order_id",
        "SELECT 'note', id, shop_id, user_id, title, images, content, imported_likes, imported_comments, created_ms
         FROM notes ORDER BY id",
        "SELECT 'comment', id, note_id, user_id, content, imported_likes, status FROM note_comments ORDER BY id",
        "SELECT 'follow', user_id, followee_id, created_ms FROM follows ORDER BY user_id",
        "SELECT 'sign', day, block, hex(signed), hex(made_up) FROM sign_blocks ORDER BY day",
    ]
    .into_iter()
    .flat_map(|sql| place.rows(sql))
    .collect()
}

const CONTENT: &str = r#"user 1 13900000011 小满 /imgs/icons/cat.png 0 abc@df10ef8509dc176d733d59549e7dbfaf 1640312839000
user 2 13900000012 <i>谷雨</i>  0 NULL 1640312839000
user 7 13900000013   0 NULL 1640312839000
card 1 杭州 noodles, mostly 1 2000-01-31 120 3
card 2   0 NULL 0 0
type 1 美食 /types/food.png 2
type 2 茶 /types/tea.png 1
shop 1 西湖边的面馆 https://pictures.example/a/front.jpg?w=400,/imgs/shops/1.png 湖滨路1号 120.15 35 42 9 10:00-22:00
shop 2 Quiet Tea "No. 2"  O'Brien Lane 2 120.2 NULL 0 48 
voucher 1 1 50 for 47 once\ntwice 4750 1
voucher 2 1 a sale that is over  100 1
voucher 3 2 a sale that is on  200 1
voucher 4 2 a sale without terms  300 1
voucher 5 0 an oversold one without a shop  400 2
sale 2 7 5 1643076000000 1643209200000 104 107
sale 3 11 7 1643076000000 2145884400000 101 9101346791321665537
sale 4 0 0 0 0 NULL NULL
sale 5 0 0 0 0 NULL NULL
order 101 1 3 1 1 200 1 1643076005000 NULL NULL NULL
order 102 2 3 1 2 200 3 1643076005000 1643076065000 NULL NULL
order 104 1 2 1 3 100 2 1643076005000 1643076065000 1643083200000 NULL
order 105 1 2 0 4 100 1 1643076005000 NULL NULL NULL
order 106 7 3 0 6 200 1 1643076005000 1643076065000 NULL 1643083200000
order 107 7 2 1 5 100 1 1643076005000 1643076065000 NULL NULL
order 110 1 1 0 1 4750 1 1643076005000 NULL NULL NULL
order 111 1 1 0 1 4750 1 1643076005000 NULL NULL NULL
order 1485880303222915073 7 3 0 4 200 1 1643076005000 NULL NULL NULL
order 9101346791321665537 7 3 1 1 200 1 1643076005000 NULL NULL NULL
dead 103 DOUBLE 1
payment 102 200 1
payment 104 100 1
payment 106 200 2
payment 107 100 1
note 1 1 1 It's <b>noodle</b> time 🍜 /imgs/blogs/1/bowl.png,/imgs/blogs/1/gone.jpg <p>One\two</p><br/>
<script>alert(1)</script>"three" 12 3 1646100000000
note 3 77 2 a shop that closed  long gone 1 0 1646186400000
comment 1 1 2 Which street? 4 0
follow 1 2 1646100000000
follow 2 1 1646100000000
sign 2022-03-01 0 02 
sign 2022-03-02 0 02 02"#;

const REPORT: &str = "table                       rows    imported     omitted
tb_shop_type                   2           2           0
tb_shop                        3           2           1
tb_user                        5           3           2
tb_user_info                   3           2           1
tb_voucher                     5           5           0
tb_seckill_voucher             4           3           1
tb_voucher_order              14          11           3
tb_blog                        3           2           1
tb_blog_comments               3           1           2
tb_follow                      5           2           3
tb_sign                        4           2           2
";

/// The second dump has CRLF, a byte order mark, other column orders and column lists. The first has UTC
/// times, several rows per statement, partitions, a trigger, and a table with arbitrary bytes.
#[test]
fn both_dialects_mean_the_same_mall() {
    for name in ["mysqldump.sql", "navicat.sql"] {
        let place = Place::new();
        let report = place.imported(&dump(name), &[&SHANGHAI[..], &["--payment", "sandbox"]].concat());
        assert!(report.starts_with(REPORT), "{name}:\n{report}");
        assert_eq!(content(&place).join("\n"), CONTENT, "{name}");
        place.verify();
    }
}

#[test]
fn the_report_names_what_was_left_out_and_why() {
    let place = Place::new();
    let report = place.imported(&dump("mysqldump.sql"), &SHANGHAI);
    for line in [
        "omitted     1 × tb_shop: coordinates out of range: 3 (line 160)",
        "omitted     1 × tb_user: id or phone already taken by an earlier user: 3 (line 242)",
        "omitted     1 × tb_user: phone is not a mainland number: 4 (line 242)",
        "omitted     1 × tb_voucher_order: status is not 1 to 6: 112 (line 337)",
        "omitted     1 × tb_voucher_order: user not in the mall: 108",
        "omitted     2 × tb_blog_comments: note not in the mall: 3, 2",
        "changed     1 × tb_seckill_voucher: stock below 0 imported as 0",
        "changed     1 × tb_voucher_order: a further live order of a user in a sale becomes a dead letter \
         DOUBLE and keeps the unit: 103",
        "unknown     tables skipped: undo_log",
        "Imported with omissions: rows omitted: 16; tables skipped: 1; ",
        ". Next: mallbox serve --data ",
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
    // The report contains only numbers of users, no personal data.
    assert!(!report.contains("1390000"), "{report}");
    let report = Place::new().imported(&dump("navicat.sql"), &SHANGHAI);
    assert!(report.contains("unknown     columns skipped: tb_user.open_id"), "{report}");
}

#[test]
fn times_without_a_zone_of_their_own_are_of_the_mall() {
    let place = Place::new();
    place.imported(&dump("navicat.sql"), &["--zone", "Europe/Berlin"]);
    assert_eq!(place.rows("SELECT created_ms FROM users WHERE id = 1"), ["1640338039000"]);
    assert_eq!(place.rows("SELECT value FROM meta WHERE name = 'setting.zone'"), ["Europe/Berlin"]);
}
