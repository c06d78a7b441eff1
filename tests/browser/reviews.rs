//! Reviews: written after use, read and voted for at the shop, decided at the console.

use mallbox::fixture::{Fault, Mall};
use serde_json::{Value, json};

use crate::harness::{Place as _, Screen, until};
use crate::people::{ANNE, BEN, CARL, OPERATOR, RUNNING, browser_of, buy, evening, pay};

/// Loses the responses to posts of reviews while the item `loses` is stored, over reloads.
const LOSES_POSTS: &str = r#"{
    const real = window.fetch;
    window.fetch = async (address, options) => {
        const response = await real(address, options);
        const isPost = options?.method === "POST" && String(address).endsWith("/remark");
        if (!isPost || !localStorage.getItem("loses")) return response;
        // A body that nobody reads would keep the request in flight.
        await response.text();
        throw new TypeError("lost");
    };
}"#;

/// Buys, pays and uses an order of the running sale. Returns the order and its shop.
pub fn used_order(mall: &Mall, phone: &str) -> (String, u64) {
    let order = buy(mall, phone, RUNNING);
    pay(mall, phone, &order);
    let token = mall.log_in(phone).unwrap().token;
    let get = |path: &str| mall.call("GET", path, &token, &Value::Null).unwrap().data().clone();
    let receipt = get(&format!("/api/voucher-order/{order}/receipt"));
    let path = format!("/api/ops/receipts/{}/use", receipt["code"].as_str().unwrap());
    let used = mall.call("POST", &path, &mall.operator(), &Value::Null).unwrap();
    assert!(used.is_success(), "{}", used.text);
    let shop = get(&format!("/api/voucher-order/{order}"))["shopId"].as_u64().unwrap();
    (order, shop)
}

/// Posts a review of five stars. Returns its id.
pub fn posted(mall: &Mall, phone: &str, order: &str, content: &str) -> String {
    let token = mall.log_in(phone).unwrap().token;
    let body = json!({ "orderId": order, "score": 50, "content": content });
    let posted = mall.call("POST", "/api/remark", &token, &body).unwrap();
    assert!(posted.is_success(), "{}", posted.text);
    posted.data().to_string()
}

/// Decides about a review as an operator.
fn decide(mall: &Mall, review: &str, visibility: &str) {
    let body = json!({ "visibility": visibility, "reason": "广告" });
    let path = format!("/api/ops/remarks/{review}/visibility");
    let decided = mall.call("PUT", &path, &mall.operator(), &body).unwrap();
    assert!(decided.is_success(), "{}", decided.text);
}

