//! A user's own data in the storefront, what the browser keeps, and the removal of pictures in the console.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, RgbImage};
use mallbox::fixture::Mall;
use serde_json::{Value, json};

use crate::harness::{Browser, Page, Place as _, Screen, until};
use crate::people::{ANNE, BEN, OPENING, OPERATOR, browser_of, buy, evening, log_in_by_code, pay};

const SHEET: &str = "注销账号";

/// Returns the profile of the user with this phone, as everybody sees it.
fn name_of(mall: &Mall, user: u64) -> String {
    let brief = mall.call("GET", &format!("/api/user/{user}"), "", &Value::Null).unwrap();
    brief.data()["nickName"].as_str().unwrap_or_default().to_owned()
}

fn id_of(mall: &Mall, phone: &str) -> u64 {
    let token = mall.log_in(phone).unwrap().token;
    mall.call("GET", "/api/user/me", &token, &Value::Null).unwrap().data()["id"].as_u64().unwrap()
}

/// Confirms with a code from the demo's inbox.
fn confirm_by_code(page: &Page, phone: &str) {
    page.part(SHEET).field("手机号").fill(phone);
    page.part(SHEET).button("获取验证码").click();
    page.sees("验证码已发送");
    page.part(SHEET).button("演示：填入收到的验证码").click();
    page.part(SHEET).button(SHEET).click();
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn account_is_deleted_after_a_confirmation_and_not_before() {
    let mall = evening().start().unwrap();
    let user = id_of(&mall, BEN);
    let name = name_of(&mall, user);
    let page = browser_of(&mall, BEN).on(Screen::Phone).open("/#/me");
    page.button(SHEET).click();
    page.sees("注销后无法恢复");
    page.part(SHEET).button("取消").click();
    page.sees_no("注销后无法恢复");
    assert_eq!(name_of(&mall, user), name, "a cancelled sheet changes nothing");

    page.button(SHEET).click();
    page.part(SHEET).button(SHEET).click();
    page.sees("请输入验证码");
    confirm_by_code(&page, BEN);
    page.sees("账号已注销");
    page.is_at("/#/");
    assert_eq!(name_of(&mall, user), "已注销用户");
    page.go("/#/me");
    page.sees("登录后可以抢购");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn paid_vouchers_have_to_be_given_up_expressly() {
    let mall = evening().start().unwrap();
    mall.advance(std::time::Duration::from_secs(30)).unwrap();
    let order = buy(&mall, ANNE, OPENING);
    pay(&mall, ANNE, &order);
    let user = id_of(&mall, ANNE);
    let token = mall.log_in(ANNE).unwrap().token;
    let password = json!({ "password": "correct horse" });
    assert!(mall.call("PUT", "/api/user/password", &token, &password).unwrap().is_success());
    let page = browser_of(&mall, ANNE).on(Screen::Phone).open("/#/me");
    page.button(SHEET).click();
    page.part(SHEET).button("密码").click();
    page.part(SHEET).field("密码").fill("correct horse");
    page.part(SHEET).button(SHEET).click();
    page.sees("1张已支付、未使用的券");
    page.part(SHEET).choice("放弃已支付、未使用的券").click();
    page.part(SHEET).button(SHEET).click();
    page.sees("账号已注销");
    assert_eq!(name_of(&mall, user), "已注销用户");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn own_data_are_downloaded() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, BEN).on(Screen::Phone).open("/#/me");
    // The file is read where the browser would store it.
    page.run("window.saved = []; URL.createObjectURL = (file) => { file.text().then((text) => window.saved.push(text)); return 'data:,'; }; 0");
    page.button("下载我的数据").click();
    page.sees("已开始下载");
    until("the file is whole", || match page.run("window.saved.length").as_u64() {
        Some(1) => Ok(()),
        other => Err(format!("{other:?}")),
    });
    let export: Value = serde_json::from_str(page.run("window.saved[0]").as_str().unwrap()).unwrap();
    assert_eq!(export["account"]["phone"], BEN);
    assert!(export["signIns"].is_array(), "{export}");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn reported_picture_is_removed_for_good_after_a_confirmation() {
    const BOUNDARY: &str = "----a1b2c3";
    let mall = evening().start().unwrap();
    let anne = mall.log_in(ANNE).unwrap().token;
    let mut file = Cursor::new(Vec::new());
    DynamicImage::from(RgbImage::new(60, 40)).write_to(&mut file, ImageFormat::Png).unwrap();
    let head = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\ncontent-type: image/png\r\n\r\n"
    );
    let form = [head.as_bytes(), file.get_ref(), format!("\r\n--{BOUNDARY}--\r\n").as_bytes()].concat();
    let request = axum::http::Request::post("/api/upload/blog")
        .header("authorization", &anne)
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(form.into())
        .unwrap();
    let path = format!("/imgs{}", mall.send(request).unwrap().data().as_str().unwrap());
    let note = json!({ "title": "一碗面", "content": "好吃", "images": path });
    let note = mall.call("POST", "/api/blog", &anne, &note).unwrap().data().as_u64().unwrap();
    let about = json!({ "kind": "note", "id": note, "reason": "广告" });
    assert!(mall.call("POST", "/api/report", &anne, &about).unwrap().is_success());
    let status = || {
        let request = axum::http::Request::get(&path).body(axum::body::Body::empty()).unwrap();
        mall.send(request).unwrap().status
    };
    assert_eq!(status(), 200);

    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/reports");
    page.button("永久删除这张图片").click();
    page.part("永久删除这张图片？").button("取消").click();
    assert_eq!(status(), 200);
    page.button("永久删除这张图片").click();
    page.part("永久删除这张图片？").button("删除图片").click();
    page.sees("图片已删除");
    assert_eq!(status(), 404);
}

/// Returns the names of what the browser keeps for the mall, and the whole as text.
fn kept(page: &Page) -> (Vec<String>, String) {
    let text =
        page.run("JSON.stringify({ ...localStorage, ...sessionStorage })").as_str().unwrap().to_owned();
    let entries: Value = serde_json::from_str(&text).unwrap();
    let mut names: Vec<String> = entries.as_object().unwrap().keys().cloned().collect();
    names.sort_unstable();
    (names, text)
}

/// Number of pictures in drafts.
const STORED_PICTURES: &str = "new Promise((done) => {
    const opening = indexedDB.open('mallbox', 1);
    opening.onsuccess = () => {
        const counting = opening.result.transaction('pictures').objectStore('pictures').count();
        counting.onsuccess = () => done(counting.result);
    };
})";

