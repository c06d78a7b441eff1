//! `PersonalData`: all of one user's rows and of nobody else's; a deletion is whole, final, and never beside
//! an open order.

use std::sync::Arc;

use mallbox_storage::{
    Cents, CommentId, CommentOutcome, DeleteOutcome, LastOperator, LikeChange, NoteId, NoteText, Order,
    OrderId, OrderStatus, PaidOrders, PaymentMode, Phone, PhoneOutcome, Post, Profile, PurchaseOutcome,
    RightsChange, RightsOutcome, Role, ShopId, Transition, TransitionOutcome, UserFilter, UserId, Visibility,
    VoucherId,
};
use tokio::task::JoinSet;

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_users_rows_are_listed_in_pages_and_nobody_elses,
    a_deleted_user_keeps_the_id_and_nothing_personal,
    a_phone_that_was_freed_registers_anew,
    nothing_changes_a_deleted_user,
    open_orders_refuse_a_deletion,
    a_deleted_user_buys_nothing,
    the_last_operator_stays,
    a_deletion_and_purchases_at_once_leave_no_open_order,
    deleted_users_are_found_by_time,
}

const NOBODY: UserId = UserId::new(900);

async fn user(w: &World, phone: &str) -> UserId {
    let phone = Phone::parse(phone).unwrap();
    w.storage.people.users.find_or_create(&phone, "小鱼", NOON).await.unwrap().id
}

async fn anne_and_ben(w: &World) -> [UserId; 2] {
    [user(w, "13900000001").await, user(w, "13900000002").await]
}

async fn delete(w: &World, user: UserId) -> DeleteOutcome {
    w.storage.people.personal_data.delete(user, PaidOrders::Keep, NOON + HOUR).await.unwrap()
}

async fn note(w: &World, author: UserId) -> NoteId {
    let text = NoteText {
        shop: ShopId::new(0),
        title: "noodles".to_owned(),
        images: String::new(),
        content: String::new(),
    };
    w.storage.writing.notes.insert(author, &text, NOON).await.unwrap()
}

async fn comment(w: &World, author: UserId, note: NoteId) -> CommentId {
    match w.storage.writing.comments.insert(author, note, None, "same here", NOON).await.unwrap() {
        CommentOutcome::Written(comment) => comment,
        refused => panic!("{refused:?}"),
    }
}

async fn like(w: &World, user: UserId, what: Post) {
    let liked = w.storage.writing.likes.change(user, what, LikeChange::Like, NOON + HOUR).await.unwrap();
    assert!(liked.is_some_and(|liked| liked.likes));
}

fn order(number: u64, voucher: VoucherId, user: UserId) -> Order {
    Order {
        id: OrderId::new(number),
        voucher,
        user,
        status: OrderStatus::Unpaid,
        pay_value: Cents::new(50),
        pay_type: 1,
        payment: PaymentMode::Sandbox,
        created: NOON,
        deadline: NOON + HOUR,
        paid: None,
        used: None,
        refunded: None,
    }
}

/// An order without a payment, paid when written.
fn free_order(number: u64, voucher: VoucherId, user: UserId) -> Order {
    Order { status: OrderStatus::Paid, payment: PaymentMode::None, ..order(number, voucher, user) }
}

async fn buy(w: &World, order: &Order) -> PurchaseOutcome {
    w.storage.selling.orders.insert(order, None, None).await.unwrap()
}

