//! Judgement of claims: what looks automated is logged, challenged again or refused, as the sale demands.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::language::Language;
use mallbox::mall::base::GuardRefusal;
use mallbox::mall::base::SharedNetworks;
use mallbox::mall::base::judgement_rules::{Rules, RulesError};
use mallbox::mall::operator::sales::{AttackView, RulesView};
use mallbox::mall::selling::guard::{Challenge, ShownPass, Visitor};
use mallbox::mall::{Failure, FlashSales, Random, Refusal, Settings};
use mallbox_storage::{
    Attempt, AttemptOutcome, ChallengeKind, ChallengeKinds, Guard, Judgement, Limit, NewSale, OrderId,
    Signal, UserId, VoucherId,
};

use super::world::{NOON, PAY_WITHIN, World, refusal, with_settings, world};

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The third user of an address looks automated.
const CROWDS: &str = "limit = 10\nrules = [{ signal = 'address-users', at-least = 3, points = 10 }]";

/// Adds a running sale with this judgement, under rules by which the third user of an address looks
/// automated.
async fn judged(w: &World, judgement: Judgement) -> VoucherId {
    let voucher = w.sale(9).await;
    w.sale_admin.put_judgement_rules(w.by(), CROWDS.to_owned()).await.unwrap();
    let stored = w.sale_admin.put_judgement(w.by(), voucher, Some(judgement)).await.unwrap();
    assert_eq!(stored, Some(judgement));
    voucher
}

fn address(last: u8) -> Option<IpAddr> {
    Some(IpAddr::from([203, 0, 113, last]))
}

async fn claim(w: &World, user: u64, voucher: VoucherId, last: u8) -> Result<OrderId, Failure> {
    let shown = ShownPass { address: address(last), ..ShownPass::default() };
    w.sales.claim_with_pass(UserId::new(user), voucher, shown, w.now()).await
}

/// Returns the decision log of a sale, oldest first.
async fn log(w: &World, voucher: VoucherId) -> Vec<Attempt> {
    w.sales.store_attempts().await.unwrap();
    let views = w.sale_admin.attempts(voucher, None, w.now()).await.unwrap();
    views.iter().rev().map(|view| view.stored.attempt).collect()
}

async fn outcomes(w: &World, voucher: VoucherId) -> Vec<AttemptOutcome> {
    log(w, voucher).await.iter().map(|attempt| attempt.outcome).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_judged_only_when_an_operator_says_so() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Refuse).await;
    w.sale_admin.put_judgement(w.by(), voucher, None).await.unwrap();
    for user in 1..=5 {
        claim(&w, user, voucher, 1).await.unwrap();
    }
    assert_eq!(outcomes(&w, voucher).await, []);
    assert_eq!(w.sale_admin.judgement(voucher).await.unwrap(), None);
    let unknown = w.sale_admin.put_judgement(w.by(), VoucherId::new(404), None).await;
    assert_eq!(refusal(unknown), Refusal::NotFound("sale"));
    let audited = w.audited().await;
    assert_eq!(audited.iter().filter(|(action, ..)| action == "sale.judgement").count(), 2, "{audited:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observed_sale_sells_to_everybody_and_logs() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Observe).await;
    for user in 1..=3 {
        claim(&w, user, voucher, 1).await.unwrap();
    }
    claim(&w, 4, voucher, 2).await.unwrap();
    w.sales.claim(UserId::new(5), voucher, w.now()).await.unwrap();
    let log = log(&w, voucher).await;
    let scores: Vec<_> = log.iter().map(|attempt| (attempt.user.get(), attempt.score)).collect();
    assert_eq!(scores, [(1, 0), (2, 0), (3, 10), (4, 0), (5, 0)]);
    assert!(log.iter().all(|attempt| attempt.outcome == AttemptOutcome::Accepted && attempt.at == w.now()));
    let value = |index: usize, signal| log[index].signals.get(signal);
    assert_eq!((value(2, Signal::AddressUsers), value(3, Signal::AddressUsers)), (Some(3), Some(1)));
    assert_eq!((value(4, Signal::AddressUsers), log[4].address), (None, None));
    assert_eq!((log[0].address, log[0].address == log[3].address), (log[2].address, false));
    assert!(log[0].address.is_some() && log[0].device.is_none());
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusing_sale_refuses_what_looks_automated_and_nobody_else() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Refuse).await;
    let order = claim(&w, 1, voucher, 1).await.unwrap();
    claim(&w, 2, voucher, 1).await.unwrap();
    for user in 3..=5 {
        assert_eq!(refusal(claim(&w, user, voucher, 1).await), Refusal::LooksAutomated);
    }
    assert_eq!(refusal(claim(&w, 1, voucher, 1).await), Refusal::AlreadyBought(order), "a holder is told so");
    claim(&w, 3, voucher, 2).await.unwrap();
    w.clock.advance(SECOND * 60);
    claim(&w, 4, voucher, 1).await.unwrap();
    let refused = [AttemptOutcome::LooksAutomated; 3];
    let sold = [AttemptOutcome::Accepted; 2];
    let expected = [&sold[..], &refused, &[AttemptOutcome::AlreadyBought], &sold].concat();
    assert_eq!(outcomes(&w, voucher).await, expected);
    w.drain().await;
    assert_eq!(w.left(voucher).await, 5);
    w.assert_balanced().await;
}

