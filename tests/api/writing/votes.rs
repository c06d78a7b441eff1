//! Votes over HTTP: idempotent, counted once, with a ledger for operators.

use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox_storage::{ArchiveOutcome, ArchivedVotes, Day, ReviewId, UserId};
use serde_json::{Value, json};

use super::reviews::{with_new_shop, write};
use super::world::World;

fn vote(w: &World, review: u64, up: bool, token: &str) -> Value {
    w.ok("PUT", &format!("/remark/{review}/vote/{up}"), token)["data"].clone()
}

fn shown(w: &World, review: u64, token: &str) -> (Value, Value) {
    let review = w.ok("GET", &format!("/remark/{review}"), token)["data"].clone();
    (review["votes"].clone(), review["voting"].clone())
}

#[test]
fn a_vote_counts_once_and_is_taken_back_by_either_call() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    for _ in 0..2 {
        assert_eq!(vote(&w, review, true, &w.other), json!({ "votes": 1, "number": 1 }));
    }
    assert_eq!(vote(&w, review, true, &w.operator), json!({ "votes": 2, "number": 2 }));
    assert_eq!(shown(&w, review, &w.other), (json!(2), json!(true)));
    assert_eq!(shown(&w, review, ""), (json!(2), json!(false)));
    let path = format!("/remark/{review}/vote");
    for _ in 0..2 {
        assert_eq!(w.ok("DELETE", &path, &w.other)["data"], json!({ "votes": 1, "number": 3 }));
    }
    assert_eq!(vote(&w, review, false, &w.operator), json!({ "votes": 0, "number": 4 }));
    assert_eq!(shown(&w, review, &w.other), (json!(0), json!(false)));
    let own = w.call("PUT", &format!("{path}/true"), &w.customer, "");
    assert_eq!(own.body["code"], "OWN_REVIEW");
    for (path, status) in
        [("/remark/99/vote/true", 200), ("/remark/x/vote/true", 400), ("/remark/1/vote/perhaps", 400)]
    {
        let response = w.call("PUT", path, &w.other, "");
        assert_eq!((response.status, &response.body["success"]), (status, &json!(false)), "{path}");
    }
    w.assert_balanced();
}

#[test]
fn the_own_vote_is_shown_for_ten_days_and_counts_for_ever() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    vote(&w, review, true, &w.other);
    w.advance(Duration::from_secs(10 * 24 * 3_600));
    let other = w.log_in(super::world::OTHER);
    assert_eq!(shown(&w, review, &other), (json!(1), json!(false)));
    assert_eq!(vote(&w, review, true, &other), json!({ "votes": 1, "number": 1 }));
    assert_eq!(shown(&w, review, &other), (json!(1), json!(true)));
    w.assert_balanced();
}

#[test]
fn operators_read_the_ledger_of_a_review_and_of_the_mall() {
    let w = with_new_shop();
    let (first, second) = (write(&w, &w.customer, 50), write(&w, &w.customer, 40));
    vote(&w, first, true, &w.other);
    w.advance(Duration::from_secs(1));
    vote(&w, second, true, &w.other);
    vote(&w, first, true, &w.operator);
    let fold = json!({ "visibility": "folded", "reason": "刷票" });
    let folded = w.call("PUT", &format!("/ops/remarks/{first}/visibility"), &w.operator, &fold.to_string());
    assert_eq!(folded.body["success"], true);
    let line = |remark: u64, number: u64, cause: &str, change: i64, sum: u64, second: u64| {
        json!({
            "remarkId": remark, "number": number, "cause": cause, "change": change, "sum": sum,
            "time": format!("2026-11-21T20:00:0{second}"),
            "cursor": format!("{}-{remark}-{number}", 1_795_262_400_000 + second * 1_000),
        })
    };
    let by = |mut line: Value, user: u64| {
        line["userId"] = json!(user);
        line
    };
    let of_first = [
        line(first, 3, "closed", -2, 0, 1),
        by(line(first, 2, "up", 1, 2, 1), 1),
        by(line(first, 1, "up", 1, 1, 0), 3),
    ];
    let path = format!("/ops/remarks/{first}/votes");
    assert_eq!(w.ok("GET", &path, &w.operator)["data"], json!(of_first));
    assert_eq!(w.ok("GET", &format!("{path}?after=2"), &w.operator)["data"], json!(of_first[2..]));
    let all = json!([by(line(second, 1, "up", 1, 1, 1), 3), of_first[0], of_first[1], of_first[2]]);
    assert_eq!(w.ok("GET", "/ops/votes", &w.operator)["data"], all);
    let cursor = of_first[0]["cursor"].as_str().unwrap();
    let rest = w.ok("GET", &format!("/ops/votes?after={cursor}"), &w.operator)["data"].clone();
    assert_eq!(rest, json!(of_first[1..]));
    assert_eq!(w.call("GET", "/ops/votes?after=x", &w.operator, "").status, 400);
    w.assert_balanced();
}

