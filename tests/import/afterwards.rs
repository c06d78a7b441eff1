//! An imported mall over HTTP: its users log in, buy and pay, and the ledger balances.

use mallbox_test_checker::{Client, History, Request, Response, Standing, Summary};
use serde_json::{Value, json};

use crate::world::{CommandOutput, Place, Served, dump, token};

const SHANGHAI: [&str; 2] = ["--zone", "Asia/Shanghai"];

fn served() -> (Place, Served) {
    let place = Place::new();
    place.imported(&dump("mysqldump.sql"), &[&SHANGHAI[..], &["--payment", "sandbox"]].concat());
    let served = Served::start(&place);
    (place, served)
}

#[test]
fn its_shops_and_vouchers_are_shown_as_they_were() {
    let (_place, served) = served();
    let shop = &served.get("/shop/1")["data"];
    assert_eq!(
        (&shop["name"], &shop["sold"], &shop["score"]),
        (&json!("西湖边的面馆"), &json!(42), &json!(9))
    );
    assert_eq!(shop["createTime"], "2021-12-22T18:10:39");
    let vouchers = served.get("/voucher/list/2")["data"].clone();
    let sale = vouchers.as_array().unwrap().iter().find(|voucher| voucher["id"] == 3).unwrap();
    assert_eq!((&sale["stock"], &sale["beginTime"]), (&json!(7), &json!("2022-01-25T10:00:00")));
    let reader = token(&served.log_in_by_password("13900000011", "123456"));
    let card = served.call("GET", "/user/info/1", &reader, &Value::Null);
    assert_eq!(card["data"]["birthday"], "2000-01-31");
}

#[test]
fn an_old_password_works_once_and_becomes_argon2id() {
    let (place, served) = served();
    let wrong = served.log_in_by_password("13900000011", "1234567");
    assert_eq!(wrong["success"], false, "{wrong}");
    let first = token(&served.log_in_by_password("13900000011", "123456"));
    assert_eq!(served.call("GET", "/user/me", &first, &Value::Null)["data"]["id"], 1);
    token(&served.log_in_by_password("13900000011", "123456"));
    assert_eq!(served.log_in_by_password("13900000013", "plain text")["success"], false);
    assert_eq!(served.stop(), 0);
    let stored = place.rows("SELECT password FROM users WHERE id = 1").remove(0);
    assert!(stored.starts_with("$argon2id$"), "{stored}");
}

#[test]
fn an_old_password_is_asked_for_when_it_is_changed() {
    let (_place, served) = served();
    let session = served.log_in("13900000011");
    let set = |form: &Value| served.call("PUT", "/user/password", &session, form)["success"].clone();
    // A log-in by code a moment ago may leave the old password out.
    assert_eq!(set(&json!({"oldPassword": "1234567", "password": "a longer one"})), false);
    assert_eq!(set(&json!({"oldPassword": "123456", "password": "a longer one"})), true);
    token(&served.log_in_by_password("13900000011", "a longer one"));
    assert_eq!(served.log_in_by_password("13900000011", "123456")["success"], false);
}

#[test]
fn sales_and_orders_go_on_where_they_were() {
    let (place, served) = served();
    let (one, seven, new) =
        (served.log_in("13900000011"), served.log_in("13900000013"), served.log_in("13900000099"));
    let claim = |token: &str, sale: u64| {
        served.call("POST", &format!("/voucher-order/seckill/{sale}"), token, &Value::Null)
    };
    assert_eq!(claim(&one, 3)["code"], "ALREADY_BOUGHT");
    assert_eq!(claim(&new, 2)["code"], "ENDED");
    assert_eq!(claim(&new, 4)["code"], "ENDED");
    let bought = claim(&new, 3);
    assert_eq!(bought["success"], true, "{bought}");
    assert_eq!(served.get("/sale/3")["data"]["stock"], 6);
    // The file's unpaid order is paid; another is cancelled, and the unit is returned.
    let step = |token: &str, order: &str, step: &str| {
        served.call("POST", &format!("/voucher-order/{order}/{step}"), token, &Value::Null)["success"].clone()
    };
    assert_eq!(step(&one, "101", "pay"), true);
    assert_eq!(step(&one, "110", "cancel"), true);
    assert_eq!(step(&seven, "9101346791321665537", "cancel"), true);
    assert_eq!(served.get("/sale/3")["data"]["stock"], 7);
    assert_eq!(served.stop(), 0);
    place.verify();
}

