//! The batch door: a gateway's claims pass the checks of single claims, and share group commits.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU8;
use std::time::Duration;

use mallbox::mall::base::GuardRefusal;
use mallbox::mall::operator::sales::{DEFAULT_GUARD, DEFAULT_ROOM};
use mallbox::mall::selling::batch_claims::{BatchClaims, BatchOutcome, DecidedBatch, GatewayClaim};
use mallbox::mall::{ClaimGatewayRefusal, Context, Failure, FlashSales, Refusal, Settings};
use mallbox_storage::{
    ClaimGateway, ClaimGatewayId, LastOperator, Limit, NewSale, OrderId, RightsChange, RightsOutcome,
    Thresholds, UserId, VoucherId,
};
use tokio::task::JoinSet;

use super::world::{MINUTE, PAY_WITHIN, World, idle, refusal, with_settings, world};

/// A gateway that may claim in these sales.
pub fn gateway(sales: &[VoucherId]) -> ClaimGateway {
    ClaimGateway {
        id: ClaimGatewayId::new(1),
        name: "gateway".to_owned(),
        operator: super::world::OPERATOR,
        sales: sales.iter().copied().collect::<BTreeSet<_>>(),
        created: super::world::NOON,
        expires: super::world::NOON + MINUTE * 60 * 24 * 90,
    }
}

pub fn claim(user: UserId, voucher: VoucherId) -> GatewayClaim {
    GatewayClaim { user, voucher, holding: 0, pass: None, device: None, admission: None }
}

/// Registers users.
pub async fn users(w: &World, count: u64) -> Vec<UserId> {
    let mut registering = JoinSet::new();
    for number in 0..count {
        let (users, now) = (w.storage.people.users.clone(), w.now());
        let phone = mallbox_storage::Phone::parse(&format!("138{number:08}")).unwrap();
        registering.spawn(async move { users.find_or_create(&phone, "user", now).await.unwrap().id });
    }
    let mut users = registering.join_all().await;
    users.sort_unstable();
    users
}

/// Returns the batch door of an instance.
pub fn door(context: Context) -> BatchClaims {
    let sales = FlashSales::new(context.clone());
    BatchClaims::new(context, sales)
}

pub async fn decide(w: &World, name: &str, claims: &[GatewayClaim]) -> Result<DecidedBatch, Failure> {
    let sales: Vec<VoucherId> = claims.iter().map(|claim| claim.voucher).collect();
    let door = BatchClaims::new(w.context.clone(), w.sales.clone());
    door.claim(gateway(&sales), name.to_owned(), claims.to_vec()).await
}

/// Returns the outcomes of a batch that is no repeat.
pub async fn outcomes(w: &World, name: &str, claims: &[GatewayClaim]) -> Vec<BatchOutcome> {
    let decided = decide(w, name, claims).await.unwrap();
    assert!(!decided.is_repeat);
    decided.outcomes
}

pub fn accepted(outcomes: &[BatchOutcome]) -> Vec<OrderId> {
    let orders = outcomes.iter().filter_map(|outcome| match outcome {
        BatchOutcome::Accepted(order) => Some(*order),
        BatchOutcome::Refused(_) => None,
    });
    orders.collect()
}

