//! Claim gateways at the console: an operator adds one, sees its token once, and revokes it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mallbox::fixture::Mall;

use crate::harness::{Place as _, Screen};
use crate::people::{OPERATOR, browser_of, evening};

/// Claims as the gateway. Returns the response.
fn batch(mall: &Mall, token: &str) -> String {
    let body = r#"{"requestId":"one","claims":[{"userId":404,"voucherId":51}]}"#;
    let mut stream = TcpStream::connect(mall.address().unwrap()).unwrap();
    write!(
        stream,
        "POST /api/voucher-order/seckill/batch HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         authorization: {token}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn operator_adds_a_gateway_sees_its_token_once_and_revokes_it() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/security");
    page.link("抢购网关").click();
    page.sees("还没有抢购网关");
    page.button("添加网关").click();
    let sheet = page.part("添加抢购网关");
    sheet.field("名称").fill("公司小程序");
    sheet.field("可抢购的秒杀").fill("404");
    sheet.button("添加").click();
    page.sees("秒杀不存在");
    sheet.field("可抢购的秒杀").fill("51");
    sheet.button("添加").click();
    page.sees("网关令牌");
    page.is_accessible();
    let token = page.run("document.querySelector('.hash').textContent");
    let token = token.as_str().unwrap().to_owned();
    page.button("已保存").click();
    page.sees("公司小程序");
    page.rests();
    page.fits();
    assert!(batch(&mall, &token).contains("UNKNOWN_USER"));
    page.button("撤销").click();
    page.part("撤销抢购网关").button("撤销").click();
    page.sees("还没有抢购网关");
    assert!(batch(&mall, &token).contains("GATEWAY_TOKEN_INVALID"));
}
