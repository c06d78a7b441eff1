//! `Vouchers`: reads return what was written; a voucher is a sale from the start or never.

use std::num::{NonZeroU8, NonZeroU32};
use std::time::Duration;

use mallbox_storage::{
    Cents, ChallengeKind, ChallengeKinds, Guard, Judgement, NewSale, Page, SaleRecord, ShopId, Terms,
    Thresholds, VoucherEdit, VoucherFilter, VoucherId, VoucherStatus, VoucherText, WaitingRoom,
};

use crate::selling::orders::persist;
use crate::world::{HOUR, NOON, TOKEN, World, claim};

crate::cases! {
    no_voucher_is_there_before_one_is_added,
    a_voucher_is_read_as_it_was_written,
    a_sale_is_read_as_it_was_written,
    a_refused_sale_leaves_no_voucher_behind,
    only_what_is_on_the_shelf_is_listed,
    ids_are_listed_page_by_page,
    sales_are_listed_by_id_and_end,
    pages_are_newest_first_and_tell_how_many_there_are,
    what_an_edit_leaves_out_stays,
    two_who_edit_at_once_are_both_heard,
    an_edit_leaves_orders_their_price,
    sales_that_are_on_come_before_those_to_come,
    a_window_moves_and_nothing_else,
    a_guard_is_set_and_removed_and_nothing_else,
    a_waiting_room_is_set_and_removed,
    a_limit_of_claims_is_set_and_removed,
    thresholds_are_set_and_removed,
    a_judgement_is_set_and_removed,
    units_per_user_are_set,
    vouchers_outlive_a_restart,
}

fn text(shop: u64, status: VoucherStatus) -> VoucherText {
    VoucherText {
        shop: ShopId::new(shop),
        title: "100元代金券".into(),
        sub_title: "周一至周日".into(),
        rules: "全场通用\n无需预约".into(),
        pay_value: Cents::new(8000),
        actual_value: Cents::new(10_000),
        status,
    }
}

fn sale(units: Option<u64>) -> NewSale {
    let pay_within = Duration::from_secs(900);
    NewSale { units, begin: NOON, end: NOON + HOUR, pay_within, min_level: 3 }
}

async fn no_voucher_is_there_before_one_is_added(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    for id in [0, 1, i64::MAX as u64, u64::MAX].map(VoucherId::new) {
        assert_eq!(vouchers.get(id).await.unwrap(), None);
        assert_eq!(
            vouchers.put_window(id, NOON, NOON, true, TOKEN, NOON).await.unwrap().done().unwrap(),
            None
        );
        assert_eq!(vouchers.sales(None, id, 10).await.unwrap(), []);
    }
    assert_eq!(vouchers.of_shop(ShopId::new(1)).await.unwrap(), []);
}

async fn a_voucher_is_read_as_it_was_written(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    for status in [VoucherStatus::OnShelf, VoucherStatus::OffShelf, VoucherStatus::Expired] {
        let written = text(1, status);
        let id = vouchers.insert(&written, None, NOON).await.unwrap();
        let read = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((read.id, read.text, read.sale), (id, written, None));
        assert_eq!((read.created, read.updated), (NOON, NOON));
        assert_eq!(
            vouchers.put_window(id, NOON, NOON, true, TOKEN, NOON).await.unwrap().done().unwrap(),
            None
        );
    }
}

async fn a_sale_is_read_as_it_was_written(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    for units in [Some(0), Some(100), Some(i64::MAX as u64), None] {
        let id = vouchers.insert(&text(1, VoucherStatus::OnShelf), Some(&sale(units)), NOON).await.unwrap();
        let read = vouchers.get(id).await.unwrap().unwrap().sale.unwrap();
        let terms = Terms {
            voucher: id,
            begin: NOON,
            end: NOON + HOUR,
            paused: false,
            units,
            waiting: false,
            per_user: NonZeroU8::MIN,
        };
        assert_eq!(read.terms, terms);
        assert_eq!((read.initial, read.added, read.stock), (units, 0, units));
        assert_eq!((read.pay_within, read.min_level), (Duration::from_secs(900), 3));
    }
}