#[test]
fn an_imported_mall_asks_for_no_payment_by_default() {
    for (more, mode, status) in [(&[][..], "none", 2), (&["--payment", "sandbox"][..], "sandbox", 1)] {
        let place = Place::new();
        place.imported(&dump("mysqldump.sql"), &[&SHANGHAI[..], more].concat());
        place.verify();
        let served = Served::start(&place);
        let user = served.log_in("13900000099");
        let bought = served.call("POST", "/voucher-order/seckill/3", &user, &Value::Null);
        let order = bought["dataText"].as_str().unwrap_or_else(|| panic!("{bought}")).to_owned();
        let order = loop {
            let order = served.call("GET", &format!("/voucher-order/{order}"), &user, &Value::Null);
            if order["data"]["status"] != 0 {
                break order;
            }
        };
        let order = &order["data"];
        assert_eq!((&order["payment"], &order["status"]), (&json!(mode), &json!(status)), "{order}");
        // An order unpaid in the dump can still be paid.
        let one = served.log_in("13900000011");
        assert_eq!(served.call("POST", "/voucher-order/101/pay", &one, &Value::Null)["success"], true);
        assert_eq!(served.stop(), 0);
        place.verify();
    }
}

#[test]
fn an_operator_makes_a_sale_and_an_imported_user_buys_in_it() {
    let (place, served) = served();
    let CommandOutput { code, err, .. } = place.on_mall(&["user", "grant", "13900000012"]);
    assert_eq!(code, 0, "{err}");
    let (operator, user) = (served.log_in("13900000012"), served.log_in("13900000011"));
    let form = json!({
        "shopId": 1, "title": "new", "payValue": 100, "actualValue": 200, "stock": 2,
        "beginTime": "2022-01-01T00:00:00", "endTime": "2037-01-01T00:00:00"
    });
    let sale = served.call("POST", "/voucher/seckill", &operator, &form)["data"].as_u64().unwrap();
    assert_eq!(sale, 1010, "ids go on where the file says");
    let newcomer = served.log_in("13911111111");
    let clients = [&user, &newcomer, &operator];
    let clients = clients.map(|token| Client::of_session(served.address(), token).unwrap());
    assert_eq!(clients[1].user, 1010);
    let mut history = History::of(clients.to_vec());
    history.open_sale(sale, Some(2));
    for client in [0, 0, 1, 2] {
        history.ask(served.address(), client, Request::Claim { sale });
    }
    let Standing::Holding(order) = history.standing(0, sale) else { panic!("{history:?}") };
    assert!(matches!(history.ask(served.address(), 0, Request::Pay { order }), Response::Order(_)));
    let Summary { claims, already_bought, sold_out, .. } = history.summary();
    assert_eq!((claims, already_bought, sold_out), (2, 1, 1), "{history:?}");
    served.assert_history_holds(&place, &history, &operator);
    assert_eq!(served.stop(), 0);
    place.verify();
}

#[test]
fn pictures_are_the_ones_that_came_along_or_a_drawn_one() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a bowl";
    let place = Place::new();
    place.write("html/imgs/blogs/1/bowl.png", PNG);
    place.write("html/imgs/remote/pictures.example/a/front.jpg", b"\xff\xd8\xff a front");
    place.write("html/imgs/types/food.png", "<script>alert(1)</script>");
    let html = place.path("html");
    let report = place.imported(&dump("navicat.sql"), &["--imgs", html.to_str().unwrap()]);
    assert!(report.contains("pictures    2 imported; 4 referenced but missing"), "{report}");
    assert!(report.contains("1 files whose content is not a picture: types/food.png"), "{report}");
    let served = Served::start(&place);
    for (path, kind) in [
        ("/imgs/blogs/1/bowl.png", "image/png"),
        ("/imgs/remote/pictures.example/a/front.jpg", "image/jpeg"),
        ("/imgs/blogs/1/gone.jpg", "image/svg+xml"),
        ("/imgs//types/food.png", "image/svg+xml"),
        ("/imgs//types/tea.png", "image/svg+xml"),
    ] {
        let (head, body) = served.ask("GET", path, "", "");
        let head = head.to_ascii_lowercase();
        assert!(
            head.starts_with("http/1.1 200") && head.contains(&format!("content-type: {kind}")),
            "{path}: {head}"
        );
        assert!(!body.is_empty());
    }
    assert_eq!(served.ask("GET", "/imgs/blogs/1/bowl.png", "", "").1, PNG);
    assert!(served.ask("GET", "/imgs/../mall.sqlite", "", "").0.starts_with("HTTP/1.1 404"));
}

