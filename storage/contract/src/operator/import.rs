//! `Import`: a whole mall or nothing, with balanced stock afterwards.

use std::time::Duration;

use crate::samples;
use mallbox_storage::{
    Cents, Day, FinishOptions, ImportFinding, ImportFindings, ImportRow, ImportRowKind, ImportSequence,
    ImportedNote, ImportedOrder, ImportedSale, ImportedVoucher, Importing, NO_DEADLINE, NoteId, OrderFilter,
    OrderId, OrderStatus, Page, Phone, SaleUnits, ShopId, SignedDay, Timestamp, UnpaidOrders, User,
    UserFilter, UserId, VoucherId, deadlines,
};

use crate::world::{HOUR, NOON, TOKEN, World};

crate::cases! {
    a_used_mall_takes_nobody_in,
    what_is_not_finished_leaves_nothing,
    ids_go_on_above_those_that_moved_in,
    ids_go_on_where_the_tables_they_come_from_would_have_gone_on,
    of_two_rows_with_one_key_the_first_stays_unless_the_second_replaces_it,
    of_many_rows_those_whose_keys_are_taken_are_reported_and_the_others_written,
    units_are_those_that_remain_and_those_that_are_held,
    closed_orders_on_either_side_of_the_live_ones_are_found_by_sale,
    of_several_live_orders_the_one_that_is_furthest_stays,
    unpaid_orders_stay_as_they_were_by_default_and_paid_orders_get_a_payment,
    unpaid_orders_get_a_fresh_deadline_on_request,
    unpaid_orders_are_cancelled_on_request_and_their_units_come_back,
    numbers_that_could_come_again_are_passed_over,
    rows_that_refer_to_nobody_are_left_out_and_reported,
    days_signed_elsewhere_are_days_signed_here,
}

const QUARTER: Duration = Duration::from_secs(900);
const SALE: VoucherId = VoucherId::new(30);

async fn begin(w: &World) -> Box<dyn Importing> {
    w.storage.operator.import.begin().await.unwrap().expect("an empty mall")
}

async fn put(into: &mut Box<dyn Importing>, rows: Vec<ImportRow>) -> Vec<bool> {
    into.put(rows.into_iter().map(|row| (row, false)).collect()).await.unwrap()
}

/// A user with a distinct phone.
pub fn user(id: u64) -> ImportRow {
    let phone = Phone::parse(&format!("139{id:08}")).unwrap();
    ImportRow::User(User::new(UserId::new(id), phone, format!("user {id}"), NOON), None)
}

fn voucher(id: VoucherId, is_sale: bool) -> ImportRow {
    let text = samples::voucher();
    ImportRow::Voucher(ImportedVoucher { id, text, is_sale, created: NOON, updated: NOON })
}

fn note(id: u64, content: String) -> ImportRow {
    let (id, shop, user) = (NoteId::new(id), ShopId::new(1), UserId::new(1));
    let (title, images) = ("A note".to_owned(), String::new());
    let (liked, comments, created, updated) = (3, 1, NOON, NOON);
    let note = ImportedNote { id, shop, user, title, images, content, liked, comments, created, updated };
    ImportRow::Note(note)
}

fn sale(remaining: u64) -> ImportRow {
    ImportRow::Sale(ImportedSale {
        voucher: SALE,
        remaining,
        begin: NOON - HOUR,
        end: NOON + HOUR,
        created: NOON,
    })
}

fn order(id: u64, user: u64, status: OrderStatus) -> ImportRow {
    ImportRow::Order(ImportedOrder {
        id: OrderId::new(id),
        voucher: SALE,
        user: UserId::new(user),
        status,
        pay_type: 2,
        created: NOON - HOUR,
        paid: None,
        used: None,
        refunded: None,
    })
}

/// Imports users 1 to 9, a sale with ten units left, and the given orders. Returns the findings without the
/// rows that all cases share.
async fn moved_in(w: &World, orders: Vec<ImportRow>) -> Vec<ImportFindings> {
    moved_in_with(w, orders, UnpaidOrders::Keep).await
}

