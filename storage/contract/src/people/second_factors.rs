//! `SecondFactors`: a factor is confirmed once, each code is accepted once, and a deletion leaves nothing.

use std::sync::Arc;

use mallbox_storage::{
    ActiveFactor, DeleteOutcome, FactorSeed, LastOperator, PaidOrders, PendingFactor, Phone, RecoveryHash,
    RightsChange, Role, SecondFactor, Timestamp, UserId,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    nobody_has_a_factor_at_first,
    an_enrolment_is_in_force_once_it_is_confirmed,
    an_enrolment_replaces_an_earlier_one,
    a_new_factor_replaces_the_one_in_force_and_its_codes,
    of_concurrent_confirmations_one_counts,
    a_step_is_accepted_once_and_none_before_it,
    of_concurrent_uses_of_a_step_one_is_accepted,
    a_recovery_code_works_once,
    of_concurrent_uses_of_a_recovery_code_one_counts,
    recovery_codes_are_replaced_together,
    a_removal_leaves_nothing,
    a_user_shows_since_when_a_factor_is_in_force,
    a_deletion_of_the_user_leaves_nothing,
    a_factor_outlives_a_restart,
}

const NOBODY: UserId = UserId::new(999);

fn seed(number: u8) -> FactorSeed {
    FactorSeed([number; 16])
}

fn codes(numbers: std::ops::Range<u8>) -> Vec<RecoveryHash> {
    numbers.map(|number| RecoveryHash([number; 32])).collect()
}

async fn user(w: &World, number: u64) -> UserId {
    let phone = Phone::parse(&format!("139{number:08}")).unwrap();
    w.storage.people.users.find_or_create(&phone, "user", NOON).await.unwrap().id
}

async fn get(w: &World, user: UserId) -> SecondFactor {
    w.storage.people.second_factors.get(user).await.unwrap()
}

async fn begin(w: &World, user: UserId, number: u8, now: Timestamp) -> bool {
    w.storage.people.second_factors.begin(user, seed(number), now).await.unwrap()
}

async fn confirm(w: &World, user: UserId, number: u8, step: u64) -> bool {
    let factors = &w.storage.people.second_factors;
    factors.confirm(user, seed(number), step, &codes(0..10), NOON + HOUR).await.unwrap()
}

async fn accept(w: &World, user: UserId, number: u8, step: u64) -> bool {
    w.storage.people.second_factors.accept(user, seed(number), step).await.unwrap()
}

async fn recover(w: &World, user: UserId, number: u8) -> bool {
    w.storage.people.second_factors.use_recovery_code(user, RecoveryHash([number; 32])).await.unwrap()
}

/// Returns a user with factor 1, confirmed by the code of step 100.
async fn enrolled(w: &World, number: u64) -> UserId {
    let user = user(w, number).await;
    assert!(begin(w, user, 1, NOON).await && confirm(w, user, 1, 100).await);
    user
}

async fn nobody_has_a_factor_at_first(w: &World) {
    let anne = user(w, 1).await;
    for user in [anne, NOBODY, UserId::new(u64::MAX)] {
        assert_eq!(get(w, user).await, SecondFactor::default());
        assert!(!confirm(w, user, 1, 100).await && !accept(w, user, 1, 100).await);
        assert!(!recover(w, user, 1).await);
        let factors = &w.storage.people.second_factors;
        assert!(!factors.renew_recovery_codes(user, seed(1), &codes(0..2)).await.unwrap());
        assert!(!factors.remove(user).await.unwrap());
        assert_eq!(get(w, user).await, SecondFactor::default(), "a refusal changes nothing");
    }
    for nobody in [NOBODY, UserId::new(0), UserId::new(u64::MAX)] {
        assert!(!begin(w, nobody, 1, NOON).await);
        assert_eq!(get(w, nobody).await, SecondFactor::default());
    }
}

async fn an_enrolment_is_in_force_once_it_is_confirmed(w: &World) {
    let anne = user(w, 1).await;
    assert!(begin(w, anne, 1, NOON).await);
    let pending = Some(PendingFactor { seed: seed(1), begun: NOON });
    assert_eq!(get(w, anne).await, SecondFactor { active: None, pending });
    assert!(!accept(w, anne, 1, 100).await, "not in force yet");
    assert!(!confirm(w, anne, 2, 100).await, "another seed");
    assert!(confirm(w, anne, 1, 100).await);
    let active = ActiveFactor { seed: seed(1), since: NOON + HOUR, last_step: 100, recovery_codes: 10 };
    assert_eq!(get(w, anne).await, SecondFactor { active: Some(active), pending: None });
    assert!(!confirm(w, anne, 1, 101).await, "confirmed once");
    assert!(!accept(w, anne, 1, 100).await, "its first code is used up");
}