async fn a_users_rows_are_listed_in_pages_and_nobody_elses(w: &World) {
    let w = w.another().await;
    let data = &w.storage.people.personal_data;
    let [anne, ben] = anne_and_ben(&w).await;
    let mut notes = Vec::new();
    for author in [anne, ben, anne, anne, anne] {
        notes.push((author, note(&w, author).await));
    }
    let of_anne: Vec<NoteId> =
        notes.iter().filter(|(author, _)| *author == anne).map(|(_, note)| *note).collect();
    let (hidden, deleted) = (of_anne[1], of_anne[2]);
    for (note, visibility) in [(hidden, Visibility::Hidden), (deleted, Visibility::Deleted)] {
        w.storage.writing.notes.put_visibility(note, visibility, NOON).await.unwrap();
    }
    let ids = async |after, max| {
        let notes = data.notes(anne, after, max).await.unwrap();
        notes.into_iter().map(|note| note.id).collect::<Vec<_>>()
    };
    assert_eq!(
        ids(NoteId::new(0), 10).await,
        [of_anne[0], hidden, of_anne[3]],
        "hidden, but not deleted ones"
    );
    assert_eq!(ids(NoteId::new(0), 1).await, [of_anne[0]]);
    assert_eq!(ids(of_anne[0], 2).await, [hidden, of_anne[3]]);
    assert_eq!(ids(of_anne[3], 2).await, []);

    let of_ben = notes[1].1;
    let mut comments = Vec::new();
    for author in [anne, ben, anne, anne] {
        comments.push(comment(&w, author, of_ben).await);
    }
    w.storage.writing.comments.put_visibility(comments[2], Visibility::Deleted, NOON).await.unwrap();
    let found = data.comments(anne, CommentId::new(0), 10).await.unwrap();
    assert_eq!(found.iter().map(|comment| comment.id).collect::<Vec<_>>(), [comments[0], comments[3]]);
    let rest = data.comments(anne, comments[0], 10).await.unwrap();
    assert_eq!(rest.iter().map(|comment| comment.id).collect::<Vec<_>>(), [comments[3]]);

    let liked =
        [Post::Note(of_anne[0]), Post::Note(of_ben), Post::Comment(comments[0]), Post::Comment(comments[1])];
    for what in liked.iter().rev() {
        like(&w, anne, *what).await;
    }
    like(&w, ben, liked[0]).await;
    let found = data.likes(anne, None, 10).await.unwrap();
    assert_eq!(found.iter().map(|like| like.what).collect::<Vec<_>>(), liked);
    assert!(found.iter().all(|like| like.at == NOON + HOUR));
    for (at, what) in liked.iter().enumerate() {
        let rest = data.likes(anne, Some(*what), 10).await.unwrap();
        assert_eq!(rest.iter().map(|like| like.what).collect::<Vec<_>>(), liked[at + 1..]);
    }
    assert_eq!(data.likes(anne, None, 3).await.unwrap().len(), 3);
    assert!(data.notes(NOBODY, NoteId::new(0), 10).await.unwrap().is_empty());
}

async fn a_deleted_user_keeps_the_id_and_nothing_personal(w: &World) {
    let w = w.another().await;
    let people = &w.storage.people;
    let [anne, ben] = anne_and_ben(&w).await;
    let card = Profile {
        city: "Hangzhou".to_owned(),
        introduce: "eats".to_owned(),
        gender: true,
        birthday: Some("2000-01-31".to_owned()),
        ..Profile::default()
    };
    assert!(people.credits.bring_along(anne, 7, NOON).await.unwrap());
    let _ = people.credits.set_level(anne, Some(2), NOON).await.unwrap();
    assert!(people.users.put_card(anne, "Anne", "/imgs/icons/1.svg", &card, NOON).await.unwrap());
    assert!(people.users.put_password(anne, "hash", NOON).await.unwrap());
    assert!(people.follows.follow(anne, ben, NOON).await.unwrap());
    assert!(people.follows.follow(ben, anne, NOON).await.unwrap());
    let written = note(&w, anne).await;
    like(&w, anne, Post::Note(written)).await;

    assert_eq!(delete(&w, NOBODY).await, DeleteOutcome::NoSuchUser);
    for _ in 0..2 {
        assert_eq!(delete(&w, anne).await, DeleteOutcome::Deleted, "a repeat too");
    }
    let w = w.reopen().await;
    let people = &w.storage.people;
    let is = people.users.get(anne).await.unwrap().unwrap();
    assert_eq!((is.id, is.created, is.deleted), (anne, NOON, Some(NOON + HOUR)));
    assert_eq!((is.phone.as_str(), &*is.nick_name, &*is.icon), ("", "", ""));
    assert_eq!((is.role, is.blocked.is_some(), is.may_log_in()), (Role::Customer, false, false));
    assert_eq!(people.users.those(&[anne]).await.unwrap(), std::slice::from_ref(&is));
    let kept = Profile { credits: 7, set_level: Some(2), ..Profile::default() };
    assert_eq!(people.users.card(anne).await.unwrap(), Some(kept));
    assert_eq!(people.users.password(anne).await.unwrap(), None);
    for user in [anne, ben] {
        let counts = people.follows.counts(user).await.unwrap();
        assert_eq!((counts.fans, counts.followees), (0, 0), "{user}");
    }
    assert_eq!(w.storage.writing.notes.get(written).await.unwrap().unwrap().author, anne);
    assert_eq!(
        w.storage.writing.likes.likers(Post::Note(written), mallbox_storage::Page::new(1, 5)).await.unwrap(),
        [anne]
    );
    let ben = people.users.get(ben).await.unwrap().unwrap();
    assert!(ben.deleted.is_none() && ben.may_log_in());
    let broken = w.storage.operator.ledger.broken(mallbox_storage::RowCheck::DeletedUser, 5).await.unwrap();
    assert_eq!(broken.count, 0, "{broken:?}");
}

