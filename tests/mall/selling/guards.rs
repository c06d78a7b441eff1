//! Guarded sales: who solves a challenge gets a pass, and a pass buys once.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mallbox::fixture::Fault;
use mallbox::language::Language;
use mallbox::mall::base::GuardRefusal;
use mallbox::mall::selling::guard::{Answer, Challenge, GrantedPass, IssuedPass, ShownPass, Visitor};
use mallbox::mall::{Failure, FlashSales, Random, Refusal, Settings};
use mallbox_storage::{
    ChallengeKind, ChallengeKinds, Guard, Limit, NewSale, OrderId, StoreError, UserId, VoucherId,
};

use super::world::{MINUTE, PAY_WITHIN, World, idle, refusal, with_settings, world};

const SECOND: Duration = Duration::from_secs(1);

pub fn guard(kinds: &[ChallengeKind]) -> Guard {
    let kinds = ChallengeKinds::new(kinds).unwrap();
    Guard { kinds, work_bits: 8, pass_seconds: 60, jitter_seconds: 3 }
}

/// Adds a running sale with every kind of challenge, work first.
async fn guarded_sale(w: &World, units: u64) -> VoucherId {
    let voucher = w.sale(units).await;
    put(w, voucher, Some(guard(&[ChallengeKind::Work, ChallengeKind::Picture, ChallengeKind::Slider]))).await;
    voucher
}

pub async fn put(w: &World, voucher: VoucherId, guard: Option<Guard>) {
    assert_eq!(w.sale_admin.put_guard(w.by(), voucher, guard).await.unwrap(), guard);
}

pub fn refused(refusal: GuardRefusal) -> Refusal {
    Refusal::Guard(refusal)
}

/// A person with a device.
#[derive(Clone)]
pub struct Person {
    pub user: u64,
    pub ticket: Option<String>,
    pub address: Option<IpAddr>,
}

impl Person {
    pub fn new(user: u64) -> Self {
        Self { user, ticket: None, address: None }
    }

    pub fn at(user: u64, address: &str) -> Self {
        Self { address: Some(address.parse().unwrap()), ..Self::new(user) }
    }

