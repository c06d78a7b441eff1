//! `Follows`: a pair exists or not, lists are ordered by time, and counts are exact.

use mallbox_storage::{FollowCounts, Page, UserId};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    nobody_follows_anybody_at_first,
    following_twice_keeps_the_first_time,
    lists_are_the_newest_first_and_paged,
    common_follows_are_those_of_both,
    a_rush_of_fans_is_counted_exactly,
    random_changes_agree_with_a_plain_set,
    follows_outlive_a_restart,
}

const ANNE: UserId = UserId::new(1);
const BOB: UserId = UserId::new(2);
const ALL: Page = Page::new(1, 500);

fn user(number: u64) -> UserId {
    UserId::new(number)
}

fn counts(fans: u64, followees: u64) -> FollowCounts {
    FollowCounts { fans, followees }
}

async fn nobody_follows_anybody_at_first(w: &World) {
    let follows = &w.storage.people.follows;
    for who in [user(0), ANNE, user(i64::MAX as u64)] {
        assert!(!follows.is_following(who, BOB).await.unwrap());
        assert!(!follows.unfollow(who, BOB).await.unwrap());
        assert_eq!(follows.counts(who).await.unwrap(), FollowCounts::default());
        assert_eq!(follows.fans(who, ALL).await.unwrap(), []);
        assert_eq!(follows.followees(who, ALL).await.unwrap(), []);
        assert_eq!(follows.common(who, BOB, ALL).await.unwrap(), []);
    }
}

async fn following_twice_keeps_the_first_time(w: &World) {
    let follows = &w.storage.people.follows;
    assert!(follows.follow(ANNE, BOB, NOON).await.unwrap());
    assert!(follows.follow(user(3), BOB, NOON + HOUR).await.unwrap());
    assert!(!follows.follow(ANNE, BOB, NOON + HOUR * 2).await.unwrap());
    assert_eq!(follows.fans(BOB, ALL).await.unwrap(), [user(3), ANNE]);
    assert!(follows.is_following(ANNE, BOB).await.unwrap());
    assert!(!follows.is_following(BOB, ANNE).await.unwrap(), "the other way round is another matter");
    assert_eq!(follows.counts(BOB).await.unwrap(), counts(2, 0));
    assert!(follows.unfollow(ANNE, BOB).await.unwrap());
    assert!(!follows.unfollow(ANNE, BOB).await.unwrap());
    assert!(!follows.is_following(ANNE, BOB).await.unwrap());
    assert!(follows.follow(ANNE, BOB, NOON + HOUR * 2).await.unwrap(), "again, and now from then on");
    assert_eq!(follows.fans(BOB, ALL).await.unwrap(), [ANNE, user(3)]);
}

async fn lists_are_the_newest_first_and_paged(w: &World) {
    let follows = &w.storage.people.follows;
    for number in 3..=9 {
        // Three instants: within one, the higher id comes first.
        let at = NOON + HOUR * u32::try_from(number / 3).unwrap();
        follows.follow(ANNE, user(number), at).await.unwrap();
        follows.follow(user(number), BOB, at).await.unwrap();
    }
    let newest_first = [9, 8, 7, 6, 5, 4, 3].map(user);
    assert_eq!(follows.followees(ANNE, ALL).await.unwrap(), newest_first);
    assert_eq!(follows.fans(BOB, ALL).await.unwrap(), newest_first);
    for (number, want) in
        [(1, &newest_first[..3]), (2, &newest_first[3..6]), (3, &newest_first[6..]), (4, &[])]
    {
        assert_eq!(follows.followees(ANNE, Page::new(number, 3)).await.unwrap(), want);
        assert_eq!(follows.fans(BOB, Page::new(number, 3)).await.unwrap(), want);
    }
    assert_eq!(follows.counts(ANNE).await.unwrap(), counts(0, 7));
}

async fn common_follows_are_those_of_both(w: &World) {
    let follows = &w.storage.people.follows;
    for (who, whom) in [(1, 5), (1, 7), (1, 3), (2, 7), (2, 4), (2, 5), (3, 7), (5, 1), (7, 2)] {
        follows.follow(user(who), user(whom), NOON).await.unwrap();
    }
    assert_eq!(follows.common(ANNE, BOB, ALL).await.unwrap(), [user(5), user(7)]);
    assert_eq!(follows.common(BOB, ANNE, Page::new(2, 1)).await.unwrap(), [user(7)]);
    assert_eq!(follows.common(ANNE, ANNE, ALL).await.unwrap(), [user(3), user(5), user(7)]);
    assert_eq!(follows.common(ANNE, user(5), ALL).await.unwrap(), []);
}

async fn a_rush_of_fans_is_counted_exactly(w: &World) {
    let mut rush = tokio::task::JoinSet::new();
    for fan in 0..60 {
        // Each follow twice; a third are removed again.
        let follows = w.storage.people.follows.clone();
        rush.spawn(async move {
            let new = tokio::join!(
                follows.follow(user(100 + fan), BOB, NOON),
                follows.follow(user(100 + fan), BOB, NOON)
            );
            assert!(new.0.unwrap() != new.1.unwrap(), "one of the two is new");
            if fan % 3 == 0 {
                assert!(follows.unfollow(user(100 + fan), BOB).await.unwrap());
            }
        });
    }
    while let Some(done) = rush.join_next().await {
        done.unwrap();
    }
    assert_eq!(w.storage.people.follows.counts(BOB).await.unwrap(), counts(40, 0));
}

async fn random_changes_agree_with_a_plain_set(w: &World) {
    let follows = &w.storage.people.follows;
    let mut model = std::collections::BTreeMap::new();
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    for step in 0_u32..300 {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let (who, whom) = (user(dice % 6), user(dice / 6 % 6));
        if (dice / 36).is_multiple_of(3) {
            assert_eq!(follows.unfollow(who, whom).await.unwrap(), model.remove(&(who, whom)).is_some());
        } else {
            let is_new = follows.follow(who, whom, NOON + HOUR * step).await.unwrap();
            assert_eq!(is_new, !model.contains_key(&(who, whom)));
            model.entry((who, whom)).or_insert(step);
        }
    }
    for one in (0..6).map(user) {
        let mut fans: Vec<_> = model.iter().filter(|((_, whom), _)| *whom == one).collect();
        fans.sort_by_key(|((who, _), step)| std::cmp::Reverse((**step, *who)));
        let fans: Vec<UserId> = fans.into_iter().map(|((who, _), _)| *who).collect();
        assert_eq!(follows.fans(one, ALL).await.unwrap(), fans);
        let followees = model.keys().filter(|(who, _)| *who == one).count() as u64;
        assert_eq!(follows.counts(one).await.unwrap(), counts(fans.len() as u64, followees));
        for other in (0..6).map(user) {
            let both =
                |whom: &UserId| model.contains_key(&(one, *whom)) && model.contains_key(&(other, *whom));
            let common: Vec<UserId> = (0..6).map(user).filter(both).collect();
            assert_eq!(follows.common(one, other, ALL).await.unwrap(), common);
        }
    }
}

async fn follows_outlive_a_restart(w: &World) {
    let another = w.another().await;
    another.storage.people.follows.follow(ANNE, BOB, NOON).await.unwrap();
    let another = another.reopen().await;
    assert!(another.storage.people.follows.is_following(ANNE, BOB).await.unwrap());
    assert_eq!(another.storage.people.follows.fans(BOB, ALL).await.unwrap(), [ANNE]);
}
