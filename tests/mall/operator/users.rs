//! An operator's actions on users, roles and blocks, and their audit entries.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::base::By;
use mallbox::mall::people::accounts::{Client, CodeKey, Credential, SentCode};
use mallbox::mall::people::sms::Inbox;
use mallbox::mall::people::staff::StaffKey;
use mallbox::mall::selling::payments::Sandbox;
use mallbox::mall::{Accounts, Context, Dependencies, Failure, Mall, Random, Refusal, Settings, UserAdmin};
use mallbox_storage::{
    Actor, LastOperator, LiveSession, LockOwner, Locker, NewSession, Page, RightsChange, RightsOutcome, Role,
    SessionRecord, Sessions, StoreError, Timestamp, TokenHash, UserFilter, UserId,
};
use mallbox_storage_contract::samples;
use mallbox_test_patience::Deadline;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::super::people::world::{ANNE, BOB, World, refusal, world};

/// Returns action, subject and detail of the newest entries, oldest first.
async fn written(w: &World, count: u32) -> Vec<(String, String, Value)> {
    let mut entries = w.audit.page(None, count).await.unwrap();
    entries.reverse();
    let detail = |text: &str| serde_json::from_str(text).unwrap();
    entries.into_iter().map(|entry| (entry.action, entry.subject, detail(&entry.detail))).collect()
}

