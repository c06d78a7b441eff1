//! Users' information about themselves.

use mallbox::mall::people::accounts::ProfileEdit;
use mallbox::mall::{InputError, Refusal};
use mallbox_storage::{NewPicture, PictureKind, PictureUsage, Profile, PutOutcome, UserId};

use super::world::{ANNE, BOB, mistake, refusal, world};

fn all() -> ProfileEdit {
    ProfileEdit {
        nick_name: Some("安妮".into()),
        icon: Some("/imgs/icons/anne.jpg".into()),
        city: Some("杭州".into()),
        introduce: Some("爱吃\n也爱拍".into()),
        gender: Some(true),
        birthday: Some("2000-01-31".into()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_a_profile_has_an_empty_profile() {
    let w = world().await;
    let user = w.user(ANNE).await;
    let card = w.accounts.card(user, w.now()).await.unwrap().unwrap();
    assert_eq!((card.user, card.card, card.fans, card.followee), (user, Profile::default(), 0, 0));
    assert_eq!(w.accounts.card(UserId::new(99), w.now()).await.unwrap(), None);
    assert_eq!(w.accounts.brief(UserId::new(99), w.now()).await.unwrap(), None);
    assert_eq!(w.accounts.brief(UserId::new(u64::MAX), w.now()).await.unwrap(), None);
    assert_eq!(
        refusal(w.accounts.put_card(UserId::new(99), &all(), w.now()).await),
        Refusal::NotFound("user")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_changes_what_it_brings_and_nothing_else() {
    let w = world().await;
    let user = w.user(ANNE).await;
    let earned = Profile { credits: 120, set_level: Some(3), ..Profile::default() };
    assert!(w.storage.people.credits.bring_along(user, 120, w.now()).await.unwrap());
    let _ = w.storage.people.credits.set_level(user, Some(3), w.now()).await.unwrap();

    w.accounts.put_card(user, &all(), w.now()).await.unwrap();
    let profile = Profile {
        city: "杭州".into(),
        introduce: "爱吃\n也爱拍".into(),
        gender: true,
        birthday: Some("2000-01-31".into()),
        ..earned
    };
    let brief = w.accounts.brief(user, w.now()).await.unwrap().unwrap();
    assert_eq!((brief.nick_name.as_str(), brief.icon.as_str()), ("安妮", "/imgs/icons/anne.jpg"));
    assert_eq!(w.accounts.card(user, w.now()).await.unwrap().unwrap().card, profile);

    w.accounts.put_card(user, &ProfileEdit::default(), w.now()).await.unwrap();
    assert_eq!(w.accounts.card(user, w.now()).await.unwrap().unwrap().card, profile);

    let less =
        ProfileEdit { birthday: Some(String::new()), city: Some(String::new()), ..ProfileEdit::default() };
    w.accounts.put_card(user, &less, w.now()).await.unwrap();
    let card = w.accounts.card(user, w.now()).await.unwrap().unwrap().card;
    assert_eq!(card, Profile { birthday: None, city: String::new(), ..profile });
    assert_eq!(w.accounts.brief(user, w.now()).await.unwrap().unwrap(), brief);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_edit_changes_nothing() {
    let w = world().await;
    let user = w.user(ANNE).await;
    w.accounts.put_card(user, &all(), w.now()).await.unwrap();
    let before =
        (w.accounts.brief(user, w.now()).await.unwrap(), w.accounts.card(user, w.now()).await.unwrap());
    let rows: Vec<(InputError, ProfileEdit)> = vec![
        (InputError::Missing("nickName"), ProfileEdit { nick_name: Some(" \n".into()), ..all() }),
        (InputError::OutOfRange("nickName"), ProfileEdit { nick_name: Some("字".repeat(33)), ..all() }),
        (
            InputError::OutOfRange("icon"),
            ProfileEdit { icon: Some("//elsewhere.example/x.png".into()), ..all() },
        ),
        (InputError::OutOfRange("icon"), ProfileEdit { icon: Some("/imgs/a.jpg".into()), ..all() }),
        (InputError::OutOfRange("icon"), ProfileEdit { icon: Some("/imgs/icons/../a.jpg".into()), ..all() }),
        (InputError::OutOfRange("icon"), ProfileEdit { icon: Some("/api/user/me".into()), ..all() }),
        (InputError::Missing("nickName"), ProfileEdit { nick_name: Some("\u{200B}".into()), ..all() }),
        (InputError::OutOfRange("nickName"), ProfileEdit { nick_name: Some("官方客服".into()), ..all() }),
        (
            InputError::OutOfRange("nickName"),
            ProfileEdit { nick_name: Some("ad\u{200B}min".into()), ..all() },
        ),
        (InputError::OutOfRange("city"), ProfileEdit { city: Some("字".repeat(65)), ..all() }),
        (InputError::OutOfRange("introduce"), ProfileEdit { introduce: Some("字".repeat(129)), ..all() }),
        (InputError::OutOfRange("birthday"), ProfileEdit { birthday: Some("2001-02-29".into()), ..all() }),
        (InputError::OutOfRange("birthday"), ProfileEdit { birthday: Some("2026-11-22".into()), ..all() }),
        (InputError::OutOfRange("birthday"), ProfileEdit { birthday: Some("1899-12-31".into()), ..all() }),
    ];
    for (want, edit) in rows {
        let edit = ProfileEdit { gender: Some(false), ..edit };
        assert_eq!(mistake(w.accounts.put_card(user, &edit, w.now()).await), want);
    }
    assert_eq!(
        (w.accounts.brief(user, w.now()).await.unwrap(), w.accounts.card(user, w.now()).await.unwrap()),
        before
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_the_staff_are_for_operators_and_stay_where_they_were() {
    let w = world().await;
    let (anne, bob) = (w.user(ANNE).await, w.user(BOB).await);
    let named = |name: &str| ProfileEdit { nick_name: Some(name.into()), ..ProfileEdit::default() };
    w.people.grant(ANNE, w.by()).await.unwrap();
    w.accounts.put_card(anne, &named("客服"), w.now()).await.unwrap();
    let mistaken = mistake(w.accounts.put_card(bob, &named("客服"), w.now()).await);
    assert_eq!(mistaken, InputError::OutOfRange("nickName"));
    // As an import stores it.
    w.storage
        .people
        .users
        .put_card(bob, "客服", "https://p.example/a.png", &Profile::default(), w.now())
        .await
        .unwrap();
    let same = ProfileEdit { icon: Some("/imgs/remote/p.example/a.png".into()), ..named("客服") };
    w.accounts.put_card(bob, &same, w.now()).await.unwrap();
    let brief = w.accounts.brief(bob, w.now()).await.unwrap().unwrap();
    assert_eq!((brief.nick_name.as_str(), brief.icon.as_str()), ("客服", "https://p.example/a.png"));
}

/// Over HTTP, uploads are in `tests/api/writing/uploads.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_somebody_else_uploaded_is_nobodys_portrait() {
    let w = world().await;
    let (anne, bob) = (w.user(ANNE).await, w.user(BOB).await);
    let name = "/blogs/1/2/anne.jpg".to_owned();
    let (owner, kind) = (anne, PictureKind::Jpeg);
    let picture = NewPicture { name: name.clone(), owner, kind, content: vec![1] };
    let most = PictureUsage { pictures: 9, bytes: 9_999 };
    assert!(matches!(w.storage.writing.pictures.put(picture, most, w.now()).await, Ok(PutOutcome::Put)));
    for icon in [name.clone(), format!("/imgs{name}")] {
        let edit = ProfileEdit { icon: Some(icon.clone()), ..ProfileEdit::default() };
        let refused = refusal(w.accounts.put_card(bob, &edit, w.now()).await);
        assert_eq!(refused, Refusal::NotFound("picture"), "{icon}");
        w.accounts.put_card(anne, &edit, w.now()).await.unwrap();
        assert_eq!(w.accounts.brief(anne, w.now()).await.unwrap().unwrap().icon, icon);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn today_is_the_malls_today() {
    let w = world().await;
    let user = w.user(ANNE).await;
    let born_tomorrow = ProfileEdit { birthday: Some("2026-11-22".into()), ..ProfileEdit::default() };
    // In Shanghai the 22nd begins at 16:00 UTC.
    w.advance_ms(4 * 3_600_000 - 1);
    assert!(w.accounts.put_card(user, &born_tomorrow, w.now()).await.is_err());
    w.advance_ms(1);
    w.accounts.put_card(user, &born_tomorrow, w.now()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_stored_as_it_was_written() {
    let w = world().await;
    let user = w.user(ANNE).await;
    let edit = ProfileEdit {
        nick_name: Some(" <img src=x onerror=alert(1)>安妮<3".into()),
        ..ProfileEdit::default()
    };
    w.accounts.put_card(user, &edit, w.now()).await.unwrap();
    assert_eq!(
        w.accounts.brief(user, w.now()).await.unwrap().unwrap().nick_name,
        "<img src=x onerror=alert(1)>安妮<3"
    );
}
