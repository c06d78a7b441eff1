//! Notes: written with pictures, read by followers, liked and commented.

use std::path::{Path, PathBuf};
use std::time::Duration;

use image::{Rgb, RgbImage};
use mallbox::fixture::{Fault, Mall};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Page, Place as _, until};
use crate::people::{ANNE, BEN, browser_of, evening};

const TITLE: &str = "巷口那碗葱油面";
/// Longest side of a picture sent by a page, in pixels.
const PICTURE_SIDE_MAX_PX: u64 = 2_048;

/// Time limit of calls that are to exceed it.
const SHORT_CALL: Duration = Duration::from_millis(1_500);

/// Creates a photograph of a phone's size, in one colour.
fn photograph(dir: &Path, name: &str, colour: [u8; 3]) -> PathBuf {
    let file = dir.join(name);
    RgbImage::from_pixel(4_000, 3_000, Rgb(colour)).save(&file).unwrap();
    file
}

/// Writes a note by Anne with two pictures, the second one first. Returns the note's address.
fn writes(mall: &Mall) -> String {
    let dir = TempDir::new().unwrap();
    let page = browser_of(mall, ANNE).open("/#/notes");
    page.link("写笔记").click();
    page.field("标题").fill(TITLE);
    page.field("正文").fill("面要趁热吃。\n葱油要多。");
    // A mall busy with other pictures responds with a 503, and the page retries.
    page.forgive("/api/upload/blog");
    page.will_choose(&[
        photograph(dir.path(), "red.jpg", [200, 40, 40]),
        photograph(dir.path(), "green.jpg", [40, 160, 60]),
    ]);
    page.button("添加图片").click();
    page.button("第 2 张图片往前移").click();
    // A draft survives leaving the page.
    page.link("店铺").first().click();
    page.go("/#/write");
    assert_eq!(page.field("标题").value(), TITLE);
    page.button("第 1 张图片往后移").is_enabled();
    page.button("发布").click();
    page.sees("发布成功");
    page.sees("葱油要多。");
    page.address()
}

/// Returns the sizes of the shown note's pictures, and whether each is more red than green.
fn pictures(page: &Page) -> Vec<(u64, u64, bool)> {
    page.rests();
    const LOOK: &str = "(async () => {
        const seen = [];
        for (const image of document.querySelectorAll('.note-pictures img')) {
            await image.decode();
            const context = new OffscreenCanvas(1, 1).getContext('2d');
            context.drawImage(image, 0, 0, 1, 1);
            const [red, green] = context.getImageData(0, 0, 1, 1).data;
            seen.push([image.naturalWidth, image.naturalHeight, red > green]);
        }
        return seen;
    })()";
    serde_json::from_value(page.run(LOOK)).unwrap()
}

/// Returns a note as the API shows it to a user.
fn note(mall: &Mall, address: &str, phone: &str) -> Value {
    note_as(mall, address, &mall.log_in(phone).unwrap().token)
}

/// Returns the note as the user of a session sees it: for polls, since a user's 51st session ends the first.
fn note_as(mall: &Mall, address: &str, token: &str) -> Value {
    let id = address.rsplit('/').next().unwrap();
    mall.call("GET", &format!("/api/blog/{id}"), token, &Value::Null).unwrap().data().clone()
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn note_shows_what_was_written_here_and_in_pages_that_insert_it_as_html() {
    const CONTENT: &str = "<p>第一行</p>a < b & c<br/><img src=x onerror=\"window.acted = 1\"><script>window.acted = 1</script>";
    let mall = evening().start().unwrap();
    let token = mall.log_in(ANNE).unwrap().token;
    let form = json!({"shopId": 1, "title": "1 < 2", "content": CONTENT, "images": ""});
    let id = mall.call("POST", "/api/blog", &token, &form).unwrap().data().clone();
    let page = browser_of(&mall, BEN).open(&format!("/#/note/{id}"));
    for line in ["1 < 2", "第一行", "a < b & c", "<img src=x onerror=\"window.acted = 1\"><script>"] {
        page.sees(line);
    }
    // As the original pages do: without mallbox's header, and through `v-html`.
    let as_theirs = format!(
        "(async () => {{
            const {{ data }} = await (await fetch('/api/blog/{id}')).json();
            const box = document.createElement('div');
            box.innerHTML = data.content;
            document.body.append(box);
            return [[...box.querySelectorAll('*')].map((one) => one.tagName).join(' '), box.textContent, window.acted ?? 0];
        }})()"
    );
    let shown = "第一行a < b & c<img src=x onerror=\"window.acted = 1\"><script>window.acted = 1</script>";
    assert_eq!(page.run(&as_theirs), json!(["P BR", shown, 0]));
}