/// A user with a device at an address.
struct Person {
    user: UserId,
    ticket: Option<String>,
}

impl Person {
    fn visitor<'a>(&'a self, pass: Option<&'a str>) -> Visitor<'a> {
        let device = self.ticket.as_deref();
        Visitor { user: self.user, device, address: address(1), admission: None, pass }
    }

    /// Takes a challenge, for a second pass after the given one.
    async fn challenge(&mut self, w: &World, voucher: VoucherId, former: Option<&str>) -> Challenge {
        let spoken = (Language::Zh, w.now());
        let challenge = w.sales.challenge(self.visitor(former), voucher, None, spoken).await.unwrap();
        self.ticket = Some(challenge.device_ticket.clone());
        challenge
    }

    /// Solves a challenge.
    async fn solve(&self, w: &World, voucher: VoucherId, challenge: &Challenge) -> String {
        let token = &challenge.token;
        let answer = w.sales.challenge_answer(self.visitor(None), voucher, token, w.now()).await.unwrap();
        w.sales.pass(self.visitor(None), voucher, (token, &answer), w.now()).await.unwrap().pass
    }

    async fn claim(&self, w: &World, voucher: VoucherId, pass: &str) -> Result<OrderId, Failure> {
        let device = self.ticket.as_deref();
        let shown = ShownPass { pass: Some(pass), device, address: address(1), ..ShownPass::default() };
        w.sales.claim_with_pass(self.user, voucher, shown, w.now()).await
    }
}

