//! Comments over HTTP: replies, stable positions, and counts.

use std::time::Duration;

use mallbox::mall::operator::ledger::Code;
use serde_json::{Value, json};

use super::notes::{call_ok, ids, refused, seen, write};
use super::world::{World, with_database_access, world};

/// Adds a comment or a reply. Returns the id.
fn say(w: &World, token: &str, note: u64, answers: u64, content: &str) -> u64 {
    let body = json!({"blogId": note, "answerId": answers, "content": content});
    call_ok(w, "POST", "/blog-comments", token, &body)["data"].as_u64().unwrap()
}

fn threads(w: &World, note: u64) -> Value {
    call_ok(w, "GET", &format!("/blog-comments/of/blog/{note}"), "", &Value::Null)
}

fn count(w: &World, note: u64) -> u64 {
    seen(w, &format!("/blog/{note}"), "")["comments"].as_u64().unwrap()
}

#[test]
fn a_comment_is_shown_with_its_first_replies() {
    let w = world();
    for (token, name) in [(&w.customer, "小鱼"), (&w.other, "阿杰")] {
        call_ok(&w, "PUT", "/user/info", token, &json!({"nickName": name}));
    }
    let note = write(&w, &w.customer, "一碗面");
    assert_eq!(threads(&w, note), json!({"success": true, "data": [], "total": 0}));
    let top = say(&w, &w.other, note, 0, "在<b>哪里</b>？\n好找吗？");
    w.advance(Duration::from_secs(1));
    let answer = say(&w, &w.customer, note, top, "桥边上");
    let thanks = say(&w, &w.other, note, answer, "谢谢");
    let comment = |id: u64, user: u64, name: &str, content: &str, second: u32| {
        json!({
            "id": id, "blogId": note, "userId": user, "name": name, "icon": "", "content": content, "liked": 0, "isLike": false,
            "isRemoved": false, "createTime": format!("2026-11-21T20:00:0{second}"),
        })
    };
    let with = |mut comment: Value, more: Value| {
        comment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        comment
    };
    let first = with(comment(answer, 2, "小鱼", "桥边上", 1), json!({"parentId": top, "answerId": top}));
    let second = with(
        comment(thanks, 3, "阿杰", "谢谢", 1),
        json!({"parentId": top, "answerId": answer, "answerName": "小鱼"}),
    );
    let answers = json!([first, second]);
    let want = with(
        comment(top, 3, "阿杰", "在<b>哪里</b>？\n好找吗？", 0),
        json!({"answers": answers, "answerCount": 2}),
    );
    assert_eq!(threads(&w, note), json!({"success": true, "data": [want], "total": 1}));
    let below = call_ok(&w, "GET", &format!("/blog-comments/answers/{top}"), "", &Value::Null);
    assert_eq!(below, json!({"success": true, "data": answers, "total": 2}));
    assert_eq!(count(&w, note), 3);
}

#[test]
fn comments_come_ten_a_page_the_newest_first_and_answers_the_oldest_first() {
    let w = world();
    let note = write(&w, &w.customer, "一碗面");
    let mut tops: Vec<u64> = (0..12).map(|number| say(&w, &w.other, note, 0, &number.to_string())).collect();
    let answers: Vec<u64> = (0..11).map(|n| say(&w, &w.customer, note, tops[0], &n.to_string())).collect();
    tops.reverse();
    let path = format!("/blog-comments/of/blog/{note}");
    let second = call_ok(&w, "GET", &format!("{path}?current=2"), "", &Value::Null);
    assert_eq!(ids(&seen(&w, &path, "")), tops[..10]);
    assert_eq!((ids(&second["data"]), &second["total"]), (tops[10..].to_vec(), &json!(12)));
    let last = &second["data"][1];
    assert_eq!((ids(&last["answers"]), &last["answerCount"]), (answers[..3].to_vec(), &json!(11)));
    let path = format!("/blog-comments/answers/{}", tops[11]);
    assert_eq!(ids(&seen(&w, &path, "")), answers[..10]);
    assert_eq!(ids(&seen(&w, &format!("{path}?current=2"), "")), answers[10..]);
    assert_eq!(count(&w, note), 23);
}