async fn a_phone_that_was_freed_registers_anew(w: &World) {
    let w = w.another().await;
    let phone = Phone::parse("13900000001").unwrap();
    let first = user(&w, phone.as_str()).await;
    assert_eq!(delete(&w, first).await, DeleteOutcome::Deleted);
    assert_eq!(w.storage.people.users.by_phone(&phone).await.unwrap(), None);
    let second = user(&w, phone.as_str()).await;
    assert!(second > first, "an id is never given again");
    assert_eq!(delete(&w, second).await, DeleteOutcome::Deleted);
    let third = user(&w, phone.as_str()).await;
    assert!(third > second);
    let found = w.storage.people.users.by_phone(&phone).await.unwrap().unwrap();
    assert_eq!((found.id, found.phone), (third, phone));
    let filter = UserFilter { phone: "139".to_owned(), ..UserFilter::default() };
    let listed = w.storage.people.users.list(&filter, mallbox_storage::Page::new(1, 10)).await.unwrap();
    assert_eq!(listed.into_iter().map(|user| user.id).collect::<Vec<_>>(), [third]);
}

async fn nothing_changes_a_deleted_user(w: &World) {
    let w = w.another().await;
    let users = &w.storage.people.users;
    let anne = user(&w, "13900000001").await;
    assert_eq!(delete(&w, anne).await, DeleteOutcome::Deleted);
    let before = users.get(anne).await.unwrap();
    let card = Profile { city: "Hangzhou".to_owned(), ..Profile::default() };
    assert!(!users.put_card(anne, "Anne", "", &card, NOON).await.unwrap());
    assert!(!users.put_password(anne, "hash", NOON).await.unwrap());
    assert!(!users.replace_password(anne, "", "hash", NOON).await.unwrap());
    for change in [
        RightsChange::Role(Role::Operator),
        RightsChange::Block { reason: "resale".to_owned() },
        RightsChange::Unblock,
    ] {
        let outcome = users.put_rights(anne, &change, LastOperator::MayGo, NOON).await.unwrap();
        assert_eq!(outcome, RightsOutcome::NoSuchUser, "{change:?}");
    }
    let free = Phone::parse("13900000009").unwrap();
    for from in [Phone::of_deleted_user(), Phone::parse("13900000001").unwrap()] {
        assert_eq!(users.put_phone(anne, &from, &free, NOON).await.unwrap(), PhoneOutcome::NotFound);
    }
    assert_eq!(users.by_phone(&free).await.unwrap(), None);
    assert_eq!(users.get(anne).await.unwrap(), before);
    assert_eq!(users.card(anne).await.unwrap(), Some(Profile::default()));
    assert_eq!(users.password(anne).await.unwrap(), None);
}

async fn open_orders_refuse_a_deletion(w: &World) {
    let w = w.another().await;
    let [anne, ben] = anne_and_ben(&w).await;
    let voucher = w.ordinary_voucher().await;
    for order in [order(1, voucher, anne), free_order(2, voucher, anne), order(3, voucher, ben)] {
        assert_eq!(buy(&w, &order).await, PurchaseOutcome::Bought(order.id));
    }
    let before = w.storage.people.users.get(anne).await.unwrap();
    let try_delete = async |paid| w.storage.people.personal_data.delete(anne, paid, NOON).await.unwrap();
    for paid in [PaidOrders::Keep, PaidOrders::Forfeit] {
        assert_eq!(try_delete(paid).await, DeleteOutcome::HasUnpaid);
    }
    let orders = &w.storage.selling.orders;
    let cancelled = orders.step(OrderId::new(1), Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(cancelled, TransitionOutcome::Done(_)));
    assert_eq!(try_delete(PaidOrders::Keep).await, DeleteOutcome::HasPaid(1));
    assert_eq!(w.storage.people.users.get(anne).await.unwrap(), before, "a refusal changes nothing");
    assert_eq!(try_delete(PaidOrders::Forfeit).await, DeleteOutcome::Deleted);
    let kept = orders.get(OrderId::new(2)).await.unwrap().unwrap();
    assert_eq!((kept.user, kept.status), (anne, OrderStatus::Paid), "orders stay");

    let cancelled = orders.step(OrderId::new(3), Transition::Cancel, NOON).await.unwrap();
    assert!(matches!(cancelled, TransitionOutcome::Done(_)));
    assert_eq!(buy(&w, &free_order(4, voucher, ben)).await, PurchaseOutcome::Bought(OrderId::new(4)));
    let used = orders.step(OrderId::new(4), Transition::Use, NOON).await.unwrap();
    assert!(matches!(used, TransitionOutcome::Done(_)));
    assert_eq!(delete(&w, ben).await, DeleteOutcome::Deleted, "closed and used orders are no obstacle");
}