async fn a_refused_sale_leaves_no_voucher_behind(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let too_many = sale(Some(u64::MAX));
    assert!(vouchers.insert(&text(1, VoucherStatus::OnShelf), Some(&too_many), NOON).await.is_err());
    assert_eq!(vouchers.of_shop(ShopId::new(1)).await.unwrap(), []);
}

async fn only_what_is_on_the_shelf_is_listed(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let on = VoucherStatus::OnShelf;
    for (shop, status, units) in
        [(1, on, None), (2, on, Some(5)), (1, VoucherStatus::OffShelf, None), (1, on, Some(7))]
    {
        let sale = units.map(|units| sale(Some(units)));
        vouchers.insert(&text(shop, status), sale.as_ref(), NOON).await.unwrap();
    }
    let listed = vouchers.of_shop(ShopId::new(1)).await.unwrap();
    let stock = listed.iter().map(|voucher| (voucher.id.get(), voucher.sale.and_then(|sale| sale.stock)));
    assert_eq!(stock.collect::<Vec<_>>(), [(1, None), (4, Some(7))]);
}

async fn ids_are_listed_page_by_page(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    assert_eq!(vouchers.ids(VoucherId::new(0), 9).await.unwrap(), []);
    let mut all = Vec::new();
    for status in [VoucherStatus::OnShelf, VoucherStatus::OffShelf, VoucherStatus::Expired] {
        all.push(vouchers.insert(&text(1, status), None, NOON).await.unwrap());
        all.push(vouchers.insert(&text(2, status), Some(&sale(None)), NOON).await.unwrap());
    }
    assert_eq!(vouchers.ids(VoucherId::new(0), 9).await.unwrap(), all);
    assert_eq!(vouchers.ids(all[1], 3).await.unwrap(), all[2..5]);
    assert_eq!(vouchers.ids(all[5], 3).await.unwrap(), []);
    assert_eq!(vouchers.ids(VoucherId::new(u64::MAX), 3).await.unwrap(), []);
}

async fn sales_are_listed_by_id_and_end(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    for hours in [1, 3, 0, 2] {
        let sale = NewSale { end: NOON + HOUR * hours, ..sale(Some(1)) };
        vouchers.insert(&text(1, VoucherStatus::OffShelf), Some(&sale), NOON).await.unwrap();
        vouchers.insert(&text(1, VoucherStatus::OnShelf), None, NOON).await.unwrap();
    }
    for (ending_after, after, max, expected) in [
        (None, 0, 10, &[1, 3, 5, 7][..]),
        (None, 1, 2, &[3, 5]),
        (None, 7, 10, &[]),
        (Some(NOON + HOUR), 0, 10, &[3, 7]),
        (Some(NOON + HOUR * 3), 0, 10, &[]),
    ] {
        let list = vouchers.sales(ending_after, VoucherId::new(after), max).await.unwrap();
        let ids: Vec<_> = list.iter().map(|sale| sale.terms.voucher.get()).collect();
        assert_eq!(ids, expected, "{ending_after:?} {after} {max}");
    }
}

async fn pages_are_newest_first_and_tell_how_many_there_are(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let page = async |shop: Option<u64>, sales_only, number| {
        let filter = VoucherFilter { shop: shop.map(ShopId::new), sales_only };
        let (list, total) = vouchers.page(filter, Page::new(number, 2)).await.unwrap();
        (list.iter().map(|voucher| voucher.id.get()).collect::<Vec<_>>(), total)
    };
    assert_eq!(page(None, false, 1).await, (vec![], 0));
    let (on, off) = (VoucherStatus::OnShelf, VoucherStatus::OffShelf);
    for (shop, status, is_sale) in [(1, off, false), (2, on, true), (1, on, true), (1, off, true)] {
        let sale = is_sale.then(|| sale(Some(5)));
        vouchers.insert(&text(shop, status), sale.as_ref(), NOON).await.unwrap();
    }
    for (shop, sales_only, pages, total) in [
        (None, false, [&[4, 3][..], &[2, 1], &[]], 4),
        (None, true, [&[4, 3], &[2], &[]], 3),
        (Some(1), false, [&[4, 3], &[1], &[]], 3),
        (Some(1), true, [&[4, 3], &[], &[]], 2),
        (Some(2), false, [&[2], &[], &[]], 1),
        (Some(9), false, [&[], &[], &[]], 0),
        (Some(u64::MAX), true, [&[], &[], &[]], 0),
    ] {
        for (number, ids) in (1..).zip(pages) {
            assert_eq!(page(shop, sales_only, number).await, (ids.to_vec(), total), "{shop:?} {sales_only}");
        }
    }
    let (newest, _) = vouchers.page(VoucherFilter::default(), Page::new(1, 1)).await.unwrap();
    assert_eq!(vouchers.get(VoucherId::new(4)).await.unwrap(), newest.into_iter().next());
}