#[test]
fn a_deleted_comment_leaves_its_place_where_it_was_answered() {
    let w = world();
    let note = write(&w, &w.customer, "一碗面");
    let top = say(&w, &w.other, note, 0, "不好吃");
    let answer = say(&w, &w.customer, note, top, "那是你去晚了");
    let path = format!("/blog-comments/{top}");
    assert_eq!(refused(&w, "DELETE", &path, &w.customer), (403, "FORBIDDEN".to_owned()), "the note's author");
    for _ in 0..2 {
        call_ok(&w, "DELETE", &path, &w.other, &Value::Null);
    }
    let list = threads(&w, note);
    let place = &list["data"][0];
    assert_eq!(
        (&place["id"], &place["content"], &place["isRemoved"]),
        (&json!(top), &json!(""), &json!(true))
    );
    assert_eq!((ids(&place["answers"]), count(&w, note)), (vec![answer], 1));
    call_ok(&w, "DELETE", &format!("/blog-comments/{answer}"), &w.operator, &Value::Null);
    assert_eq!(threads(&w, note), json!({"success": true, "data": [], "total": 0}));
    assert_eq!(count(&w, note), 0);
    assert_eq!(seen(&w, "/ops/audit?max=1", &w.operator)[0]["action"], "comment.delete");
}

#[test]
fn what_is_hidden_is_shown_as_a_place_without_words() {
    let w = world();
    let note = write(&w, &w.customer, "一碗面");
    let top = say(&w, &w.other, note, 0, "骂人的话");
    say(&w, &w.customer, note, top, "别这样");
    call_ok(&w, "POST", &format!("/ops/reports/comment/{top}/hide"), &w.operator, &Value::Null);
    let list = threads(&w, note);
    let place = &list["data"][0];
    assert_eq!((&place["content"], &place["isRemoved"]), (&json!(""), &json!(true)));
    let response = w.call(
        "POST",
        "/blog-comments",
        &w.customer,
        &json!({"blogId": note, "answerId": top, "content": "x"}).to_string(),
    );
    assert_eq!(response.body["code"], "NOT_FOUND", "{}", response.text);
    call_ok(&w, "POST", &format!("/ops/reports/comment/{top}/show"), &w.operator, &Value::Null);
    assert_eq!(threads(&w, note)["data"][0]["content"], "骂人的话");
}

#[test]
fn a_count_that_is_not_what_its_comments_make_is_named() {
    let w = with_database_access();
    let note = write(&w, &w.customer, "一碗面");
    write(&w, &w.customer, "没有人评论");
    let top = say(&w, &w.other, note, 0, "好吃");
    say(&w, &w.customer, note, top, "是吧");
    w.assert_balanced();
    for (spoil, undo) in [
        ("UPDATE notes SET comments = comments + 1", "UPDATE notes SET comments = comments - 1"),
        ("UPDATE note_comments SET status = 2", "UPDATE note_comments SET status = 0"),
        ("UPDATE note_comments SET imported = 1", "UPDATE note_comments SET imported = 0"),
        ("UPDATE note_comments SET note_id = note_id + 1", "UPDATE note_comments SET note_id = note_id - 1"),
    ] {
        w.ground().sql(spoil);
        let report = w.mall.books().unwrap();
        assert!(report.has(Code::NoteComments), "{spoil}: {report}");
        w.ground().sql(undo);
        w.assert_balanced();
    }
}

#[test]
fn a_rush_of_comments_is_counted_exactly() {
    let w = world();
    let note = write(&w, &w.customer, "一碗面");
    let tokens: Vec<String> = (0..8).map(|number| w.log_in(&format!("136000000{number:02}"))).collect();
    std::thread::scope(|at_once| {
        for token in &tokens {
            at_once.spawn(|| {
                let mine: Vec<u64> = (0..4).map(|_| say(&w, token, note, 0, "顶")).collect();
                call_ok(&w, "DELETE", &format!("/blog-comments/{}", mine[1]), token, &Value::Null);
            });
        }
    });
    assert_eq!((count(&w, note), &threads(&w, note)["total"]), (24, &json!(24)));
    w.assert_balanced();
}