/// Opens a draft by Anne with title and text.
fn half_written(mall: &Mall) -> Page {
    let page = browser_of(mall, ANNE).open("/#/write");
    page.field("标题").fill(TITLE);
    page.field("正文").fill("面要趁热吃。");
    page
}

/// Returns the number of Anne's notes.
fn own_notes(mall: &Mall) -> usize {
    let token = mall.log_in(ANNE).unwrap().token;
    let notes = mall.call("GET", "/api/blog/of/me", &token, &Value::Null).unwrap();
    notes.data().as_array().map_or(0, Vec::len)
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn picture_that_is_refused_for_want_of_room_or_by_a_proxy_arrives_by_itself() {
    let mall = evening().start().unwrap();
    let dir = TempDir::new().unwrap();
    let page = half_written(&mall);
    for (status, times) in [(504, 1), (503, 3)] {
        mall.faults().add(Fault::at_endpoint("POST /upload/blog").error(status).times(times)).unwrap();
    }
    page.forgive("/api/upload/blog");
    page.will_choose(&[photograph(dir.path(), "red.jpg", [200, 40, 40])]);
    page.button("添加图片").click();
    until("the picture is in the mall", || {
        let there = page.run("document.querySelectorAll('.draft-picture.is-there').length");
        if there == 1 { Ok(()) } else { Err(page.text()) }
    });
    page.sees_no("上传失败");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn picture_whose_upload_or_answer_is_lost_arrives_by_itself() {
    let mall = evening().start().unwrap();
    let dir = TempDir::new().unwrap();
    let page = half_written(&mall);
    page.cut("/upload/blog");
    page.lose_answer("/upload/blog");
    page.will_choose(&[photograph(dir.path(), "red.jpg", [200, 40, 40])]);
    page.button("添加图片").click();
    page.was_cut();
    until("the picture is in the mall", || {
        let there = page.run("document.querySelectorAll('.draft-picture.is-there').length");
        if there == 1 { Ok(()) } else { Err(page.text()) }
    });
    page.sees_no("上传失败");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn note_with_pictures_comes_to_who_follows() {
    let mall = evening().start().unwrap();
    let reader = browser_of(&mall, BEN).open("/#/notes?tab=following");
    reader.sees("你关注的人还没有写笔记");
    let address = writes(&mall);
    let page = browser_of(&mall, BEN).open(&address);
    let (width, height) = (PICTURE_SIDE_MAX_PX, PICTURE_SIDE_MAX_PX * 3 / 4);
    assert_eq!(pictures(&page), [(width, height, false), (width, height, true)]);

    page.button("关注").first().click();
    page.button("已关注").is_there();
    reader.reload();
    reader.link(TITLE).click();
    reader.sees("面要趁热吃。");
    reader.field("说点什么").fill("下次一起去");
    reader.button("发送").click();
    reader.sees("下次一起去");
    let shown = note(&mall, &address, ANNE);
    assert_eq!(shown["comments"], 1, "{shown}");

    page.button("已关注").click();
    page.button("关注").first().is_there();
    let token = mall.log_in(BEN).unwrap().token;
    let path = format!("/api/follow/or/not/{}", mall.log_in(ANNE).unwrap().id);
    until("Ben follows nobody any more", || {
        let follows = mall.call("GET", &path, &token, &Value::Null).unwrap();
        if *follows.data() == Value::Bool(false) { Ok(()) } else { Err(follows.text) }
    });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn like_that_the_mall_does_not_take_is_taken_back() {
    let mall = evening().start().unwrap();
    let address = "/#/note/1";
    let token = mall.log_in(BEN).unwrap().token;
    let before = note_as(&mall, address, &token)["liked"].as_u64().unwrap();
    let page = browser_of(&mall, BEN).open(address);
    let heart = |likes: u64| page.button(&format!("赞这篇笔记，已有 {likes} 个赞")).is_there();
    let likes = || {
        let shown = note_as(&mall, address, &token);
        (shown["liked"].as_u64().unwrap() - before, shown["isLike"].as_bool().unwrap())
    };
    heart(before);
    // The first request and two retries.
    mall.faults().add(Fault::at_endpoint("PUT /blog/like/{id}").error(503).times(3)).unwrap();
    page.forgive("503");
    page.button("赞这篇笔记").click();
    page.sees("繁忙");
    heart(before);
    assert_eq!(likes(), (0, false));

    // The like takes effect, but the response is lost: a retry leaves the like as it is.
    page.lose_answer("/blog/like/");
    page.button("赞这篇笔记").click();
    page.was_cut();
    heart(before + 1);
    until("the page knows", || if likes() == (1, true) { Ok(()) } else { Err(format!("{:?}", likes())) });

    // The request does not arrive: a retry does.
    page.cut("/blog/like/");
    page.button("赞这篇笔记").click();
    page.was_cut();
    heart(before);
    until("the page retries", || if likes() == (0, false) { Ok(()) } else { Err(format!("{:?}", likes())) });
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn note_that_is_on_its_way_is_not_published_from_another_screen() {
    let mall = evening().call_timeout(SHORT_CALL).start().unwrap();
    let before = own_notes(&mall);
    let page = half_written(&mall);
    // The first request succeeds at the third attempt; the mall's time limit ends the earlier ones.
    page.forgive("503");
    let slow = |endpoint: &str, seconds, times| {
        let fault = Fault::at_endpoint(endpoint).delay(Duration::from_secs(seconds)).times(times);
        mall.faults().add(fault).unwrap();
    };
    slow("GET /blog/of/me", 2, 2);
    slow("POST /blog", 1, 1);
    page.button("发布").click();
    page.sees("正在发布");
    page.link("店铺").first().click();
    page.go("/#/write");
    page.sees("正在发布");
    page.button("发布").click();
    page.sees("发布成功");
    page.rests();
    assert_eq!(own_notes(&mall), before + 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn note_that_a_mall_in_trouble_took_is_published_once() {
    let mall = evening().call_timeout(SHORT_CALL).start().unwrap();
    let before = own_notes(&mall);
    let page = half_written(&mall);
    // Longer than the mall's time limit; the request takes effect nevertheless.
    page.forgive("503");
    mall.faults().add(Fault::at_endpoint("POST /blog").delay(Duration::from_secs(2)).times(1)).unwrap();
    page.button("发布").click();
    page.sees("发布结果未知");
    page.button("发布").click();
    page.sees("发布成功");
    assert_eq!(own_notes(&mall), before + 1);
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn talk_under_a_note_stays_as_somebody_left_it() {
    let mall = evening().start().unwrap();
    let token = mall.log_in(BEN).unwrap().token;
    let comment = json!({ "blogId": 1, "content": "下雨天也值得来" });
    assert!(mall.call("POST", "/api/blog-comments", &token, &comment).unwrap().is_success());
    let page = browser_of(&mall, ANNE).open("/#/note/1");
    let says = |text: &str| {
        page.field("说点什么").fill(text);
        page.button("发送").first().click();
        page.part("评论").sees(text);
    };
    page.part("评论").sees("下雨天也值得来");
    page.button("的评论，已有 0 个赞").first().click();
    page.button("的评论，已有 1 个赞").first().is_there();
    page.button("回复").first().click();
    let answer = page.field("回复");
    answer.fill("我也去过");
    says("面真香");
    assert_eq!(answer.value(), "我也去过");

    page.button("删除我的评论").click();
    page.part("删除这条评论？").button("删除").click();
    page.sees_no("面真香");
    says("汤也好");
    page.sees_no("面真香");
    assert_eq!(answer.value(), "我也去过");
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn comment_whose_answer_is_lost_is_said_once() {
    let mall = evening().start().unwrap();
    let comments = || {
        let shown = mall.call("GET", "/api/blog-comments/of/blog/1?current=1", "", &Value::Null).unwrap();
        shown.data().as_array().unwrap().iter().filter(|one| one["content"] == "面真香").count()
    };
    let page = browser_of(&mall, ANNE).open("/#/note/1");
    page.rests();
    page.lose_answer("/blog-comments");
    page.field("说点什么").fill("面真香");
    page.button("发送").first().click();
    page.was_cut();
    page.sees("连不上商城");
    // The reopened screen keeps the typed text, and does not mistake it for new.
    page.go("/#/notes");
    page.go("/#/note/1");
    page.part("评论").sees("面真香");
    assert_eq!(page.field("说点什么").value(), "面真香");
    page.button("发送").first().click();
    page.sees("评论成功");
    assert_eq!((page.field("说点什么").value().as_str(), comments()), ("", 1));
}

#[test]
#[cfg_attr(not(feature = "browser-tests"), ignore = "needs chromium and axe-core, which tests/run installs")]
fn note_is_not_published_by_who_looks_for_its_shop() {
    let mall = evening().start().unwrap();
    let before = own_notes(&mall);
    let page = half_written(&mall);
    page.field("关联店铺").fill("面");
    page.choice("面").first().is_there();
    page.press("Enter");
    // The list covers the button.
    page.press("Escape");
    page.button("发布").click();
    page.sees("请从列表里选一家店");
    assert_eq!(own_notes(&mall), before);
    page.field("关联店铺").fill("笋尖与火腿");
    page.choice("笋尖与火腿").is_there();
    page.press("Enter");
    page.button("发布").click();
    page.sees("发布成功");
    page.link("笋尖与火腿").first().is_there();
    assert_eq!(own_notes(&mall), before + 1);
}
