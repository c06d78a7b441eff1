//! `Users`: dense ids, one user a phone.

use std::sync::{Arc, Barrier};

use mallbox_storage::{Card, Page, Phone, Role, UserId};
use tokio::runtime::Handle;

use crate::world::{HOUR, NOON, World, embedded};

crate::contract! {
    nobody_is_found_before_they_come,
    a_phone_is_one_user_and_ids_are_dense,
    a_card_is_empty_until_it_is_told,
    what_is_told_of_nobody_changes_nothing,
    password_and_role_are_kept,
    a_password_is_replaced_only_by_whoever_knows_the_last_one,
    lists_go_page_by_page,
    a_rush_of_one_phone_makes_one_user,
    users_outlive_a_restart,
}

fn phone(number: u64) -> Phone {
    Phone::parse(&format!("139{number:08}")).unwrap()
}

async fn nobody_is_found_before_they_come(w: &World) {
    let users = &w.storage.users;
    for id in [0, 1, i64::MAX as u64, u64::MAX].map(UserId::new) {
        assert_eq!(users.get(id).await.unwrap(), None);
        assert_eq!(users.card(id).await.unwrap(), None);
        assert_eq!(users.password(id).await.unwrap(), None);
    }
    assert_eq!(users.by_phone(&phone(1)).await.unwrap(), None);
    assert_eq!(users.list(None, Page::new(1, 10)).await.unwrap(), []);
}

async fn a_phone_is_one_user_and_ids_are_dense(w: &World) {
    let users = &w.storage.users;
    for number in 1..=3 {
        let made = users.find_or_create(&phone(number), "小王", NOON).await.unwrap();
        assert_eq!(made.id, UserId::new(number));
        assert_eq!((made.nick_name.as_str(), made.icon.as_str(), made.role), ("小王", "", Role::Customer));
        assert_eq!((made.created, &made.phone), (NOON, &phone(number)));
        assert_eq!(users.find_or_create(&phone(number), "other", NOON + HOUR).await.unwrap(), made);
        assert_eq!(users.get(made.id).await.unwrap().as_ref(), Some(&made));
        assert_eq!(users.by_phone(&made.phone).await.unwrap().as_ref(), Some(&made));
    }
}

async fn a_card_is_empty_until_it_is_told(w: &World) {
    let users = &w.storage.users;
    let id = users.find_or_create(&phone(1), "a", NOON).await.unwrap().id;
    assert_eq!(users.card(id).await.unwrap(), Some(Card::default()));
    let told = Card {
        city: "杭州".into(),
        introduce: "'; DROP TABLE users; --".into(),
        gender: true,
        birthday: Some("2000-01-31".into()),
        credits: i64::MAX as u64,
        level: 9,
    };
    assert!(users.put_card(id, "b", "/imgs/b.png", &told, NOON + HOUR).await.unwrap());
    assert_eq!(users.card(id).await.unwrap().as_ref(), Some(&told));
    let user = users.get(id).await.unwrap().unwrap();
    assert_eq!((user.nick_name.as_str(), user.icon.as_str(), user.created), ("b", "/imgs/b.png", NOON));
    assert!(users.put_card(id, "b", "", &Card::default(), NOON + HOUR).await.unwrap());
    assert_eq!(users.card(id).await.unwrap(), Some(Card::default()));
    // What cannot be kept is refused, and the name is not changed either.
    let too_much = Card { credits: u64::MAX, ..Card::default() };
    assert!(users.put_card(id, "c", "", &too_much, NOON).await.is_err());
    assert_eq!(users.get(id).await.unwrap().unwrap().nick_name, "b");
}

async fn what_is_told_of_nobody_changes_nothing(w: &World) {
    let users = &w.storage.users;
    let nobody = UserId::new(7);
    assert!(!users.put_card(nobody, "a", "", &Card::default(), NOON).await.unwrap());
    assert!(!users.put_password(nobody, "hash", NOON).await.unwrap());
    assert!(!users.put_role(nobody, Role::Operator, NOON).await.unwrap());
    assert_eq!(users.card(nobody).await.unwrap(), None);
    assert_eq!(users.list(None, Page::new(1, 10)).await.unwrap(), []);
}