#[test]
fn pictures_that_came_along_go_with_their_note_and_their_user() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a picture";
    let place = Place::new();
    for name in ["blogs/1/bowl.png", "icons/cat.png", "shops/1.png"] {
        place.write(&format!("html/imgs/{name}"), PNG);
    }
    let html = place.path("html");
    place.imported(
        &dump("mysqldump.sql"),
        &[&SHANGHAI[..], &["--payment", "sandbox", "--imgs", html.to_str().unwrap()]].concat(),
    );
    assert_eq!(place.on_mall(&["user", "grant", "13900000099"]).code, 0);
    let served = Served::start(&place);
    let operator = served.log_in("13900000099");
    let are_shown = || {
        ["blogs/1/bowl.png", "icons/cat.png", "shops/1.png"]
            .map(|name| served.ask("GET", &format!("/imgs/{name}"), "", "").1 == PNG)
    };
    assert_eq!(are_shown(), [true; 3]);
    let done = |method: &str, path: &str, token: &str, body: &Value| {
        let response = served.call(method, path, token, body);
        assert_eq!(response["success"], true, "{path}: {response}");
    };
    done("POST", "/ops/reports/note/1/hide", &operator, &Value::Null);
    assert_eq!(are_shown(), [false, true, true]);
    done("POST", "/ops/reports/note/1/show", &operator, &Value::Null);
    assert_eq!(are_shown(), [true; 3]);
    let author = token(&served.log_in_by_password("13900000011", "123456"));
    done("DELETE", "/blog/1", &author, &Value::Null);
    assert_eq!(are_shown(), [false, true, true]);
    done("DELETE", "/user/me?forfeit=true", &author, &json!({"password": "123456"}));
    assert_eq!(are_shown(), [false, false, true]);
    done("DELETE", "/ops/pictures/%2Fimgs%2Fshops%2F1.png", &operator, &Value::Null);
    assert_eq!(are_shown(), [false; 3]);
    assert!(!place.mall().join("uploads/shops/1.png").exists());
    assert_eq!(served.stop(), 0);
    place.verify();
}