async fn what_an_edit_leaves_out_stays(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let id = vouchers.insert(&text(1, VoucherStatus::OnShelf), Some(&sale(Some(5))), NOON).await.unwrap();
    let other = vouchers.insert(&text(1, VoucherStatus::OnShelf), None, NOON).await.unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    let mut expected = vouchers.get(id).await.unwrap().unwrap();
    let none = VoucherEdit::default();
    for (edit, at) in [
        (none.clone(), NOON + HOUR),
        (VoucherEdit { title: Some("茶".into()), sub_title: Some(String::new()), ..none.clone() }, NOON),
        (VoucherEdit { rules: Some("一\n二".into()), pay_value: Some(Cents::new(0)), ..none.clone() }, NOON),
        (VoucherEdit { actual_value: Some(Cents::new(i64::MAX)), ..none.clone() }, NOON - HOUR),
        (VoucherEdit { status: Some(VoucherStatus::Expired), ..none.clone() }, NOON),
    ] {
        let text = &mut expected.text;
        text.title = edit.title.clone().unwrap_or(text.title.clone());
        text.sub_title = edit.sub_title.clone().unwrap_or(text.sub_title.clone());
        text.rules = edit.rules.clone().unwrap_or(text.rules.clone());
        text.pay_value = edit.pay_value.unwrap_or(text.pay_value);
        text.actual_value = edit.actual_value.unwrap_or(text.actual_value);
        text.status = edit.status.unwrap_or(text.status);
        expected.updated = at;
        for _ in 0..2 {
            assert_eq!(
                vouchers.update(id, &edit, TOKEN, at).await.unwrap().done().unwrap(),
                Some(expected.clone()),
                "{edit:?}"
            );
        }
        assert_eq!(vouchers.get(id).await.unwrap(), Some(expected.clone()));
    }
    assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    for unknown in [0, 99, u64::MAX].map(VoucherId::new) {
        assert_eq!(vouchers.update(unknown, &none, TOKEN, NOON).await.unwrap().done().unwrap(), None);
    }
}

async fn two_who_edit_at_once_are_both_heard(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let id = vouchers.insert(&text(1, VoucherStatus::OnShelf), None, NOON).await.unwrap();
    for n in 0..20 {
        let title = VoucherEdit { title: Some(format!("title {n}")), ..VoucherEdit::default() };
        let value = VoucherEdit { pay_value: Some(Cents::new(n)), ..VoucherEdit::default() };
        let both =
            tokio::join!(vouchers.update(id, &title, TOKEN, NOON), vouchers.update(id, &value, TOKEN, NOON));
        assert!([both.0, both.1].into_iter().all(|edited| edited.unwrap().done().unwrap().is_some()));
        let read = vouchers.get(id).await.unwrap().unwrap().text;
        assert_eq!((read.title, read.pay_value), (format!("title {n}"), Cents::new(n)));
    }
}

async fn an_edit_leaves_orders_their_price(w: &World) {
    let voucher = w.sale(Some(5)).await;
    let earlier = claim(voucher, 1, 1);
    persist(w, &[earlier]).await;
    let before = w.storage.selling.orders.get(earlier.order).await.unwrap();
    let dearer = VoucherEdit { pay_value: Some(Cents::new(123_456)), ..VoucherEdit::default() };
    assert!(
        w.storage
            .catalogue
            .vouchers
            .update(voucher, &dearer, TOKEN, NOON)
            .await
            .unwrap()
            .done()
            .unwrap()
            .is_some()
    );
    assert_eq!(w.storage.selling.orders.get(earlier.order).await.unwrap(), before);
    let later = claim(voucher, 2, 2);
    persist(w, &[later]).await;
    let order = w.storage.selling.orders.get(later.order).await.unwrap().unwrap();
    assert_eq!(order.pay_value, Cents::new(123_456));
}