    pub fn visitor(&self) -> Visitor<'_> {
        let (user, device) = (UserId::new(self.user), self.ticket.as_deref());
        Visitor { user, device, address: self.address, admission: None, pass: None }
    }

    pub async fn challenge(
        &mut self,
        w: &World,
        voucher: VoucherId,
        kind: Option<ChallengeKind>,
    ) -> Result<Challenge, Failure> {
        let spoken = (Language::Zh, w.now());
        let challenge = w.sales.challenge(self.visitor(), voucher, kind, spoken).await?;
        self.ticket = Some(challenge.device_ticket.clone());
        Ok(challenge)
    }

    pub async fn answer(&self, w: &World, voucher: VoucherId, challenge: &Challenge) -> Answer {
        w.sales.challenge_answer(self.visitor(), voucher, &challenge.token, w.now()).await.unwrap()
    }

    pub async fn submit(
        &self,
        w: &World,
        voucher: VoucherId,
        challenge: &Challenge,
        answer: &Answer,
    ) -> Result<IssuedPass, Failure> {
        w.sales.pass(self.visitor(), voucher, (&challenge.token, answer), w.now()).await
    }

    /// Solves a challenge.
    async fn pass(&mut self, w: &World, voucher: VoucherId) -> Result<String, Failure> {
        let challenge = self.challenge(w, voucher, None).await?;
        let answer = self.answer(w, voucher, &challenge).await;
        Ok(self.submit(w, voucher, &challenge, &answer).await?.pass)
    }

    pub async fn claim(&self, w: &World, voucher: VoucherId, pass: &str) -> Result<OrderId, Failure> {
        let shown = ShownPass { pass: Some(pass), device: self.ticket.as_deref(), ..ShownPass::default() };
        w.sales.claim_with_pass(UserId::new(self.user), voucher, shown, w.now()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_challenge_earns_a_pass_that_buys() {
    let w = world().await;
    let voucher = guarded_sale(&w, 9).await;
    for (user, kind) in (1..).zip(ChallengeKind::OWN) {
        let mut person = Person::new(user);
        assert_eq!(refusal(w.claim(user, voucher).await), refused(GuardRefusal::PassRequired));
        let challenge = person.challenge(&w, voucher, Some(kind)).await.unwrap();
        assert_eq!((challenge.pass_in, challenge.expires_in), (Duration::ZERO, Duration::from_secs(120)));
        let answer = person.answer(&w, voucher, &challenge).await;
        let issued = person.submit(&w, voucher, &challenge, &answer).await.unwrap();
        assert_eq!(issued.expires_in, Duration::from_secs(60));
        let order = person.claim(&w, voucher, &issued.pass).await.unwrap();
        let again = person.claim(&w, voucher, &issued.pass).await;
        assert_eq!(refusal(again), Refusal::AlreadyBought(order), "{kind:?}");
        let without = w.claim(user, voucher).await;
        assert_eq!(refusal(without), Refusal::AlreadyBought(order), "a holder needs no pass to be told so");
    }
    w.drain().await;
    assert_eq!(w.left(voucher).await, 6);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_is_of_use_to_its_user_sale_and_device_alone_and_for_a_minute() {
    let w = world().await;
    let (voucher, other_sale) = (guarded_sale(&w, 9).await, guarded_sale(&w, 9).await);
    let mut person = Person::new(1);
    let pass = person.pass(&w, voucher).await.unwrap();
    let mut stranger = Person::new(2);
    let others = stranger.pass(&w, voucher).await.unwrap();
    let thief = Person { user: 2, ..person.clone() };
    let moved = Person { ticket: stranger.ticket.clone(), ..person.clone() };
    let bare = Person::new(1);
    let (longer, cut) = (format!("{pass}A"), &pass[1..]);
    for (who, sale, shown) in [
        (&thief, voucher, pass.as_str()),
        (&person, other_sale, &pass),
        (&moved, voucher, &pass),
        (&bare, voucher, &pass),
        (&person, voucher, &others),
        (&person, voucher, &longer),
        (&person, voucher, cut),
        (&person, voucher, ""),
        (&person, voucher, "验证"),
        (&person, voucher, person.ticket.as_deref().unwrap()),
    ] {
        let claimed = who.claim(&w, sale, shown).await;
        assert_eq!(refusal(claimed), refused(GuardRefusal::PassRequired), "{shown}");
    }
    w.clock.advance(MINUTE - Duration::from_millis(1));
    let mut late = Person::new(3);
    let expired = late.pass(&w, voucher).await.unwrap();
    person.claim(&w, voucher, &pass).await.unwrap();
    w.clock.advance(MINUTE);
    let claimed = late.claim(&w, voucher, &expired).await;
    assert_eq!(refusal(claimed), refused(GuardRefusal::PassRequired));
    w.drain().await;
    assert_eq!((w.left(voucher).await, w.left(other_sale).await), (8, 9));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_that_found_nothing_may_be_used_again() {
    let w = world().await;
    let voucher = guarded_sale(&w, 0).await;
    let mut person = Person::new(1);
    let pass = person.pass(&w, voucher).await.unwrap();
    assert_eq!(refusal(person.claim(&w, voucher, &pass).await), Refusal::SoldOut);
    w.sale_admin.pause(w.by(), voucher).await.unwrap();
    assert_eq!(refusal(person.claim(&w, voucher, &pass).await), Refusal::Paused);
    w.sale_admin.resume(w.by(), voucher).await.unwrap();
    let more = mallbox::mall::operator::sales::StockForm { add: Some(1), request: None };
    w.sale_admin.restock(w.by(), voucher, more).await.unwrap();
    person.claim(&w, voucher, &pass).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_pass_buys_once_in_a_rush_after_a_cancellation_and_after_a_restart() {
    let w = world().await;
    let voucher = guarded_sale(&w, 500).await;
    let mut person = Person::new(1);
    let pass = person.pass(&w, voucher).await.unwrap();
    let claims: Vec<_> = (0..64)
        .map(|_| {
            let (sales, pass, ticket, now) = (w.sales.clone(), pass.clone(), person.ticket.clone(), w.now());
            tokio::spawn(async move {
                let shown =
                    ShownPass { pass: Some(&pass), device: ticket.as_deref(), ..ShownPass::default() };
                sales.claim_with_pass(UserId::new(1), voucher, shown, now).await
            })
        })
        .collect();
    let mut orders = Vec::new();
    for claim in claims {
        match claim.await.unwrap() {
            Ok(order) => orders.push(order),
            Err(Failure::Refused(Refusal::AlreadyBought(_))) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(orders.len(), 1);
    w.drain().await;
    w.orders.cancel(UserId::new(1), orders[0], w.now()).await.unwrap();
    assert_eq!(w.left(voucher).await, 500);
    assert_eq!(refusal(person.claim(&w, voucher, &pass).await), refused(GuardRefusal::PassRequired));
    let mut w = w.restart().await;
    w.start_workers();
    assert_eq!(refusal(person.claim(&w, voucher, &pass).await), refused(GuardRefusal::PassRequired));
    let fresh = person.pass(&w, voucher).await.unwrap();
    person.claim(&w, voucher, &fresh).await.unwrap();
    w.drain().await;
    assert_eq!(w.left(voucher).await, 499);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_takes_one_answer_of_its_own_visitor_in_time() {
    let w = world().await;
    let (voucher, other_sale) = (guarded_sale(&w, 9).await, guarded_sale(&w, 9).await);
    let failed = refused(GuardRefusal::ChallengeFailed);
    let mut person = Person::new(1);
    for kind in ChallengeKind::OWN {
        // Wrong, then right: too late.
        let challenge = person.challenge(&w, voucher, Some(kind)).await.unwrap();
        let answer = person.answer(&w, voucher, &challenge).await;
        let wrong = match kind {
            ChallengeKind::Picture => Answer::Text("wrong".to_owned()),
            ChallengeKind::Slider => Answer::Slider { left: 0, track: Vec::new() },
            ChallengeKind::Work | ChallengeKind::Service => Answer::Work("x".repeat(33)),
        };
        assert_eq!(refusal(person.submit(&w, voucher, &challenge, &wrong).await), failed, "{kind:?}");
        assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), failed, "{kind:?}");
        // Right, then right again.
        let challenge = person.challenge(&w, voucher, Some(kind)).await.unwrap();
        let answer = person.answer(&w, voucher, &challenge).await;
        person.submit(&w, voucher, &challenge, &answer).await.unwrap();
        assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), failed, "{kind:?}");
    }
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    let thief = Person { user: 2, ..person.clone() };
    assert_eq!(refusal(thief.submit(&w, voucher, &challenge, &answer).await), failed);
    assert_eq!(refusal(person.submit(&w, other_sale, &challenge, &answer).await), failed);
    let bare = Person::new(1);
    assert_eq!(refusal(bare.submit(&w, voucher, &challenge, &answer).await), failed);
    w.clock.advance(Duration::from_secs(120) - Duration::from_millis(1));
    person.submit(&w, voucher, &challenge, &answer).await.unwrap();
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    w.clock.advance(Duration::from_secs(120));
    assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_a_pass_long_before_the_sale_opens() {
    let w = world().await;
    let opens = w.now() + MINUTE * 5;
    let sale =
        NewSale { units: Some(9), begin: opens, end: opens + MINUTE, pay_within: PAY_WITHIN, min_level: 0 };
    let voucher = w.sale_like(sale).await;
    put(&w, voucher, Some(guard(&[ChallengeKind::Work]))).await;
    let early = async |w: &World, user| match Person::new(user).challenge(w, voucher, None).await {
        Err(Failure::Refused(Refusal::Guard(GuardRefusal::TooEarly { pass_in }))) => pass_in,
        other => panic!("{other:?}"),
    };
    let mut openings = Vec::new();
    for user in 1..=50 {
        let pass_in = early(&w, user).await;
        assert!((opens - SECOND * 3..=opens).contains(&(w.now() + pass_in)), "{pass_in:?}");
        assert_eq!(early(&w, user).await, pass_in, "nothing is gained by asking again");
        openings.push(pass_in);
    }
    openings.sort_unstable();
    openings.dedup();
    assert!(openings.len() > 10, "{openings:?}");
    // A minute before a person's passes, challenges are given.
    let passes_from = w.now() + early(&w, 1).await;
    w.clock.set(passes_from - SECOND * 60 - Duration::from_millis(1));
    early(&w, 1).await;
    w.clock.set(passes_from - SECOND * 60);
    let mut person = Person::new(1);
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    let pass_in = challenge.pass_in;
    let too_early = |pass_in| refused(GuardRefusal::TooEarly { pass_in });
    assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), too_early(pass_in));
    w.clock.advance(pass_in - Duration::from_millis(1));
    let at_last = Duration::from_millis(1);
    assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), too_early(at_last));
    w.clock.advance(at_last);
    let IssuedPass { pass, expires_in } = person.submit(&w, voucher, &challenge, &answer).await.unwrap();
    assert_eq!(w.now() + expires_in, opens + MINUTE, "a pass lives for a minute from the begin");
    let not_open = refusal(person.claim(&w, voucher, &pass).await);
    assert!(w.now() == opens || not_open == Refusal::NotOpen, "{not_open:?}");
    w.clock.set(opens + MINUTE - SECOND);
    person.claim(&w, voucher, &pass).await.unwrap();
    w.clock.set(opens + MINUTE);
    assert_eq!(refusal(Person::new(2).challenge(&w, voucher, None).await), Refusal::Ended);
    assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), Refusal::Ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_is_set_changed_and_removed_by_an_operator() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let not_guarded = refused(GuardRefusal::NotGuarded);
    assert_eq!(refusal(Person::new(1).challenge(&w, voucher, None).await), not_guarded);
    let shown = ShownPass { pass: Some("any"), device: None, ..ShownPass::default() };
    w.sales.claim_with_pass(UserId::new(1), voucher, shown, w.now()).await.unwrap();
    assert!(!w.sales.live(voucher, w.now()).await.unwrap().is_guarded);
    put(&w, voucher, Some(guard(&[ChallengeKind::Work]))).await;
    assert!(w.sales.live(voucher, w.now()).await.unwrap().is_guarded);
    assert_eq!(refusal(w.claim(2, voucher).await), refused(GuardRefusal::PassRequired));
    let mut person = Person::new(2);
    let picture = person.challenge(&w, voucher, Some(ChallengeKind::Picture)).await;
    assert_eq!(refusal(picture), refused(GuardRefusal::KindNotAllowed));
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    put(&w, voucher, Some(guard(&[ChallengeKind::Picture]))).await;
    let old_kind = person.submit(&w, voucher, &challenge, &answer).await;
    assert_eq!(refusal(old_kind), refused(GuardRefusal::ChallengeFailed));
    // A pass issued under a longer lifetime is void under the new one.
    put(&w, voucher, Some(Guard { pass_seconds: 600, ..guard(&[ChallengeKind::Work]) })).await;
    let pass = person.pass(&w, voucher).await.unwrap();
    put(&w, voucher, Some(Guard { pass_seconds: 10, ..guard(&[ChallengeKind::Work]) })).await;
    assert_eq!(refusal(person.claim(&w, voucher, &pass).await), refused(GuardRefusal::PassRequired));
    put(&w, voucher, None).await;
    w.claim(2, voucher).await.unwrap();
    let good = guard(&[ChallengeKind::Work]);
    for (name, bad) in [
        ("workBits", Guard { work_bits: 7, ..good }),
        ("workBits", Guard { work_bits: 27, ..good }),
        ("passSeconds", Guard { pass_seconds: 9, ..good }),
        ("passSeconds", Guard { pass_seconds: 601, ..good }),
        ("jitterSeconds", Guard { jitter_seconds: 31, ..good }),
    ] {
        let stored = w.sale_admin.put_guard(w.by(), voucher, Some(bad)).await;
        assert_eq!(refusal(stored), Refusal::BadValue(name));
    }
    let nowhere = w.sale_admin.put_guard(w.by(), VoucherId::new(404), Some(good)).await;
    assert_eq!(refusal(nowhere), Refusal::NotFound("sale"));
    let guards = w.audited().await.into_iter().filter(|(action, ..)| action == "sale.guard");
    let kinds: Vec<_> = guards.map(|(_, _, detail)| detail["guard"]["kinds"].clone()).collect();
    let [work, picture] = [serde_json::json!(["work"]), serde_json::json!(["picture"])];
    assert_eq!(kinds, [work.clone(), picture, work.clone(), work, serde_json::Value::Null]);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_is_asked_for_after_the_level_and_the_limit() {
    let limit = Some(Limit { count: 2, per: MINUTE });
    let w = with_settings(Settings { claim_limit: limit, ..Settings::default().without_limits() }).await;
    let voucher = guarded_sale(&w, 9).await;
    for _ in 0..2 {
        assert_eq!(refusal(w.claim(1, voucher).await), refused(GuardRefusal::PassRequired));
    }
    assert!(matches!(refusal(w.claim(1, voucher).await), Refusal::RateLimited { .. }));
    let hour = MINUTE * 60;
    let (begin, end) = (w.now() - hour, w.now() + hour);
    let sale = NewSale { units: Some(9), begin, end, pay_within: PAY_WITHIN, min_level: 3 };
    let members = w.sale_like(sale).await;
    put(&w, members, Some(guard(&[ChallengeKind::Work]))).await;
    assert_eq!(refusal(w.claim(2, members).await), Refusal::LevelTooLow);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_devices_and_addresses_have_limits_and_shared_networks_higher_ones() {
    let hour = MINUTE * 60;
    let settings = Settings {
        challenge_limit: Some(Limit { count: 4, per: MINUTE }),
        device_limit_of_address: Some(Limit { count: 3, per: hour }),
        pass_limit_of_device: Some(Limit { count: 2, per: hour }),
        pass_limit_of_address: Some(Limit { count: 4, per: hour }),
        shared_networks: mallbox::mall::base::SharedNetworks::new(&["198.51.100.0/24".parse().unwrap()]),
        ..Settings::default().without_limits()
    };
    let w = with_settings(settings).await;
    let is_limited = |failed: &Failure| matches!(failed, Failure::Refused(Refusal::RateLimited { retry_after }) if !retry_after.is_zero());
    let voucher = guarded_sale(&w, 99).await;
    // A user's challenges.
    let mut greedy = Person::new(1);
    for _ in 0..4 {
        greedy.challenge(&w, voucher, None).await.unwrap();
    }
    assert!(is_limited(&greedy.challenge(&w, voucher, None).await.unwrap_err()));
    // New devices of an address, and passes of an address: a further user is refused, one elsewhere is not.
    let mut passed = Vec::new();
    for user in 10..13 {
        let mut person = Person::at(user, "203.0.113.7");
        person.pass(&w, voucher).await.unwrap();
        passed.push(person);
    }
    assert!(is_limited(&Person::at(13, "203.0.113.7").challenge(&w, voucher, None).await.unwrap_err()));
    Person::at(13, "203.0.113.8").pass(&w, voucher).await.unwrap();
    passed[0].pass(&w, voucher).await.unwrap();
    assert!(is_limited(&passed[1].pass(&w, voucher).await.unwrap_err()), "a fifth pass of the address");
    // Passes of a device, whoever uses it.
    let mut first = Person::new(20);
    first.pass(&w, voucher).await.unwrap();
    let mut second = Person { user: 21, ..first };
    second.pass(&w, voucher).await.unwrap();
    let mut third = Person { user: 22, ..second };
    assert!(is_limited(&third.pass(&w, voucher).await.unwrap_err()));
    let other_sale = guarded_sale(&w, 9).await;
    third.pass(&w, other_sale).await.unwrap();
    // An address of a shared network.
    for user in 30..60 {
        Person::at(user, "198.51.100.7").pass(&w, voucher).await.unwrap();
    }
    assert!(is_limited(&Person::at(60, "198.51.100.7").challenge(&w, voucher, None).await.unwrap_err()));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_instance_takes_what_another_one_gave_and_keys_change_with_overlap() {
    let w = idle().await;
    let voucher = guarded_sale(&w, 9).await;
    let other = FlashSales::with_random(w.context.clone(), Arc::new(Random::seeded(8)));
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    w.sale_admin
        .put_window(
            w.by(),
            voucher,
            mallbox::mall::operator::sales::WindowForm { begin: None, end: Some(w.now() + week * 9) },
        )
        .await
        .unwrap();
    let mut person = Person::new(1);
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    let solved = (challenge.token.as_str(), &answer);
    let issued = other.pass(person.visitor(), voucher, solved, w.now()).await.unwrap();
    assert_eq!(
        refusal(person.submit(&w, voucher, &challenge, &answer).await),
        refused(GuardRefusal::ChallengeFailed),
        "used at the other instance"
    );
    person.claim(&w, voucher, &issued.pass).await.unwrap();
    // The last second of a key, and the first of the next one.
    let period = i64::try_from(week.as_millis()).unwrap();
    let border = mallbox_storage::Timestamp::from_millis((w.now().as_millis() / period + 2) * period);
    w.clock.set(border - SECOND);
    let mut late = Person::new(2);
    let challenge = late.challenge(&w, voucher, None).await.unwrap();
    let answer = late.answer(&w, voucher, &challenge).await;
    w.clock.advance(SECOND * 2);
    let pass = late.submit(&w, voucher, &challenge, &answer).await.unwrap().pass;
    late.claim(&w, voucher, &pass).await.unwrap();
    // The ticket of the first device is older than a week: its key is gone.
    let mut old = Person { user: 3, ..person };
    let before = old.ticket.clone();
    old.challenge(&w, voucher, None).await.unwrap();
    assert_ne!(old.ticket, before);
    let stolen = Person { ticket: before, ..old.clone() };
    let pass = old.pass(&w, voucher).await.unwrap();
    assert_eq!(refusal(stolen.claim(&w, voucher, &pass).await), refused(GuardRefusal::PassRequired));
    old.claim(&w, voucher, &pass).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_costs_no_pass_and_no_challenge() {
    let w = world().await;
    let voucher = guarded_sale(&w, 9).await;
    let (context, faults) = w.faulty();
    let sales = FlashSales::with_random(context, Arc::new(Random::seeded(8)));
    let mut person = Person::new(1);
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    let answer = person.answer(&w, voucher, &challenge).await;
    let solved = (challenge.token.as_str(), &answer);
    let is_away = |failed: Failure| matches!(failed, Failure::Store(StoreError::Unavailable { .. }));
    faults.add(Fault::at_port("sales.pass_epoch").error().times(1)).unwrap();
    assert!(is_away(sales.pass(person.visitor(), voucher, solved, w.now()).await.unwrap_err()));
    let pass = sales.pass(person.visitor(), voucher, solved, w.now()).await.unwrap().pass;
    let shown = ShownPass { pass: Some(&pass), device: person.ticket.as_deref(), ..ShownPass::default() };
    let claim = async || sales.claim_with_pass(UserId::new(1), voucher, shown, w.now()).await;
    faults.add(Fault::at_port("sales.claim_with_pass").error().times(1)).unwrap();
    assert!(is_away(claim().await.unwrap_err()));
    faults.add(Fault::at_port("sales.claim_with_pass").lose_answer().times(1)).unwrap();
    assert!(is_away(claim().await.unwrap_err()));
    let Refusal::AlreadyBought(order) = refusal(claim().await) else { panic!("the claim was lost") };
    w.drain().await;
    assert_eq!(w.storage.selling.orders.get(order).await.unwrap().unwrap().user, UserId::new(1));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_gets_a_pass_without_a_challenge() {
    let w = world().await;
    let voucher = guarded_sale(&w, 9).await;
    let GrantedPass { pass, device_ticket } =
        w.sales.grant_pass(UserId::new(1), voucher, w.now()).await.unwrap();
    let person = Person { ticket: Some(device_ticket), ..Person::new(1) };
    person.claim(&w, voucher, &pass).await.unwrap();
    put(&w, voucher, None).await;
    let without = w.sales.grant_pass(UserId::new(2), voucher, w.now()).await;
    assert_eq!(refusal(without), refused(GuardRefusal::NotGuarded));
}
