//! `Users`: a user's phone changes, and stays one user's.

use std::sync::Arc;

use mallbox_storage::{Phone, PhoneOutcome, UserId};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_user_gets_another_phone_and_leaves_the_old_one_free,
    another_users_phone_is_refused,
    a_phone_is_changed_only_from_the_one_expected,
    of_many_who_want_a_phone_one_gets_it,
    a_phone_outlives_a_restart,
}

fn phone(number: u64) -> Phone {
    Phone::parse(&format!("139{number:08}")).unwrap()
}

async fn user(w: &World, number: u64) -> UserId {
    w.storage.people.users.find_or_create(&phone(number), "user", NOON).await.unwrap().id
}

async fn put(w: &World, user: UserId, from: u64, to: u64) -> PhoneOutcome {
    w.storage.people.users.put_phone(user, &phone(from), &phone(to), NOON + HOUR).await.unwrap()
}

async fn owner(w: &World, number: u64) -> Option<UserId> {
    w.storage.people.users.by_phone(&phone(number)).await.unwrap().map(|user| user.id)
}

async fn a_user_gets_another_phone_and_leaves_the_old_one_free(w: &World) {
    let anne = user(w, 1).await;
    let before = w.storage.people.users.get(anne).await.unwrap().unwrap();
    assert_eq!(put(w, anne, 1, 2).await, PhoneOutcome::Changed);
    let after = w.storage.people.users.get(anne).await.unwrap().unwrap();
    assert_eq!(after.phone, phone(2));
    assert_eq!(after, mallbox_storage::User { phone: phone(2), ..before }, "nothing else changed");
    assert_eq!((owner(w, 1).await, owner(w, 2).await), (None, Some(anne)));
    assert_eq!(user(w, 2).await, anne, "the user is found by the new phone");
    let new = user(w, 1).await;
    assert_ne!(new, anne, "the old phone is somebody else's");
    assert_eq!(put(w, anne, 2, 2).await, PhoneOutcome::Changed, "a change to the same phone is none");
    assert_eq!(owner(w, 2).await, Some(anne));
}

async fn another_users_phone_is_refused(w: &World) {
    let (anne, ben) = (user(w, 1).await, user(w, 2).await);
    for _ in 0..2 {
        assert_eq!(put(w, anne, 1, 2).await, PhoneOutcome::Taken);
        assert_eq!((owner(w, 1).await, owner(w, 2).await), (Some(anne), Some(ben)));
    }
    assert_eq!(put(w, ben, 2, 3).await, PhoneOutcome::Changed);
    assert_eq!(put(w, anne, 1, 2).await, PhoneOutcome::Changed, "free by now");
}

async fn a_phone_is_changed_only_from_the_one_expected(w: &World) {
    let (anne, ben) = (user(w, 1).await, user(w, 2).await);
    assert_eq!(put(w, anne, 2, 3).await, PhoneOutcome::NotFound);
    assert_eq!(put(w, anne, 3, 4).await, PhoneOutcome::NotFound);
    for nobody in [0, 99, u64::MAX].map(UserId::new) {
        assert_eq!(put(w, nobody, 1, 3).await, PhoneOutcome::NotFound);
    }
    assert_eq!((owner(w, 1).await, owner(w, 2).await), (Some(anne), Some(ben)));
    assert_eq!((owner(w, 3).await, owner(w, 4).await), (None, None));
}

async fn of_many_who_want_a_phone_one_gets_it(w: &World) {
    let mut users = Vec::new();
    for number in 1..=8 {
        users.push((number, user(w, number).await));
    }
    let tasks: Vec<_> = users
        .iter()
        .map(|(number, user)| {
            let (ports, number, user) = (Arc::clone(&w.storage.people.users), *number, *user);
            tokio::spawn(
                async move { ports.put_phone(user, &phone(number), &phone(99), NOON).await.unwrap() },
            )
        })
        .collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    assert_eq!(
        outcomes.iter().filter(|outcome| **outcome == PhoneOutcome::Changed).count(),
        1,
        "{outcomes:?}"
    );
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == PhoneOutcome::Taken).count(), 7, "{outcomes:?}");
    let lucky = outcomes.iter().position(|outcome| *outcome == PhoneOutcome::Changed).unwrap();
    assert_eq!(owner(w, 99).await, Some(users[lucky].1));
    for (at, (number, user)) in users.iter().enumerate() {
        assert_eq!(owner(w, *number).await, (at != lucky).then_some(*user));
    }
}

async fn a_phone_outlives_a_restart(w: &World) {
    let w = w.another().await;
    let anne = user(&w, 1).await;
    assert_eq!(put(&w, anne, 1, 2).await, PhoneOutcome::Changed);
    let w = w.reopen().await;
    assert_eq!((owner(&w, 1).await, owner(&w, 2).await), (None, Some(anne)));
}