fn entry(action: &str, subject: &str, detail: Value) -> (String, String, Value) {
    (action.to_owned(), subject.to_owned(), detail)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_can_be_named_before_their_first_log_in() {
    let w = world().await;
    let named = w.people.grant(ANNE, w.by()).await.unwrap();
    assert_eq!(named.role, Role::Operator);
    assert_eq!(w.user(ANNE).await, named.id);
    assert_eq!(w.accounts.role(named.id).await.unwrap(), Role::Operator);
    let bob = w.user(BOB).await;
    assert_eq!(w.accounts.role(bob).await.unwrap(), Role::Customer);
    assert_eq!(w.accounts.role(UserId::new(99)).await.unwrap(), Role::Customer);
    let page = Page::new(1, 10);
    let operators = UserFilter { role: Some(Role::Operator), ..UserFilter::default() };
    assert_eq!(w.people.list(&operators, page).await.unwrap(), std::slice::from_ref(&named));
    assert_eq!(w.people.list(&UserFilter::default(), page).await.unwrap().len(), 2);
    assert_eq!(w.people.by_phone(ANNE).await.unwrap(), named);
    assert_eq!(refusal(w.people.by_phone("13900000009").await), Refusal::NotFound("user"));

    // The command line needs only the directory to appoint another operator.
    let customer = w.people.set_role(named.id, Role::Customer, w.by()).await.unwrap();
    assert_eq!(customer.role, Role::Customer);
    assert_eq!(w.accounts.role(named.id).await.unwrap(), Role::Customer);
    let roles = ["operator", "customer"].map(|role| entry("user.role", "user 1", json!({ "role": role })));
    assert_eq!(written(&w, 9).await, roles);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_ends_every_session_and_keeps_its_user_out() {
    let w = world().await;
    let first = w.log_in(ANNE).await;
    w.advance_ms(55_000);
    let second = w.log_in(ANNE).await;
    let bob = w.log_in(BOB).await;
    w.people.grant(ANNE, w.by()).await.unwrap();
    let anne = UserId::new(1);
    let (user, ended) = w.people.block(anne, " buys for resale\n", w.by()).await.unwrap();
    assert_eq!((user.blocked.unwrap().reason.as_str(), ended), ("buys for resale", 2));
    assert_eq!((w.who(&first).await, w.who(&second).await), (None, None));
    assert_eq!(w.who(&bob).await, Some(UserId::new(2)));
    assert_eq!(w.accounts.role(anne).await.unwrap(), Role::Customer, "an operator's rights rest");

    w.advance_ms(55_000);
    let code = w.code(ANNE).await;
    assert_eq!(refusal(w.try_code(ANNE, &code).await), Refusal::Blocked);
    let (_, ended) = w.people.block(anne, "again", w.by()).await.unwrap();
    assert_eq!(ended, 0, "the refused log-in left no session behind");
    w.advance_ms(55_000);
    let user = w.people.unblock(anne, w.by()).await.unwrap();
    assert_eq!((user.blocked, user.role), (None, Role::Operator));
    let third = w.log_in(ANNE).await;
    assert_eq!(w.who(&third).await, Some(anne));
    assert_eq!(w.who(&first).await, None, "what was ended stays so");
    let reason = |reason: &str| entry("user.block", "user 1", json!({ "reason": reason }));
    let unblock = entry("user.unblock", "user 1", json!({}));
    assert_eq!(written(&w, 3).await, [reason("buys for resale"), reason("again"), unblock]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_user_with_a_password_is_kept_out_too() {
    let w = world().await;
    let session = w.session(&w.log_in(ANNE).await).await;
    let anne = session.user();
    w.accounts.set_password(&session, None, "correct horse", w.now()).await.unwrap();
    w.people.block(anne, "x", w.by()).await.unwrap();
    assert_eq!(refusal(w.try_password(ANNE, "correct horse").await), Refusal::Blocked);
    let wrong = refusal(w.try_password(ANNE, "wrong horse").await);
    assert_ne!(wrong, Refusal::Blocked, "who cannot log in learns nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_operator_cannot_lock_the_mall_out() {
    let w = world().await;
    let anne = w.people.grant(ANNE, w.by()).await.unwrap().id;
    let herself = By::operator(anne, w.now());
    assert_eq!(refusal(w.people.set_role(anne, Role::Customer, herself).await), Refusal::LastOperator);
    assert_eq!(refusal(w.people.block(anne, "x", herself).await), Refusal::LastOperator);
    let [action, ended] = &written(&w, 2).await[..] else { panic!("two entries") };
    assert_eq!(*action, entry("user.block", "user 1", json!({ "reason": "x" })));
    assert_eq!((&ended.2["entry"], &ended.2["ended"]), (&json!(4), &json!("refused")));
    w.people.grant(BOB, herself).await.unwrap();
    w.people.set_role(anne, Role::Customer, herself).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_and_no_reason_are_refused() {
    let w = world().await;
    let nobody = UserId::new(9);
    assert_eq!(refusal(w.people.get(nobody).await), Refusal::NotFound("user"));
    assert_eq!(refusal(w.people.unblock(nobody, w.by()).await), Refusal::NotFound("user"));
    assert_eq!(refusal(w.people.set_role(nobody, Role::Operator, w.by()).await), Refusal::NotFound("user"));
    assert_eq!(refusal(w.people.block(nobody, "x", w.by()).await), Refusal::NotFound("user"));
    let anne = w.user(ANNE).await;
    for bad in ["", " \n ", &"长".repeat(201)] {
        let refused = refusal(w.people.block(anne, bad, w.by()).await);
        assert_eq!(refused, Refusal::BadValue("reason"));
    }
    w.people.block(anne, &"长".repeat(200), w.by()).await.unwrap();
}

/// A decorator of the sessions that runs another action before the next session begins, once.
pub struct Meanwhile {
    sessions: Arc<dyn Sessions>,
    then: Mutex<Option<Action>>,
}

type Action = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Meanwhile {
    pub fn new(sessions: Arc<dyn Sessions>, then: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { sessions, then: Mutex::new(Some(Box::pin(then))) }
    }
}

#[async_trait]
impl Sessions for Meanwhile {
    async fn begin(&self, token: TokenHash, session: &NewSession, now: Timestamp) -> Result<(), StoreError> {
        let then = self.then.lock().await.take();
        if let Some(then) = then {
            then.await;
        }
        self.sessions.begin(token, session, now).await
    }

    async fn find(
        &self,
        token: TokenHash,
        ttl: Duration,
        now: Timestamp,
    ) -> Result<Option<LiveSession>, StoreError> {
        self.sessions.find(token, ttl, now).await
    }

    async fn list(&self, user: UserId, now: Timestamp) -> Result<Vec<SessionRecord>, StoreError> {
        self.sessions.list(user, now).await
    }

    async fn end(&self, token: TokenHash) -> Result<(), StoreError> {
        self.sessions.end(token).await
    }

    async fn end_all(&self, user: UserId) -> Result<u64, StoreError> {
        self.sessions.end_all(user).await
    }

    async fn end_others(&self, user: UserId, kept: TokenHash) -> Result<u64, StoreError> {
        self.sessions.end_others(user, kept).await
    }
}

/// The block, including the end of sessions, completes after the log-in has used its code and before its
/// session begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_begins_while_its_user_is_blocked_does_not_survive() {
    let w = world().await;
    let anne = w.user(ANNE).await;
    w.advance_ms(55_000);
    let context = Context::new(w.storage.clone(), w.clock.clone(), jiff::tz::TimeZone::UTC, Arc::default());
    let random = Arc::new(Random::seeded(9));
    let people = UserAdmin::new(context.clone(), w.audit.clone(), random.clone());
    let by = w.by();
    let block = async move {
        people.block(anne, "meanwhile", by).await.unwrap();
    };
    let sessions: Arc<dyn Sessions> = Arc::new(Meanwhile::new(w.storage.people.sessions.clone(), block));
    let mut context = context;
    context.storage.people.sessions = sessions;
    let inbox = Arc::new(Inbox::default());
    let accounts = Accounts::new(context, random, inbox.clone(), Some(inbox));
    accounts.send_code(ANNE, &Client::default(), w.now()).await.unwrap();
    let code = accounts.inbox(ANNE).unwrap().unwrap();
    let answer: Result<String, Failure> = accounts
        .log_in(ANNE, Credential::Code(SentCode::without_ticket(&code)), Client::default(), w.now())
        .await;
    assert_eq!(refusal(answer), Refusal::Blocked);
    assert_eq!(w.storage.people.sessions.end_all(anne).await.unwrap(), 0, "no session is left");
}

/// A crash came between the block and the end of the sessions: the next start ends them, or another live
/// process does.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_blocked_users_still_have_are_ended() {
    let w = world().await;
    let (anne, bob) = (w.log_in(ANNE).await, w.log_in(BOB).await);
    let block = RightsChange::Block { reason: "x".to_owned() };
    let is_blocked = async || {
        let answer =
            w.storage.people.users.put_rights(UserId::new(1), &block, LastOperator::MayGo, w.now()).await;
        assert!(matches!(answer, Ok(RightsOutcome::Done(_))));
    };
    is_blocked().await;
    assert_eq!(w.who(&anne).await, Some(UserId::new(1)));
    let mall = Mall::open(means(&w)).await.unwrap();
    assert_eq!((w.who(&anne).await, w.who(&bob).await), (None, Some(UserId::new(2))));
    mall.catch_up().await;
    let unblocked = w.storage.people.users.put_rights(
        UserId::new(1),
        &RightsChange::Unblock,
        LastOperator::MayGo,
        w.now(),
    );
    assert!(matches!(unblocked.await, Ok(RightsOutcome::Done(_))));
    w.clock.advance(Duration::from_secs(60));
    let anne = w.log_in(ANNE).await;
    mall.catch_up().await;
    is_blocked().await;
    w.clock.advance(Duration::from_secs(60));
    mall.catch_up().await;
    assert_eq!((w.who(&anne).await, w.who(&bob).await), (None, Some(UserId::new(2))));
}

/// Another process holds the lease on sales for longer than a request would wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_waits_for_its_turn() {
    let w = world().await;
    let voucher = samples::insert_sale(&*w.storage.catalogue.vouchers, Some(3), w.now()).await.unwrap();
    let other = Locker::new(Arc::clone(&w.storage.base.locks));
    let lease = Duration::from_secs(30);
    let turn = other.hold("sale-terms", LockOwner::random(), lease, Duration::ZERO).await.unwrap().unwrap();
    let opening = tokio::spawn(Mall::open(means(&w)));
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(!opening.is_finished());
    turn.leave().await.unwrap();
    opening.await.unwrap().unwrap();
    assert!(w.storage.selling.sales.units(voucher).await.unwrap().is_some());
}

fn means(w: &World) -> Dependencies {
    let inbox = Arc::new(Inbox::default());
    Dependencies {
        storage: w.storage.clone(),
        clock: w.clock.clone(),
        zone: jiff::tz::TimeZone::UTC,
        settings: Settings::default(),
        sms: inbox.clone(),
        inbox: Some(inbox),
        payments: Arc::new(Sandbox::default()),
        http_gateway: None,
        challenge_service: None,
        alerts: None,
        printer: None,
        random: Arc::new(Random::seeded(8)),
        code_key: CodeKey::Database,
        staff_key: StaffKey::default(),
    }
}

/// The caller disconnected before the response.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_is_cut_off_leaves_a_second_entry() {
    let w = world().await;
    let doing =
        w.audit.begin(Actor::CommandLine, "sale.pause", "sale 3".to_owned(), json!({}), w.now()).await;
    drop(doing.unwrap());
    let deadline = Deadline::after(Duration::from_secs(5));
    while !deadline.is_over() {
        if let [first, second] = &written(&w, 9).await[..] {
            assert_eq!(*first, entry("sale.pause", "sale 3", json!({})));
            assert_eq!(*second, entry("sale.pause", "sale 3", json!({ "entry": 1, "ended": "unknown" })));
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no second entry");
}
