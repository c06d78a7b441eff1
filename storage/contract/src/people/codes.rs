//! `Codes`: a code works once, in its own slot, and strangers use up nobody's limits.

use std::sync::Arc;
use std::time::Duration;

use mallbox_storage::codes::{CODE_DAY, KNOWN_FOR, KNOWN_REQUESTERS_MAX, MACHINE_CODE_TTL, TRIES_HOUR};
use mallbox_storage::{
    CheckOutcome, CodeAttempt, CodeHash, CodeRequest, CodeRules, IssueOutcome, Phone, Requester, TicketHash,
    Timestamp,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_code_works_once_and_only_while_it_lives,
    wrong_tries_kill_a_code,
    codes_keep_their_distance_and_their_number_a_day,
    a_clock_set_back_locks_no_phone_out,
    a_code_issued_by_a_clock_years_ahead_is_dead,
    one_of_many_who_try_a_code_is_right,
    a_code_asked_for_elsewhere_changes_nothing_here,
    a_ticket_works_from_everywhere_and_is_not_tried_without,
    each_requester_has_a_gap_and_a_day_of_its_own,
    a_phone_has_a_ceiling_for_strangers_alone,
    wrong_tries_of_strangers_are_counted_together,
    the_last_fifth_of_the_malls_day_is_kept,
    a_refused_code_counts_nothing,
    of_many_requests_at_once_no_more_than_the_budget_is_issued,
    a_requester_is_known_for_ninety_days,
    a_phone_knows_eight_requesters,
    a_code_of_the_machine_obeys_no_limit_and_works_everywhere,
    what_was_answered_is_there_after_a_stop,
}

const MS: Duration = Duration::from_millis(1);
const RULES: CodeRules = CodeRules {
    lives: Duration::from_secs(120),
    gap: Duration::from_secs(55),
    per_day: 3,
    per_day_of_phone: 6,
    per_day_of_mall: 0,
    tries: 5,
    tries_per_hour: 12,
};
const NO_GAP: CodeRules = CodeRules { gap: Duration::ZERO, per_day: 0, ..RULES };
const HERE: Requester = Requester([1; 16]);
const CODE: u8 = 123;
const ISSUED: fn(u32) -> IssueOutcome = |of_mall| IssueOutcome::Issued { of_mall };

fn phone(number: u32) -> Phone {
    Phone::parse(&format!("139{number:08}")).unwrap()
}

fn elsewhere(number: u8) -> Requester {
    Requester([100 + number; 16])
}

fn request(requester: Requester) -> CodeRequest {
    let (code, ticket) = (CodeHash([CODE; 32]), None);
    CodeRequest { phone: phone(1), requester, code, ticket, is_operator: false }
}

fn with_ticket(requester: Requester, ticket: u8) -> CodeRequest {
    CodeRequest { ticket: Some(TicketHash([ticket; 32])), ..request(requester) }
}

async fn ask(w: &World, request: &CodeRequest, rules: &CodeRules, now: Timestamp) -> IssueOutcome {
    w.storage.people.codes.issue(request, rules, now).await.unwrap()
}

async fn issue(w: &World, now: Timestamp) -> IssueOutcome {
    ask(w, &request(HERE), &RULES, now).await
}

async fn attempt(w: &World, request: &CodeRequest, code: u8, now: Timestamp) -> CheckOutcome {
    let CodeRequest { phone, requester, ticket, .. } = request.clone();
    let attempt = CodeAttempt { phone, requester, code: CodeHash([code; 32]), ticket };
    w.storage.people.codes.check(&attempt, &RULES, now).await.unwrap()
}

async fn check(w: &World, code: u8, now: Timestamp) -> CheckOutcome {
    attempt(w, &request(HERE), code, now).await
}

async fn is_known(w: &World, requester: Requester, now: Timestamp) -> bool {
    w.storage.people.codes.is_known(&phone(1), requester, now).await.unwrap()
}

async fn remember(w: &World, requester: Requester, now: Timestamp) {
    w.storage.people.codes.remember(&phone(1), requester, now).await.unwrap();
}

