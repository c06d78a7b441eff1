//! Challenges by an external service, and what takes over while the service is away.

#[path = "../../common/challenge_stub.rs"]
#[allow(clippy::duplicate_mod, reason = "the target of both suites on servers has it twice")]
mod challenge_stub;

use std::time::{Duration, Instant};

use mallbox::mall::base::GuardRefusal;
use mallbox::mall::selling::challenge_service::{ChallengeProvider, ServiceCounts, Widget};
use mallbox::mall::selling::guard::{Answer, Challenge, GeeTestResponse, Puzzle, ServiceResponse};
use mallbox_storage::{ChallengeKind, VoucherId};
use mallbox_test_patience::{self as patience, Deadline};

use self::challenge_stub::{ChallengeStub, Mood, SECRET, SITE_KEY};
use super::guards::{Person, guard, put, refused};
use super::world::{World, refusal, world};

use ChallengeKind::{Picture, Service, Work};

/// Time limit of a verification.
const CALL_TIMEOUT: Duration = Duration::from_secs(1);
/// Time from a failure to the first probe.
const PAUSE: Duration = Duration::from_secs(10);

/// Returns a mall with a service and a sale whose guard has these kinds.
async fn guarded(provider: ChallengeProvider, kinds: &[ChallengeKind]) -> (World, ChallengeStub, VoucherId) {
    let (w, stub) = (world().await, ChallengeStub::start());
    drop(w.sales.clone().with_challenge_service(Some(stub.client(provider))));
    let voucher = w.sale(99).await;
    put(&w, voucher, Some(guard(kinds))).await;
    (w, stub, voucher)
}

fn token(text: &str) -> Answer {
    Answer::Service(ServiceResponse::Token(text.to_owned()))
}

fn kinds_of(challenge: &Challenge) -> Vec<ChallengeKind> {
    challenge.guard.kinds.iter().collect()
}

fn is_service(challenge: &Challenge) -> bool {
    matches!(challenge.puzzle, Puzzle::Service(_))
}