/// Leaves a draft with a picture, a search and a place in the browser, a purchase in doubt, and a setting of
/// the device.
fn leave_traces(page: &Page) {
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("red.jpg");
    RgbImage::new(60, 40).save(&picture).unwrap();
    page.go("/#/write");
    page.field("标题").fill("葱油面");
    page.will_choose(&[picture]);
    page.button("添加图片").click();
    until("the picture is stored and uploaded", || {
        match page.run("document.querySelectorAll('.draft-picture.is-there').length").as_u64() {
            Some(1) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    page.run("localStorage.setItem('mallbox-searches', '[\"面\"]')");
    page.run("localStorage.setItem('mallbox-place', '{\"x\":120.15,\"y\":30.3,\"name\":\"\"}')");
    page.run("localStorage.setItem('mallbox-buying-2-7', 'a1')");
    page.run("localStorage.setItem('mallbox-scheme', 'dark')");
    until("the draft is stored", || match (kept(page), page.run(STORED_PICTURES)) {
        ((names, _), pictures) if names.len() == 7 && pictures == 1 => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn browser_keeps_the_token_and_nothing_of_a_user_who_logged_out() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Phone).open("/#/me");
    page.button("登录").first().click();
    log_in_by_code(&page, ANNE);
    page.button("退出登录").is_there();
    let (names, text) = kept(&page);
    assert_eq!(names, ["mallbox-me", "mallbox-token"], "{text}");
    assert!(!text.contains(ANNE), "{text}");
    leave_traces(&page);
    page.go("/#/me");
    page.button("退出登录").click();
    page.part("退出登录？").button("退出").click();
    page.is_at("/#/");
    until("only the purchase in doubt and the setting of the device are left", || {
        let (names, text) = kept(&page);
        let pictures = page.run(STORED_PICTURES);
        if names == ["mallbox-buying-2-7", "mallbox-scheme"] && pictures == 0 {
            Ok(())
        } else {
            Err(format!("{text} {pictures}"))
        }
    });
    assert_eq!(page.run("document.cookie"), "");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn console_forgets_unsent_input_at_a_log_out() {
    let mall = evening().start().unwrap();
    let page = browser_of(&mall, OPERATOR).on(Screen::Desktop).open("/console#/sales/new?shop=1");
    page.field("标题").fill("夜宵券");
    page.link("用户").click();
    page.heading("用户").is_there();
    page.go("/console#/sales/new?shop=1");
    assert_eq!(page.field("标题").value(), "夜宵券", "kept until the log-out");
    page.button("退出登录").click();
    log_in_by_code(&page, OPERATOR);
    page.button("创建秒杀").is_there();
    assert_eq!(page.field("标题").value(), "");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn password_is_hidden_while_typed_and_filled_in_by_password_managers() {
    let mall = evening().start().unwrap();
    let page = Browser::at(&mall.url()).on(Screen::Desktop).open("/#/me");
    page.button("登录").first().click();
    page.button("密码").click();
    page.field("手机号").fill(ANNE);
    page.field("密码").fill("correct horse");
    let field = "document.querySelector('[autocomplete=current-password]')";
    assert_eq!(page.run(&format!("{field}.type")), "password");
    assert_eq!(page.run("document.querySelector('[autocomplete=username]').value"), ANNE);
    // A page that forbids pasting cancels the event.
    let pasted =
        format!("{field}.dispatchEvent(new ClipboardEvent('paste', {{ bubbles: true, cancelable: true }}))");
    assert_eq!(page.run(&pasted), true);
    assert_eq!(page.run(&format!("{field}.maxLength")), -1, "no limit cuts off a long password");
}