async fn sales_that_are_on_come_before_those_to_come(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let on = VoucherStatus::OnShelf;
    assert_eq!(vouchers.on_sale(NOON, 10).await.unwrap(), []);
    // In hours from noon.
    for (status, begin, end) in [
        (on, 2, 3),
        (on, 1, 9),
        (on, 0, 4),
        (on, -5, 1),
        (on, -5, 0),
        (VoucherStatus::OffShelf, -5, 1),
        (VoucherStatus::Expired, 1, 2),
        (on, -1, 1),
        (on, 1, 2),
    ] {
        let at = |hours: i32| {
            if hours < 0 { NOON - HOUR * hours.unsigned_abs() } else { NOON + HOUR * hours.unsigned_abs() }
        };
        let sale = NewSale { begin: at(begin), end: at(end), ..sale(Some(1)) };
        vouchers.insert(&text(1, status), Some(&sale), NOON).await.unwrap();
    }
    vouchers.insert(&text(1, on), None, NOON).await.unwrap();
    for (now, max, expected) in [
        (NOON, 10, &[4, 8, 3, 2, 9, 1][..]),
        (NOON, 4, &[4, 8, 3, 2]),
        (NOON, 0, &[]),
        (NOON + HOUR, 10, &[9, 3, 2, 1]),
        (NOON + HOUR * 9, 10, &[]),
    ] {
        let list = vouchers.on_sale(now, max).await.unwrap();
        assert_eq!(
            list.iter().map(|voucher| voucher.id.get()).collect::<Vec<_>>(),
            expected,
            "{now:?} {max}"
        );
        let whole = list.iter().all(|voucher| voucher.sale.is_some() && voucher.text == text(1, on));
        assert!(whole, "{list:?}");
    }
}

async fn a_window_moves_and_nothing_else(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let id = vouchers.insert(&text(1, VoucherStatus::OnShelf), Some(&sale(Some(5))), NOON).await.unwrap();
    let other = vouchers.insert(&text(1, VoucherStatus::OnShelf), Some(&sale(None)), NOON).await.unwrap();
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    let mut expected = before.sale.unwrap();
    expected.terms = Terms { begin: NOON - HOUR, end: NOON + HOUR * 5, paused: true, ..expected.terms };
    for _ in 0..2 {
        let moved = vouchers
            .put_window(id, NOON - HOUR, NOON + HOUR * 5, true, TOKEN, NOON + HOUR)
            .await
            .unwrap()
            .done()
            .unwrap();
        assert_eq!(moved, Some(expected));
    }
    let after = vouchers.get(id).await.unwrap().unwrap();
    assert_eq!((after.text, after.sale, after.created), (before.text, Some(expected), NOON));
    assert_eq!(after.updated, NOON + HOUR);
    assert_eq!(vouchers.get(other).await.unwrap(), untouched);
}

async fn a_guard_is_set_and_removed_and_nothing_else(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(5)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().guard, None);
    let kinds = |kinds: &[ChallengeKind]| ChallengeKinds::new(kinds).unwrap();
    let guard = Guard {
        kinds: kinds(&[ChallengeKind::Service, ChallengeKind::Slider, ChallengeKind::Work]),
        work_bits: 18,
        pass_seconds: 60,
        jitter_seconds: 3,
    };
    let least =
        Guard { kinds: kinds(&[ChallengeKind::Picture]), work_bits: 0, pass_seconds: 1, jitter_seconds: 0 };
    for guard in [Some(guard), Some(guard), Some(least), None, None] {
        let expected = SaleRecord { guard, ..before.sale.unwrap() };
        assert_eq!(vouchers.put_guard(id, guard, NOON + HOUR).await.unwrap(), Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!((after.text, after.created), (before.text.clone(), before.created));
        let listed = vouchers.sales(None, VoucherId::new(id.get() - 1), 1).await.unwrap();
        assert_eq!(listed, [expected]);
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_guard(nothing, Some(guard), NOON).await.unwrap(), None);
    }
}

