//! Likes and the feed over HTTP.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::mall::operator::ledger::Code;
use serde_json::{Value, json};

use super::world::{EVENING, World, with_database_access, world};

const OPERATOR: u64 = 1;
const CUSTOMER: u64 = 2;
const OTHER: u64 = 3;

fn write(w: &World, token: &str, title: &str) -> u64 {
    let note = json!({"shopId": 1, "title": title, "content": "好吃", "images": ""}).to_string();
    let response = w.call("POST", "/blog", token, &note);
    response.body["data"].as_u64().unwrap_or_else(|| panic!("{response:?}"))
}

fn ids(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect()
}

/// Reads the complete feed, page by page. Returns the notes and the number of pages.
fn feed(w: &World, token: &str) -> (Vec<u64>, usize) {
    let (mut all, mut pages) = (Vec::new(), 0);
    let mut path =
        format!("/blog/of/follow?&offset=0&lastId={}", (EVENING + Duration::from_secs(86_400)).as_millis());
    loop {
        let body = w.ok("GET", &path, token);
        let Some(page) = body.get("data") else { return (all, pages) };
        let some = ids(&page["list"]);
        assert!(!some.is_empty() && some.len() <= 10, "{page}");
        all.extend(some);
        pages += 1;
        path = format!("/blog/of/follow?offset={}&lastId={}", page["offset"], page["minTime"]);
    }
}

#[test]
fn a_like_is_seen_by_the_next_read_and_taken_back_by_the_same_call() {
    let w = world();
    let note = write(&w, &w.operator, "面");
    let read = |token: &str| w.ok("GET", &format!("/blog/{note}"), token)["data"].take();
    assert_eq!((&read(&w.customer)["liked"], &read(&w.customer)["isLike"]), (&json!(0), &json!(false)));
    assert_eq!(w.ok("PUT", &format!("/blog/like/{note}"), &w.customer), json!({"success": true}));
    assert_eq!((&read(&w.customer)["liked"], &read(&w.customer)["isLike"]), (&json!(1), &json!(true)));
    assert_eq!(read(&w.other)["isLike"], false, "it is the caller's");
    assert_eq!(read("")["isLike"], false);
    for path in ["/blog/hot", &format!("/blog/of/user?id={OPERATOR}")] {
        let list = w.ok("GET", path, &w.customer)["data"].take();
        assert_eq!((&list[0]["isLike"], &list[0]["liked"]), (&json!(true), &json!(1)), "{path}");
    }
    w.ok("PUT", &format!("/blog/like/{note}"), &w.customer);
    assert_eq!((&read(&w.customer)["liked"], &read(&w.customer)["isLike"]), (&json!(0), &json!(false)));
    assert_eq!(w.call("PUT", "/blog/like/999", &w.customer, "").body["code"], "NOT_FOUND");
    assert_eq!(w.call("PUT", &format!("/blog/like/{note}"), "", "").status, 401);
}

#[test]
fn the_first_five_who_liked_are_listed_in_that_order() {
    let w = world();
    let note = write(&w, &w.operator, "面");
    let path = format!("/blog/likes/{note}");
    assert_eq!(w.ok("GET", &path, "")["data"], json!([]));
    let mut order = Vec::new();
    for number in [9, 4, 7, 5, 8, 6] {
        let token = w.log_in(&format!("1390000001{number}"));
        order.push(w.ok("GET", "/user/me", &token)["data"]["id"].as_u64().unwrap());
        w.ok("PUT", &format!("/blog/like/{note}"), &token);
        w.advance(Duration::from_secs(1));
    }
    let first = w.ok("GET", &path, "")["data"].take();
    assert_eq!(ids(&first), order[..5]);
    assert!(first[0]["nickName"].as_str().unwrap().starts_with("user_"), "{first}");
    assert_eq!(w.ok("GET", "/blog/likes/999", "")["data"], json!([]));
}

#[test]
fn a_comment_is_liked_and_liked_no_more() {
    let w = world();
    let note = write(&w, &w.operator, "面");
    let comment = json!({"blogId": note, "content": "同感"}).to_string();
    let response = w.call("POST", "/blog-comments", &w.customer, &comment);
    let id = response.body["data"].as_u64().unwrap_or_else(|| panic!("{response:?}"));
    let liked = || {
        let mut list = w.ok("GET", &format!("/blog-comments/of/blog/{note}"), &w.other)["data"].take();
        (list[0]["liked"].take(), list[0]["isLike"].take())
    };
    assert_eq!(liked(), (json!(0), json!(false)));
    w.ok("PUT", &format!("/blog-comments/like/{id}"), &w.other);
    assert_eq!(liked(), (json!(1), json!(true)));
    w.ok("PUT", &format!("/blog-comments/like/{id}"), &w.other);
    assert_eq!(liked(), (json!(0), json!(false)));
    assert_eq!(w.call("PUT", "/blog-comments/like/999", &w.other, "").body["code"], "NOT_FOUND");
    // With a state, a repeat changes nothing.
    for (like, count) in [(true, 1), (true, 1), (false, 0), (false, 0)] {
        w.ok("PUT", &format!("/blog-comments/like/{id}?like={like}"), &w.other);
        assert_eq!(liked(), (json!(count), json!(like)));
        w.ok("PUT", &format!("/blog/like/{note}?like={like}"), &w.other);
        let stored = w.ok("GET", &format!("/blog/{note}"), &w.other);
        assert_eq!((&stored["data"]["liked"], &stored["data"]["isLike"]), (&json!(count), &json!(like)));
    }
    let response = w.call("PUT", &format!("/blog/like/{note}?like=maybe"), &w.other, "");
    assert_eq!((response.status, &response.body["code"]), (400, &json!("BAD_REQUEST")), "{response:?}");
    w.assert_balanced();
}