async fn password_and_role_are_kept(w: &World) {
    let users = &w.storage.users;
    let id = users.find_or_create(&phone(1), "a", NOON).await.unwrap().id;
    assert_eq!(users.password(id).await.unwrap(), None);
    for hash in ["first", "second"] {
        assert!(users.put_password(id, hash, NOON).await.unwrap());
        assert_eq!(users.password(id).await.unwrap().as_deref(), Some(hash));
    }
    for role in [Role::Operator, Role::Operator, Role::Customer] {
        assert!(users.put_role(id, role, NOON).await.unwrap());
        assert_eq!(users.get(id).await.unwrap().unwrap().role, role);
    }
}

async fn a_password_is_replaced_only_by_whoever_knows_the_last_one(w: &World) {
    let users = &w.storage.users;
    let id = users.find_or_create(&phone(1), "a", NOON).await.unwrap().id;
    assert!(!users.replace_password(id, "", "new", NOON).await.unwrap());
    assert!(users.put_password(id, "first", NOON).await.unwrap());
    assert!(!users.replace_password(id, "other", "new", NOON).await.unwrap());
    assert!(!users.replace_password(UserId::new(7), "first", "new", NOON).await.unwrap());
    assert_eq!(users.password(id).await.unwrap().as_deref(), Some("first"));
    assert!(users.replace_password(id, "first", "new", NOON).await.unwrap());
    assert_eq!(users.password(id).await.unwrap().as_deref(), Some("new"));
}

async fn lists_go_page_by_page(w: &World) {
    let users = &w.storage.users;
    for number in 1..=7 {
        let id = users.find_or_create(&phone(number), "a", NOON).await.unwrap().id;
        let role = if number % 3 == 0 { Role::Operator } else { Role::Customer };
        assert!(users.put_role(id, role, NOON).await.unwrap());
    }
    for (role, page, expected) in [
        (None, Page::new(1, 3), &[1, 2, 3][..]),
        (None, Page::new(3, 3), &[7]),
        (None, Page::new(4, 3), &[]),
        (None, Page::new(u32::MAX, u32::MAX), &[]),
        (Some(Role::Operator), Page::new(1, 5), &[3, 6]),
        (Some(Role::Customer), Page::new(2, 2), &[4, 5]),
    ] {
        let list = users.list(role, page).await.unwrap();
        assert_eq!(list.iter().map(|user| user.id.get()).collect::<Vec<_>>(), expected, "{role:?} {page:?}");
    }
}

/// Each phone is asked for by eight threads at the same time.
async fn a_rush_of_one_phone_makes_one_user(w: &World) {
    const THREADS: usize = 8;
    const PHONES: u64 = 200;
    let barrier = Arc::new(Barrier::new(THREADS));
    let rush = (0..THREADS).map(|_| {
        let (users, barrier, runtime) =
            (Arc::clone(&w.storage.users), Arc::clone(&barrier), Handle::current());
        tokio::task::spawn_blocking(move || {
            barrier.wait();
            let ask = |number| runtime.block_on(users.find_or_create(&phone(number), "a", NOON)).unwrap().id;
            (0..PHONES).map(ask).collect::<Vec<_>>()
        })
    });
    let rush: Vec<_> = rush.collect();
    let mut answers = Vec::new();
    for thread in rush {
        answers.push(thread.await.unwrap());
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let list = w.storage.users.list(None, Page::new(1, 1000)).await.unwrap();
    let ids: Vec<_> = list.iter().map(|user| user.id.get()).collect();
    assert_eq!(ids, (1..=PHONES).collect::<Vec<_>>());
}

async fn users_outlive_a_restart(_: &World) {
    let w = embedded();
    let made = w.storage.users.find_or_create(&phone(1), "a", NOON).await.unwrap();
    assert!(w.storage.users.put_password(made.id, "hash", NOON).await.unwrap());
    let w = w.reopen().await;
    assert_eq!(w.storage.users.get(made.id).await.unwrap().as_ref(), Some(&made));
    assert_eq!(w.storage.users.password(made.id).await.unwrap().as_deref(), Some("hash"));
    let next = w.storage.users.find_or_create(&phone(2), "b", NOON).await.unwrap();
    assert_eq!(next.id, UserId::new(2));
}