/// The partial failures of a vote that is counted in one store and recorded in another: here count, line and
/// mark are one transaction, so that a failure leaves all of them or none, and a repeat counts once.
#[test]
fn a_vote_that_fails_at_any_step_counts_once_after_a_repeat() {
    let w = with_new_shop();
    let (mut votes, mut lines) = (0, 0);
    let review = write(&w, &w.customer, 50);
    for (fault, is_stored) in [("error", false), ("full", false), ("a lost answer", true)] {
        for up in [true, false] {
            let at_vote = Fault::at_port("votes.vote");
            let injected = match fault {
                "error" => at_vote.error(),
                "full" => at_vote.full(),
                _ => at_vote.lose_answer(),
            };
            w.mall.faults().add(injected.times(1)).unwrap();
            let failed = w.call_once("PUT", &format!("/remark/{review}/vote/{up}"), &w.other, "");
            assert_eq!(failed.body["success"], false, "{fault}: {failed:?}");
            w.mall.faults().cancel_all();
            let change = if up { 1 } else { -1 };
            let (before, line) = (votes, lines);
            (votes, lines) = (votes + change, lines + 1);
            let stored = if is_stored { votes } else { before };
            assert_eq!(shown(&w, review, "").0, json!(stored), "{fault} {up}");
            let repeated = vote(&w, review, up, &w.other);
            assert_eq!(repeated, json!({ "votes": votes, "number": lines }), "{fault} {up}");
            assert_eq!(lines, line + 1);
            w.assert_balanced();
        }
    }
    // The mark alone is lost: the vote still counts, and only once.
    vote(&w, review, true, &w.other);
    let storage = w.mall.app().unwrap().context.storage.clone();
    let now = w.mall.now() + Duration::from_secs(11 * 24 * 3_600);
    let pruned = w.mall.wait_for(async move {
        let marked = storage.writing.votes.marked(UserId::new(3), &[ReviewId::new(review)], now).await;
        assert_eq!(marked.unwrap(), []);
        storage.writing.votes.prune_marks(now, 10).await
    });
    assert_eq!(pruned.unwrap().unwrap(), 1);
    assert_eq!(vote(&w, review, true, &w.other)["votes"], 1);
    w.assert_balanced();
}

/// Archives 2026-11-21, whatever the time.
pub fn archive(w: &World) {
    let (storage, now) = (w.mall.app().unwrap().context.storage.clone(), w.mall.now());
    let day = Day::parse("2026-11-21").unwrap();
    let done = w.mall.wait_for(async move { ArchivedVotes::of(&storage).archive(day, now).await });
    assert!(matches!(done.unwrap().unwrap(), ArchiveOutcome::Archived { .. }));
}

#[test]
fn archived_votes_are_read_by_day_exported_and_never_counted_twice() {
    let w = with_new_shop();
    let review = write(&w, &w.customer, 50);
    for _ in 0..40 {
        vote(&w, review, true, &w.other);
        vote(&w, review, false, &w.other);
    }
    vote(&w, review, true, &w.other);
    vote(&w, review, true, &w.operator);
    let before = w.call("GET", "/user/export", &w.other, "").body["votes"].clone();
    assert_eq!(before.as_array().unwrap().len(), 81);
    assert_eq!(w.ok("GET", "/ops/archive/votes", &w.operator)["data"], json!([]));
    archive(&w);
    let days = w.ok("GET", "/ops/archive/votes", &w.operator)["data"].clone();
    assert_eq!(
        (&days[0]["day"], &days[0]["lines"], &days[1]),
        (&json!("2026-11-21"), &json!(82), &Value::Null)
    );
    assert_eq!(w.ok("GET", "/ops/archive/votes?after=2026-11-21", &w.operator)["data"], json!([]));
    let (mut after, mut numbers) = (String::new(), Vec::new());
    loop {
        let path = format!("/ops/archive/votes/2026-11-21?after={after}");
        let page = w.ok("GET", &path, &w.operator)["data"].clone();
        let lines = page["lines"].as_array().unwrap();
        assert!(lines.len() <= 50);
        numbers.extend(lines.iter().map(|line| line["number"].as_u64().unwrap()));
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(numbers, Vec::from_iter(1..=82));
    for (path, code) in [
        ("/ops/archive/votes/2026-11-20", "NOT_FOUND"),
        ("/ops/archive/votes/x", "NOT_FOUND"),
        ("/ops/archive/votes/2026-11-21?after=x", "BAD_REQUEST"),
        ("/ops/archive/votes/2026-11-21?after=7-0", "NOT_FOUND"),
        ("/ops/archive/votes?after=x", "BAD_REQUEST"),
    ] {
        assert_eq!(w.call("GET", path, &w.operator, "").body["code"], code, "{path}");
    }
    let live = w.ok("GET", &format!("/ops/remarks/{review}/votes"), &w.operator)["data"].clone();
    assert_eq!(live.as_array().unwrap().len(), 2, "the vote that counts, and the newest line");
    let sorted = |votes: &Value| {
        let mut texts: Vec<String> = votes.as_array().unwrap().iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    let after = w.call("GET", "/user/export", &w.other, "").body["votes"].clone();
    assert_eq!(sorted(&after), sorted(&before));
    assert_eq!(vote(&w, review, true, &w.other), json!({ "votes": 2, "number": 82 }));
    assert_eq!(vote(&w, review, false, &w.other), json!({ "votes": 1, "number": 83 }));
    w.assert_balanced();
}
