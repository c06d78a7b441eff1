//! Log-in by code, and sessions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mallbox::mall::people::accounts::{Accounts, Client, CodeKey, Credential, SentCode};
use mallbox::mall::people::sms::{Inbox, Sms, SmsError, SmsSender, Webhook};
use mallbox::mall::{Clock, Context, InputError, Random, Refusal, Settings};
use mallbox_storage::{CheckOutcome, CodeAttempt, CodeHash, Phone, Requester, TicketHash, UserId};
use sha2::{Digest as _, Sha256};

use super::world::{ANNE, BOB, mistake, other_than, refusal, with_sms, world};

const DAY_MS: u64 = 86_400_000;

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_phone_with_a_right_code_becomes_a_user() {
    let w = world().await;
    let user = w.user(ANNE).await;
    assert_eq!(user, UserId::new(1));
    let brief = w.accounts.brief(user, w.now()).await.unwrap().unwrap();
    let tail = brief.nick_name.strip_prefix("user_").unwrap();
    assert!(tail.len() == 10 && tail.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    assert_eq!(brief.icon, "");
    w.advance_ms(55_000);
    assert_eq!(w.user(ANNE).await, user, "the same phone is the same user");
    assert_eq!(w.accounts.brief(user, w.now()).await.unwrap().unwrap(), brief);
    assert_eq!(w.user(BOB).await, UserId::new(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_dead_at_the_exact_instant() {
    let w = world().await;
    let code = w.code(ANNE).await;
    w.advance_ms(119_999);
    w.try_code(ANNE, &code).await.unwrap();
    let code = w.code(BOB).await;
    w.advance_ms(120_000);
    assert_eq!(mistake(w.try_code(BOB, &code).await), InputError::NoCode);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_good_for_one_log_in_and_one_phone() {
    let w = world().await;
    let code = w.code(ANNE).await;
    assert_eq!(mistake(w.try_code(BOB, &code).await), InputError::NoCode);
    w.try_code(ANNE, &code).await.unwrap();
    assert_eq!(mistake(w.try_code(ANNE, &code).await), InputError::NoCode);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_back_end_stores_of_a_code_is_not_the_code() {
    let (w, client) = (world().await, Client::default());
    let ticket = w.accounts.send_code_for_ticket(ANNE, &client, w.now()).await.unwrap();
    let phone = Phone::parse(ANNE).unwrap();
    let code = w.accounts.inbox(ANNE).unwrap().unwrap();
    let plain_hash = Sha256::digest([ANNE, code.as_str()].concat()).into();
    let attempt = CodeAttempt {
        phone,
        requester: Requester([1; 16]),
        code: CodeHash(plain_hash),
        ticket: Some(TicketHash(Sha256::digest(&ticket).into())),
    };
    let rules = Settings::default().codes;
    let stored = w.storage.people.codes.check(&attempt, &rules, w.now()).await.unwrap();
    assert_eq!(stored, CheckOutcome::Wrong);
    let proof = Credential::Code(SentCode { code: &code, ticket: Some(&ticket) });
    w.accounts.log_in(ANNE, proof, client, w.now()).await.unwrap();
}

/// Two processes on one storage.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_memory_ends_with_its_process_and_a_key_in_the_database_is_everybodys() {
    for (place, is_shared) in [(CodeKey::Process, false), (CodeKey::Database, true)] {
        let w = world().await;
        let inbox = Arc::new(Inbox::default());
        let process = || {
            let zone = jiff::tz::TimeZone::UTC;
            let context = Context::new(w.storage.clone(), w.clock.clone(), zone, Arc::default());
            let random = Arc::new(Random::seeded(9));
            Accounts::new(context, random, inbox.clone(), Some(inbox.clone())).with_code_key(place)
        };
        let (one, other) = (process(), process());
        one.send_code(ANNE, &Client::default(), w.clock.now()).await.unwrap();
        let code = one.inbox(ANNE).unwrap().unwrap();
        let by_other = other
            .log_in(ANNE, Credential::Code(SentCode::without_ticket(&code)), Client::default(), w.clock.now())
            .await;
        assert_eq!(by_other.is_ok(), is_shared, "{place:?}");
        if !is_shared {
            assert_eq!(mistake(by_other), InputError::Code);
            one.log_in(
                ANNE,
                Credential::Code(SentCode::without_ticket(&code)),
                Client::default(),
                w.clock.now(),
            )
            .await
            .unwrap();
        }
        let stored = w.storage.base.upkeep.setting("login code key").await.unwrap();
        assert_eq!(stored.is_some(), is_shared, "{place:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_with_the_right_code_one_gets_in() {
    let w = Arc::new(world().await);
    let code = w.code(ANNE).await;
    let tries: Vec<_> = (0..16)
        .map(|_| {
            let (w, code) = (w.clone(), code.clone());
            tokio::spawn(async move { w.try_code(ANNE, &code).await.is_ok() })
        })
        .collect();
    let mut inside = 0;
    for one in tries {
        inside += u32::from(one.await.unwrap());
    }
    assert_eq!(inside, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_wrong_tries_kill_a_code() {
    let w = world().await;
    let code = w.code(ANNE).await;
    for _ in 0..4 {
        assert_eq!(mistake(w.try_code(ANNE, other_than(&code)).await), InputError::Code);
    }
    w.try_code(ANNE, &code).await.unwrap();

    let code = w.code(BOB).await;
    for _ in 0..5 {
        assert_eq!(mistake(w.try_code(BOB, other_than(&code)).await), InputError::Code);
    }
    assert_eq!(mistake(w.try_code(BOB, &code).await), InputError::NoCode);
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_keep_their_distance() {
    let w = world().await;
    let first = w.code(ANNE).await;
    assert_eq!(
        mistake(w.accounts.send_code(ANNE, &Client::default(), w.now()).await),
        InputError::CodeTooSoon(55)
    );
    let _others_do_not_count = w.code(BOB).await;
    w.advance_ms(54_999);
    assert_eq!(
        mistake(w.accounts.send_code(ANNE, &Client::default(), w.now()).await),
        InputError::CodeTooSoon(1)
    );
    w.advance_ms(1);
    let second = w.code(ANNE).await;
    assert_ne!(first, second, "the seed makes two codes");
    assert_eq!(
        mistake(w.try_code(ANNE, &first).await),
        InputError::Code,
        "the new code took the old one's place"
    );
    w.try_code(ANNE, &second).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_codes_a_day_and_no_more() {
    let w = world().await;
    let first = w.now();
    for _ in 0..10 {
        w.code(ANNE).await;
        w.advance_ms(55_000);
    }
    let until = (first + Duration::from_millis(DAY_MS)).since(w.now());
    assert_eq!(
        mistake(w.accounts.send_code(ANNE, &Client::default(), w.now()).await),
        InputError::CodeTooSoon(until.as_secs())
    );
    w.clock.set(first + Duration::from_millis(DAY_MS - 1));
    assert_eq!(
        mistake(w.accounts.send_code(ANNE, &Client::default(), w.now()).await),
        InputError::CodeTooSoon(1)
    );
    w.advance_ms(1);
    w.log_in(ANNE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_that_is_none_is_refused_everywhere() {
    let w = world().await;
    for bad in ["", "1390000000", "12900000001", "1390000000x", " 13900000002"] {
        assert_eq!(
            mistake(w.accounts.send_code(bad, &Client::default(), w.now()).await),
            InputError::Phone,
            "{bad}"
        );
        assert_eq!(mistake(w.try_code(bad, "123456").await), InputError::Phone, "{bad}");
        assert_eq!(mistake(w.try_password(bad, "correct horse").await), InputError::Phone, "{bad}");
        assert_eq!(mistake(w.accounts.inbox(bad)), InputError::Phone, "{bad}");
        assert_eq!(mistake(w.people.grant(bad, w.by()).await), InputError::Phone, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_lives_half_an_hour_after_its_last_use() {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    let user = w.who(&token).await;
    assert!(user.is_some());
    for _ in 0..3 {
        w.advance_ms(30 * 60_000 - 1);
        assert_eq!(w.who(&token).await, user);
    }
    w.advance_ms(30 * 60_000);
    assert_eq!(w.who(&token).await, None, "dead at the exact instant");
    assert_eq!(w.who(&token).await, None, "and asking does not bring it back");
}

#[tokio::test(flavor = "multi_thread")]
async fn logging_out_ends_this_session_alone() {
    let w = world().await;
    let phone = w.log_in(ANNE).await;
    w.advance_ms(55_000);
    let kiosk = w.log_in(ANNE).await;
    assert_ne!(phone, kiosk);
    w.accounts.log_out(&phone).await.unwrap();
    w.accounts.log_out(&phone).await.unwrap();
    assert_eq!(w.who(&phone).await, None);
    assert_eq!(w.who(&kiosk).await, Some(UserId::new(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_token_is_nobodys() {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    for bad in
        ["", "null", "undefined", &token[1..], &format!("{token} "), &token.to_uppercase(), &"0".repeat(48)]
    {
        if bad != token {
            assert_eq!(w.who(bad).await, None, "{bad}");
            w.accounts.log_out(bad).await.unwrap();
        }
    }
    assert!(w.who(&token).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_away_is_reported_and_counts_for_the_gap() {
    // Bound, but not listening: no other process gets the port meanwhile.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let sms = Arc::new(Webhook::new(&format!("http://{}/sms", held.local_addr().unwrap())).unwrap());
    let w = with_sms(sms, Arc::new(Inbox::default())).await;
    assert_eq!(refusal(w.accounts.send_code(ANNE, &Client::default(), w.now()).await), Refusal::Busy);
    assert_eq!(
        mistake(w.accounts.send_code(ANNE, &Client::default(), w.now()).await),
        InputError::CodeTooSoon(55)
    );
}

/// Inspects the stored data at the time a code is sent.
struct Early {
    seen: tokio::sync::mpsc::UnboundedSender<(String, String)>,
}

#[async_trait]
impl SmsSender for Early {
    async fn send(&self, sms: &Sms) -> Result<(), SmsError> {
        self.seen.send((sms.phone.as_str().to_owned(), sms.code.clone())).unwrap();
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_good_from_the_moment_it_goes_out() {
    let (seen, mut sent) = tokio::sync::mpsc::unbounded_channel();
    let w = Arc::new(with_sms(Arc::new(Early { seen }), Arc::new(Inbox::default())).await);
    let asking = tokio::spawn({
        let w = w.clone();
        async move { w.accounts.send_code(ANNE, &Client::default(), w.now()).await }
    });
    let (phone, code) = sent.recv().await.unwrap();
    assert_eq!(phone, ANNE);
    w.accounts
        .log_in(ANNE, Credential::Code(SentCode::without_ticket(&code)), Client::default(), w.now())
        .await
        .unwrap();
    asking.abort();
}