async fn a_code_works_once_and_only_while_it_lives(w: &World) {
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::NoCode);
    assert_eq!(issue(w, NOON).await, ISSUED(1));
    assert_eq!(check(w, CODE, NOON + RULES.lives).await, CheckOutcome::NoCode, "dead at the instant");
    assert_eq!(check(w, CODE, NOON + RULES.lives - MS).await, CheckOutcome::Right);
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::NoCode, "used");
    assert_eq!(issue(w, NOON + RULES.lives).await, ISSUED(2), "and there is another one after it");
    assert_eq!(check(w, CODE, NOON + RULES.lives).await, CheckOutcome::Right);
}

async fn wrong_tries_kill_a_code(w: &World) {
    assert_eq!(issue(w, NOON).await, ISSUED(1));
    for wrong in 0..5 {
        assert_eq!(check(w, wrong, NOON).await, CheckOutcome::Wrong);
    }
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::NoCode);
}

async fn codes_keep_their_distance_and_their_number_a_day(w: &World) {
    assert_eq!(issue(w, NOON).await, ISSUED(1));
    assert_eq!(issue(w, NOON + RULES.gap - MS).await, IssueOutcome::TooSoon { retry_after: MS });
    assert_eq!(issue(w, NOON + RULES.gap).await, ISSUED(2));
    assert_eq!(issue(w, NOON + HOUR).await, ISSUED(3));
    assert_eq!(issue(w, NOON + 2 * HOUR).await, IssueOutcome::TooMany { retry_after: 22 * HOUR });
    assert_eq!(issue(w, NOON + CODE_DAY).await, ISSUED(1));
    let free = CodeRules { gap: Duration::ZERO, per_day: 0, per_day_of_phone: 0, ..RULES };
    for number in 2..12 {
        assert_eq!(ask(w, &request(HERE), &free, NOON + CODE_DAY).await, ISSUED(number));
    }
}

async fn a_clock_set_back_locks_no_phone_out(w: &World) {
    let later = NOON + RULES.gap;
    for number in 1..=RULES.per_day {
        assert_eq!(ask(w, &request(HERE), &NO_GAP, later).await, ISSUED(number));
    }
    // A year ahead, until somebody noticed.
    let back = NOON - 365 * CODE_DAY;
    assert_eq!(issue(w, back).await, IssueOutcome::TooSoon { retry_after: RULES.gap }, "from now on");
    let refused = IssueOutcome::TooMany { retry_after: CODE_DAY - RULES.gap };
    assert_eq!(issue(w, back + RULES.gap).await, refused, "and so does the day");
    assert!(matches!(issue(w, back + CODE_DAY).await, IssueOutcome::Issued { .. }));
}

async fn a_code_issued_by_a_clock_years_ahead_is_dead(w: &World) {
    assert_eq!(issue(w, NOON + 3_650 * CODE_DAY).await, ISSUED(1));
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::NoCode);
    assert_eq!(issue(w, NOON + RULES.gap).await, IssueOutcome::TooSoon { retry_after: RULES.gap });
    assert_eq!(issue(w, NOON + 2 * RULES.gap).await, ISSUED(2), "and the phone is not locked out");
    assert_eq!(check(w, CODE, NOON + 2 * RULES.gap).await, CheckOutcome::Right);
}

async fn one_of_many_who_try_a_code_is_right(w: &World) {
    for asked in [request(HERE), with_ticket(elsewhere(1), 7)] {
        assert!(matches!(ask(w, &asked, &RULES, NOON).await, IssueOutcome::Issued { .. }));
        let CodeRequest { phone, requester, code, ticket, .. } = asked;
        let attempt = CodeAttempt { phone, requester, code, ticket };
        let tries: Vec<_> = (0..64)
            .map(|_| {
                let (codes, attempt) = (Arc::clone(&w.storage.people.codes), attempt.clone());
                tokio::spawn(async move { codes.check(&attempt, &RULES, NOON).await.unwrap() })
            })
            .collect();
        let mut right = 0;
        for outcome in tries {
            right += u32::from(outcome.await.unwrap() == CheckOutcome::Right);
        }
        assert_eq!(right, 1);
    }
}

