//! Trusted kiosks: their claims need no challenge in a guarded sale.

use std::net::IpAddr;
use std::time::Duration;

use mallbox::mall::base::GuardRefusal;
use mallbox::mall::operator::KioskAdmin;
use mallbox::mall::operator::kiosks::NewKiosk;
use mallbox::mall::operator::sales::{DEFAULT_GUARD, DEFAULT_ROOM};
use mallbox::mall::selling::guard::ShownPass;
use mallbox::mall::{Failure, Random, Refusal, Settings};
use mallbox_storage::{Judgement, Limit, OrderId, UserId, VoucherId};
use tokio::task::JoinSet;

use super::world::{World, refusal, with_settings, world};

const SECOND: Duration = Duration::from_secs(1);

fn admin(w: &World) -> KioskAdmin {
    KioskAdmin::new(w.context.clone(), w.audit.clone(), Random::seeded(9).into())
}

async fn guarded_sale(w: &World) -> VoucherId {
    let voucher = w.sale(9).await;
    w.sale_admin.put_guard(w.by(), voucher, Some(DEFAULT_GUARD)).await.unwrap();
    voucher
}

async fn claim(w: &World, user: u64, voucher: VoucherId, key: &str) -> Result<OrderId, Failure> {
    let address = Some(IpAddr::from([203, 0, 113, 7]));
    let shown = ShownPass { kiosk: Some(key), address, ..ShownPass::default() };
    w.sales.claim_with_pass(UserId::new(user), voucher, shown, w.now()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_kiosk_buys_without_a_challenge_until_it_is_removed() {
    let w = world().await;
    let (voucher, kiosks) = (guarded_sale(&w).await, admin(&w));
    let required = Refusal::Guard(GuardRefusal::PassRequired);
    assert_eq!(refusal(claim(&w, 1, voucher, "").await), required);
    let NewKiosk { kiosk, key } = kiosks.add(w.by(), " 收银台 ").await.unwrap();
    assert_eq!((kiosk.name.as_str(), kiosk.id), ("收银台", 1));
    assert_eq!(refusal(claim(&w, 1, voucher, &key.to_uppercase()).await), required);
    let order = claim(&w, 1, voucher, &key).await.unwrap();
    assert_eq!(refusal(claim(&w, 1, voucher, &key).await), Refusal::AlreadyBought(order));
    claim(&w, 2, voucher, &key).await.unwrap();
    assert_eq!(kiosks.list().await.unwrap(), std::slice::from_ref(&kiosk));
    assert_eq!(kiosks.remove(w.by(), 1).await.unwrap(), kiosk);
    w.clock.advance(SECOND * 5);
    assert_eq!(refusal(claim(&w, 3, voucher, &key).await), required);
    assert_eq!(refusal(kiosks.remove(w.by(), 1).await), Refusal::NotFound("kiosk"));
    let audited = w.audited().await;
    let of_kiosks: Vec<_> = audited.iter().filter(|(action, ..)| action.starts_with("kiosk.")).collect();
    // One added, one removed, and a refused removal with its end.
    assert_eq!(of_kiosks.len(), 4, "{audited:?}");
    assert!(!format!("{audited:?}").contains(&key));
    w.drain().await;
    assert_eq!(w.left(voucher).await, 7);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_checked_and_unique_also_between_instances() {
    let w = world().await;
    let (one, other) = (admin(&w), admin(&w));
    for bad in ["", " ", &"台".repeat(41)] {
        assert_eq!(refusal(one.add(w.by(), bad).await.map(|new| new.kiosk)), Refusal::BadValue("kioskName"));
    }
    let mut adding = JoinSet::new();
    for number in 0..20 {
        let kiosks = if number % 2 == 0 { one.clone() } else { other.clone() };
        let by = w.by();
        adding.spawn(async move { kiosks.add(by, &format!("kiosk {number}")).await.unwrap().kiosk.id });
    }
    adding.join_all().await;
    let listed = one.list().await.unwrap();
    let mut ids: Vec<u32> = listed.iter().map(|kiosk| kiosk.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
    let taken = other.add(w.by(), "kiosk 7").await.map(|new| new.kiosk);
    assert_eq!(refusal(taken), Refusal::BadValue("kioskNameTaken"));
    drop((one, other));
    let w = w.restart().await;
    assert_eq!(admin(&w).list().await.unwrap(), listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kiosk_has_a_limit_and_waits_its_turn() {
    let limit = Some(Limit { count: 2, per: SECOND * 3_600 });
    let w = with_settings(Settings { pass_limit_of_address: limit, ..Settings::default() }).await;
    let (voucher, other, kiosks) = (guarded_sale(&w).await, guarded_sale(&w).await, admin(&w));
    let [first, second] =
        [kiosks.add(w.by(), "one").await.unwrap().key, kiosks.add(w.by(), "two").await.unwrap().key];
    for user in 1..=2 {
        claim(&w, user, voucher, &first).await.unwrap();
    }
    let refused = refusal(claim(&w, 3, voucher, &first).await);
    assert!(matches!(refused, Refusal::RateLimited { .. }), "{refused:?}");
    claim(&w, 3, voucher, &second).await.unwrap();
    claim(&w, 3, other, &first).await.unwrap();
    w.sale_admin.put_room(w.by(), other, Some(DEFAULT_ROOM)).await.unwrap();
    let waits = refusal(claim(&w, 4, other, &second).await);
    assert_eq!(waits, Refusal::Guard(GuardRefusal::AdmissionRequired));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_judgement_logs_a_kiosk_and_does_not_refuse_it() {
    let w = world().await;
    let (voucher, key) = (guarded_sale(&w).await, admin(&w).add(w.by(), "one").await.unwrap().key);
    let rules = "limit = 1\nrules = [{ signal = 'user-attempts', at-least = 1, points = 1 }]";
    w.sale_admin.put_judgement_rules(w.by(), rules.to_owned()).await.unwrap();
    for (user, judgement) in (1..).zip([Judgement::Challenge, Judgement::Refuse]) {
        w.sale_admin.put_judgement(w.by(), voucher, Some(judgement)).await.unwrap();
        w.clock.advance(SECOND);
        claim(&w, user, voucher, &key).await.unwrap();
    }
    w.sales.store_attempts().await.unwrap();
    let logged = w.sale_admin.attempts(voucher, None, w.now()).await.unwrap();
    let scores: Vec<u32> = logged.iter().map(|view| view.stored.attempt.score).collect();
    assert_eq!(scores, [1, 1]);
}
