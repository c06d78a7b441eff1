//! Log-in by password.

use std::time::{Duration, Instant};

use mallbox::mall::people::accounts::{CurrentSession, PASSWORD_AFTER_CODE};
use mallbox::mall::{InputError, Refusal};

use super::world::{ANNE, BOB, World, mistake, refusal, world};

const GOOD: &str = "correct horse";
const OTHER: &str = "battery staple";

/// Returns a mall in which Anne has a password, and her session, begun by code too long ago for another
/// password.
async fn anne() -> (World, CurrentSession) {
    let w = world().await;
    let token = w.log_in(ANNE).await;
    let session = w.session(&token).await;
    w.accounts.set_password(&session, None, GOOD, w.now()).await.unwrap();
    w.clock.advance(PASSWORD_AFTER_CODE);
    (w, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_was_set_opens_a_session() {
    let (w, session) = anne().await;
    let token = w.try_password(ANNE, GOOD).await.unwrap();
    assert_eq!(w.who(&token).await, Some(session.user()));
    assert_eq!(mistake(w.try_password(ANNE, OTHER).await), InputError::Password);
    let stored = w.storage.people.users.password(session.user()).await.unwrap().unwrap();
    assert!(stored.starts_with("$argon2id$") && !stored.contains(GOOD));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_user_or_a_password_the_refusal_is_the_same() {
    let w = world().await;
    w.user(ANNE).await;
    assert_eq!(mistake(w.try_password(ANNE, GOOD).await), InputError::Password);
    assert_eq!(mistake(w.try_password(BOB, GOOD).await), InputError::Password);
    assert_eq!(
        w.storage.people.users.by_phone(&mallbox_storage::Phone::parse(BOB).unwrap()).await.unwrap(),
        None
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_phone_takes_as_long_as_a_wrong_password() {
    let (w, _) = anne().await;
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..4 {
        for (phone, fastest) in [ANNE, BOB].into_iter().zip(&mut fastest) {
            let begun = Instant::now();
            assert_eq!(mistake(w.try_password(phone, OTHER).await), InputError::Password);
            *fastest = begun.elapsed().min(*fastest);
        }
    }
    // Without the hash of a dummy password the ratio would be a thousandth.
    assert!(fastest[1] > fastest[0] / 20, "{fastest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_five_tries_even_the_right_password_has_to_wait() {
    let (w, _) = anne().await;
    for _ in 0..5 {
        assert_eq!(mistake(w.try_password(ANNE, OTHER).await), InputError::Password);
    }
    let Refusal::TooManyTries { retry_after } = refusal(w.try_password(ANNE, GOOD).await) else {
        panic!("not limited")
    };
    assert_eq!(retry_after, Duration::from_secs(120));
    assert_eq!(mistake(w.try_password(BOB, OTHER).await), InputError::Password, "others are not limited");
    w.advance_ms(119_999);
    assert!(matches!(refusal(w.try_password(ANNE, GOOD).await), Refusal::TooManyTries { .. }));
    w.advance_ms(1);
    w.try_password(ANNE, GOOD).await.unwrap();
    w.log_in(ANNE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_needs_the_old_one() {
    let (w, session) = anne().await;
    for (old, want) in [
        (None, InputError::Missing("oldPassword")),
        (Some(""), InputError::Missing("oldPassword")),
        (Some(OTHER), InputError::OldPassword),
    ] {
        assert_eq!(mistake(w.accounts.set_password(&session, old, OTHER, w.now()).await), want, "{old:?}");
    }
    w.accounts.set_password(&session, Some(GOOD), OTHER, w.now()).await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, GOOD).await), InputError::Password);
    w.try_password(ANNE, OTHER).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn old_passwords_are_not_to_be_guessed_with_a_found_token() {
    let (w, session) = anne().await;
    for _ in 0..5 {
        assert_eq!(
            mistake(w.accounts.set_password(&session, Some(OTHER), OTHER, w.now()).await),
            InputError::OldPassword
        );
    }
    let answer = w.accounts.set_password(&session, Some(GOOD), OTHER, w.now()).await;
    assert!(matches!(refusal(answer), Refusal::TooManyTries { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_has_8_to_72_characters() {
    let (w, session) = anne().await;
    for bad in ["", "1234567", &"x".repeat(73)] {
        let answer = w.accounts.set_password(&session, Some(GOOD), bad, w.now()).await;
        assert_eq!(mistake(answer), InputError::PasswordLength);
    }
    let longest = "八个汉字也是密码".repeat(9);
    w.accounts.set_password(&session, Some(GOOD), &longest, w.now()).await.unwrap();
    w.try_password(ANNE, &longest).await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, &"x".repeat(1_000_000)).await), InputError::Password);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_compared_as_typed_and_does_not_age() {
    const TYPED: &str = " Ünusual Horse  8 ";
    let (w, session) = anne().await;
    w.accounts.set_password(&session, Some(GOOD), TYPED, w.now()).await.unwrap();
    w.clock.advance(Duration::from_secs(10 * 365 * 24 * 3_600));
    for other in [TYPED.trim(), &TYPED.to_lowercase(), &TYPED[..TYPED.len() - 1], " U\u{308}nusual Horse  8 "]
    {
        assert_eq!(mistake(w.try_password(ANNE, other).await), InputError::Password, "{other:?}");
    }
    w.try_password(ANNE, TYPED).await.unwrap();
}

/// In hm-dianping's format: the salt, and MD5 of password and salt.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_moved_in_is_stored_anew_when_it_is_used() {
    const MOVED_IN: &str = "salt@b305cadbb3bce54f3aa59c64fec00dea";
    let (w, session) = anne().await;
    w.storage.people.users.put_password(session.user(), MOVED_IN, w.now()).await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, OTHER).await), InputError::Password);
    let answer = w.accounts.set_password(&session, None, OTHER, w.now()).await;
    assert_eq!(mistake(answer), InputError::Missing("oldPassword"));
    let stored = || async { w.storage.people.users.password(session.user()).await.unwrap().unwrap() };
    assert_eq!(stored().await, MOVED_IN);
    w.try_password(ANNE, "password").await.unwrap();
    assert!(stored().await.starts_with("$argon2id$"));
    w.try_password(ANNE, "password").await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, MOVED_IN).await), InputError::Password);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_text_from_elsewhere_counts_as_no_password() {
    let (w, session) = anne().await;
    w.storage.people.users.put_password(session.user(), "password", w.now()).await.unwrap();
    assert_eq!(mistake(w.try_password(ANNE, "password").await), InputError::Password);
    let answer = w.accounts.set_password(&session, None, OTHER, w.now()).await;
    assert_eq!(refusal(answer), Refusal::CodeLoginNeeded);
    let session = w.session(&w.log_in(ANNE).await).await;
    w.accounts.set_password(&session, None, OTHER, w.now()).await.unwrap();
    w.try_password(ANNE, OTHER).await.unwrap();
}