async fn a_code_asked_for_elsewhere_changes_nothing_here(w: &World) {
    assert_eq!(issue(w, NOON).await, ISSUED(1));
    let stranger = CodeRequest { code: CodeHash([9; 32]), ..request(elsewhere(1)) };
    assert_eq!(ask(w, &stranger, &RULES, NOON).await, ISSUED(2), "another requester has no gap to keep");
    assert_eq!(attempt(w, &stranger, CODE, NOON).await, CheckOutcome::Wrong, "a code has one slot");
    for wrong in 0..4 {
        assert_eq!(attempt(w, &stranger, wrong, NOON).await, CheckOutcome::Wrong);
    }
    assert_eq!(attempt(w, &stranger, 9, NOON).await, CheckOutcome::NoCode, "burned by five tries");
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::Right);
}

async fn a_ticket_works_from_everywhere_and_is_not_tried_without(w: &World) {
    let asked = with_ticket(HERE, 7);
    assert_eq!(ask(w, &asked, &NO_GAP, NOON).await, ISSUED(1));
    // A neighbour behind the same address, with and without a ticket.
    let neighbour = CodeRequest { code: CodeHash([9; 32]), ..with_ticket(HERE, 8) };
    assert_eq!(ask(w, &neighbour, &NO_GAP, NOON).await, ISSUED(2));
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::NoCode, "the code has a ticket");
    let plain = CodeRequest { code: CodeHash([10; 32]), ..request(HERE) };
    assert_eq!(ask(w, &plain, &NO_GAP, NOON).await, ISSUED(3));
    for wrong in 0..5 {
        assert_eq!(check(w, wrong, NOON).await, CheckOutcome::Wrong);
        assert_eq!(attempt(w, &neighbour, wrong, NOON).await, CheckOutcome::Wrong);
    }
    let unknown = with_ticket(HERE, 99);
    assert_eq!(attempt(w, &unknown, CODE, NOON).await, CheckOutcome::NoCode);
    let moved = with_ticket(elsewhere(1), 7);
    assert_eq!(attempt(w, &moved, CODE, NOON + RULES.lives).await, CheckOutcome::NoCode, "expired");
    assert_eq!(attempt(w, &moved, CODE, NOON + RULES.lives - MS).await, CheckOutcome::Right);
    assert_eq!(attempt(w, &asked, CODE, NOON).await, CheckOutcome::NoCode, "used");
}

async fn each_requester_has_a_gap_and_a_day_of_its_own(w: &World) {
    let no_gap = CodeRules { gap: Duration::ZERO, ..RULES };
    for number in 1..=3 {
        assert_eq!(ask(w, &request(elsewhere(1)), &no_gap, NOON).await, ISSUED(number));
    }
    let refused = IssueOutcome::TooMany { retry_after: CODE_DAY };
    assert_eq!(ask(w, &request(elsewhere(1)), &no_gap, NOON).await, refused);
    assert_eq!(issue(w, NOON).await, ISSUED(4));
    let refused = IssueOutcome::TooSoon { retry_after: RULES.gap };
    assert_eq!(ask(w, &with_ticket(HERE, 7), &RULES, NOON).await, refused, "a ticket does not change this");
}

async fn a_phone_has_a_ceiling_for_strangers_alone(w: &World) {
    remember(w, HERE, NOON).await;
    for number in 1..=6 {
        let stranger = request(elsewhere(u8::try_from(number).unwrap()));
        assert_eq!(ask(w, &stranger, &RULES, NOON).await, ISSUED(number));
    }
    let refused = IssueOutcome::PhoneSpent { retry_after: CODE_DAY - HOUR };
    assert_eq!(ask(w, &request(elsewhere(7)), &RULES, NOON + HOUR).await, refused);
    assert_eq!(issue(w, NOON + HOUR).await, ISSUED(7));
    assert_eq!(check(w, CODE, NOON + HOUR).await, CheckOutcome::Right);
    let other = CodeRequest { phone: phone(2), ..request(elsewhere(7)) };
    assert_eq!(ask(w, &other, &RULES, NOON + HOUR).await, ISSUED(8), "another phone has its own");
    assert_eq!(ask(w, &request(elsewhere(7)), &RULES, NOON + CODE_DAY).await, ISSUED(1));
}