async fn a_waiting_room_is_set_and_removed(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(3)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().room, None);
    let room = WaitingRoom { per_second: 200, admission_seconds: 120 };
    let most = WaitingRoom { per_second: u32::MAX, admission_seconds: u16::MAX };
    for room in [Some(room), Some(room), Some(most), None, None] {
        let expected = SaleRecord { room, ..before.sale.unwrap() };
        assert_eq!(vouchers.put_room(id, room, NOON + HOUR).await.unwrap(), Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_room(nothing, Some(room), NOON).await.unwrap(), None);
    }
}

async fn a_limit_of_claims_is_set_and_removed(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(3)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().claims_per_second, None);
    let (limit, most) = (NonZeroU32::new(2_000), Some(NonZeroU32::MAX));
    for claims_per_second in [limit, limit, most, None, None] {
        let expected = SaleRecord { claims_per_second, ..before.sale.unwrap() };
        let stored = vouchers.put_claim_limit(id, claims_per_second, NOON + HOUR).await.unwrap();
        assert_eq!(stored, Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_claim_limit(nothing, limit, NOON).await.unwrap(), None);
    }
}

async fn thresholds_are_set_and_removed(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(3)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().thresholds, None);
    let some = Some(Thresholds { account_hours: 72, sms_code: true });
    let most = Some(Thresholds { account_hours: u16::MAX, sms_code: false });
    for thresholds in [some, some, most, None, None] {
        let expected = SaleRecord { thresholds, ..before.sale.unwrap() };
        assert_eq!(vouchers.put_thresholds(id, thresholds, NOON + HOUR).await.unwrap(), Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_thresholds(nothing, some, NOON).await.unwrap(), None);
    }
}

async fn a_judgement_is_set_and_removed(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(3)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().judgement, None);
    let all = Judgement::ALL.map(Some);
    for judgement in all.into_iter().chain([all[0], all[0], None, None]) {
        let expected = SaleRecord { judgement, ..before.sale.unwrap() };
        assert_eq!(vouchers.put_judgement(id, judgement, NOON + HOUR).await.unwrap(), Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_judgement(nothing, all[0], NOON).await.unwrap(), None);
    }
}

async fn units_per_user_are_set(w: &World) {
    let vouchers = &w.storage.catalogue.vouchers;
    let (id, other) = (w.sale(Some(3)).await, w.sale(None).await);
    let before = vouchers.get(id).await.unwrap().unwrap();
    let untouched = vouchers.get(other).await.unwrap();
    assert_eq!(before.sale.unwrap().terms.per_user, NonZeroU8::MIN);
    for per_user in [3, 3, u8::MAX, 1].map(|units| NonZeroU8::new(units).unwrap()) {
        let sale = before.sale.unwrap();
        let expected = SaleRecord { terms: Terms { per_user, ..sale.terms }, ..sale };
        assert_eq!(vouchers.put_per_user(id, per_user, NOON + HOUR).await.unwrap(), Some(expected));
        let after = vouchers.get(id).await.unwrap().unwrap();
        assert_eq!((after.sale, after.updated), (Some(expected), NOON + HOUR));
        assert_eq!(vouchers.get(other).await.unwrap(), untouched);
    }
    let ordinary = w.ordinary_voucher().await;
    for nothing in [ordinary, VoucherId::new(404)] {
        assert_eq!(vouchers.put_per_user(nothing, NonZeroU8::MIN, NOON).await.unwrap(), None);
    }
}

async fn vouchers_outlive_a_restart(w: &World) {
    let w = w.another().await;
    let id = w.sale(Some(3)).await;
    let voucher = w.storage.catalogue.vouchers.get(id).await.unwrap();
    let w = w.reopen().await;
    assert_eq!(w.storage.catalogue.vouchers.get(id).await.unwrap(), voucher);
}