fn counts(w: &World) -> (u64, u64, u64) {
    let ServiceCounts { accepted, refused, failed } = w.sales.challenge_service().unwrap().counts();
    (accepted, refused, failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_passes_the_check_of_a_service_gets_a_pass_that_buys() {
    for provider in ChallengeProvider::ALL {
        let (w, stub, voucher) = guarded(provider, &[Service, Work]).await;
        let mut person = Person::at(1, "203.0.113.7");
        let challenge = person.challenge(&w, voucher, None).await.unwrap();
        let Puzzle::Service(Widget { service, site_key, script_url }) = &challenge.puzzle else {
            panic!("{:?}", challenge.puzzle)
        };
        assert_eq!((*service, site_key.as_str()), (provider.name(), SITE_KEY));
        assert!(script_url.starts_with(&stub.origin()), "{script_url}");
        assert_eq!(kinds_of(&challenge), [Service, Work]);
        let answer = match provider {
            ChallengeProvider::HCaptcha | ChallengeProvider::Turnstile => token("good-1"),
            ChallengeProvider::GeeTest => Answer::Service(ServiceResponse::GeeTest(GeeTestResponse {
                lot_number: "7".to_owned(),
                captcha_output: "good-1".to_owned(),
                pass_token: "pass".to_owned(),
                gen_time: "1795262400".to_owned(),
            })),
        };
        let pass = person.submit(&w, voucher, &challenge, &answer).await.unwrap().pass;
        person.claim(&w, voucher, &pass).await.unwrap();
        let form = &stub.forms()[0];
        let field = |name: &str| form.get(name).map(String::as_str);
        match provider {
            ChallengeProvider::HCaptcha => assert_eq!(field("sitekey"), Some(SITE_KEY)),
            ChallengeProvider::Turnstile => assert_eq!(field("sitekey"), None),
            ChallengeProvider::GeeTest => assert_eq!(field("captcha_id"), Some(SITE_KEY)),
        }
        let is_geetest = provider == ChallengeProvider::GeeTest;
        assert_eq!(field("secret"), (!is_geetest).then_some(SECRET), "GeeTest never sees the secret");
        assert_eq!(field("remoteip"), (!is_geetest).then_some("203.0.113.7"));
        assert_eq!((stub.forms().len(), counts(&w)), (1, (1, 0, 0)));
        w.drain().await;
        w.assert_balanced().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_used_or_foreign_response_earns_nothing_and_uses_its_challenge_up() {
    let (w, stub, voucher) = guarded(ChallengeProvider::HCaptcha, &[Service, Work]).await;
    let failed = refused(GuardRefusal::ChallengeFailed);
    let mut person = Person::new(1);
    let first = person.challenge(&w, voucher, None).await.unwrap();
    person.submit(&w, voucher, &first, &token("good-1")).await.unwrap();
    assert_eq!(refusal(person.submit(&w, voucher, &first, &token("good-2")).await), failed);
    assert_eq!(stub.forms().len(), 1, "a used challenge calls nobody");
    let geetest = Answer::Service(ServiceResponse::GeeTest(GeeTestResponse {
        lot_number: "7".to_owned(),
        captcha_output: "good-9".to_owned(),
        pass_token: "pass".to_owned(),
        gen_time: "1".to_owned(),
    }));
    let long = token(&format!("good-{}", "a".repeat(9_000)));
    for (answer, is_sent) in [
        (token("wrong"), true),
        (token("good-1"), true),
        (token(""), false),
        (token("good 3"), false),
        (long, false),
        (geetest, false),
        (Answer::Work("1".to_owned()), false),
        (Answer::Text("good-4".to_owned()), false),
    ] {
        let before = stub.forms().len();
        let challenge = person.challenge(&w, voucher, None).await.unwrap();
        assert!(is_service(&challenge), "a refusal leaves the service in use");
        assert_eq!(refusal(person.submit(&w, voucher, &challenge, &answer).await), failed, "{answer:?}");
        assert_eq!(stub.forms().len() - before, usize::from(is_sent), "{answer:?}");
        let right = person.submit(&w, voucher, &challenge, &token("good-5")).await;
        assert_eq!(refusal(right), failed, "used up by {answer:?}");
    }
    // A response of the service solves no challenge of the mall, and another visitor's challenge is no use.
    let work = person.challenge(&w, voucher, Some(Work)).await.unwrap();
    assert_eq!(refusal(person.submit(&w, voucher, &work, &token("good-6")).await), failed);
    let mine = person.challenge(&w, voucher, None).await.unwrap();
    let thief = Person { user: 2, ..person.clone() };
    assert_eq!(refusal(thief.submit(&w, voucher, &mine, &token("good-7")).await), failed);
    w.clock.advance(Duration::from_secs(120));
    assert_eq!(refusal(person.submit(&w, voucher, &mine, &token("good-8")).await), failed, "expired");
    assert!(w.sales.challenge_service().unwrap().is_available());
}

/// Waits until the service is in use again after a probe.
async fn until_back(w: &World, person: &mut Person, voucher: VoucherId) -> Challenge {
    let deadline = Deadline::after(Duration::from_secs(20));
    loop {
        let challenge = person.challenge(w, voucher, None).await.unwrap();
        if is_service(&challenge) {
            return challenge;
        }
        assert!(!deadline.is_over(), "the service stays out of use");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_service_is_away_the_malls_own_challenges_take_over() {
    let moods = [
        None,
        Some(Mood::Silent),
        Some(Mood::Slow),
        Some(Mood::Broken(500)),
        Some(Mood::Broken(429)),
        Some(Mood::Rubbish),
        Some(Mood::ForeignSecret),
    ];
    for provider in [ChallengeProvider::Turnstile, ChallengeProvider::GeeTest] {
        let (w, stub, voucher) = guarded(provider, &[Service, Picture, Work]).await;
        let good = |text: &str| match provider {
            ChallengeProvider::GeeTest => Answer::Service(ServiceResponse::GeeTest(GeeTestResponse {
                lot_number: "7".to_owned(),
                captcha_output: format!("good-{text}"),
                pass_token: "pass".to_owned(),
                gen_time: "1".to_owned(),
            })),
            _ => token(&format!("good-{text}")),
        };
        for (user, mood) in (1..).zip(moods) {
            let mut person = Person::new(user);
            let challenge = until_back(&w, &mut person, voucher).await;
            let other = person.challenge(&w, voucher, None).await.unwrap();
            match mood {
                None => stub.kill(),
                Some(mood) => stub.set(mood),
            }
            let began = Instant::now();
            let submitted = person.submit(&w, voucher, &challenge, &good("lost")).await;
            let took = began.elapsed();
            assert_eq!(refusal(submitted), refused(GuardRefusal::ServiceAway), "{mood:?}");
            assert!(patience::is_within(took, CALL_TIMEOUT * 2), "{mood:?} took {took:?}");
            assert!(!w.sales.challenge_service().unwrap().is_available(), "{mood:?}");

            // At once, without another call, whatever kind is asked for.
            let calls = stub.forms().len();
            let early = person.submit(&w, voucher, &other, &good(&format!("{user}b"))).await;
            assert_eq!(refusal(early), refused(GuardRefusal::ServiceAway), "{mood:?}");
            for (wanted, kind) in [(None, Picture), (Some(Service), Picture), (Some(Work), Work)] {
                let own = person.challenge(&w, voucher, wanted).await.unwrap();
                assert_eq!(kinds_of(&own), [Picture, Work], "{mood:?}");
                let is_kind = match own.puzzle {
                    Puzzle::Picture { .. } => kind == Picture,
                    Puzzle::Work { .. } => kind == Work,
                    _ => false,
                };
                assert!(is_kind, "{mood:?}: {wanted:?}");
                let answer = person.answer(&w, voucher, &own).await;
                person.submit(&w, voucher, &own, &answer).await.unwrap();
            }
            assert_eq!(stub.forms().len(), calls, "{mood:?}");

            // The first probe fails, the second one succeeds.
            w.clock.advance(PAUSE);
            assert!(!is_service(&person.challenge(&w, voucher, None).await.unwrap()), "{mood:?}");
            if mood.is_none() {
                tokio::time::sleep(Duration::from_millis(50)).await;
                stub.revive();
            } else {
                let deadline = Deadline::after(Duration::from_secs(20));
                while stub.forms().len() == calls {
                    assert!(!deadline.is_over(), "{mood:?}: no probe");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                stub.set(Mood::Well);
            }
            // A probe without a response fails within a second.
            tokio::time::sleep(CALL_TIMEOUT + Duration::from_millis(100)).await;
            w.clock.advance(PAUSE * 6);
            let back = until_back(&w, &mut person, voucher).await;
            assert_eq!(kinds_of(&back), [Service, Picture, Work]);
            let response = good(&format!("{user}"));
            let pass = person.submit(&w, voucher, &back, &response).await.unwrap().pass;
            person.claim(&w, voucher, &pass).await.unwrap();
            // Given before the failure, 70 s ago, and not used up while the service was away.
            person.submit(&w, voucher, &other, &good(&format!("{user}b"))).await.unwrap();
        }
        assert_eq!(counts(&w).2, u64::try_from(moods.len()).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_of_the_service_alone_has_work_beside_it() {
    let (w, stub, voucher) = guarded(ChallengeProvider::HCaptcha, &[Service]).await;
    let mut person = Person::new(1);
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    assert!(is_service(&challenge) && kinds_of(&challenge) == [Service, Work]);
    let picture = person.challenge(&w, voucher, Some(Picture)).await;
    assert_eq!(refusal(picture), refused(GuardRefusal::KindNotAllowed));
    for is_away in [false, true] {
        if is_away {
            stub.set(Mood::Broken(503));
            let away = refused(GuardRefusal::ServiceAway);
            assert_eq!(refusal(person.submit(&w, voucher, &challenge, &token("good-1")).await), away);
        }
        let wanted = if is_away { Service } else { Work };
        let work = person.challenge(&w, voucher, Some(wanted)).await.unwrap();
        let kinds: &[ChallengeKind] = if is_away { &[Work] } else { &[Service, Work] };
        assert_eq!(kinds_of(&work), kinds);
        let answer = person.answer(&w, voucher, &work).await;
        assert!(matches!(answer, Answer::Work(_)));
        person.submit(&w, voucher, &work, &answer).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mall_without_a_service_refuses_such_a_guard_and_keeps_selling_with_an_old_one() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let stored = w.sale_admin.put_guard(w.by(), voucher, Some(guard(&[Picture, Service]))).await;
    assert_eq!(refusal(stored), refused(GuardRefusal::NoService));
    // Stored while the mall had a service.
    let vouchers = &w.storage.catalogue.vouchers;
    vouchers.put_guard(voucher, Some(guard(&[Service])), w.now()).await.unwrap();
    w.clock.advance(Duration::from_secs(2));
    let mut person = Person::new(1);
    let challenge = person.challenge(&w, voucher, None).await.unwrap();
    assert_eq!(kinds_of(&challenge), [Work]);
    let answer = person.answer(&w, voucher, &challenge).await;
    let pass = person.submit(&w, voucher, &challenge, &answer).await.unwrap().pass;
    person.claim(&w, voucher, &pass).await.unwrap();
    assert_eq!(
        refusal(person.submit(&w, voucher, &challenge, &token("good-1")).await),
        refused(GuardRefusal::ChallengeFailed)
    );
}
