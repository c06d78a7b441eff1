//! `Users`: dense ids, one user per phone.

use std::sync::{Arc, Barrier};

use mallbox_storage::{
    Block, LastOperator, Page, Phone, Profile, RightsChange, RightsOutcome, Role, User, UserFilter, UserId,
};
use tokio::runtime::Handle;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    nobody_is_found_before_they_come,
    a_phone_is_one_user_and_ids_are_dense,
    a_card_is_empty_until_it_is_told,
    what_is_told_of_nobody_changes_nothing,
    a_password_is_replaced_only_with_knowledge_of_the_last_one,
    passwords_are_kept,
    a_role_is_changed_and_a_block_kept_apart_from_it,
    the_last_operator_stays_unless_they_may_go,
    of_operators_who_demote_each_other_one_stays,
    lists_go_page_by_page,
    users_are_found_by_phone_name_role_and_block,
    those_asked_for_are_answered_in_their_order,
    a_rush_of_one_phone_makes_one_user,
    users_outlive_a_restart,
}

fn phone(number: u64) -> Phone {
    Phone::parse(&format!("139{number:08}")).unwrap()
}

const OPERATOR: RightsChange = RightsChange::Role(Role::Operator);
const CUSTOMER: RightsChange = RightsChange::Role(Role::Customer);

fn block(reason: &str) -> RightsChange {
    RightsChange::Block { reason: reason.to_owned() }
}

async fn put_rights(w: &World, user: UserId, change: &RightsChange) -> RightsOutcome {
    w.storage.people.users.put_rights(user, change, LastOperator::Stays, NOON).await.unwrap()
}

async fn found(w: &World, filter: &UserFilter, page: Page) -> Vec<u64> {
    let users = w.storage.people.users.list(filter, page).await.unwrap();
    users.iter().map(|user| user.id.get()).collect()
}

async fn nobody_is_found_before_they_come(w: &World) {
    let users = &w.storage.people.users;
    for id in [0, 1, i64::MAX as u64, u64::MAX].map(UserId::new) {
        assert_eq!(users.get(id).await.unwrap(), None);
        assert_eq!(users.card(id).await.unwrap(), None);
        assert_eq!(users.password(id).await.unwrap(), None);
    }
    assert_eq!(users.by_phone(&phone(1)).await.unwrap(), None);
    assert_eq!(users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap(), []);
}

async fn a_phone_is_one_user_and_ids_are_dense(w: &World) {
    let users = &w.storage.people.users;
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
    let users = &w.storage.people.users;
    let id = users.find_or_create(&phone(1), "a", NOON).await.unwrap().id;
    assert_eq!(users.card(id).await.unwrap(), Some(Profile::default()));
    let profile = Profile {
        city: "杭州".into(),
        introduce: "'; DROP TABLE users; --".into(),
        gender: true,
        birthday: Some("2000-01-31".into()),
        ..Profile::default()
    };
    assert!(users.put_card(id, "b", "/imgs/b.png", &profile, NOON + HOUR).await.unwrap());
    assert_eq!(users.card(id).await.unwrap().as_ref(), Some(&profile));
    let user = users.get(id).await.unwrap().unwrap();
    assert_eq!((user.nick_name.as_str(), user.icon.as_str(), user.created), ("b", "/imgs/b.png", NOON));
    assert!(users.put_card(id, "b", "", &Profile::default(), NOON + HOUR).await.unwrap());
    assert_eq!(users.card(id).await.unwrap(), Some(Profile::default()));
    // Credits and levels have a port of their own.
    let rich = Profile { credits: u64::MAX, level: 9, set_level: Some(9), ..Profile::default() };
    assert!(users.put_card(id, "b", "", &rich, NOON).await.unwrap());
    assert_eq!(users.card(id).await.unwrap(), Some(Profile::default()));
}

async fn what_is_told_of_nobody_changes_nothing(w: &World) {
    let users = &w.storage.people.users;
    let nobody = UserId::new(7);
    assert!(!users.put_card(nobody, "a", "", &Profile::default(), NOON).await.unwrap());
    assert!(!users.put_password(nobody, "hash", NOON).await.unwrap());
    for change in [OPERATOR, CUSTOMER, block("no reason"), RightsChange::Unblock] {
        assert_eq!(put_rights(w, nobody, &change).await, RightsOutcome::NoSuchUser);
    }
    assert_eq!(users.card(nobody).await.unwrap(), None);
    assert_eq!(users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap(), []);
}

async fn passwords_are_kept(w: &World) {
    let users = &w.storage.people.users;
    let id = users.find_or_create(&phone(1), "a", NOON).await.unwrap().id;
    assert_eq!(users.password(id).await.unwrap(), None);
    for hash in ["first", "second"] {
        assert!(users.put_password(id, hash, NOON).await.unwrap());
        assert_eq!(users.password(id).await.unwrap().as_deref(), Some(hash));
    }
}