async fn an_enrolment_replaces_an_earlier_one(w: &World) {
    let anne = user(w, 1).await;
    assert!(begin(w, anne, 1, NOON).await && begin(w, anne, 2, NOON + HOUR).await);
    let pending = Some(PendingFactor { seed: seed(2), begun: NOON + HOUR });
    assert_eq!(get(w, anne).await.pending, pending);
    assert!(!confirm(w, anne, 1, 100).await);
    assert!(confirm(w, anne, 2, 100).await);
}

async fn a_new_factor_replaces_the_one_in_force_and_its_codes(w: &World) {
    let anne = enrolled(w, 1).await;
    assert!(begin(w, anne, 2, NOON).await);
    assert!(accept(w, anne, 1, 101).await, "the old one stays until then");
    assert!(!accept(w, anne, 2, 102).await);
    let factors = &w.storage.people.second_factors;
    assert!(factors.confirm(anne, seed(2), 50, &codes(20..23), NOON + 2 * HOUR).await.unwrap());
    let active = ActiveFactor { seed: seed(2), since: NOON + 2 * HOUR, last_step: 50, recovery_codes: 3 };
    assert_eq!(get(w, anne).await, SecondFactor { active: Some(active), pending: None });
    assert!(!accept(w, anne, 1, 102).await && !recover(w, anne, 1).await, "nothing of the old one works");
    assert!(accept(w, anne, 2, 51).await && recover(w, anne, 20).await);
}

async fn of_concurrent_confirmations_one_counts(w: &World) {
    let anne = user(w, 1).await;
    assert!(begin(w, anne, 1, NOON).await);
    let tasks: Vec<_> = (0..8_u8)
        .map(|task| {
            let factors = Arc::clone(&w.storage.people.second_factors);
            tokio::spawn(async move {
                factors.confirm(anne, seed(1), 100, &codes(task * 10..task * 10 + 2), NOON).await.unwrap()
            })
        })
        .collect();
    let mut confirmed = Vec::new();
    for task in tasks {
        confirmed.push(task.await.unwrap());
    }
    assert_eq!(confirmed.iter().filter(|is_confirmed| **is_confirmed).count(), 1, "{confirmed:?}");
    let winner = u8::try_from(confirmed.iter().position(|is_confirmed| *is_confirmed).unwrap()).unwrap();
    assert_eq!(get(w, anne).await.active.unwrap().recovery_codes, 2);
    assert!(recover(w, anne, winner * 10).await && recover(w, anne, winner * 10 + 1).await);
}

async fn a_step_is_accepted_once_and_none_before_it(w: &World) {
    let (anne, ben) = (enrolled(w, 1).await, enrolled(w, 2).await);
    for (step, is_accepted) in
        [(99, false), (100, false), (101, true), (101, false), (105, true), (103, false)]
    {
        assert_eq!(accept(w, anne, 1, step).await, is_accepted, "{step}");
    }
    assert!(!accept(w, anne, 2, 200).await, "another seed");
    assert_eq!(get(w, anne).await.active.unwrap().last_step, 105);
    assert!(accept(w, ben, 1, 101).await, "everybody has their own");
}

async fn of_concurrent_uses_of_a_step_one_is_accepted(w: &World) {
    let anne = enrolled(w, 1).await;
    for step in 101..111 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let factors = Arc::clone(&w.storage.people.second_factors);
                tokio::spawn(async move { factors.accept(anne, seed(1), step).await.unwrap() })
            })
            .collect();
        let mut accepted = 0;
        for task in tasks {
            accepted += u32::from(task.await.unwrap());
        }
        assert_eq!(accepted, 1, "step {step}");
    }
}

async fn a_recovery_code_works_once(w: &World) {
    let (anne, ben) = (enrolled(w, 1).await, enrolled(w, 2).await);
    assert!(!recover(w, anne, 10).await, "no such code");
    assert!(recover(w, anne, 3).await && !recover(w, anne, 3).await);
    assert_eq!(get(w, anne).await.active.unwrap().recovery_codes, 9);
    assert!(recover(w, ben, 3).await, "everybody has their own");
    assert_eq!(get(w, anne).await.active.unwrap().last_step, 100, "codes of the app are not touched");
}

async fn of_concurrent_uses_of_a_recovery_code_one_counts(w: &World) {
    let anne = enrolled(w, 1).await;
    for number in 0..10 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let factors = Arc::clone(&w.storage.people.second_factors);
                let code = RecoveryHash([number; 32]);
                tokio::spawn(async move { factors.use_recovery_code(anne, code).await.unwrap() })
            })
            .collect();
        let mut used = 0;
        for task in tasks {
            used += u32::from(task.await.unwrap());
        }
        assert_eq!(used, 1, "code {number}");
    }
    assert_eq!(get(w, anne).await.active.unwrap().recovery_codes, 0);
}

