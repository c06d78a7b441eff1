//! `SignIns`: once a day and for ever, in a row across every border of the calendar.

use std::collections::BTreeMap;

use mallbox_storage::{Day, DaySpan, MakeUpOutcome, Page, Phone, SignedDay, UserId};
use rand::rngs::SmallRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};

use crate::world::{NOON, World};

crate::cases! {
    a_day_is_signed_once,
    a_streak_goes_across_months_and_years_and_bears_an_unsigned_today,
    a_streak_of_years_is_counted_to_its_end,
    a_day_is_made_up_for_once_and_so_many_a_month,
    of_many_at_once_no_more_are_made_up_than_may_be,
    of_many_signing_at_once_each_is_new_once,
    everybody_is_counted_by_day_whatever_their_number,
    who_signed_on_every_day_is_listed_by_pages,
    random_days_across_years_are_as_in_a_plain_set,
    what_was_signed_outlives_a_restart,
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn span(first: &str, last: &str) -> DaySpan {
    DaySpan::new(day(first), day(last)).unwrap()
}

fn user(id: u64) -> UserId {
    UserId::new(id)
}

async fn sign_all(w: &World, who: UserId, span: DaySpan) {
    for day in span.days() {
        assert!(w.storage.people.sign_ins.sign(who, day, NOON).await.unwrap());
    }
}

async fn a_day_is_signed_once(w: &World) {
    let signs = &w.storage.people.sign_ins;
    let week = span("2026-11-16", "2026-11-22");
    assert_eq!(signs.days(user(7), week).await.unwrap(), []);
    assert!(signs.sign(user(7), day("2026-11-21"), NOON).await.unwrap());
    assert!(!signs.sign(user(7), day("2026-11-21"), NOON).await.unwrap());
    assert!(signs.sign(user(8), day("2026-11-21"), NOON).await.unwrap());
    assert!(signs.sign(user(7), day("2026-11-16"), NOON).await.unwrap());
    let signed = ["2026-11-16", "2026-11-21"].map(|text| SignedDay { day: day(text), is_made_up: false });
    assert_eq!(signs.days(user(7), week).await.unwrap(), signed);
    assert_eq!(signs.days(user(7), span("2026-11-17", "2026-11-20")).await.unwrap(), []);
    for nobody in [0, 6, 404, u64::MAX] {
        assert_eq!(signs.days(user(nobody), week).await.unwrap(), []);
        assert_eq!(signs.streak(user(nobody), day("2026-11-21")).await.unwrap(), 0);
        assert_eq!(signs.longest_streak(user(nobody)).await.unwrap(), 0);
    }
}

async fn a_streak_goes_across_months_and_years_and_bears_an_unsigned_today(w: &World) {
    let signs = &w.storage.people.sign_ins;
    sign_all(w, user(1), span("2023-12-30", "2024-03-01")).await;
    sign_all(w, user(1), span("2024-03-04", "2024-03-05")).await;
    // January, February with a leap day, and a bit on either side.
    for (up_to, streak) in [
        ("2023-12-29", 0),
        ("2023-12-30", 1),
        ("2024-01-01", 3),
        ("2024-02-29", 62),
        ("2024-03-01", 63),
        ("2024-03-02", 63),
        ("2024-03-03", 0),
        ("2024-03-04", 1),
        ("2024-03-05", 2),
        ("2024-03-06", 2),
        ("2024-03-07", 0),
        ("9999-12-31", 0),
    ] {
        assert_eq!(signs.streak(user(1), day(up_to)).await.unwrap(), streak, "{up_to}");
    }
    assert_eq!(signs.longest_streak(user(1)).await.unwrap(), 63);
    assert_eq!(signs.make_up(user(1), day("2024-03-02"), 3).await.unwrap(), MakeUpOutcome::Done);
    assert_eq!(signs.make_up(user(1), day("2024-03-03"), 3).await.unwrap(), MakeUpOutcome::Done);
    assert_eq!(signs.streak(user(1), day("2024-03-06")).await.unwrap(), 67);
    assert_eq!(signs.longest_streak(user(1)).await.unwrap(), 67);
}

/// Longer than a back end may read at once, to the day.
async fn a_streak_of_years_is_counted_to_its_end(w: &World) {
    let signs = &w.storage.people.sign_ins;
    let year = span("2024-01-01", "2024-12-31");
    let last = year.days().nth(2 * 64 - 1).unwrap();
    sign_all(w, user(5), DaySpan::new(year.first(), last).unwrap()).await;
    for up_to in year.days().skip(127).take(2) {
        assert_eq!(signs.streak(user(5), up_to).await.unwrap(), 128);
    }
    assert!(signs.sign(user(5), day("2023-12-31"), NOON).await.unwrap());
    assert!(signs.sign(user(5), day("2023-12-29"), NOON).await.unwrap());
    assert_eq!(signs.streak(user(5), last).await.unwrap(), 129);
    assert_eq!(signs.streak(user(5), last.before().unwrap()).await.unwrap(), 128);
}

async fn a_day_is_made_up_for_once_and_so_many_a_month(w: &World) {
    let signs = &w.storage.people.sign_ins;
    assert!(signs.sign(user(3), day("2026-11-05"), NOON).await.unwrap());
    for (text, most, want) in [
        ("2026-11-01", 0, MakeUpOutcome::TooMany),
        ("2026-11-05", 0, MakeUpOutcome::SignedAlready),
        ("2026-11-01", 2, MakeUpOutcome::Done),
        ("2026-11-01", 2, MakeUpOutcome::SignedAlready),
        ("2026-11-30", 2, MakeUpOutcome::Done),
        ("2026-11-30", 2, MakeUpOutcome::SignedAlready),
        ("2026-11-02", 2, MakeUpOutcome::TooMany),
        ("2026-10-31", 2, MakeUpOutcome::Done),
        ("2026-12-01", 2, MakeUpOutcome::Done),
        ("2026-11-02", 3, MakeUpOutcome::Done),
    ] {
        assert_eq!(signs.make_up(user(3), day(text), most).await.unwrap(), want, "{text}");
    }
    assert_eq!(signs.make_up(user(4), day("2026-11-02"), 1).await.unwrap(), MakeUpOutcome::Done, "another's");
    assert!(!signs.sign(user(3), day("2026-11-30"), NOON).await.unwrap(), "made up is signed");
    let days = signs.days(user(3), day("2026-11-05").month()).await.unwrap();
    let days: Vec<_> = days.iter().map(|it| (it.day.of_month(), it.is_made_up)).collect();
    assert_eq!(days, [(1, true), (2, true), (5, false), (30, true)]);
    assert_eq!(signs.counts(span("2026-11-30", "2026-12-01")).await.unwrap(), [1, 1]);
}

async fn of_many_at_once_no_more_are_made_up_than_may_be(w: &World) {
    let phone = Phone::parse("13900000001").unwrap();
    let who = w.storage.people.users.find_or_create(&phone, "anne", NOON).await.unwrap().id;
    for month in (1..=12).map(|month| Day::of(2026, month, 1).unwrap().month()) {
        let mut calls = tokio::task::JoinSet::new();
        for day in month.days() {
            let signs = w.storage.people.sign_ins.clone();
            calls.spawn(async move { signs.make_up(who, day, 3).await });
        }
        let answers: Vec<_> = calls.join_all().await.into_iter().map(Result::unwrap).collect();
        assert_eq!(answers.iter().filter(|answer| **answer == MakeUpOutcome::Done).count(), 3, "{answers:?}");
        assert_eq!(w.storage.people.sign_ins.days(who, month).await.unwrap().len(), 3);
    }
}

async fn of_many_signing_at_once_each_is_new_once(w: &World) {
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..120 {
        let signs = w.storage.people.sign_ins.clone();
        calls.spawn(async move { signs.sign(user(number % 40), day("2026-11-21"), NOON).await });
    }
    let new = calls.join_all().await.into_iter().filter(|answer| *answer.as_ref().unwrap()).count();
    assert_eq!(new, 40);
    assert_eq!(w.storage.people.sign_ins.counts(span("2026-11-21", "2026-11-21")).await.unwrap(), [40]);
}

/// Numbers at the ends of any layout that a back end may use, and beyond.
const NUMBERS: [u64; 12] =
    [0, 1, 7, 8, 63, 4_095, 4_096, (1 << 24) - 1, 1 << 24, u32::MAX as u64 + 9, 1 << 62, (1 << 63) - 1];

async fn everybody_is_counted_by_day_whatever_their_number(w: &World) {
    let signs = &w.storage.people.sign_ins;
    let days = span("2026-11-20", "2026-11-23");
    assert_eq!(signs.counts(days).await.unwrap(), [0, 0, 0, 0]);
    for number in NUMBERS {
        assert!(signs.sign(user(number), day("2026-11-21"), NOON).await.unwrap());
    }
    // Before the first read of the day, and after.
    assert!(signs.sign(user(65), day("2026-11-19"), NOON).await.unwrap());
    assert!(signs.sign(user(1), day("2026-11-22"), NOON).await.unwrap());
    assert_eq!(signs.counts(days).await.unwrap(), [0, NUMBERS.len() as u64, 1, 0]);
    assert_eq!(signs.make_up(user(2), day("2026-11-22"), 1).await.unwrap(), MakeUpOutcome::Done);
    assert!(signs.sign(user(64), day("2026-11-19"), NOON).await.unwrap());
    let all = span("2026-11-19", "2026-11-23");
    assert_eq!(signs.counts(all).await.unwrap(), [2, 0, NUMBERS.len() as u64, 2, 0]);
}

async fn who_signed_on_every_day_is_listed_by_pages(w: &World) {
    let signs = &w.storage.people.sign_ins;
    let days = span("2025-12-30", "2026-01-02");
    for (place, number) in NUMBERS.into_iter().enumerate() {
        for day in days.days() {
            // Every third one missed the second day.
            if place % 3 != 1 || day.of_month() != 31 {
                let _ = signs.sign(user(number), day, NOON).await.unwrap();
            }
        }
    }
    let all: Vec<UserId> =
        NUMBERS.into_iter().enumerate().filter(|(place, _)| place % 3 != 1).map(|(_, it)| user(it)).collect();
    assert_eq!(signs.signed_all(days, Page::new(1, 100)).await.unwrap(), (all.clone(), 8));
    for (number, page) in all.chunks(3).enumerate() {
        let asked = Page::new(u32::try_from(number + 1).unwrap(), 3);
        assert_eq!(signs.signed_all(days, asked).await.unwrap(), (page.to_vec(), 8));
    }
    assert_eq!(signs.signed_all(days, Page::new(4, 3)).await.unwrap(), (Vec::new(), 8));
    assert_eq!(signs.signed_all(days, Page::new(1, 0)).await.unwrap(), (Vec::new(), 8));
    let (_, of_first) = signs.signed_all(span("2025-12-30", "2025-12-30"), Page::new(1, 1)).await.unwrap();
    assert_eq!(of_first, 12);
    let longer = span("2025-12-29", "2026-01-02");
    assert_eq!(signs.signed_all(longer, Page::new(1, 100)).await.unwrap(), (Vec::new(), 0));
}

/// Days by user; whether each day was made up.
type Model = BTreeMap<u64, BTreeMap<Day, bool>>;

fn streak(days: &BTreeMap<Day, bool>, up_to: Day) -> u32 {
    let mut last = Some(up_to).filter(|day| days.contains_key(day)).or(up_to.before());
    let mut streak = 0;
    while let Some(day) = last.filter(|day| days.contains_key(day)) {
        streak += 1;
        last = day.before();
    }
    streak
}

async fn hold(w: &World, model: &Model, asked: DaySpan) {
    let signs = &w.storage.people.sign_ins;
    for (number, days) in model {
        let signed: Vec<_> = days
            .range(asked.first()..=asked.last())
            .map(|(day, made_up)| SignedDay { day: *day, is_made_up: *made_up })
            .collect();
        assert_eq!(signs.days(user(*number), asked).await.unwrap(), signed, "{number}");
        let want = streak(days, asked.last());
        assert_eq!(signs.streak(user(*number), asked.last()).await.unwrap(), want, "{number}");
        let longest = days.keys().map(|day| streak(days, *day)).max().unwrap_or(0);
        assert_eq!(signs.longest_streak(user(*number)).await.unwrap(), longest, "{number}");
    }
    let on = |day: Day| model.values().filter(|days| days.contains_key(&day)).count() as u64;
    assert_eq!(signs.counts(asked).await.unwrap(), asked.days().map(on).collect::<Vec<_>>());
    let all: Vec<UserId> = model
        .iter()
        .filter(|(_, days)| asked.days().all(|day| days.contains_key(&day)))
        .map(|(number, _)| user(*number))
        .collect();
    let total = all.len() as u64;
    assert_eq!(signs.signed_all(asked, Page::new(1, 100)).await.unwrap(), (all, total));
}

async fn random_days_across_years_are_as_in_a_plain_set(w: &World) {
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = SmallRng::seed_from_u64(seed);
    let mut model = Model::new();
    // Days around a few borders, so that some are consecutive.
    let borders = ["1969-12-31", "2023-12-31", "2024-02-29", "2024-12-30", "2026-02-28"].map(day);
    let around = |dice: &mut SmallRng| {
        let border = borders[dice.random_range(0..borders.len())];
        Day::from_number(border.number() + dice.random_range(-3..=3)).unwrap()
    };
    for step in 0..400 {
        let number = [1, 2, 4_097, 1 << 40][dice.random_range(0..4)];
        let day = around(&mut dice);
        let days = model.entry(number).or_default();
        let signs = &w.storage.people.sign_ins;
        if dice.next_u32() % 3 > 0 {
            let is_new = days.insert(day, days.get(&day).copied().unwrap_or(false)).is_none();
            assert_eq!(signs.sign(user(number), day, NOON).await.unwrap(), is_new, "step {step}");
        } else {
            let made_up = days.iter().filter(|(on, made_up)| day.month().contains(**on) && **made_up).count();
            let want = match days.get(&day) {
                Some(_) => MakeUpOutcome::SignedAlready,
                None if made_up >= 2 => MakeUpOutcome::TooMany,
                None => MakeUpOutcome::Done,
            };
            assert_eq!(signs.make_up(user(number), day, 2).await.unwrap(), want, "step {step}");
            if want == MakeUpOutcome::Done {
                days.insert(day, true);
            }
        }
        if step % 20 == 0 {
            let first = around(&mut dice);
            let last = Day::from_number(first.number() + dice.random_range(0..5)).unwrap();
            hold(w, &model, DaySpan::new(first, last).unwrap()).await;
        }
    }
}

async fn what_was_signed_outlives_a_restart(w: &World) {
    let mut w = w.another().await;
    let mut model = Model::new();
    for round in 0..3 {
        for (number, first, last) in [
            (3, "2024-02-27", "2024-03-02"),
            (4_100, "2024-02-28", "2024-03-03"),
            (1 << 33, "2024-03-01", "2024-03-01"),
        ] {
            for day in span(first, last).days().skip(round).step_by(3) {
                assert!(w.storage.people.sign_ins.sign(user(number), day, NOON).await.unwrap());
                model.entry(number).or_default().insert(day, false);
            }
        }
        let back = Day::from_number(day("2024-02-20").number() + i32::try_from(round).unwrap()).unwrap();
        assert_eq!(w.storage.people.sign_ins.make_up(user(3), back, 3).await.unwrap(), MakeUpOutcome::Done);
        model.entry(3).or_default().insert(back, true);
        w = w.reopen().await;
        hold(&w, &model, span("2024-02-20", "2024-03-05")).await;
        hold(&w, &model, span("2024-03-01", "2024-03-01")).await;
    }
    assert_eq!(
        w.storage.people.sign_ins.make_up(user(3), day("2024-02-19"), 3).await.unwrap(),
        MakeUpOutcome::TooMany
    );
}