#[test]
fn a_count_that_is_not_what_its_likes_make_is_named() {
    let w = with_database_access();
    let note = write(&w, &w.operator, "面");
    let comment = w.add("/blog-comments", &json!({"blogId": note, "content": "同感"}));
    for path in [format!("/blog/like/{note}"), format!("/blog-comments/like/{comment}")] {
        w.ok("PUT", &path, &w.customer);
    }
    w.assert_balanced();
    for (spoil, undo) in [
        ("UPDATE notes SET likes = likes + 1", "UPDATE notes SET likes = likes - 1"),
        ("UPDATE note_comments SET likes = 0", "UPDATE note_comments SET likes = 1"),
        ("UPDATE likes SET kind = 7 WHERE kind = 0", "UPDATE likes SET kind = 0 WHERE kind = 7"),
        ("UPDATE likes SET target_id = 9 WHERE kind = 1", "UPDATE likes SET target_id = 1 WHERE kind = 1"),
    ] {
        w.ground().sql(spoil);
        let report = w.mall.books().unwrap();
        assert!(report.has(Code::Likes), "{spoil}: {report}");
        w.ground().sql(undo);
        w.assert_balanced();
    }
}

#[test]
fn a_feed_is_read_to_its_end_though_hundreds_share_a_millisecond() {
    let w = world();
    assert_eq!(feed(&w, &w.customer), (vec![], 0));
    assert_eq!(w.ok("GET", "/blog/of/follow?lastId=0", &w.customer), json!({"success": true}));
    w.ok("PUT", &format!("/follow/{OPERATOR}/true"), &w.customer);
    w.ok("PUT", &format!("/follow/{OTHER}/true"), &w.customer);
    // The mall's clock is frozen.
    let mut notes: Vec<u64> = (0..203)
        .map(|number| write(&w, if number % 3 == 0 { &w.other } else { &w.operator }, "面"))
        .collect();
    assert_eq!(feed(&w, &w.customer), (notes.clone(), 21));
    w.advance(Duration::from_millis(1));
    let newest = write(&w, &w.operator, "新");
    notes.insert(0, newest);
    assert_eq!(feed(&w, &w.customer).0, notes);
    let page = w.ok("GET", &format!("/blog/of/follow?lastId={}", i64::MAX), &w.customer)["data"].take();
    assert_eq!((page["minTime"].clone(), page["offset"].clone()), (json!(EVENING.as_millis()), json!(9)));
    assert_eq!(page["list"][0]["name"].as_str().unwrap().len(), "user_0123456789".len());

    // Deleted between two pages: the positions of the others do not change.
    let path = format!("/blog/of/follow?lastId={}&offset=9", EVENING.as_millis());
    w.ok("DELETE", &format!("/blog/{}", notes[3]), &w.operator);
    w.ok("DELETE", &format!("/blog/{}", notes[11]), &w.operator);
    let page = w.ok("GET", &path, &w.customer)["data"].take();
    let mut want = notes[10..21].to_vec();
    want.remove(1);
    assert_eq!((ids(&page["list"]), page["offset"].clone()), (want, json!(20)));
    notes.remove(11);
    notes.remove(3);
    assert_eq!(feed(&w, &w.customer).0, notes);
}

#[test]
fn a_follow_brings_notes_and_an_unfollow_takes_them() {
    let w = world();
    let notes: Vec<u64> = (0..25)
        .map(|_| {
            w.advance(Duration::from_secs(1));
            write(&w, &w.operator, "面")
        })
        .collect();
    w.ok("PUT", &format!("/follow/{OPERATOR}/true"), &w.customer);
    let mut last: Vec<u64> = notes[5..].to_vec();
    last.reverse();
    assert_eq!(feed(&w, &w.customer), (last, 2));
    w.ok("PUT", &format!("/follow/{OPERATOR}/false"), &w.customer);
    assert_eq!(feed(&w, &w.customer), (vec![], 0));
    write(&w, &w.operator, "面");
    assert_eq!(feed(&w, &w.customer), (vec![], 0));
    w.ok("PUT", &format!("/follow/{CUSTOMER}/true"), &w.operator);
    assert_eq!(feed(&w, &w.operator), (vec![], 0), "one's own notes are no news");
}

#[test]
fn an_invalid_place_in_the_feed_is_refused() {
    let w = world();
    for query in
        ["", "offset=0", "lastId=x", "lastId=1&offset=-1", "lastId=1&offset=x", "lastId=99999999999999999999"]
    {
        let response = w.call("GET", &format!("/blog/of/follow?{query}"), &w.customer, "");
        assert_eq!(
            (response.status, &response.body["code"]),
            (400, &json!("BAD_REQUEST")),
            "{query}: {}",
            response.text
        );
    }
    for query in ["lastId=1&offset=4294967295", "lastId=-1", "lastId=9223372036854775807"] {
        w.ok("GET", &format!("/blog/of/follow?{query}"), &w.customer);
    }
    assert_eq!(w.call("GET", "/blog/of/follow?lastId=1", "", "").status, 401);
}

#[test]
fn a_note_that_could_not_be_passed_on_comes_later() {
    let w = world();
    w.ok("PUT", &format!("/follow/{OPERATOR}/true"), &w.customer);
    assert_eq!(feed(&w, &w.customer), (vec![], 0));
    w.mall.faults().add(Fault::at_port("feeds.pass_on").error().times(1)).unwrap();
    let note = write(&w, &w.operator, "面");
    assert_eq!(w.ok("GET", &format!("/blog/{note}"), "")["data"]["id"], note, "it was written");
    assert_eq!(feed(&w, &w.customer), (vec![], 0));
    w.advance(Duration::from_secs(10));
    assert_eq!(feed(&w, &w.customer).0, [note]);
}
