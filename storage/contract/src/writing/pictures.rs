//! `Pictures`: stored whole or not at all, within the owner's quota, and removed only when no row shows them.

use std::time::Duration;

use crate::samples;
use mallbox_storage::{
    NewPicture, NoteId, NoteText, Phone, Picture, PictureKind, PictureSweep, PictureUsage, Profile,
    PutOutcome, RemoveOutcome, ShopId, ShopText, ShopType, ShopTypeId, Timestamp, UserId, Visibility,
};

use crate::world::{HOUR, NOON, World};

crate::cases! {
    a_picture_is_what_was_uploaded_and_its_name_is_taken,
    nobody_has_more_than_they_may,
    a_rush_of_one_owner_gets_exactly_what_they_may_have,
    what_is_kept_is_the_owners_alone,
    only_the_owner_removes_a_picture_and_never_one_that_is_shown,
    a_sweep_takes_what_nobody_touched_and_nothing_shows,
    a_sweep_goes_on_where_the_last_one_stopped,
    pictures_outlive_a_restart,
    pictures_of_hidden_notes_are_withheld_until_shown_again,
    pictures_shown_elsewhere_are_not_withheld,
    an_erased_picture_is_gone_even_while_shown,
}

const PLENTY: PictureUsage = PictureUsage { pictures: 1_000, bytes: 100 << 20 };
const OTHER: UserId = UserId::new(77);

async fn owner(w: &World) -> UserId {
    let phone = Phone::parse("13900000001").unwrap();
    w.storage.people.users.find_or_create(&phone, "a", NOON).await.unwrap().id
}

fn name(number: u32) -> String {
    format!("/blogs/0/1/{number:08}-0000-4000-8000-000000000000.jpg")
}

fn picture(number: u32, owner: UserId, bytes: usize) -> NewPicture {
    // Every byte value, so that no content passes for text.
    let content = (0..bytes).map(|at| u8::try_from((at + number as usize) % 256).unwrap()).collect();
    NewPicture { name: name(number), owner, kind: PictureKind::Jpeg, content }
}

async fn put(w: &World, number: u32, owner: UserId, now: Timestamp) {
    let answer = w.storage.writing.pictures.put(picture(number, owner, 100), PLENTY, now).await.unwrap();
    assert_eq!(answer, PutOutcome::Put);
}

async fn is_there(w: &World, number: u32) -> bool {
    w.storage.writing.pictures.get(&name(number)).await.unwrap().is_some()
}

fn room(pictures: u64, bytes: u64) -> PictureUsage {
    PictureUsage { pictures, bytes }
}

async fn a_picture_is_what_was_uploaded_and_its_name_is_taken(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    for text in ["", "/", &name(1), "/blogs/茶.jpg", &"x".repeat(1_000)] {
        assert!(pictures.get(text).await.unwrap().is_none(), "{text}");
    }
    let large = NewPicture { kind: PictureKind::Webp, ..picture(1, owner, 1 << 20) };
    assert_eq!(pictures.put(large.clone(), PLENTY, NOON).await.unwrap(), PutOutcome::Put);
    let again = pictures.put(picture(1, owner, 5), PLENTY, NOON).await.unwrap();
    assert_eq!(again, PutOutcome::NameTaken, "what a name shows never changes");
    let others = pictures.put(picture(1, OTHER, 5), PLENTY, NOON).await.unwrap();
    assert_eq!(others, PutOutcome::NameTaken);
    let found = pictures.get(&name(1)).await.unwrap();
    assert!(found == Some(Picture { kind: PictureKind::Webp, content: large.content }));
    assert!(pictures.get(&name(1).to_uppercase()).await.unwrap().is_none(), "a name is its bytes");
    assert_eq!(pictures.usage(owner).await.unwrap(), room(1, 1 << 20));
    assert_eq!(pictures.usage(OTHER).await.unwrap(), room(0, 0));
}