async fn moved_in_with(w: &World, orders: Vec<ImportRow>, unpaid: UnpaidOrders) -> Vec<ImportFindings> {
    let mut into = begin(w).await;
    // Referenced rows come last, as in dumps.
    put(&mut into, orders).await;
    put(&mut into, vec![sale(10), voucher(SALE, true)]).await;
    put(&mut into, (1..10).map(user).collect()).await;
    let findings = into.finish(FinishOptions { unpaid, ..FinishOptions::new(QUARTER, NOON) }).await.unwrap();
    let is_of_all = |finding| matches!(finding, ImportFinding::NoShop | ImportFinding::UnpaidKept);
    findings.into_iter().filter(|findings| !is_of_all(findings.finding)).collect()
}

async fn a_used_mall_takes_nobody_in(w: &World) {
    let phone = Phone::parse("13900000001").unwrap();
    w.storage.people.users.find_or_create(&phone, "a", NOON).await.unwrap();
    assert!(w.storage.operator.import.begin().await.unwrap().is_none());
}

async fn what_is_not_finished_leaves_nothing(w: &World) {
    let mut into = begin(w).await;
    assert_eq!(put(&mut into, vec![user(1), voucher(SALE, true), sale(3)]).await, [true; 3]);
    drop(into);
    // After the end of the import, since an import has the database to itself.
    w.storage.base.upkeep.put_setting("after", "it").await.unwrap();
    assert_eq!(w.storage.people.users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap(), []);
    assert_eq!(w.storage.catalogue.vouchers.get(SALE).await.unwrap(), None);
    moved_in(w, vec![]).await;
    assert_eq!(w.storage.people.users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap().len(), 9);
}

async fn ids_go_on_above_those_that_moved_in(w: &World) {
    let mut into = begin(w).await;
    put(&mut into, vec![user(90_000_000), user(7)]).await;
    into.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap();
    let phone = Phone::parse("13800000000").unwrap();
    let next = w.storage.people.users.find_or_create(&phone, "a", NOON).await.unwrap();
    assert_eq!(next.id, UserId::new(90_000_001));
}

async fn ids_go_on_where_the_tables_they_come_from_would_have_gone_on(w: &World) {
    use ImportSequence::{Comments, Notes, Shops, Users, Vouchers};
    let mut into = begin(w).await;
    put(&mut into, vec![user(7), user(900), voucher(VoucherId::new(3), false)]).await;
    let next_ids = [(Shops, 40), (Users, 500), (Vouchers, 1 << 40), (Notes, 23), (Comments, 1)].into();
    into.finish(FinishOptions { next_ids, ..FinishOptions::new(QUARTER, NOON) }).await.unwrap();
    let phone = Phone::parse("13800000000").unwrap();
    let next = w.storage.people.users.find_or_create(&phone, "a", NOON).await.unwrap();
    assert_eq!(next.id, UserId::new(901), "one that moved in is higher");
    let ImportRow::Voucher(ImportedVoucher { text, .. }) = voucher(SALE, false) else { unreachable!() };
    assert_eq!(
        w.storage.catalogue.vouchers.insert(&text, None, NOON).await.unwrap(),
        VoucherId::new(1 << 40)
    );
    // Rows that only raised the counters are not stored.
    let users = w.storage.people.users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap();
    assert_eq!(users.iter().map(|user| user.id.get()).collect::<Vec<_>>(), [7, 900, 901]);
    assert_eq!(w.storage.writing.notes.get(NoteId::new(22)).await.unwrap(), None);
}

async fn of_two_rows_with_one_key_the_first_stays_unless_the_second_replaces_it(w: &World) {
    let mut into = begin(w).await;
    let named = |name: &str| match user(1) {
        ImportRow::User(user, none) => ImportRow::User(User { nick_name: name.to_owned(), ..user }, none),
        other => other,
    };
    let same_phone = match user(1) {
        ImportRow::User(user, none) => ImportRow::User(User { id: UserId::new(2), ..user }, none),
        other => other,
    };
    assert_eq!(
        put(&mut into, vec![user(1), named("second"), same_phone.clone()]).await,
        [true, false, false]
    );
    let put = into.put(vec![(named("third"), true), (same_phone, true), (user(3), true)]).await.unwrap();
    assert_eq!(put, [true, false, true]);
    into.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap();
    let users = w.storage.people.users.list(&UserFilter::default(), Page::new(1, 10)).await.unwrap();
    assert_eq!(users.iter().map(|user| user.nick_name.as_str()).collect::<Vec<_>>(), ["third", "user 3"]);
}