/// Counts a shop's reviews of five stars with this text.
fn five_stars_saying(mall: &Mall, shop: u64, content: &str) -> usize {
    let found = mall.call("GET", &format!("/api/remark?itemId={shop}&stars=5"), "", &Value::Null).unwrap();
    found.data().as_array().unwrap().iter().filter(|one| one["content"] == content).count()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn buyer_reviews_a_used_order_once_even_over_a_bad_connection_and_edits_the_review() {
    let mall = evening().start().unwrap();
    let (order, shop) = used_order(&mall, ANNE);
    let page = browser_of(&mall, ANNE).open(&format!("/#/order/{order}"));
    page.link("写评价").click();
    page.button("发布评价").click();
    page.sees("请先点星星评分");
    page.choice("4.5星").click();
    page.field("评价（选填）").fill("面很香，老板也热情。");
    page.choice("服务好").click();
    page.field("人均消费，元（选填）").fill("四十");
    page.button("发布评价").click();
    page.sees("请输入金额");
    page.field("人均消费，元（选填）").fill("47.5");
    // A draft survives leaving the page.
    page.go("/#/orders");
    page.link("写评价：").click();
    assert_eq!(page.field("评价（选填）").value(), "面很香，老板也热情。");
    page.rests();
    page.lose_answer("/api/remark");
    page.button("发布评价").click();
    page.was_cut();
    page.sees("评价已发布");
    page.is_at("/#/me/reviews");
    page.sees("面很香，老板也热情。");
    page.sees("人均 ¥47.50");
    assert_eq!(five_stars_saying(&mall, shop, "面很香，老板也热情。"), 1);

    page.link("修改").click();
    assert_eq!(page.field("人均消费，元（选填）").value(), "47.5");
    page.field("评价（选填）").fill("第二次来，一样香。");
    page.button("保存修改").click();
    page.sees("评价已修改");
    page.sees("第二次来，一样香。");
    page.sees("已修改");
    page.go(&format!("/#/order/{order}"));
    page.link("查看评价").click();
    page.sees("第二次来，一样香。");
    page.button("删除我的评价").click();
    page.part("删除这条评价？").button("删除").click();
    page.sees("评价已删除");
    page.is_at(&format!("/#/order/{order}"));
    page.link("写评价").is_gone();
    // Nothing is left to do about the order, wherever one comes from.
    page.go("/#/orders");
    page.sees("已使用");
    page.rests();
    page.link("评价").is_gone();
    page.go(&format!("/#/review?order={order}"));
    page.sees("不能再次评价");
    page.button("发布评价").is_gone();
    page.go("/#/me/reviews");
    page.sees("还没有评价");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_review_in_doubt_stays_closed_over_a_reload_and_is_posted_once_as_it_was_sent() {
    let mall = evening().start().unwrap();
    let (order, shop) = used_order(&mall, ANNE);
    let form = format!("/#/review?order={order}");
    let page = browser_of(&mall, ANNE).running(LOSES_POSTS).open(&form);
    page.choice("5星").click();
    page.field("评价（选填）").fill("汤很鲜。");
    page.run("localStorage.setItem('loses', 'posts'); 0");
    page.button("发布评价").click();
    page.sees("评价可能已经发布");
    page.field("评价（选填）").is_disabled();
    page.choice("4星").is_disabled();
    page.button("马上再试").click();
    page.sees("评价可能已经发布");
    page.fits();
    page.is_accessible();
    page.reload();
    page.sees("评价可能已经发布");
    page.field("评价（选填）").is_disabled();
    assert_eq!(page.field("评价（选填）").value(), "汤很鲜。");
    page.go("/#/orders");
    page.go(&form);
    page.sees("评价可能已经发布");
    page.field("评价（选填）").is_disabled();
    // By itself, after a while.
    page.run("localStorage.removeItem('loses'); 0");
    page.sees("评价已发布");
    page.is_at("/#/me/reviews");
    assert_eq!(five_stars_saying(&mall, shop, "汤很鲜。"), 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_review_changed_after_it_was_posted_elsewhere_is_not_lost_without_a_word() {
    let mall = evening().start().unwrap();
    let (order, _) = used_order(&mall, ANNE);
    let page = browser_of(&mall, ANNE).open(&format!("/#/review?order={order}"));
    page.choice("5星").click();
    page.field("评价（选填）").fill("汤很鲜，就是等太久。");
    page.rests();
    // Another window with the same draft.
    let draft = page.run("JSON.parse(Object.entries(localStorage).find(([name]) => name.includes('review-draft'))[1]).requestId");
    let body = json!({ "orderId": order, "requestId": draft, "score": 50, "content": "汤很鲜。" });
    let token = mall.log_in(ANNE).unwrap().token;
    let posted = mall.call("POST", "/api/remark", &token, &body).unwrap();
    assert!(posted.is_success(), "{}", posted.text);
    page.button("发布评价").click();
    page.sees("之前已经发布，内容可能与这里的不同");
    page.link("查看评价").is_there();
    page.fits();
    page.is_accessible();
    page.button("用这里的内容替换").click();
    page.sees("评价已修改");
    page.is_at("/#/me/reviews");
    page.sees("汤很鲜，就是等太久。");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn an_edit_survives_leaving_the_form_until_it_is_saved() {
    let mall = evening().start().unwrap();
    let (order, _) = used_order(&mall, ANNE);
    let review = posted(&mall, ANNE, &order, "汤很鲜。");
    let form = format!("/#/review?id={review}");
    let page = browser_of(&mall, ANNE).open(&form);
    page.field("评价（选填）").fill("汤很鲜，面也好。");
    page.go(&format!("/#/review/{review}"));
    page.sees("汤很鲜。");
    page.go(&form);
    assert_eq!(page.field("评价（选填）").value(), "汤很鲜，面也好。");
    page.rests();
    page.lose_answer("/api/remark");
    page.button("保存修改").click();
    page.was_cut();
    page.sees("评价已修改");
    page.sees("汤很鲜，面也好。");
    // Somebody else's.
    let other = browser_of(&mall, BEN).open(&form);
    other.sees("只能修改自己的评价");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn a_review_has_a_screen_of_its_own_that_says_what_became_of_it() {
    let mall = evening().start().unwrap();
    let (order, shop) = used_order(&mall, ANNE);
    let review = posted(&mall, ANNE, &order, "汤很鲜。");
    let path = format!("/#/review/{review}");
    let author = browser_of(&mall, ANNE).open("/#/me/reviews");
    author.link("查看评价").click();
    author.is_at(&path);
    author.link("修改").is_there();
    let reader = browser_of(&mall, BEN).open(&path);
    reader.sees("汤很鲜。");
    reader.button("有用 0").is_there();
    for (state, to_reader, to_author) in [
        ("folded", "已被管理员折叠", "已被管理员折叠"),
        ("hidden", "看不到这条评价", "只有您看得到"),
        ("shown", "汤很鲜。", "汤很鲜。"),
        ("deleted", "看不到这条评价", "看不到这条评价"),
    ] {
        decide(&mall, &review, state);
        for (page, says) in [(&reader, to_reader), (&author, to_author)] {
            page.reload();
            page.sees(says);
            page.rests();
        }
        let stays = reader.text().contains("汤很鲜。");
        assert_eq!(stays, state == "folded" || state == "shown", "{state}");
    }
    reader.link("看看店铺").click();
    reader.go(&format!("/#/shop/{shop}"));
    reader.go(&path);
    reader.button("返回").click();
    reader.is_at(&format!("/#/shop/{shop}"));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn the_number_of_votes_is_that_of_the_mall_whatever_happens_meanwhile() {
    let mall = evening().start().unwrap();
    let (order, _) = used_order(&mall, ANNE);
    let review = posted(&mall, ANNE, &order, "汤很鲜。");
    let vote = |phone: &str, up: bool| {
        let token = mall.log_in(phone).unwrap().token;
        let path = format!("/api/remark/{review}/vote/{up}");
        assert!(mall.call("PUT", &path, &token, &Value::Null).unwrap().is_success());
    };
    vote(CARL, true);
    let page = browser_of(&mall, BEN).open(&format!("/#/review/{review}"));
    page.button("有用 1").is_there();
    vote(CARL, false);
    page.button("有用 1").click();
    page.rests();
    page.button("有用 1").is_there();
    vote(CARL, true);
    page.button("有用 1").click();
    page.rests();
    page.button("有用 1").is_there();
    // A failure: the vote does not count, and the number is that of the mall.
    vote(CARL, false);
    let fault = Fault::at_endpoint("PUT /remark/{id}/vote/{up}").error(503).times(3);
    mall.faults().add(fault).unwrap();
    page.forgive("503");
    page.button("有用 1").click();
    page.button("有用 0").is_there();
    assert_eq!(page.run("document.querySelector('.like').ariaPressed"), "false");
    decide(&mall, &review, "folded");
    page.button("有用 0").click();
    page.sees("这条评价已被折叠");
    page.button("有用 0").is_there();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn reader_filters_reviews_and_votes_for_one() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, BEN).open("/#/shop/1");
    page.sees("店家回复：");
    page.button("最有用").click();
    page.button("2星 1").click();
    page.sees("那天上错了一道菜");
    page.button("有用 0：深夜煮面人的评价").click();
    page.button("有用 1：深夜煮面人的评价").is_there();
    let has_votes = |votes: u64| {
        let reviews = mall.call("GET", "/api/remark?itemId=1&stars=2", "", &Value::Null).unwrap();
        if reviews.data()[0]["votes"] == votes { Ok(()) } else { Err(reviews.text) }
    };
    until("the vote is counted", || has_votes(1));
    page.button("有用 1：深夜煮面人的评价").click();
    until("the vote is taken back", || has_votes(0));
    page.button("举报深夜煮面人的评价").click();
    page.part("举报").button("举报").click();
    page.sees("感谢反馈");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_folds_a_reported_review_where_it_was_reported() {
    let mall = evening().start().unwrap();
    let (order, shop) = used_order(&mall, ANNE);
    let review = posted(&mall, ANNE, &order, "");
    let report = |phone: &str| {
        let body = json!({ "kind": "review", "id": review.parse::<u64>().unwrap(), "reason": "刷单" });
        let token = mall.log_in(phone).unwrap().token;
        assert!(mall.call("POST", "/api/report", &token, &body).unwrap().is_success());
    };
    report(BEN);
    let page = browser_of(&mall, OPERATOR).open("/console#/reports");
    page.sees("5.0");
    page.button("折叠").click();
    page.sees("已折叠，不计入店铺评分");
    page.is_accessible();
    page.fits();
    let reviews = |query: &str| {
        let path = format!("/api/remark?itemId={shop}&{query}");
        let found = mall.call("GET", &path, "", &Value::Null).unwrap().data().clone();
        found
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["id"].as_u64().is_some_and(|id| id.to_string() == review))
    };
    assert_eq!((reviews("folded=true"), reviews("folded=false")), (true, false));
    page.button("恢复显示").click();
    page.sees("保留，大家都看得到");
    assert_eq!((reviews("folded=true"), reviews("folded=false")), (false, true));
    // A folded review with nothing wrong stays folded.
    decide(&mall, &review, "folded");
    report(CARL);
    page.reload();
    page.sees("已折叠");
    page.button("折叠").is_gone();
    page.button("没有问题").click();
    page.sees("已折叠，不计入店铺评分");
    assert_eq!((reviews("folded=true"), reviews("folded=false")), (true, false));
    page.reload();
    page.sees("没有待处理的举报");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_replies_folds_and_reads_the_ledger() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/reviews?shopId=2");
    let card = page.part("深夜煮面人的评价");
    card.button("改回复").click();
    page.part("回复评价").field("以店铺的名义回复").fill("加面管够！");
    page.part("回复评价").button("发布回复").click();
    page.sees("加面管够！");
    page.part("深夜煮面人的评价").button("折叠").click();
    page.part("折叠这条评价？").field("原因（写进审计日志）").fill("刷票");
    page.part("折叠这条评价？").button("折叠").click();
    page.sees("已折叠");
    page.part("深夜煮面人的评价").link("有用 0：看流水").click();
    page.sees("不再计入，归零");
    page.sees("−5");
    let shop = browser_of(&mall, BEN).open("/#/shop/2");
    shop.button("查看 1 条被折叠的评价").click();
    shop.sees("三碗没过成桥");
}