async fn nobody_has_more_than_they_may(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    let try_put =
        async |number, bytes, most| pictures.put(picture(number, owner, bytes), most, NOON).await.unwrap();
    assert_eq!(try_put(1, 60, room(2, 100)).await, PutOutcome::Put);
    assert_eq!(try_put(2, 41, room(2, 100)).await, PutOutcome::NoRoom(room(1, 60)), "a byte too many");
    assert_eq!(try_put(3, 40, room(2, 100)).await, PutOutcome::Put, "to the last byte");
    assert_eq!(try_put(4, 1, room(2, 1_000)).await, PutOutcome::NoRoom(room(2, 100)), "one too many");
    assert_eq!(try_put(5, 1, room(0, 0)).await, PutOutcome::NoRoom(room(2, 100)));
    assert!(!is_there(w, 2).await && !is_there(w, 4).await);
    let others = pictures.put(picture(6, OTHER, 1), room(1, 1), NOON).await.unwrap();
    assert_eq!(others, PutOutcome::Put, "each has room of their own");
    assert_eq!(pictures.remove(owner, &name(1)).await.unwrap(), RemoveOutcome::Removed);
    assert_eq!(try_put(7, 60, room(2, 100)).await, PutOutcome::Put, "what is gone takes no room");
    assert_eq!(pictures.usage(owner).await.unwrap(), room(2, 100));
}

async fn a_rush_of_one_owner_gets_exactly_what_they_may_have(w: &World) {
    const MAY: u64 = 7;
    let owner = owner(w).await;
    let mut rush = tokio::task::JoinSet::new();
    for number in 0..24 {
        let pictures = w.storage.writing.pictures.clone();
        rush.spawn(async move { pictures.put(picture(number, owner, 10), room(MAY, 1_000), NOON).await });
    }
    let answers: Vec<_> = rush.join_all().await.into_iter().map(Result::unwrap).collect();
    let count = answers.iter().filter(|answer| **answer == PutOutcome::Put).count();
    assert_eq!(count as u64, MAY, "{answers:?}");
    assert_eq!(w.storage.writing.pictures.usage(owner).await.unwrap(), room(MAY, 10 * MAY));
}

async fn what_is_kept_is_the_owners_alone(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    put(w, 1, owner, NOON).await;
    put(w, 2, OTHER, NOON).await;
    let later = NOON + HOUR;
    let kept = pictures.keep(owner, &[name(3), name(1), name(2), name(1)], later).await.unwrap();
    assert_eq!(kept, [name(3), name(2)]);
    assert_eq!(pictures.keep(owner, &[], later).await.unwrap(), [""; 0]);
    let swept = pictures.sweep(NOON, 10, later).await.unwrap();
    assert_eq!(swept, PictureSweep { removed: 1, has_more: false });
    assert!(is_there(w, 1).await, "it was touched");
    assert!(!is_there(w, 2).await, "nobody else touches a picture");
}

async fn only_the_owner_removes_a_picture_and_never_one_that_is_shown(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    put(w, 1, owner, NOON).await;
    put(w, 2, owner, NOON).await;
    for (who, number) in [(OTHER, 1), (owner, 9)] {
        let answer = pictures.remove(who, &name(number)).await.unwrap();
        assert_eq!(answer, RemoveOutcome::NotTheirs);
    }
    w.back_end().sql(&format!("INSERT INTO note_pictures (name, note_id) VALUES ('{}', 5)", name(1)));
    assert_eq!(pictures.remove(owner, &name(1)).await.unwrap(), RemoveOutcome::Shown);
    assert_eq!(pictures.remove(owner, &name(2)).await.unwrap(), RemoveOutcome::Removed);
    assert_eq!(pictures.remove(owner, &name(2)).await.unwrap(), RemoveOutcome::NotTheirs);
    assert!(is_there(w, 1).await && !is_there(w, 2).await);
    assert_eq!(pictures.usage(owner).await.unwrap(), room(1, 100));
    // The name is free again, as are the picture's rows in the database.
    let again = NewPicture { name: name(2), ..picture(3, owner, 50) };
    assert_eq!(pictures.put(again.clone(), PLENTY, NOON).await.unwrap(), PutOutcome::Put);
    assert!(pictures.get(&name(2)).await.unwrap().unwrap().content == again.content);
}

