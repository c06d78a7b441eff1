//! The ledger check reports every kind of change made to the database behind the mall's back, and nothing
//! else.

/// A [`Kind`] that changes rows of a table: all, or those that meet a condition.
macro_rules! update {
    ($table:literal, $spoil:literal, $undo:literal, $code:literal) => {
        kind(concat!("UPDATE ", $table, " SET ", $spoil), concat!("UPDATE ", $table, " SET ", $undo), $code)
    };
    ($table:literal, $rows:literal, $spoil:literal, $undo:literal, $code:literal) => {
        kind(
            concat!("UPDATE ", $table, " SET ", $spoil, " WHERE ", $rows),
            concat!("UPDATE ", $table, " SET ", $undo, " WHERE ", $rows),
            $code,
        )
    };
}

mod archive;
mod cash;
mod orders;
mod others;

use std::collections::BTreeSet;

use mallbox::mall::base::By;
use mallbox::mall::operator::sales::StockForm;
use mallbox::mall::selling::payments::Mood;
use mallbox_storage::{
    Actor, CommentOutcome, Day, LikeChange, NewPicture, NewRetryTask, NewReview, NoteText, PictureKind,
    PictureUsage, Post, Profile, RetryLimits, RetrySettlement, RetryStep, ReviewOrigin, ReviewOutcome,
    ReviewTags, ReviewText, ShopId, ShopText, ShopTypeId, Stars, UserId, VoucherId,
};
use mallbox_storage_contract::samples;
use mallbox_test_checker::{History, LedgerReport, Promise, State, judge};
use mallbox_test_servers::Sql;

use super::world::{MINUTE, World, world};

/// A mall with a row in every table and an order in every state.
struct Whole {
    w: World,
    sale: VoucherId,
    users: Vec<UserId>,
}

async fn whole() -> Whole {
    let mut w = world().await;
    let mut users = Vec::new();
    for number in 0..14 {
        users.push(w.user(number).await);
    }
    let kind = w.storage.catalogue.shops.insert_type("food", "/imgs/a.png", 1, w.now()).await.unwrap();
    w.storage.catalogue.shops.insert(&shop(kind), w.now()).await.unwrap();
    let sale = w.sale(20).await;
    let ordinary = w.record(None).await;
    people(&w, &users).await;
    let by = By { actor: Actor::User(users[0]), at: w.now() };
    w.sale_admin.restock(by, sale, StockForm { add: Some(2), request: Some("truck".into()) }).await.unwrap();
    cash::sessions(&w, by).await;
    // From here on vouchers are older than orders, and every later row has a later timestamp.
    w.advance(MINUTE).await;
    let mut orders = Vec::new();
    for user in &users[1..=7] {
        orders.push(w.order(user.get(), sale).await);
    }
    w.advance(MINUTE).await;
    for place in [1, 2, 3, 5, 6] {
        w.orders.pay(users[place + 1], orders[place], w.now()).await.unwrap();
    }
    w.advance(MINUTE).await;
    w.orders.redeem(orders[2], w.now()).await.unwrap();
    w.orders.cancel(users[5], orders[4], w.now()).await.unwrap();
    w.orders.refund(users[6], orders[5], w.now()).await.unwrap();
    w.gateway.behave(Mood::Unreachable);
    w.orders.refund(users[4], orders[3], w.now()).await.unwrap();
    w.orders.buy(users[10], ordinary, Some("once".into()), w.now()).await.unwrap();
    w.ground().refuse_rows("orders", &format!("NEW.user_id = {}", users[8]), "poison");
    w.claim(users[8].get(), sale).await.unwrap();
    w.drain().await;
    w.ground().accept_rows("orders");
    w.rest().await;
    w.claim(users[9].get(), sale).await.unwrap();
    Whole { w, sale, users }
}

fn shop(kind: ShopTypeId) -> ShopText {
    ShopText { kind, ..samples::shop() }
}

/// Adds everything users do besides buying.
async fn people(w: &World, users: &[UserId]) {
    let (storage, now) = (&w.storage, w.now());
    let text =
        NoteText { shop: ShopId::new(1), title: "t".into(), images: String::new(), content: "c".into() };
    let note = storage.writing.notes.insert(users[1], &text, now).await.unwrap();
    let answer = |answered| storage.writing.comments.insert(users[2], note, answered, "yes", now);
    let CommentOutcome::Written(comment) = answer(None).await.unwrap() else { panic!("no comment") };
    assert!(matches!(answer(Some(comment)).await.unwrap(), CommentOutcome::Written(_)));
    for post in [Post::Note(note), Post::Comment(comment)] {
        storage.writing.likes.change(users[3], post, LikeChange::Like, now).await.unwrap();
        let _ = storage.writing.reports.report(users[4], post, "rude", now).await.unwrap();
    }
    assert!(storage.people.follows.follow(users[1], users[2], now).await.unwrap());
    let card = Profile {
        city: String::new(),
        introduce: String::new(),
        gender: false,
        birthday: None,
        ..Profile::default()
    };
    assert!(storage.people.users.put_card(users[1], "anna", "", &card, now).await.unwrap());
    let (name, content) = ("/blogs/1/2/a.jpg".to_owned(), vec![1; 100]);
    let picture = NewPicture { name, owner: users[1], kind: PictureKind::Jpeg, content };
    let room = PictureUsage { pictures: 9, bytes: 9_999 };
    let _ = storage.writing.pictures.put(picture, room, now).await.unwrap();
    reviews(w, users).await;
    retries(w).await;
    assert!(storage.people.sign_ins.sign(users[1], Day::parse("2026-11-21").unwrap(), now).await.unwrap());
}