async fn a_role_is_changed_and_a_block_kept_apart_from_it(w: &World) {
    let users = &w.storage.people.users;
    let made = users.find_or_create(&phone(1), "a", NOON).await.unwrap();
    let blocked = |since, reason: &str| Some(Block { since, reason: reason.to_owned() });
    let mut later = NOON;
    for (change, role, block) in [
        (OPERATOR, Role::Operator, None),
        (OPERATOR, Role::Operator, None),
        (block("buys for resale"), Role::Operator, blocked(NOON + 3 * HOUR, "buys for resale")),
        (CUSTOMER, Role::Customer, blocked(NOON + 3 * HOUR, "buys for resale")),
        (block("'); --"), Role::Customer, blocked(NOON + 5 * HOUR, "'); --")),
        (block(""), Role::Customer, blocked(NOON + 6 * HOUR, "")),
        (RightsChange::Unblock, Role::Customer, None),
        (RightsChange::Unblock, Role::Customer, None),
    ] {
        later = later + HOUR;
        let is = User { role, blocked: block, ..made.clone() };
        let answer = users.put_rights(made.id, &change, LastOperator::MayGo, later).await.unwrap();
        assert_eq!(answer, RightsOutcome::Done(is.clone()), "{change:?}");
        assert_eq!(users.get(made.id).await.unwrap().as_ref(), Some(&is));
        assert_eq!(users.find_or_create(&phone(1), "b", later).await.unwrap(), is);
    }
}

async fn the_last_operator_stays_unless_they_may_go(w: &World) {
    let users = &w.storage.people.users;
    for number in 1..=2 {
        users.find_or_create(&phone(number), "a", NOON).await.unwrap();
    }
    let (anne, bob) = (UserId::new(1), UserId::new(2));
    assert!(matches!(put_rights(w, anne, &OPERATOR).await, RightsOutcome::Done(_)));
    for change in [CUSTOMER, block("leaves")] {
        assert_eq!(put_rights(w, anne, &change).await, RightsOutcome::LastOperator);
        assert!(matches!(put_rights(w, bob, &change).await, RightsOutcome::Done(_)), "a customer may be");
    }
    // A blocked second operator cannot take over.
    assert!(matches!(put_rights(w, bob, &OPERATOR).await, RightsOutcome::Done(_)));
    assert_eq!(put_rights(w, anne, &CUSTOMER).await, RightsOutcome::LastOperator);
    assert_eq!(users.get(anne).await.unwrap().unwrap().role, Role::Operator);
    assert!(matches!(put_rights(w, bob, &RightsChange::Unblock).await, RightsOutcome::Done(_)));
    assert!(matches!(put_rights(w, anne, &block("leaves")).await, RightsOutcome::Done(_)));
    assert!(matches!(put_rights(w, anne, &CUSTOMER).await, RightsOutcome::Done(_)), "acts no more as it is");
    assert_eq!(put_rights(w, bob, &CUSTOMER).await, RightsOutcome::LastOperator);
    let gone = users.put_rights(bob, &CUSTOMER, LastOperator::MayGo, NOON).await.unwrap();
    assert!(matches!(gone, RightsOutcome::Done(_)));
}

async fn of_operators_who_demote_each_other_one_stays(w: &World) {
    for round in 0..50 {
        for number in [1, 2] {
            let user = w.storage.people.users.find_or_create(&phone(number), "a", NOON).await.unwrap().id;
            assert!(matches!(put_rights(w, user, &OPERATOR).await, RightsOutcome::Done(_)));
        }
        let (one, other) =
            tokio::join!(put_rights(w, UserId::new(1), &CUSTOMER), put_rights(w, UserId::new(2), &CUSTOMER));
        let refused = [one, other].iter().filter(|answer| **answer == RightsOutcome::LastOperator).count();
        assert_eq!(refused, 1, "round {round}");
    }
}

async fn a_password_is_replaced_only_with_knowledge_of_the_last_one(w: &World) {
    let users = &w.storage.people.users;
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
    let users = &w.storage.people.users;
    for number in 1..=7 {
        let id = users.find_or_create(&phone(number), "a", NOON).await.unwrap().id;
        if number % 3 == 0 {
            assert!(matches!(put_rights(w, id, &OPERATOR).await, RightsOutcome::Done(_)));
        }
    }
    for (role, page, expected) in [
        (None, Page::new(1, 3), &[1, 2, 3][..]),
        (None, Page::new(3, 3), &[7]),
        (None, Page::new(4, 3), &[]),
        (None, Page::new(u32::MAX, u32::MAX), &[]),
        (Some(Role::Operator), Page::new(1, 5), &[3, 6]),
        (Some(Role::Customer), Page::new(2, 2), &[4, 5]),
    ] {
        let filter = UserFilter { role, ..UserFilter::default() };
        assert_eq!(found(w, &filter, page).await, expected, "{role:?} {page:?}");
    }
}