async fn set_icon(w: &World, user: UserId, icon: &str) {
    let card = Profile::default();
    assert!(w.storage.people.users.put_card(user, "a", icon, &card, NOON).await.unwrap());
}

/// A shop with the given images.
fn shop(images: String) -> ShopText {
    ShopText { images, ..samples::shop() }
}

async fn a_sweep_takes_what_nobody_touched_and_nothing_shows(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    for number in [1, 2, 3, 4, 5, 6, 7, 9, 10] {
        put(w, number, owner, NOON).await;
    }
    put(w, 8, owner, NOON + HOUR).await;
    w.back_end().sql(&format!("INSERT INTO note_pictures (name, note_id) VALUES ('{}', 5)", name(1)));
    for (phone, icon) in [("13900000002", name(2)), ("13900000003", format!("/imgs{}", name(3)))] {
        let phone = Phone::parse(phone).unwrap();
        let user = w.storage.people.users.find_or_create(&phone, "b", NOON).await.unwrap().id;
        set_icon(w, user, &icon).await;
    }
    w.storage.catalogue.shops.insert(&shop(format!("/imgs/a.jpg,/imgs{}", name(4))), NOON).await.unwrap();
    for (id, icon) in [(1, name(9)), (2, format!("/imgs{}", name(10)))] {
        let kind = ShopType { id: ShopTypeId::new(id), name: "Tea".to_owned(), icon, sort: 1 };
        w.storage.catalogue.shops.put_type(&kind, NOON).await.unwrap();
    }
    // A path that names none of the pictures.
    set_icon(w, owner, &format!("/imgs{}x", name(5))).await;

    let early = pictures.sweep(NOON - Duration::from_millis(1), 10, NOON + HOUR).await.unwrap();
    assert_eq!(early, PictureSweep::default());
    let swept = pictures.sweep(NOON, 10, NOON + 2 * HOUR).await.unwrap();
    assert_eq!(swept, PictureSweep { removed: 3, has_more: false });
    for number in 1..=10 {
        assert_eq!(is_there(w, number).await, ![5, 6, 7].contains(&number), "{number}");
    }
    assert_eq!(pictures.usage(owner).await.unwrap(), room(7, 700));

    // A picture no longer shown is spared for the same period as a touched one.
    w.back_end().sql("DELETE FROM note_pictures");
    let swept = pictures.sweep(NOON + HOUR, 10, NOON + 3 * HOUR).await.unwrap();
    assert_eq!(swept, PictureSweep { removed: 1, has_more: false });
    assert!(is_there(w, 1).await && !is_there(w, 8).await);
    let swept = pictures.sweep(NOON + 2 * HOUR, 10, NOON + 4 * HOUR).await.unwrap();
    assert_eq!(swept, PictureSweep { removed: 1, has_more: false });
    assert!(!is_there(w, 1).await && is_there(w, 2).await && is_there(w, 3).await && is_there(w, 4).await);
}

async fn a_sweep_goes_on_where_the_last_one_stopped(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    for number in 1..=5 {
        put(w, number, owner, NOON + HOUR * (6 - number)).await;
    }
    w.back_end().sql(&format!("INSERT INTO note_pictures (name, note_id) VALUES ('{}', 5)", name(5)));
    let now = NOON + 24 * HOUR;
    for (removed, has_more, left) in [(1, true, 4), (2, true, 2), (1, false, 1)] {
        let swept = pictures.sweep(NOON + 10 * HOUR, 2, now).await.unwrap();
        assert_eq!(swept, PictureSweep { removed, has_more });
        assert_eq!(pictures.usage(owner).await.unwrap().pictures, left);
    }
    assert!(is_there(w, 5).await, "it is shown");
}

async fn pictures_outlive_a_restart(w: &World) {
    let another = w.another().await;
    put(&another, 1, OTHER, NOON).await;
    let another = another.reopen().await;
    let found = another.storage.writing.pictures.get(&name(1)).await.unwrap();
    assert!(found == Some(Picture { kind: PictureKind::Jpeg, content: picture(1, OTHER, 100).content }));
    assert_eq!(another.storage.writing.pictures.usage(OTHER).await.unwrap(), room(1, 100));
}

