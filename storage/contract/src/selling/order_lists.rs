//! `Orders` searched: by user, voucher and status, newest first.

use mallbox_storage::{OrderFilter, OrderId, OrderStatus, Page, Transition, UserId, VoucherId};

use crate::selling::orders::persist;
use crate::world::{NOON, World, claim};

crate::cases! {
    orders_are_found_by_each_part_of_a_filter_and_by_all,
    a_sale_is_tallied_as_it_is_counted,
}

async fn found(w: &World, filter: OrderFilter, page: Page) -> (Vec<OrderId>, u64) {
    let (orders, total) = w.storage.selling.orders.find(filter, page).await.unwrap();
    assert!(orders.iter().all(|order| filter.admits(order)));
    (orders.into_iter().map(|order| order.id).collect(), total)
}

async fn orders_are_found_by_each_part_of_a_filter_and_by_all(w: &World) {
    let vouchers = [w.sale(Some(9)).await, w.sale(None).await];
    let mut ids = Vec::new();
    for number in 1..=6 {
        // Users 1 to 3 in turns, first in one sale and then in the other.
        let one = claim(vouchers[usize::from(number > 3)], (number - 1) % 3 + 1, number);
        persist(w, &[one]).await;
        ids.push(one.order);
    }
    for cancelled in [0, 4] {
        let _ = w.storage.selling.orders.step(ids[cancelled], Transition::Cancel, NOON).await.unwrap();
    }
    let all = OrderFilter::default();
    let of = |user| OrderFilter { user: Some(UserId::new(user)), ..all };
    let cancelled = OrderFilter { status: Some(OrderStatus::Cancelled), ..all };
    let unpaid = OrderFilter { status: Some(OrderStatus::Unpaid), ..all };
    let sale = |index: usize| OrderFilter { voucher: Some(vouchers[index]), ..all };
    for (filter, expected) in [
        (all, &[5, 4, 3, 2, 1, 0][..]),
        (of(2), &[4, 1]),
        (of(9), &[]),
        (of(u64::MAX), &[]),
        (OrderFilter { status: Some(OrderStatus::Cancelled), ..of(2) }, &[4]),
        (OrderFilter { status: Some(OrderStatus::Unpaid), ..of(2) }, &[1]),
        (OrderFilter { status: Some(OrderStatus::Paid), ..of(2) }, &[]),
        (sale(0), &[2, 1, 0]),
        (sale(1), &[5, 4, 3]),
        (OrderFilter { voucher: Some(VoucherId::new(404)), ..all }, &[]),
        (cancelled, &[4, 0]),
        (unpaid, &[5, 3, 2, 1]),
        (OrderFilter { status: Some(OrderStatus::Used), ..all }, &[]),
        (OrderFilter { voucher: Some(vouchers[1]), ..of(2) }, &[4]),
        (OrderFilter { voucher: Some(vouchers[1]), user: Some(UserId::new(2)), ..unpaid }, &[]),
        (OrderFilter { voucher: Some(vouchers[0]), ..unpaid }, &[2, 1]),
    ] {
        let expected: Vec<OrderId> = expected.iter().map(|&index| ids[index]).collect();
        let total = expected.len() as u64;
        assert_eq!(found(w, filter, Page::new(1, 10)).await, (expected, total), "{filter:?}");
    }
    assert_eq!(found(w, all, Page::new(2, 4)).await, (vec![ids[1], ids[0]], 6));
    assert_eq!(found(w, of(2), Page::new(1, 1)).await, (vec![ids[4]], 2));
    assert_eq!(found(w, of(2), Page::new(2, 1)).await, (vec![ids[1]], 2));
    assert_eq!(found(w, of(2), Page::new(3, 1)).await, (vec![], 2));
    assert_eq!(found(w, all, Page::new(3, 4)).await, (vec![], 6));
}

async fn a_sale_is_tallied_as_it_is_counted(w: &World) {
    let vouchers = [w.sale(Some(9)).await, w.sale(Some(2)).await, w.sale(Some(3)).await];
    for user in 1..=4 {
        // The second sale has too few units, so that some claims become dead letters.
        persist(w, &[claim(vouchers[0], user, user), claim(vouchers[1], user, 10 + user)]).await;
    }
    persist(w, &[claim(vouchers[0], 1, 99)]).await;
    let _ = w
        .storage
        .selling
        .orders
        .step(claim(vouchers[0], 2, 2).order, Transition::Cancel, NOON)
        .await
        .unwrap();
    for voucher in vouchers {
        let counted = w.storage.selling.orders.count(voucher).await.unwrap();
        assert_eq!(w.storage.selling.orders.tally(voucher).await.unwrap(), counted, "{voucher}");
    }
}