async fn a_deleted_user_buys_nothing(w: &World) {
    let w = w.another().await;
    let anne = user(&w, "13900000001").await;
    let voucher = w.ordinary_voucher().await;
    assert_eq!(delete(&w, anne).await, DeleteOutcome::Deleted);
    for order in [order(1, voucher, anne), free_order(2, voucher, anne)] {
        assert_eq!(buy(&w, &order).await, PurchaseOutcome::BuyerDeleted);
        assert_eq!(w.storage.selling.orders.get(order.id).await.unwrap(), None);
    }
}

async fn the_last_operator_stays(w: &World) {
    let w = w.another().await;
    let [anne, ben] = anne_and_ben(&w).await;
    for user in [anne, ben] {
        let change = RightsChange::Role(Role::Operator);
        let done = w.storage.people.users.put_rights(user, &change, LastOperator::Stays, NOON).await.unwrap();
        assert!(matches!(done, RightsOutcome::Done(_)));
    }
    assert_eq!(delete(&w, anne).await, DeleteOutcome::Deleted);
    assert_eq!(delete(&w, ben).await, DeleteOutcome::LastOperator);
    assert!(w.storage.people.users.get(ben).await.unwrap().unwrap().acts());
}

async fn a_deletion_and_purchases_at_once_leave_no_open_order(w: &World) {
    const BUYERS: u64 = 8;
    let w = w.another().await;
    let voucher = w.ordinary_voucher().await;
    for round in 0..5 {
        let anne = user(&w, &format!("1390000010{round}")).await;
        let mut buyers = JoinSet::new();
        for buyer in 0..BUYERS {
            let orders = Arc::clone(&w.storage.selling.orders);
            let order = free_order(1 + round * BUYERS + buyer, voucher, anne);
            buyers.spawn(async move { orders.insert(&order, None, None).await.unwrap() });
        }
        let deleted = delete(&w, anne).await;
        let outcomes = buyers.join_all().await;
        let bought = outcomes.iter().filter(|outcome| matches!(outcome, PurchaseOutcome::Bought(_))).count();
        match deleted {
            DeleteOutcome::Deleted => assert_eq!(bought, 0, "{outcomes:?}"),
            DeleteOutcome::HasPaid(count) => {
                assert!((1..=bought as u64).contains(&count), "{count} of {outcomes:?}");
                assert_eq!(bought as u64, BUYERS, "nobody is refused beside a refused deletion");
            }
            other => panic!("{other:?}"),
        }
    }
}

async fn deleted_users_are_found_by_time(w: &World) {
    let w = w.another().await;
    let data = &w.storage.people.personal_data;
    let mut users = Vec::new();
    for (hour, phone) in (0..).zip(["13900000001", "13900000002", "13900000003"]) {
        let user = user(&w, phone).await;
        assert_eq!(
            data.delete(user, PaidOrders::Keep, NOON + HOUR * hour).await.unwrap(),
            DeleteOutcome::Deleted
        );
        users.push(user);
    }
    user(&w, "13900000004").await;
    let since = async |at, after, max| data.deleted(at, after, max).await.unwrap();
    let first = UserId::new(0);
    assert_eq!(since(NOON, first, 10).await, users);
    assert_eq!(since(NOON + HOUR, first, 10).await, users[1..]);
    assert_eq!(since(NOON, first, 2).await, users[..2]);
    assert_eq!(since(NOON, users[1], 2).await, users[2..]);
    assert_eq!(since(NOON + HOUR * 3, first, 10).await, []);
}
