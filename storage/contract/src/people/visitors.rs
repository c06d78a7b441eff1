//! `Visitors`: a repeat visitor, anonymous or not, counts once; page views are counted exactly.

use std::collections::{BTreeMap, BTreeSet};

use mallbox_storage::{
    Day, DaySpan, ShopId, VISITS_RETENTION_DAYS, Visit, VisitCounts, VisitTarget, Visitor, VisitsOfDay,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::world::World;

crate::cases! {
    a_repeat_is_one_visitor_and_two_views,
    shops_the_mall_and_days_are_counted_separately,
    who_comes_on_several_days_is_one_visitor_of_them_together,
    visitors_are_counted_as_well_as_is_promised,
    any_bits_are_a_visitor,
    days_too_old_are_as_if_nobody_had_come,
    of_many_who_tell_at_once_nothing_is_lost,
    a_days_salt_is_what_was_offered_first,
    what_was_taken_down_outlives_a_restart,
    random_visits_are_counted_as_in_plain_sets,
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn today() -> Day {
    day("2026-11-21")
}

fn back(days: i32) -> Day {
    Day::from_number(today().number() - days).unwrap()
}

fn only(day: Day) -> DaySpan {
    DaySpan::new(day, day).unwrap()
}

fn shop(id: u64) -> VisitTarget {
    VisitTarget::Shop(ShopId::new(id))
}

fn visit(of: VisitTarget, day: Day, visitor: u64) -> Visit {
    Visit { of, day, visitor: Visitor(visitor), views: 1 }
}

async fn note(w: &World, visits: &[Visit]) {
    w.storage.people.visitors.note(visits, today()).await.unwrap();
}

async fn count(w: &World, of: VisitTarget, span: DaySpan) -> VisitCounts {
    w.storage.people.visitors.count(of, span, today()).await.unwrap()
}

/// Returns the visitors and views of a day.
async fn on(w: &World, of: VisitTarget, day: Day) -> (u64, u64) {
    let counts = count(w, of, only(day)).await;
    let VisitsOfDay { day: counted_day, visitors, views } = counts.days[0];
    assert_eq!((counted_day, counts.days.len(), counts.visitors), (day, 1, visitors));
    (visitors, views)
}

fn assert_near(counted: u64, visitors: u64) {
    let most = (visitors / 40).max(1);
    assert!(counted.abs_diff(visitors) <= most, "{counted} visitors, and there were {visitors}");
}

async fn a_repeat_is_one_visitor_and_two_views(w: &World) {
    assert_eq!(on(w, VisitTarget::Mall, today()).await, (0, 0));
    note(w, &[]).await;
    let anne = visit(VisitTarget::Mall, today(), 7);
    note(w, &[anne]).await;
    note(w, &[anne]).await;
    assert_eq!(on(w, VisitTarget::Mall, today()).await, (1, 2));
    // In one batch: repeated, with a number of views, and with another visitor.
    note(w, &[anne, Visit { views: 5, ..anne }, visit(VisitTarget::Mall, today(), 8), anne]).await;
    assert_eq!(on(w, VisitTarget::Mall, today()).await, (2, 10));
}

async fn shops_the_mall_and_days_are_counted_separately(w: &World) {
    let yesterday = back(1);
    note(w, &[visit(shop(1), today(), 7), visit(shop(1), today(), 8), visit(shop(2), today(), 7)]).await;
    note(w, &[visit(VisitTarget::Mall, today(), 9), visit(shop(1), yesterday, 7)]).await;
    note(w, &[visit(shop(u64::MAX / 2), yesterday, 7)]).await;
    for (of, when, want) in [
        (shop(1), today(), (2, 2)),
        (shop(2), today(), (1, 1)),
        (VisitTarget::Mall, today(), (1, 1)),
        (shop(1), yesterday, (1, 1)),
        (shop(2), yesterday, (0, 0)),
        (shop(u64::MAX / 2), yesterday, (1, 1)),
        (shop(3), today(), (0, 0)),
        (shop(1), back(2), (0, 0)),
    ] {
        assert_eq!(on(w, of, when).await, want, "{of:?} {when}");
    }
}

async fn who_comes_on_several_days_is_one_visitor_of_them_together(w: &World) {
    // Ten visitors on the first day, five of them again on the second, none on the third, two new ones on the
    // fourth.
    for (when, visitors) in [(back(3), 0..10), (back(2), 5..10), (back(0), 8..12)] {
        note(w, &visitors.map(|visitor| visit(shop(4), when, visitor)).collect::<Vec<_>>()).await;
    }
    let span = |first, last| DaySpan::new(back(first), back(last)).unwrap();
    let of = |counts: &VisitCounts| counts.days.iter().map(|day| day.visitors).collect::<Vec<_>>();
    for (span, days, all) in [
        (span(3, 0), vec![10, 5, 0, 4], 12),
        (span(2, 0), vec![5, 0, 4], 7),
        (span(4, 2), vec![0, 10, 5], 10),
        (span(1, 1), vec![0], 0),
    ] {
        let counts = count(w, shop(4), span).await;
        assert_eq!((of(&counts), counts.visitors), (days, all), "{span:?}");
        assert_eq!(
            counts.days.iter().map(|day| day.day).collect::<Vec<_>>(),
            span.days().collect::<Vec<_>>()
        );
    }
    let year = DaySpan::new(back(365), back(0)).unwrap();
    assert_eq!(count(w, shop(4), year).await.visitors, 12);
}

async fn visitors_are_counted_as_well_as_is_promised(w: &World) {
    for (id, size) in [(1, 1_u64), (2, 3), (3, 20), (4, 1_000), (5, 10_000), (6, 100_000)] {
        let visits: Vec<_> = (0..size).map(|number| visit(shop(id), today(), number << 8 | id)).collect();
        for some in visits.chunks(20_000) {
            note(w, some).await;
        }
        let (visitors, views) = on(w, shop(id), today()).await;
        println!("{visitors} for {size}");
        assert_near(visitors, size);
        assert_eq!(views, size);
    }
    // Half of the visitors on the day before as well, with an equal number of others.
    let others: Vec<_> =
        (50_000..150_000_u64).map(|number| visit(shop(6), back(1), number << 8 | 6)).collect();
    note(w, &others).await;
    let both = count(w, shop(6), DaySpan::new(back(1), today()).unwrap()).await;
    assert_near(both.visitors, 150_000);
    assert_near(both.days[0].visitors, 100_000);
}

async fn any_bits_are_a_visitor(w: &World) {
    let bits = (0..64).map(|bit| 1_u64 << bit).chain([0, 3, u64::MAX, u64::MAX << 32]);
    note(w, &bits.map(|bits| visit(shop(9), today(), bits)).collect::<Vec<_>>()).await;
    let (visitors, views) = on(w, shop(9), today()).await;
    assert_near(visitors, 68);
    assert_eq!(views, 68);
}

async fn days_too_old_are_as_if_nobody_had_come(w: &World) {
    let visitors = &w.storage.people.visitors;
    let asked = |span, today| async move { visitors.count(shop(1), span, today).await.unwrap() };
    note(w, &[visit(shop(1), today(), 7), visit(shop(1), back(VISITS_RETENTION_DAYS - 1), 8)]).await;
    note(w, &[visit(shop(1), back(VISITS_RETENTION_DAYS), 9)]).await;
    assert_eq!(on(w, shop(1), back(VISITS_RETENTION_DAYS - 1)).await, (1, 1));
    assert_eq!(on(w, shop(1), back(VISITS_RETENTION_DAYS)).await, (0, 0));
    // The clock moves on: by a day, until today is the oldest day, and beyond.
    assert_eq!(asked(only(back(VISITS_RETENTION_DAYS - 1)), back(-1)).await.visitors, 0);
    let last = back(1 - VISITS_RETENTION_DAYS);
    let span = DaySpan::new(back(1), back(-1)).unwrap();
    let counts = asked(span, last).await;
    assert_eq!((counts.visitors, counts.days.len(), counts.days[1].views), (1, 3, 1));
    let counts = asked(span, back(-VISITS_RETENTION_DAYS)).await;
    assert_eq!((counts.visitors, counts.days.len(), counts.days[1].views), (0, 3, 0));
    // A visit on the last day must not evict visitors of the days within retention.
    visitors.note(&[visit(shop(1), last, 10)], last).await.unwrap();
    assert_eq!(asked(only(today()), last).await.visitors, 1);
    assert_eq!(asked(only(last), last).await.visitors, 1);
}

async fn of_many_who_tell_at_once_nothing_is_lost(w: &World) {
    let mut calls = tokio::task::JoinSet::new();
    for task in 0..24 {
        let visitors = w.storage.people.visitors.clone();
        calls.spawn(async move {
            for number in 0..10_u64 {
                // Each visitor comes by way of two tasks.
                let who = task / 2 * 10 + number;
                let visits = [visit(shop(1), today(), who), visit(VisitTarget::Mall, today(), who)];
                visitors.note(&visits, today()).await.unwrap();
            }
        });
    }
    calls.join_all().await;
    for of in [shop(1), VisitTarget::Mall] {
        let (visitors, views) = on(w, of, today()).await;
        assert_near(visitors, 120);
        assert_eq!(views, 240);
    }
}

async fn a_days_salt_is_what_was_offered_first(w: &World) {
    let visitors = &w.storage.people.visitors;
    let salt = |day, offered: u8| async move { visitors.salt(day, [offered; 16]).await.unwrap() };
    assert_eq!(salt(today(), 200).await, [200; 16]);
    assert_eq!(salt(today(), 9).await, [200; 16]);
    assert_eq!(salt(back(-1), 0).await, [0; 16], "another day");
    assert_eq!(salt(back(-1), 1).await, [0; 16]);
    assert_eq!(salt(today(), 1).await, [200; 16], "about midnight both are asked for");
}

async fn what_was_taken_down_outlives_a_restart(w: &World) {
    let mut w = w.another().await;
    for round in 1..=3 {
        let visits: Vec<_> = (0..8_000).map(|number| visit(shop(1), today(), number * round)).collect();
        note(&w, &visits).await;
        note(&w, &[visit(shop(2), back(1), 7)]).await;
        w = w.reopen().await;
        let all: BTreeSet<u64> = (1..=round).flat_map(|by| (0..8_000).map(move |it| it * by)).collect();
        let (visitors, views) = on(&w, shop(1), today()).await;
        assert_near(visitors, all.len() as u64);
        assert_eq!(views, 8_000 * round);
        assert_eq!(on(&w, shop(2), back(1)).await, (1, round));
    }
}

async fn random_visits_are_counted_as_in_plain_sets(w: &World) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = SmallRng::seed_from_u64(seed);
    let mut model = BTreeMap::<(VisitTarget, Day), (BTreeSet<u64>, u64)>::new();
    let things = [VisitTarget::Mall, shop(1), shop(2), shop(1 << 40)];
    for _ in 0..60 {
        let batch: Vec<_> = (0..dice.random_range(0..12))
            .map(|_| Visit {
                views: dice.random_range(1..4),
                ..visit(
                    things[dice.random_range(0..4)],
                    back(dice.random_range(0..4)),
                    dice.random_range(0..40),
                )
            })
            .collect();
        note(w, &batch).await;
        for visit in batch {
            let (visitors, views) = model.entry((visit.of, visit.day)).or_default();
            visitors.insert(visit.visitor.0);
            *views += visit.views;
        }
        let (of, first) = (things[dice.random_range(0..4)], dice.random_range(0..4));
        let span = DaySpan::new(back(first), back(dice.random_range(0..=first))).unwrap();
        let counts = count(w, of, span).await;
        let mut all = BTreeSet::new();
        for counted in counts.days {
            let (visitors, views) = model.get(&(of, counted.day)).cloned().unwrap_or_default();
            assert_near(counted.visitors, visitors.len() as u64);
            assert_eq!(counted.views, views, "{of:?} {}", counted.day);
            all.extend(visitors);
        }
        assert_near(counts.visitors, all.len() as u64);
    }
}