/// Adds two tasks of one group, and a third that failed for good.
async fn retries(w: &World) {
    let (tasks, now) = (&w.storage.base.retry_tasks, w.now());
    let limits = RetryLimits { tasks: 9, bytes: 9 };
    let task = |key: &str| NewRetryTask {
        key: key.to_owned(),
        group: Some("g".to_owned()),
        payload: [1].into(),
        due: now,
        lease_until: None,
    };
    let _ = tasks.submit("test", &[task("a"), task("b"), task("c")], limits, now).await.unwrap();
    let lease = tasks.lease_due("test", 1, now, now + MINUTE).await.unwrap()[0].lease;
    let step = RetryStep::Failed { error: "no".to_owned() };
    assert_eq!(tasks.settle("test", &[RetrySettlement { lease, step }], now).await.unwrap(), [true]);
}

/// Adds a review of the demo data with a picture and two votes, and one vote taken back.
async fn reviews(w: &World, users: &[UserId]) {
    let (storage, now) = (&w.storage, w.now());
    let text = ReviewText {
        stars: Stars::from_score(40).unwrap(),
        content: "c".into(),
        images: "/imgs/a.jpg".into(),
        average_price: None,
        tags: ReviewTags::default(),
    };
    let (shop, origin, request) = (ShopId::new(1), ReviewOrigin::Demo, String::new());
    let review = NewReview { author: users[1], shop, origin, text, request };
    let ReviewOutcome::Written(review) = storage.writing.reviews.insert(&review, now).await.unwrap() else {
        panic!("no review")
    };
    for (user, up) in [(users[2], true), (users[3], true), (users[2], false)] {
        let _ = storage.writing.votes.vote(review, user, up, now).await.unwrap();
    }
}

/// One kind of tampering: the change, its reversal, and the code reported. `{n}` is the n-th user, `{sale}`
/// the sale.
pub struct Kind {
    pub spoil: &'static str,
    pub undo: &'static str,
    pub code: &'static str,
}

pub const fn kind(spoil: &'static str, undo: &'static str, code: &'static str) -> Kind {
    Kind { spoil, undo, code }
}

impl Whole {
    fn filled(&self, sql: &str) -> String {
        let users = self.users.iter().enumerate();
        let sql = sql.replace("{sale}", &self.sale.to_string());
        users.fold(sql, |sql, (place, user)| sql.replace(&format!("{{{place}}}"), &user.to_string()))
    }

    fn run(&self, Sql { sqlite, mysql }: Sql<'_>) {
        let mysql: Vec<String> = mysql.iter().map(|sql| self.filled(sql)).collect();
        let mysql: Vec<&str> = mysql.iter().map(String::as_str).collect();
        self.w.ground().sql_of_each(Sql { sqlite: &self.filled(sqlite), mysql: &mysql });
    }

    /// Returns the codes reported by the check. Asserts that the checker reports each code as well, reading
    /// `mallbox verify --json`.
    async fn found(&self) -> BTreeSet<String> {
        let report = self.w.ledger.verify().await.unwrap();
        assert_eq!(report.balances(), report.totals.findings.is_empty(), "{report}");
        let codes: BTreeSet<String> = report.totals.findings.keys().map(|code| (*code).to_owned()).collect();
        let document = serde_json::to_value(report.into_document()).unwrap();
        let ledger = LedgerReport::of_document(&document).unwrap();
        let verdict = judge(&History::default(), &State::default(), Some(&ledger));
        assert_eq!(verdict.passed().is_ok(), codes.is_empty(), "{verdict}: {codes:?}");
        for code in &codes {
            let mut violations = verdict.violations.iter();
            let named = format!("\"{code}\"");
            assert!(
                violations
                    .any(|found| found.promise == Promise::LedgerBalances && found.detail.contains(&named)),
                "{code} is not in {verdict}"
            );
        }
        codes
    }

    async fn is_named(&self, spoil: Sql<'_>, undo: Sql<'_>, code: &str, missed: &mut Vec<String>) {
        let named = self.filled(spoil.sqlite);
        self.run(spoil);
        let found = self.found().await;
        if !found.contains(code) {
            missed.push(format!("{code} is not found after {named}: {found:?}"));
        }
        self.run(undo);
        let left = self.found().await;
        if !left.is_empty() {
            missed.push(format!("a mall that is whole again is found fault with after {named}: {left:?}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tampering_of_every_kind_is_named_and_a_whole_mall_is_not_found_fault_with() {
    let whole = whole().await;
    let report = whole.w.ledger.verify().await.unwrap();
    assert!(report.balances() && report.unsettled.is_empty(), "{report}");
    let mut missed = Vec::new();
    let kinds = orders::KINDS.len() + others::KINDS.len() + others::OF_EACH.len() + cash::OF_EACH.len();
    for Kind { spoil, undo, code } in orders::KINDS.iter().chain(others::KINDS) {
        let (spoil, undo) = (Sql { sqlite: spoil, mysql: &[spoil] }, Sql { sqlite: undo, mysql: &[undo] });
        whole.is_named(spoil, undo, code, &mut missed).await;
    }
    for (spoil, undo, code) in others::OF_EACH.iter().chain(cash::OF_EACH) {
        whole.is_named(*spoil, *undo, code, &mut missed).await;
    }
    if whole.w.ground().database().is_none() {
        for Kind { spoil, undo, code } in others::OF_SQLITE {
            whole
                .is_named(
                    Sql { sqlite: spoil, mysql: &[] },
                    Sql { sqlite: undo, mysql: &[] },
                    code,
                    &mut missed,
                )
                .await;
        }
    }
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), kinds, missed.join("\n"));
}