async fn recovery_codes_are_replaced_together(w: &World) {
    let (anne, ben) = (enrolled(w, 1).await, enrolled(w, 2).await);
    let factors = &w.storage.people.second_factors;
    assert!(!factors.renew_recovery_codes(anne, seed(2), &codes(20..30)).await.unwrap(), "another seed");
    assert!(recover(w, anne, 0).await, "and nothing changed");
    // A code that stays is no obstacle.
    assert!(factors.renew_recovery_codes(anne, seed(1), &codes(9..19)).await.unwrap());
    assert_eq!(get(w, anne).await.active.unwrap().recovery_codes, 10);
    assert!(!recover(w, anne, 1).await && recover(w, anne, 9).await && recover(w, anne, 18).await);
    assert!(recover(w, ben, 1).await, "others keep theirs");
}

async fn a_removal_leaves_nothing(w: &World) {
    let (anne, ben) = (enrolled(w, 1).await, enrolled(w, 2).await);
    let factors = &w.storage.people.second_factors;
    assert!(begin(w, anne, 2, NOON).await);
    assert!(factors.remove(anne).await.unwrap());
    assert_eq!(get(w, anne).await, SecondFactor::default());
    assert!(!confirm(w, anne, 2, 100).await && !accept(w, anne, 1, 101).await && !recover(w, anne, 1).await);
    assert!(!factors.remove(anne).await.unwrap());
    assert!(get(w, ben).await.active.is_some(), "others keep theirs");
    assert!(begin(w, anne, 3, NOON).await);
    assert!(!factors.remove(anne).await.unwrap(), "an enrolment is no factor");
    assert_eq!(get(w, anne).await, SecondFactor::default(), "and goes all the same");
    assert!(begin(w, anne, 1, NOON).await && confirm(w, anne, 1, 7).await, "and anew");
}

async fn a_user_shows_since_when_a_factor_is_in_force(w: &World) {
    let anne = user(w, 1).await;
    let users = &w.storage.people.users;
    let shown = async || users.get(anne).await.unwrap().unwrap().second_factor;
    assert_eq!(shown().await, None);
    assert!(begin(w, anne, 1, NOON).await);
    assert_eq!(shown().await, None, "an enrolment is no factor");
    assert!(confirm(w, anne, 1, 100).await);
    assert_eq!(shown().await, Some(NOON + HOUR));
    let those = users.those(&[anne]).await.unwrap();
    assert_eq!(those.first().and_then(|user| user.second_factor), Some(NOON + HOUR));
    for role in [Role::Operator, Role::Customer] {
        let change = RightsChange::Role(role);
        let _ = users.put_rights(anne, &change, LastOperator::MayGo, NOON).await.unwrap();
        assert_eq!(shown().await, Some(NOON + HOUR), "a change of rights leaves it");
    }
    w.storage.people.second_factors.remove(anne).await.unwrap();
    assert_eq!(shown().await, None);
}

async fn a_deletion_of_the_user_leaves_nothing(w: &World) {
    let (anne, ben) = (enrolled(w, 1).await, enrolled(w, 2).await);
    assert!(begin(w, anne, 2, NOON).await);
    let deleted = w.storage.people.personal_data.delete(anne, PaidOrders::Keep, NOON).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    assert_eq!(get(w, anne).await, SecondFactor::default());
    assert!(!recover(w, anne, 1).await && !confirm(w, anne, 2, 100).await);
    assert!(!begin(w, anne, 3, NOON).await, "a deleted user begins none");
    assert_eq!(get(w, anne).await, SecondFactor::default());
    assert!(get(w, ben).await.active.is_some(), "others keep theirs");
}

async fn a_factor_outlives_a_restart(w: &World) {
    let w = w.another().await;
    let (anne, ben) = (enrolled(&w, 1).await, user(&w, 2).await);
    assert!(accept(&w, anne, 1, 101).await && recover(&w, anne, 0).await);
    assert!(begin(&w, ben, 2, NOON).await);
    let before = [get(&w, anne).await, get(&w, ben).await];
    let w = w.reopen().await;
    assert_eq!([get(&w, anne).await, get(&w, ben).await], before);
    assert!(!accept(&w, anne, 1, 101).await && !recover(&w, anne, 0).await);
    assert!(accept(&w, anne, 1, 102).await && confirm(&w, ben, 2, 100).await);
}