async fn of_many_rows_those_whose_keys_are_taken_are_reported_and_the_others_written(w: &World) {
    let mut into = begin(w).await;
    put(&mut into, vec![user(900)]).await;
    // Among 700 users, two earlier ones are repeated, one of them as a replacement, and one existed before.
    let mut rows: Vec<_> = (1..=700).map(|id| (user(id), false)).collect();
    rows[300].0 = user(5);
    rows[301] = (user(6), true);
    rows[699].0 = user(900);
    // In between, texts that together exceed a packet of MySQL's; one is repeated.
    let note = |id| note(id, "long ".repeat(120_000));
    rows.splice(100..100, (1..=40).map(|id| (note(id.min(39)), false)));
    let expected = (0..740).map(|place| ![139, 340, 739].contains(&place)).collect::<Vec<_>>();
    assert_eq!(into.put(rows).await.unwrap(), expected);
    into.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap();
    let users = w.storage.people.users.list(&UserFilter::default(), Page::new(1, 1000)).await.unwrap();
    let ids: Vec<u64> = users.iter().map(|user| user.id.get()).collect();
    assert_eq!(ids, (1..700).filter(|id| ![301, 302].contains(id)).chain([900]).collect::<Vec<_>>());
}

async fn units_are_those_that_remain_and_those_that_are_held(w: &World) {
    use OrderStatus::{Cancelled, Paid, Refunded, Refunding, Unpaid, Used};
    let orders = [Unpaid, Paid, Used, Cancelled, Refunding, Refunded];
    let orders = orders.into_iter().zip(1..).map(|(status, user)| order(100 + user, user, status)).collect();
    assert_eq!(moved_in(w, orders).await, []);
    let record = w.storage.catalogue.vouchers.get(SALE).await.unwrap().unwrap().sale.unwrap();
    assert_eq!((record.initial, record.stock, record.pay_within), (Some(14), Some(10), QUARTER));
    assert_eq!(
        w.storage.selling.sales.put(record.terms, TOKEN).await.unwrap().done().unwrap(),
        SaleUnits { units: Some(14), taken: 4 }
    );
    for (user, holds) in [(1, true), (2, true), (3, true), (4, false), (5, true), (6, false)] {
        let held = w.storage.selling.orders.holding(SALE, UserId::new(user)).await.unwrap();
        assert_eq!(held, holds.then_some(OrderId::new(100 + user)), "user {user}");
    }
    let faults = w.storage.selling.payments.faults().await.unwrap();
    assert_eq!((faults.paid_without_payment, faults.captured_on_cancelled), (0, 0));
}

/// A list by sale reads a range of order ids.
async fn closed_orders_on_either_side_of_the_live_ones_are_found_by_sale(w: &World) {
    use OrderStatus::{Cancelled, Paid, Refunded};
    let orders = [(101, Cancelled), (102, Paid), (103, Refunded)];
    moved_in(w, orders.map(|(id, status)| order(id, id - 100, status)).to_vec()).await;
    let filter = OrderFilter { voucher: Some(SALE), ..OrderFilter::default() };
    let (found, total) = w.storage.selling.orders.find(filter, Page::new(1, 10)).await.unwrap();
    let mut found: Vec<_> = found.iter().map(|order| order.id.get()).collect();
    found.sort_unstable();
    assert_eq!((found, total), (vec![101, 102, 103], 3));
}