/// Writes a note of the owner with the given pictures.
async fn note(w: &World, owner: UserId, numbers: &[u32]) -> NoteId {
    let images: Vec<String> = numbers.iter().map(|number| format!("/imgs{}", name(*number))).collect();
    let text = NoteText {
        shop: ShopId::new(0),
        title: "noodles".to_owned(),
        images: images.join(","),
        content: String::new(),
    };
    w.storage.writing.notes.insert(owner, &text, NOON).await.unwrap()
}

async fn put_visibility(w: &World, note: NoteId, visibility: Visibility) {
    w.storage.writing.notes.put_visibility(note, visibility, NOON).await.unwrap().expect("a note");
}

async fn pictures_of_hidden_notes_are_withheld_until_shown_again(w: &World) {
    let owner = owner(w).await;
    for number in 1..=3 {
        put(w, number, owner, NOON).await;
    }
    let hidden = note(w, owner, &[1, 2]).await;
    put_visibility(w, hidden, Visibility::Reported).await;
    assert!(is_there(w, 1).await, "a report alone hides nothing");
    put_visibility(w, hidden, Visibility::Hidden).await;
    assert!(!is_there(w, 1).await && !is_there(w, 2).await);
    assert!(is_there(w, 3).await, "another picture of the author");
    assert_eq!(w.storage.writing.pictures.usage(owner).await.unwrap(), room(3, 300));
    let swept = w.storage.writing.pictures.sweep(NOON, 10, NOON + HOUR).await.unwrap();
    assert_eq!(swept, PictureSweep { removed: 1, has_more: false }, "the note may be shown again");
    put_visibility(w, hidden, Visibility::Shown).await;
    assert!(is_there(w, 1).await && is_there(w, 2).await && !is_there(w, 3).await);
}

async fn pictures_shown_elsewhere_are_not_withheld(w: &World) {
    let owner = owner(w).await;
    for number in 1..=6 {
        put(w, number, owner, NOON).await;
    }
    let hidden = [note(w, owner, &[1, 2, 3]).await, note(w, owner, &[1, 4, 5, 6]).await];
    let visible = note(w, owner, &[2]).await;
    set_icon(w, owner, &format!("/imgs{}", name(3))).await;
    let kind = ShopType { id: ShopTypeId::new(1), name: "Tea".to_owned(), icon: name(4), sort: 1 };
    w.storage.catalogue.shops.put_type(&kind, NOON).await.unwrap();
    w.storage.catalogue.shops.insert(&shop(format!("/imgs/a.jpg,/imgs{}", name(5))), NOON).await.unwrap();
    for note in hidden {
        put_visibility(w, note, Visibility::Hidden).await;
    }
    for number in 1..=6 {
        assert_eq!(is_there(w, number).await, (2..=5).contains(&number), "{number}");
    }
    put_visibility(w, visible, Visibility::Hidden).await;
    assert!(!is_there(w, 2).await);
    put_visibility(w, hidden[1], Visibility::Shown).await;
    assert!(is_there(w, 1).await, "one of its two notes is visible");
}

async fn an_erased_picture_is_gone_even_while_shown(w: &World) {
    let pictures = &w.storage.writing.pictures;
    let owner = owner(w).await;
    for number in 1..=3 {
        put(w, number, owner, NOON).await;
    }
    let visible = note(w, owner, &[1]).await;
    let hidden = note(w, owner, &[2]).await;
    put_visibility(w, hidden, Visibility::Hidden).await;
    for (number, existed) in [(1, true), (2, true), (1, false), (9, false)] {
        assert_eq!(pictures.erase(&name(number), NOON).await.unwrap(), existed, "{number}");
    }
    put_visibility(w, hidden, Visibility::Shown).await;
    assert!(!is_there(w, 1).await && !is_there(w, 2).await && is_there(w, 3).await);
    assert_eq!(pictures.usage(owner).await.unwrap(), room(1, 100));
    let text = w.storage.writing.notes.get(visible).await.unwrap().unwrap().text;
    assert_eq!(text.images, format!("/imgs{}", name(1)), "references stay");
}
