//! Reviews: written after use, read and voted for at the shop, decided at the console.

use mallbox::fixture::Mall;
use serde_json::Value;

use crate::harness::{Place as _, Screen, until};
use crate::people::{ANNE, BEN, OPERATOR, RUNNING, browser_of, buy, evening, pay};

/// Buys, pays and uses an order of the running sale. Returns the order and its shop.
fn used_order(mall: &Mall, phone: &str) -> (String, u64) {
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
    page.go(&format!("/#/review?order={order}"));
    assert_eq!(page.field("评价（选填）").value(), "面很香，老板也热情。");
    page.lose_answer("/api/remark");
    page.button("发布评价").click();
    page.was_cut();
    page.sees("草稿已保留");
    page.button("发布评价").click();
    page.sees("评价已发布");
    page.is_at("/#/me/reviews");
    page.sees("面很香，老板也热情。");
    page.sees("人均 ¥47.50");
    let summary = mall.call("GET", &format!("/api/remark?itemId={shop}&stars=5"), "", &Value::Null).unwrap();
    let all = summary.data().as_array().unwrap().iter();
    let posted = all.filter(|one| one["content"] == "面很香，老板也热情。").count();
    assert_eq!(posted, 1, "{}", summary.text);

    page.link("修改").click();
    assert_eq!(page.field("人均消费，元（选填）").value(), "47.5");
    page.field("评价（选填）").fill("第二次来，一样香。");
    page.button("保存修改").click();
    page.sees("评价已修改");
    page.sees("第二次来，一样香。");
    page.sees("已修改");
    page.go(&format!("/#/order/{order}"));
    page.link("查看评价").click();
    page.button("删除我的评价").click();
    page.part("删除这条评价？").button("删除").click();
    page.sees("评价已删除");
    page.sees("还没有评价");
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