async fn of_several_live_orders_the_one_that_is_furthest_stays(w: &World) {
    use OrderStatus::{Cancelled, Paid, Unpaid, Used};
    let orders = [(101, Unpaid), (102, Paid), (103, Used), (104, Cancelled)].map(|(id, is)| order(id, 1, is));
    let found = moved_in(w, orders.to_vec()).await;
    let (kind, finding) = (ImportRowKind::Order, ImportFinding::SecondLive);
    assert_eq!(found, [ImportFindings { kind, finding, count: 2, examples: vec![102, 101] }]);
    assert_eq!(
        w.storage.selling.orders.holding(SALE, UserId::new(1)).await.unwrap(),
        Some(OrderId::new(103))
    );
    let (dead, _) = w.storage.selling.dead_letters.page(None, Page::new(1, 10)).await.unwrap();
    let dead: Vec<_> = dead
        .iter()
        .rev()
        .map(|letter| (letter.order.get(), letter.reason.as_str(), letter.holds_unit))
        .collect();
    assert_eq!(dead, [(102, "DOUBLE", true), (101, "DOUBLE", true)]);
    let record = w.storage.catalogue.vouchers.get(SALE).await.unwrap().unwrap().sale.unwrap();
    assert_eq!((record.initial, record.stock), (Some(13), Some(10)));
    assert_eq!(w.storage.selling.sales.put(record.terms, TOKEN).await.unwrap().done().unwrap().taken, 3);
}

async fn unpaid_orders_stay_as_they_were_by_default_and_paid_orders_get_a_payment(w: &World) {
    let orders = vec![order(101, 1, OrderStatus::Unpaid), order(i64::MAX as u64, 2, OrderStatus::Paid)];
    moved_in(w, orders).await;
    let unpaid = w.storage.selling.orders.unpaid(OrderId::new(0), 10).await.unwrap();
    assert_eq!(unpaid, [(OrderId::new(101), NO_DEADLINE)]);
    let restored =
        deadlines::restore(&*w.storage.selling.deadlines, &*w.storage.selling.orders, None).await.unwrap();
    assert_eq!((restored, w.storage.selling.deadlines.next().await.unwrap()), (0, None));
    let payments = w.storage.selling.payments.of_order(OrderId::new(i64::MAX as u64)).await.unwrap();
    assert_eq!(payments.iter().map(|payment| payment.amount).collect::<Vec<_>>(), [Cents::new(100)]);
}

async fn unpaid_orders_get_a_fresh_deadline_on_request(w: &World) {
    let orders = vec![order(101, 1, OrderStatus::Unpaid)];
    let found = moved_in_with(w, orders, UnpaidOrders::PayWithin(HOUR)).await;
    let (kind, finding) = (ImportRowKind::Order, ImportFinding::UnpaidTimed);
    assert_eq!(found, [ImportFindings { kind, finding, count: 1, examples: vec![101] }]);
    let unpaid = w.storage.selling.orders.unpaid(OrderId::new(0), 10).await.unwrap();
    assert_eq!(unpaid, [(OrderId::new(101), NOON + HOUR)]);
}

async fn unpaid_orders_are_cancelled_on_request_and_their_units_come_back(w: &World) {
    use OrderStatus::{Paid, Unpaid};
    // Two of user 1's three orders are unpaid: once cancelled, they are no duplicates.
    let orders = [(101, 1, Unpaid), (102, 1, Paid), (103, 1, Unpaid), (104, 2, Unpaid)];
    let orders = orders.map(|(id, user, status)| order(id, user, status)).to_vec();
    let found = moved_in_with(w, orders, UnpaidOrders::Cancel).await;
    let (kind, finding) = (ImportRowKind::Order, ImportFinding::UnpaidCancelled);
    assert_eq!(found, [ImportFindings { kind, finding, count: 3, examples: vec![101, 103, 104] }]);
    assert_eq!(w.storage.selling.orders.unpaid(OrderId::new(0), 10).await.unwrap(), []);
    let record = w.storage.catalogue.vouchers.get(SALE).await.unwrap().unwrap().sale.unwrap();
    assert_eq!((record.initial, record.stock), (Some(14), Some(13)));
    assert_eq!(
        w.storage.selling.sales.put(record.terms, TOKEN).await.unwrap().done().unwrap(),
        SaleUnits { units: Some(14), taken: 1 }
    );
    assert_eq!(w.storage.selling.orders.holding(SALE, UserId::new(2)).await.unwrap(), None);
}