async fn users_are_found_by_phone_name_role_and_block(w: &World) {
    let users = &w.storage.people.users;
    for (number, name) in [(1, "小王"), (2, "100%"), (12, "小王子"), (13, "a_b!"), (99_999_999, "zz")] {
        users.find_or_create(&phone(number), name, NOON).await.unwrap();
    }
    for id in [3, 4] {
        assert!(matches!(put_rights(w, UserId::new(id), &block("x")).await, RightsOutcome::Done(_)));
    }
    assert!(matches!(put_rights(w, UserId::new(3), &OPERATOR).await, RightsOutcome::Done(_)));
    let all = UserFilter::default;
    for (filter, expected) in [
        (all(), &[1, 2, 3, 4, 5][..]),
        (UserFilter { phone: "139".into(), ..all() }, &[1, 2, 3, 4, 5]),
        (UserFilter { phone: "1390000001".into(), ..all() }, &[3, 4]),
        (UserFilter { phone: "13999999999".into(), ..all() }, &[5]),
        (UserFilter { phone: "139000000011".into(), ..all() }, &[]),
        (UserFilter { phone: "1390000000%".into(), ..all() }, &[]),
        (UserFilter { phone: "小".into(), ..all() }, &[]),
        (UserFilter { name: "小王".into(), ..all() }, &[1, 3]),
        (UserFilter { name: "%".into(), ..all() }, &[2]),
        (UserFilter { name: "_".into(), ..all() }, &[4]),
        (UserFilter { name: "!".into(), ..all() }, &[4]),
        (UserFilter { blocked: true, ..all() }, &[3, 4]),
        (UserFilter { blocked: true, role: Some(Role::Operator), ..all() }, &[3]),
        (UserFilter { blocked: true, role: Some(Role::Customer), ..all() }, &[4]),
        (
            UserFilter {
                name: "王".into(),
                phone: "139000000".into(),
                role: Some(Role::Operator),
                blocked: true,
            },
            &[3],
        ),
        (UserFilter { name: "nobody".into(), ..all() }, &[]),
    ] {
        assert_eq!(found(w, &filter, Page::new(1, 10)).await, expected, "{filter:?}");
    }
    let filter = UserFilter { name: "小王".into(), ..all() };
    assert_eq!(found(w, &filter, Page::new(2, 1)).await, [3]);
}

/// Eight threads request each phone concurrently.
async fn those_asked_for_are_answered_in_their_order(w: &World) {
    let users = &w.storage.people.users;
    let mut made = Vec::new();
    for number in 0..20 {
        made.push(users.find_or_create(&phone(number), "user", NOON).await.unwrap());
    }
    assert_eq!(users.those(&[]).await.unwrap(), []);
    let nobody = UserId::new(u64::from(u32::MAX));
    let asked = [made[7].id, nobody, made[2].id, UserId::new(0), made[7].id];
    assert_eq!(users.those(&asked).await.unwrap(), [7, 2, 7].map(|at| made[at].clone()));
    let all: Vec<UserId> = made.iter().rev().map(|user| user.id).collect();
    assert_eq!(users.those(&all).await.unwrap(), made.iter().rev().cloned().collect::<Vec<_>>());
}

async fn a_rush_of_one_phone_makes_one_user(w: &World) {
    const THREADS: usize = 8;
    const PHONES: u64 = 200;
    let barrier = Arc::new(Barrier::new(THREADS));
    let rush = (0..THREADS).map(|_| {
        let (users, barrier, runtime) =
            (Arc::clone(&w.storage.people.users), Arc::clone(&barrier), Handle::current());
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
    let ids = found(w, &UserFilter::default(), Page::new(1, 1000)).await;
    assert_eq!(ids, answers[0].iter().map(|user| user.get()).collect::<Vec<_>>());
    // Threads that lost the race may have drawn an id in vain.
    assert!(ids.last().unwrap() <= &(PHONES * THREADS as u64));
}

async fn users_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let made = w.storage.people.users.find_or_create(&phone(1), "a", NOON).await.unwrap();
    assert!(w.storage.people.users.put_password(made.id, "hash", NOON).await.unwrap());
    let RightsOutcome::Done(made) = put_rights(&w, made.id, &block("x")).await else {
        panic!("there is one")
    };
    let w = w.reopen().await;
    assert_eq!(w.storage.people.users.get(made.id).await.unwrap().as_ref(), Some(&made));
    assert_eq!(w.storage.people.users.password(made.id).await.unwrap().as_deref(), Some("hash"));
    let next = w.storage.people.users.find_or_create(&phone(2), "b", NOON).await.unwrap();
    assert_eq!(next.id, UserId::new(2));
}