async fn wrong_tries_of_strangers_are_counted_together(w: &World) {
    remember(w, HERE, NOON).await;
    for number in 1..=3 {
        let stranger = request(elsewhere(number));
        assert!(matches!(ask(w, &stranger, &RULES, NOON).await, IssueOutcome::Issued { .. }));
        for wrong in 0..4 {
            assert_eq!(attempt(w, &stranger, wrong, NOON).await, CheckOutcome::Wrong);
        }
    }
    assert!(matches!(issue(w, NOON).await, IssueOutcome::Issued { .. }));
    let refused = CheckOutcome::TooManyTries { retry_after: TRIES_HOUR - MS };
    assert_eq!(attempt(w, &request(elsewhere(3)), CODE, NOON + MS).await, refused, "even the right code");
    for wrong in 0..4 {
        assert_eq!(check(w, wrong, NOON).await, CheckOutcome::Wrong, "a known requester counts alone");
    }
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::Right);
    let later = NOON + TRIES_HOUR;
    assert!(matches!(ask(w, &request(elsewhere(4)), &RULES, later).await, IssueOutcome::Issued { .. }));
    assert_eq!(attempt(w, &request(elsewhere(4)), CODE, later).await, CheckOutcome::Right);
}

async fn the_last_fifth_of_the_malls_day_is_kept(w: &World) {
    let rules = CodeRules { per_day_of_mall: 10, ..RULES };
    remember(w, HERE, NOON).await;
    let stranger = |number| CodeRequest { phone: phone(number), ..request(elsewhere(1)) };
    for number in 1..=8 {
        assert_eq!(ask(w, &stranger(100 + number), &rules, NOON).await, ISSUED(number));
    }
    let refused = IssueOutcome::MallSpent { retry_after: CODE_DAY - HOUR };
    assert_eq!(ask(w, &stranger(200), &rules, NOON + HOUR).await, refused);
    assert_eq!(ask(w, &request(HERE), &rules, NOON + HOUR).await, ISSUED(9));
    let operator = CodeRequest { is_operator: true, ..stranger(300) };
    assert_eq!(ask(w, &operator, &rules, NOON + HOUR).await, ISSUED(10));
    let operator = CodeRequest { is_operator: true, ..stranger(301) };
    assert_eq!(ask(w, &operator, &rules, NOON + HOUR).await, refused, "and the whole is the whole");
    assert_eq!(ask(w, &stranger(200), &rules, NOON + CODE_DAY).await, ISSUED(1), "a new day");
}

async fn a_refused_code_counts_nothing(w: &World) {
    let rules = CodeRules { per_day_of_mall: 5, ..RULES };
    assert_eq!(ask(w, &request(HERE), &rules, NOON).await, ISSUED(1));
    for _ in 0..20 {
        let refused = IssueOutcome::TooSoon { retry_after: RULES.gap };
        assert_eq!(ask(w, &request(HERE), &rules, NOON).await, refused);
    }
    assert_eq!(check(w, CODE, NOON).await, CheckOutcome::Right, "and the code stays");
    assert_eq!(ask(w, &request(elsewhere(1)), &rules, NOON).await, ISSUED(2));
}

async fn of_many_requests_at_once_no_more_than_the_budget_is_issued(w: &World) {
    const RUSH: CodeRules = CodeRules { per_day_of_mall: 40, ..RULES };
    let requests: Vec<_> = (0..64_u8)
        .map(|number| {
            let codes = Arc::clone(&w.storage.people.codes);
            let request = CodeRequest { phone: phone(number.into()), ..request(elsewhere(number)) };
            tokio::spawn(async move { codes.issue(&request, &RUSH, NOON).await.unwrap() })
        })
        .collect();
    let mut numbers = Vec::new();
    for outcome in requests {
        match outcome.await.unwrap() {
            IssueOutcome::Issued { of_mall } => numbers.push(of_mall),
            refused => assert_eq!(refused, IssueOutcome::MallSpent { retry_after: CODE_DAY }),
        }
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=32).collect::<Vec<_>>(), "each number once, and the last fifth kept");
}