async fn numbers_that_could_come_again_are_passed_over(w: &World) {
    let day = OrderId::day(NOON - HOUR).unwrap();
    let own = OrderId::compose(NOON - HOUR, 7, SALE).unwrap().get();
    // The order's second is eight hours ahead, as from a clock that takes Shanghai's time for UTC.
    let ahead = OrderId::compose(NOON + 7 * HOUR, 9, SALE).unwrap().get();
    // Of another form: were its bits taken for ours, some day to come would have no number left.
    let other = (own + (400 << 49)) | 0xffff_ffff;
    let orders =
        [own, ahead, other].into_iter().zip(1..).map(|(id, user)| order(id, user, OrderStatus::Paid));
    moved_in(w, orders.collect()).await;
    assert_eq!(w.storage.selling.orders.highest_counts().await.unwrap(), [(day, 9)]);
    assert_eq!(w.storage.base.sequences.high_water("order", day).await.unwrap(), Some(9));
    assert_eq!(w.storage.base.sequences.next("order", day).await.unwrap(), 10);
    assert_eq!(w.storage.base.sequences.next("order", day + 1).await.unwrap(), 0);
}

async fn rows_that_refer_to_nobody_are_left_out_and_reported(w: &World) {
    let lone = match order(102, 1, OrderStatus::Paid) {
        ImportRow::Order(order) => ImportRow::Order(ImportedOrder { voucher: VoucherId::new(99), ..order }),
        other => other,
    };
    let follow = |follower, followee| ImportRow::Follow {
        follower: UserId::new(follower),
        followee: UserId::new(followee),
        since: Timestamp::from_millis(0),
    };
    let rows = vec![
        order(101, 50, OrderStatus::Paid),
        lone,
        follow(1, 2),
        follow(1, 50),
        follow(50, 1),
        voucher(VoucherId::new(31), true),
    ];
    let found = moved_in(w, rows).await;
    let found: Vec<_> =
        found.into_iter().map(|found| (found.kind, found.finding, found.count, found.examples)).collect();
    assert_eq!(
        found,
        [
            (ImportRowKind::Order, ImportFinding::NoUser, 1, vec![101]),
            (ImportRowKind::Order, ImportFinding::NoVoucher, 1, vec![102]),
            (ImportRowKind::Follow, ImportFinding::NoUser, 1, vec![50]),
            (ImportRowKind::Follow, ImportFinding::NoUser, 1, vec![1]),
            (ImportRowKind::Voucher, ImportFinding::NoTerms, 1, vec![31]),
        ]
    );
    let lone = w.storage.catalogue.vouchers.get(VoucherId::new(31)).await.unwrap().unwrap().sale.unwrap();
    assert_eq!((lone.initial, lone.stock, lone.terms.end), (Some(0), Some(0), Timestamp::from_millis(0)));
}

async fn days_signed_elsewhere_are_days_signed_here(w: &World) {
    let sign = |user: u64, day: &str, made_up: bool| ImportRow::Sign {
        user: UserId::new(user),
        day: day.to_owned(),
        made_up,
    };
    let mut into = begin(w).await;
    let rows = vec![
        sign(9_000, "2026-01-01", false),
        sign(2, "2025-12-31", true),
        sign(2, "2026-01-01", false),
        sign(404, "2026-01-01", false),
    ];
    put(&mut into, rows).await;
    put(&mut into, vec![user(2), user(9_000)]).await;
    let findings = into.finish(FinishOptions::new(QUARTER, NOON)).await.unwrap();
    assert_eq!((findings[0].finding, findings[0].count), (ImportFinding::NoUser, 1), "{findings:?}");
    let day = |text: &str| Day::parse(text).unwrap();
    let [eve, new_year] = ["2025-12-31", "2026-01-01"].map(day);
    let signs = &w.storage.people.sign_ins;
    let signed = |day, is_made_up| SignedDay { day, is_made_up };
    let days = signs.days(UserId::new(2), mallbox_storage::DaySpan::new(eve, new_year).unwrap()).await;
    assert_eq!(days.unwrap(), [signed(eve, true), signed(new_year, false)]);
    assert_eq!(signs.streak(UserId::new(2), new_year).await.unwrap(), 2);
    assert_eq!(signs.counts(new_year.month()).await.unwrap()[..2], [2, 0]);
    assert!(!signs.sign(UserId::new(9_000), new_year, NOON).await.unwrap());
    assert!(signs.sign(UserId::new(404), new_year, NOON).await.unwrap(), "who did not move in");
    assert_eq!(signs.counts(new_year.month()).await.unwrap()[0], 3);
}