#[test]
fn its_notes_and_comments_are_read_as_they_were_and_go_on() {
    let (_place, served) = served();
    let note = json!({
        "id": 1, "shopId": 1, "userId": 1, "icon": "/imgs/icons/cat.png", "name": "小满",
        "title": "It's <b>noodle</b> time 🍜", "images": "/imgs/blogs/1/bowl.png,/imgs/blogs/1/gone.jpg",
        "content": "<p>One\\two</p><br/>\n&lt;script&gt;alert(1)&lt;/script&gt;\"three\"", "liked": 12, "comments": 3, "isLike": false,
        "createTime": "2022-03-01T10:00:00",
    });
    let mut actual = served.get("/blog/1")["data"].take();
    // The file has no time of the last change.
    assert!(actual.as_object_mut().unwrap().remove("updateTime").is_some());
    assert_eq!(actual, note);
    let hot = served.get("/blog/hot")["data"].clone();
    let ids: Vec<_> = hot.as_array().unwrap().iter().map(|note| note["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 3]);
    assert_eq!(served.get("/blog/of/user?id=2")["data"][0]["title"], "a shop that closed");
    let comments = served.get("/blog-comments/of/blog/1");
    let first = &comments["data"][0];
    let actual = (&comments["total"], &first["content"], &first["liked"]);
    assert_eq!(actual, (&json!(1), &json!("Which street?"), &json!(4)));
    let session = served.log_in("13900000011");
    let answer = json!({"blogId": 1, "answerId": 1, "content": "湖滨路"});
    assert_eq!(
        served.call("POST", "/blog-comments", &session, &answer)["data"],
        1010,
        "ids go on where the file says"
    );
    assert_eq!(served.get("/blog/1")["data"]["comments"], 4);
    let own = json!({"title": "还是这家", "shopId": 1});
    assert_eq!(served.call("POST", "/blog", &session, &own)["data"], 1010);
    assert_eq!(served.call("DELETE", "/blog/1", &session, &Value::Null)["success"], true);
    assert_eq!(served.get("/blog/1")["code"], "NOT_FOUND");
    assert_eq!(served.stop(), 0);
}

#[test]
fn its_people_signed_in_on_the_days_on_which_they_did() {
    let (_place, served) = served();
    let token = served.log_in("13900000011");
    let get = |path: &str| served.call("GET", path, &token, &Value::Null)["data"].clone();
    assert_eq!(get("/user/sign/month?month=2022-03"), json!([1, 2]));
    let calendar = get("/user/sign/calendar?month=2022-03");
    assert_eq!((&calendar["madeUp"], &calendar["longest"]), (&json!([2]), &json!(2)));
    assert_eq!(served.call("POST", "/user/sign", &token, &Value::Null)["success"], true);
    assert_eq!(get("/user/sign/count"), 1);
}

#[test]
fn orders_unpaid_for_years_are_not_cancelled_by_the_import() {
    const UNPAID: &str = "SELECT id, status, deadline_ms FROM orders WHERE id IN (101, 110) ORDER BY id";
    let (place, served) = served();
    let session = served.log_in("13900000011");
    let order = &served.call("GET", "/voucher-order/101", &session, &Value::Null)["data"];
    assert_eq!((&order["status"], &order["deadline"]), (&json!(1), &Value::Null), "{order}");
    assert_eq!(served.stop(), 0);
    assert_eq!(place.rows(UNPAID), ["101 1 253402300799000", "110 1 253402300799000"]);
    place.verify();
    // Order 103 is the user's second, which is allowed only if cancelled.
    for (unpaid, count, left, stock) in [("cancel", 5, "4", "11 10"), ("24h", 4, "1", "11 7")] {
        let place = Place::new();
        let report = place.imported(&dump("mysqldump.sql"), &["--unpaid", unpaid, "--payment", "sandbox"]);
        assert!(report.contains(&format!("unpaid      {count} × tb_voucher_order: ")), "{report}");
        let rows = place.rows(UNPAID);
        assert!(rows.iter().all(|row| row.split(' ').nth(1) == Some(left)), "{unpaid}: {rows:?}");
        assert!(!rows[0].ends_with("253402300799000") || unpaid == "cancel", "{unpaid}: {rows:?}");
        assert_eq!(place.rows("SELECT initial, stock FROM sales WHERE voucher_id = 3"), [stock], "{unpaid}");
        place.verify();
    }
    let CommandOutput { code, err, .. } = Place::new().import(&dump("mysqldump.sql"), &["--unpaid", "soon"]);
    assert!(code == 2 && err.contains("keep, cancel, or a time to pay"), "{code} {err}");
}

#[test]
fn pictures_in_somebodys_own_network_are_not_fetched_and_keep_their_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/front.png", listener.local_addr().unwrap());
    let place = Place::new();
    let rows = format!(
        "CREATE TABLE tb_shop (id int, name text, x double, y double, images text);\n\
         INSERT INTO tb_shop VALUES (1,'noodles',120,30,'{address},http://169.254.169.254/latest/meta-data/');\n\
         -- Dump completed\n"
    );
    let report = place.imported(&place.write("dump.sql", rows), &["--fetch-pictures"]);
    let actual = format!("2 not fetched: in a private network or on this machine: not fetched: {address}, ");
    assert!(report.contains(&actual), "{report}");
    assert!(report.contains("Imported with omissions: "), "{report}");
    assert!(listener.accept().is_err(), "it was asked");
    assert!(!place.mall().join("uploads/fetched").exists());
    place.verify();
    let CommandOutput { code, err, .. } = place.import(&dump("navicat.sql"), &["--fetch-pictures"]);
    assert!(code == 2 && err.contains("already has data; import needs an empty mall"), "{code} {err}");
}