/// Adds a guarded sale that challenges again.
async fn challenging(w: &World) -> VoucherId {
    let voucher = judged(w, Judgement::Challenge).await;
    let kinds = ChallengeKinds::new(&[ChallengeKind::Work, ChallengeKind::Slider]).unwrap();
    let guard = Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 0 };
    w.sale_admin.put_guard(w.by(), voucher, Some(guard)).await.unwrap();
    voucher
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenging_sale_sells_for_a_second_challenge_of_another_kind() {
    let w = world().await;
    let voucher = challenging(&w).await;
    let mut people = [1, 2, 3].map(|user| Person { user: UserId::new(user), ticket: None });
    let mut passes = Vec::new();
    for person in &mut people {
        let challenge = person.challenge(&w, voucher, None).await;
        passes.push(person.solve(&w, voucher, &challenge).await);
    }
    let [first, second, third] = &mut people;
    first.claim(&w, voucher, &passes[0]).await.unwrap();
    second.claim(&w, voucher, &passes[1]).await.unwrap();
    let again = Refusal::Guard(GuardRefusal::ChallengeAgain);
    assert_eq!(refusal(third.claim(&w, voucher, &passes[2]).await), again);
    // Another first challenge is not enough, nor is somebody else's pass.
    for former in [None, Some(passes[1].as_str()), Some("none")] {
        let challenge = third.challenge(&w, voucher, former).await;
        let pass = third.solve(&w, voucher, &challenge).await;
        assert_eq!(refusal(third.claim(&w, voucher, &pass).await), again, "{former:?}");
    }
    // An expired pass still tells that one challenge is solved.
    w.clock.advance(SECOND * 61);
    for user in [1, 2] {
        claim(&w, user, voucher, 1).await.unwrap_err();
    }
    let challenge = third.challenge(&w, voucher, Some(&passes[2])).await;
    let kind = match challenge.puzzle {
        mallbox::mall::selling::guard::Puzzle::Slider(_) => ChallengeKind::Slider,
        _ => ChallengeKind::Work,
    };
    assert_eq!(kind, ChallengeKind::Slider, "the first was a proof of work");
    w.clock.advance(SECOND * 2);
    let pass = third.solve(&w, voucher, &challenge).await;
    w.clock.advance(Duration::from_millis(300));
    third.claim(&w, voucher, &pass).await.unwrap();
    let log = log(&w, voucher).await;
    let bought = log.last().unwrap();
    assert_eq!((bought.outcome, bought.score), (AttemptOutcome::Accepted, 10));
    let value = |signal| bought.signals.get(signal);
    assert_eq!((value(Signal::SolveMs), value(Signal::PassAgeMs)), (Some(2_000), Some(300)));
    assert!(value(Signal::TrackSpread).is_some_and(|spread| spread > 150), "{bought:?}");
    assert_eq!((value(Signal::DeviceUsers), bought.device.is_some()), (Some(1), true));
    let asked = log.iter().filter(|attempt| attempt.outcome == AttemptOutcome::ChallengeAgain);
    assert_eq!(asked.count(), 4);
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_guard_a_challenging_sale_only_observes() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Challenge).await;
    for user in 1..=4 {
        claim(&w, user, voucher, 1).await.unwrap();
    }
    assert_eq!(outcomes(&w, voucher).await, [AttemptOutcome::Accepted; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_for_tests_is_never_challenged_again() {
    let w = world().await;
    let voucher = challenging(&w).await;
    for user in 1..=4 {
        let granted = w.sales.grant_pass(UserId::new(user), voucher, w.now()).await.unwrap();
        let person = Person { user: UserId::new(user), ticket: Some(granted.device_ticket) };
        person.claim(&w, voucher, &granted.pass).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_end_of_an_attempt_has_its_outcome() {
    let limit = Some(Limit { count: 1, per: SECOND });
    let w = with_settings(Settings { claim_limit: limit, ..Settings::default() }).await;
    let terms = NewSale {
        units: Some(1),
        begin: NOON + SECOND,
        end: NOON + DAY,
        pay_within: PAY_WITHIN,
        min_level: 0,
    };
    let voucher = w.sale_like(terms).await;
    w.sale_admin.put_judgement(w.by(), voucher, Some(Judgement::Observe)).await.unwrap();
    claim(&w, 1, voucher, 1).await.unwrap_err();
    w.clock.advance(SECOND);
    claim(&w, 1, voucher, 1).await.unwrap();
    claim(&w, 2, voucher, 1).await.unwrap_err();
    claim(&w, 2, voucher, 1).await.unwrap_err();
    w.clock.advance(SECOND * 2);
    claim(&w, 1, voucher, 1).await.unwrap_err();
    let thresholds = mallbox_storage::Thresholds { account_hours: 1, sms_code: false };
    w.sale_admin.put_thresholds(w.by(), voucher, thresholds).await.unwrap();
    claim(&w, 3, voucher, 1).await.unwrap_err();
    w.sale_admin.put_thresholds(w.by(), voucher, mallbox_storage::Thresholds::default()).await.unwrap();
    w.sale_admin
        .put_guard(w.by(), voucher, Some(mallbox::mall::operator::sales::DEFAULT_GUARD))
        .await
        .unwrap();
    claim(&w, 4, voucher, 1).await.unwrap_err();
    let room = Some(mallbox::mall::operator::sales::DEFAULT_ROOM);
    w.sale_admin.put_room(w.by(), voucher, room).await.unwrap();
    claim(&w, 5, voucher, 1).await.unwrap_err();
    let expected = [
        AttemptOutcome::Closed,
        AttemptOutcome::Accepted,
        AttemptOutcome::SoldOut,
        AttemptOutcome::RateLimited,
        AttemptOutcome::AlreadyBought,
        AttemptOutcome::NotEligible,
        AttemptOutcome::PassRequired,
        AttemptOutcome::NotAdmitted,
    ];
    assert_eq!(outcomes(&w, voucher).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_checked_stored_and_in_force_within_a_second() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Refuse).await;
    let bad = w.sale_admin.put_judgement_rules(w.by(), "limit = 0".to_owned()).await;
    assert_eq!(refusal(bad), Refusal::BadRules(RulesError::Limit(0)));
    for user in 1..=3 {
        claim(&w, user, voucher, 1).await.ok();
    }
    assert_eq!(w.left(voucher).await, 7, "the rules of before are in force");
    let restored = w.sale_admin.put_judgement_rules(w.by(), " \n".to_owned()).await.unwrap();
    assert_eq!(restored, RulesView { text: Rules::DEFAULT_TEXT.to_owned(), is_default: true });
    assert_eq!(w.sale_admin.judgement_rules(w.now()).await.unwrap(), restored);
    w.clock.advance(SECOND);
    claim(&w, 3, voucher, 1).await.unwrap();
    w.sale_admin.put_judgement_rules(w.by(), CROWDS.to_owned()).await.unwrap();
    let w = w.restart().await;
    let kept = w.sale_admin.judgement_rules(w.now()).await.unwrap();
    assert_eq!((kept.text.as_str(), kept.is_default), (CROWDS, false));
    assert_eq!(w.sale_admin.judgement(voucher).await.unwrap(), Some(Judgement::Refuse));
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_see_the_attack_and_preview_rules() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Refuse).await;
    for user in 1..=6 {
        claim(&w, user, voucher, 1).await.ok();
    }
    claim(&w, 7, voucher, 2).await.unwrap();
    w.sales.store_attempts().await.unwrap();
    let AttackView { attempts, suspicious, outcomes, signals, addresses, timeline, .. } =
        w.sale_admin.attack(voucher, w.now()).await.unwrap();
    assert_eq!((attempts, suspicious, timeline.last().unwrap().attempts), (7, 4, 7));
    assert_eq!(outcomes, [(AttemptOutcome::LooksAutomated, 4), (AttemptOutcome::Accepted, 3)]);
    assert_eq!(signals, [(Signal::AddressUsers, 4)]);
    let busy: Vec<_> =
        addresses.iter().map(|of| (of.attempts, of.users, of.accepted, of.suspicious)).collect();
    assert_eq!(busy, [(6, 6, 2, 4), (1, 1, 1, 0)]);
    let strict = CROWDS.replace("at-least = 3", "at-least = 2");
    let preview = w.sale_admin.preview_rules(voucher, &strict, w.now()).await.unwrap();
    assert_eq!((preview.attempts, preview.suspicious, preview.accepted), (7, [4, 5], [0, 1]));
    assert_eq!(w.sale_admin.judgement_rules(w.now()).await.unwrap().text, CROWDS, "a preview stores nothing");
    let bad = w.sale_admin.preview_rules(voucher, "limit = 0", w.now()).await;
    assert_eq!(refusal(bad), Refusal::BadRules(RulesError::Limit(0)));
    let nothing = w.sale_admin.attack(VoucherId::new(404), w.now()).await;
    assert_eq!(refusal(nothing), Refusal::NotFound("sale"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_network_counts_a_tenth_of_its_users() {
    let networks = ["203.0.113.0/24".parse().unwrap()];
    let shared_networks = SharedNetworks::new(&networks);
    let w = with_settings(Settings { shared_networks, ..Settings::default() }).await;
    let terms =
        NewSale { units: Some(99), begin: NOON, end: NOON + DAY, pay_within: PAY_WITHIN, min_level: 0 };
    let voucher = w.sale_like(terms).await;
    w.sale_admin.put_judgement_rules(w.by(), CROWDS.to_owned()).await.unwrap();
    w.sale_admin.put_judgement(w.by(), voucher, Some(Judgement::Refuse)).await.unwrap();
    for user in 1..=20 {
        claim(&w, user, voucher, 1).await.unwrap();
    }
    assert_eq!(refusal(claim(&w, 21, voucher, 1).await), Refusal::LooksAutomated);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_written_costs_no_claim_and_is_counted() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Observe).await;
    let (context, faults) = w.faulty();
    let sales = FlashSales::with_random(context, Arc::new(Random::seeded(8)));
    faults.add(Fault::at_port("attempts.append").error().times(1)).unwrap();
    faults.add(Fault::at_port("users.get").error()).unwrap();
    let claim = async |user| sales.claim(UserId::new(user), voucher, w.now()).await;
    claim(1).await.unwrap();
    assert!(sales.has_attempts());
    sales.store_attempts().await.unwrap_err();
    assert_eq!((sales.lost_attempts(), sales.has_attempts()), (1, false));
    // A full log drops, and sells on.
    for _ in 0..10_001 {
        claim(1).await.unwrap_err();
    }
    assert_eq!(sales.lost_attempts(), 2);
    sales.store_attempts().await.unwrap();
    assert!(sales.has_attempts(), "one call writes a part");
    let stored = w.storage.selling.attempts.of_sale(voucher, None, 20_000).await.unwrap();
    assert_eq!(stored.len(), 2_500);
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_are_kept_for_a_week() {
    let w = world().await;
    let voucher = judged(&w, Judgement::Observe).await;
    claim(&w, 1, voucher, 1).await.unwrap();
    // The background jobs write and sweep.
    w.advance(SECOND).await;
    let stored = async || w.storage.selling.attempts.of_sale(voucher, None, 9).await.unwrap().len();
    assert_eq!(stored().await, 1);
    w.advance(7 * DAY - SECOND).await;
    assert_eq!(stored().await, 1);
    w.advance(Duration::from_secs(61)).await;
    assert_eq!(stored().await, 0);
}