async fn a_requester_is_known_for_ninety_days(w: &World) {
    assert!(!is_known(w, HERE, NOON).await);
    remember(w, HERE, NOON).await;
    assert!(is_known(w, HERE, NOON).await && !is_known(w, elsewhere(1), NOON).await);
    let other = w.storage.people.codes.is_known(&phone(2), HERE, NOON).await.unwrap();
    assert!(!other, "known to one phone");
    assert!(is_known(w, HERE, NOON + KNOWN_FOR - MS).await && !is_known(w, HERE, NOON + KNOWN_FOR).await);
    remember(w, HERE, NOON + 2 * CODE_DAY).await;
    assert!(is_known(w, HERE, NOON + KNOWN_FOR + CODE_DAY).await, "counted from the last log-in");
}

async fn a_phone_knows_eight_requesters(w: &World) {
    let count = u8::try_from(KNOWN_REQUESTERS_MAX).unwrap();
    let at = |number: u8| NOON + CODE_DAY * u32::from(number);
    for number in 0..count {
        remember(w, elsewhere(number), at(number)).await;
    }
    remember(w, elsewhere(0), at(count)).await;
    remember(w, HERE, at(count)).await;
    assert!(is_known(w, HERE, at(count)).await && is_known(w, elsewhere(0), at(count)).await);
    assert!(!is_known(w, elsewhere(1), at(count)).await, "the one that logged in longest ago");
    for number in 2..count {
        assert!(is_known(w, elsewhere(number), at(count)).await, "{number}");
    }
}

async fn a_code_of_the_machine_obeys_no_limit_and_works_everywhere(w: &World) {
    let rules = CodeRules { per_day_of_mall: 1, per_day_of_phone: 1, ..RULES };
    assert_eq!(ask(w, &request(elsewhere(1)), &rules, NOON).await, ISSUED(1));
    let machine = CodeRequest { code: CodeHash([200; 32]), ..request(Requester::MACHINE) };
    for _ in 0..3 {
        assert_eq!(ask(w, &machine, &rules, NOON).await, ISSUED(0));
    }
    for _ in 0..20 {
        assert_eq!(attempt(w, &with_ticket(elsewhere(2), 9), 0, NOON).await, CheckOutcome::NoCode);
    }
    let last = NOON + MACHINE_CODE_TTL - MS;
    assert_eq!(attempt(w, &request(HERE), 200, last + MS).await, CheckOutcome::NoCode, "expired");
    assert_eq!(attempt(w, &with_ticket(HERE, 99), 200, last).await, CheckOutcome::Right);
    assert_eq!(attempt(w, &request(HERE), 200, last).await, CheckOutcome::NoCode, "used");
    let other = CodeRequest { phone: phone(2), ..request(HERE) };
    assert_eq!(ask(w, &machine, &rules, NOON).await, ISSUED(0));
    assert_eq!(attempt(w, &other, 200, NOON).await, CheckOutcome::NoCode, "for one phone");
}

async fn what_was_answered_is_there_after_a_stop(w: &World) {
    let w = w.another().await;
    let rules = CodeRules { per_day_of_mall: 5, ..RULES };
    assert_eq!(issue(&w, NOON).await, ISSUED(1));
    assert_eq!(check(&w, 0, NOON).await, CheckOutcome::Wrong);
    assert_eq!(ask(&w, &with_ticket(elsewhere(1), 7), &RULES, NOON).await, ISSUED(2));
    remember(&w, elsewhere(2), NOON).await;
    let w = w.reopen().await;
    assert!(is_known(&w, elsewhere(2), NOON).await);
    for _ in 0..4 {
        assert_eq!(check(&w, 0, NOON).await, CheckOutcome::Wrong);
    }
    assert_eq!(check(&w, CODE, NOON).await, CheckOutcome::NoCode, "tries before the stop count");
    assert!(matches!(issue(&w, NOON).await, IssueOutcome::TooSoon { .. }));
    assert_eq!(attempt(&w, &with_ticket(elsewhere(3), 7), CODE, NOON).await, CheckOutcome::Right);
    for number in 3..=4 {
        let asked = CodeRequest { phone: phone(number), ..request(HERE) };
        assert_eq!(ask(&w, &asked, &rules, NOON).await, ISSUED(number), "the mall's day goes on");
    }
    let asked = CodeRequest { phone: phone(5), ..request(HERE) };
    assert_eq!(ask(&w, &asked, &rules, NOON).await, IssueOutcome::MallSpent { retry_after: CODE_DAY });
}