fn refused(refusal: impl Into<Refusal>) -> BatchOutcome {
    BatchOutcome::Refused(refusal.into())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_batch_sells_exactly_the_units_that_are_left_in_a_few_group_commits() {
    const UNITS: u64 = 400;
    let mut w = idle().await;
    let (voucher, users) = (w.sale(UNITS).await, users(&w, 500).await);
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, voucher)).collect();
    let outcomes = outcomes(&w, "all", &claims).await;
    let orders: HashSet<OrderId> = accepted(&outcomes).into_iter().collect();
    assert_eq!((outcomes.len(), orders.len() as u64), (500, UNITS));
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == refused(Refusal::SoldOut)).count(), 100);
    assert_eq!(w.left(voucher).await, 0);
    let logged = w.storage.selling.order_log.take("test", 1_000, Duration::ZERO).await.unwrap();
    let in_log: HashSet<OrderId> = logged.iter().map(|logged| logged.claim.order).collect();
    assert_eq!(in_log, orders, "the ids of the outcomes are those of the claims");
    let commits: HashSet<u64> = logged.iter().map(|logged| logged.position.major).collect();
    println!("{UNITS} claims in {} commits", commits.len());
    if w.ground().database().is_none() {
        // Claims made one after another have a commit each.
        assert!(commits.len() as u64 * 10 <= UNITS, "{} commits", commits.len());
    }
    w.storage.selling.order_log.put_back("test", &logged, false).await.unwrap();
    w.start_workers();
    w.drain().await;
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_claim_is_refused_for_its_own_reason() {
    let w = world().await;
    let (voucher, other) = (w.sale(9).await, w.sale(9).await);
    let users = users(&w, 4).await;
    let block = RightsChange::Block { reason: "buys for resale".to_owned() };
    let blocked = w.storage.people.users.put_rights(users[1], &block, LastOperator::MayGo, w.now()).await;
    assert!(matches!(blocked.unwrap(), RightsOutcome::Done(_)));
    let [one, two, third] = [0, 2, 3].map(|number| claim(users[number], voucher));
    let (unnamed, unknown) = (claim(users[0], other), claim(UserId::new(u64::MAX), voucher));
    let off = VoucherId::new(404);
    let claims = [
        one.clone(),
        claim(users[1], voucher),
        unnamed,
        unknown,
        one.clone(),
        two.clone(),
        claim(users[0], off),
        third,
    ];
    let door = BatchClaims::new(w.context.clone(), w.sales.clone());
    let decided = door.claim(gateway(&[voucher, off]), "mixed".to_owned(), claims.to_vec()).await.unwrap();
    let orders = accepted(&decided.outcomes);
    assert_eq!(orders.len(), 3);
    let expected = [
        BatchOutcome::Accepted(orders[0]),
        refused(Refusal::Blocked),
        refused(ClaimGatewayRefusal::SaleNotNamed),
        refused(ClaimGatewayRefusal::UnknownUser),
        refused(ClaimGatewayRefusal::DuplicateClaim),
        BatchOutcome::Accepted(orders[1]),
        refused(Refusal::UnknownSale),
        BatchOutcome::Accepted(orders[2]),
    ];
    assert_eq!(decided.outcomes, expected);
    // A holder learns the order, as at the single door.
    let again = outcomes(&w, "again", &[two]).await;
    assert_eq!(again, [refused(Refusal::AlreadyBought(orders[1]))]);
    w.drain().await;
    assert_eq!((w.left(voucher).await, w.left(other).await), (6, 9));
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_no_batch_are_refused_as_a_whole() {
    let w = world().await;
    let voucher = w.sale(9).await;
    let one = claim(UserId::new(1), voucher);
    for (name, claims) in
        [("", vec![one.clone()]), (&*"长".repeat(65), vec![one.clone()]), ("a\nb", vec![one.clone()])]
    {
        assert_eq!(refusal(decide(&w, name, &claims).await), Refusal::BadValue("requestId"), "{name:?}");
    }
    for count in [0, BatchClaims::CLAIMS_MAX + 1] {
        let claims = vec![one.clone(); count];
        assert_eq!(refusal(decide(&w, "one", &claims).await), Refusal::BadValue("claims"), "{count}");
    }
    assert_eq!(w.left(voucher).await, 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_a_sale_hold_for_gateways() {
    let w = world().await;
    let user = users(&w, 1).await[0];
    let hour = MINUTE * 60;
    let like =
        |begin, end, min_level| NewSale { units: Some(9), begin, end, pay_within: PAY_WITHIN, min_level };
    let [later, over, for_members] = [
        like(w.now() + hour, w.now() + hour * 2, 0),
        like(w.now() - hour * 2, w.now() - hour, 0),
        like(w.now() - hour, w.now() + hour, 3),
    ];
    let (later, for_members) = (w.sale_like(later).await, w.sale_like(for_members).await);
    let over = w.sale_like(over).await;
    let (paused, guarded, crowded) = (w.sale(9).await, w.sale(9).await, w.sale(9).await);
    let (by_code, sold_out) = (w.sale(9).await, w.sale(0).await);
    w.sale_admin.pause(w.by(), paused).await.unwrap();
    w.sale_admin.put_guard(w.by(), guarded, Some(DEFAULT_GUARD)).await.unwrap();
    w.sale_admin.put_room(w.by(), crowded, Some(DEFAULT_ROOM)).await.unwrap();
    let thresholds = Thresholds { account_hours: 0, sms_code: true };
    w.sale_admin.put_thresholds(w.by(), by_code, thresholds).await.unwrap();
    let cases = [
        (later, Refusal::NotOpen),
        (over, Refusal::Ended),
        (for_members, Refusal::LevelTooLow),
        (paused, Refusal::Paused),
        (guarded, Refusal::Guard(GuardRefusal::PassRequired)),
        (crowded, Refusal::Guard(GuardRefusal::AdmissionRequired)),
        (by_code, Refusal::SmsCodeNeeded),
        (sold_out, Refusal::SoldOut),
    ];
    let claims = cases.each_ref().map(|(voucher, _)| claim(user, *voucher));
    let expected = cases.map(|(_, refusal)| refused(refusal));
    assert_eq!(outcomes(&w, "rules", &claims).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_counts_for_its_user_alone() {
    let w = world().await;
    let (voucher, users) = (w.sale(9).await, users(&w, 2).await);
    w.sale_admin.put_guard(w.by(), voucher, Some(DEFAULT_GUARD)).await.unwrap();
    let granted = w.sales.grant_pass(users[0], voucher, w.now()).await.unwrap();
    let with_pass = |user| GatewayClaim {
        pass: Some(granted.pass.clone()),
        device: Some(granted.device_ticket.clone()),
        ..claim(user, voucher)
    };
    let required = refused(Refusal::Guard(GuardRefusal::PassRequired));
    let of_another = outcomes(&w, "another's", &[with_pass(users[1])]).await;
    assert_eq!(of_another, std::slice::from_ref(&required));
    let without_device = GatewayClaim { device: None, ..with_pass(users[0]) };
    assert_eq!(outcomes(&w, "no device", &[without_device]).await, [required]);
    assert_eq!(accepted(&outcomes(&w, "own", &[with_pass(users[0])]).await).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_gets_several_units_in_one_batch_as_far_as_the_sale_allows() {
    let w = world().await;
    let (voucher, users) = (w.sale(99).await, users(&w, 20).await);
    w.sale_admin.put_per_user(w.by(), voucher, NonZeroU8::new(2)).await.unwrap();
    let mut claims = Vec::new();
    for holding in 0..3 {
        claims.extend(users.iter().map(|user| GatewayClaim { holding, ..claim(*user, voucher) }));
    }
    let outcomes = outcomes(&w, "pairs", &claims).await;
    assert_eq!(accepted(&outcomes[..40]).len(), 40, "{outcomes:?}");
    let most = NonZeroU8::new(2).unwrap();
    assert!(outcomes[40..].iter().all(|outcome| *outcome == refused(Refusal::LimitReached(most))));
    w.drain().await;
    assert_eq!(w.left(voucher).await, 59);
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_of_a_waited_sale_are_for_the_list() {
    let w = world().await;
    let (voucher, users) = (w.sale(1).await, users(&w, 3).await);
    w.sale_admin.put_waiting_list(w.by(), voucher, Some(9)).await.unwrap();
    let order = accepted(&outcomes(&w, "first", &[claim(users[0], voucher)]).await)[0];
    w.drain().await;
    let shown = mallbox::mall::selling::guard::ShownPass::default();
    w.sales.join_waiting_list(users[1], voucher, shown, w.now()).await.unwrap();
    w.orders.cancel(users[0], order, w.now()).await.unwrap();
    let late = outcomes(&w, "late", &[claim(users[2], voucher)]).await;
    assert_eq!(late, [refused(Refusal::SoldOut)]);
    w.advance(Duration::from_secs(2)).await;
    w.drain().await;
    let held = w.storage.selling.sales.held(voucher, users[1], 0).await.unwrap();
    assert!(held.is_some(), "the unit went to the first who waited");
    w.assert_balanced().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_of_users_and_sales_count_the_claims_of_batches() {
    let limit = Limit { count: 2, per: MINUTE };
    let settings = Settings { claim_limit: Some(limit), ..Settings::default().without_limits() };
    let w = with_settings(settings).await;
    let (voucher, users) = (w.sale(0).await, users(&w, 9).await);
    for number in 0..3 {
        let outcomes = outcomes(&w, &number.to_string(), &[claim(users[0], voucher)]).await;
        let is_limited = matches!(outcomes[0], BatchOutcome::Refused(Refusal::RateLimited { retry_after }) if retry_after <= MINUTE);
        assert_eq!(is_limited, number == 2, "{outcomes:?}");
    }
    let crowd = w.sale(9).await;
    w.sale_admin.put_claim_limit(w.by(), crowd, std::num::NonZeroU32::new(4)).await.unwrap();
    let claims: Vec<GatewayClaim> = users.iter().map(|user| claim(*user, crowd)).collect();
    let outcomes = outcomes(&w, "crowd", &claims).await;
    assert_eq!(accepted(&outcomes).len(), 4, "{outcomes:?}");
}
