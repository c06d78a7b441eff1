//! `Pictures`, files of an import: withheld with the notes and users that showed them, and no other file.

use mallbox_storage::{
    DeleteOutcome, FinishOptions, ImportRow, ImportedNote, NoteId, NoteText, Page, PaidOrders, Phone,
    Profile, ShopId, ShopText, Timestamp, User, UserId, Visibility,
};

use crate::samples;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    files_of_hidden_notes_are_withheld_until_shown_again,
    files_of_deleted_notes_are_withheld_for_good_and_listed_for_removal,
    icons_are_withheld_when_their_user_has_another_or_is_gone,
    what_anybody_else_shows_is_not_withheld,
    an_erased_file_is_withheld_whatever_shows_it,
    files_that_no_import_brought_are_never_withheld,
    gone_files_come_in_pages_by_time,
}

const ANNE: UserId = UserId::new(1);
const BEN: UserId = UserId::new(2);
const FIRST: NoteId = NoteId::new(1);
const SECOND: NoteId = NoteId::new(2);
/// Of the first note alone, with a doubled slash there.
const NOODLES: &str = "/food/noodles.jpg";
/// Of both notes, in a folder of uploads.
const TEA: &str = "/blogs/茶.jpg";
/// Anne's icon.
const ICON: &str = "/icons/anne.png";

fn user(id: UserId, icon: &str) -> ImportRow {
    let phone = Phone::parse(&format!("139{:08}", id.get())).unwrap();
    let user = User { icon: icon.to_owned(), ..User::new(id, phone, format!("user {id}"), NOON) };
    ImportRow::User(user, None)
}

fn note(id: NoteId, images: &str) -> ImportRow {
    ImportRow::Note(ImportedNote {
        id,
        shop: ShopId::new(1),
        user: ANNE,
        title: "A note".to_owned(),
        images: images.to_owned(),
        content: String::new(),
        liked: 0,
        comments: 0,
        created: NOON,
        updated: NOON,
    })
}

/// Imports two users and two notes with pictures.
async fn move_in(w: &World) {
    let mut into = w.storage.operator.import.begin().await.unwrap().expect("an empty mall");
    let rows = vec![
        note(FIRST, &format!("/imgs//food/noodles.jpg,/imgs{TEA},https://p0.example/x.jpg")),
        note(SECOND, &format!("/imgs{TEA}")),
        user(ANNE, &format!("/imgs{ICON}")),
        user(BEN, ""),
    ];
    let put = into.put(rows.into_iter().map(|row| (row, false)).collect()).await.unwrap();
    assert_eq!(put, [true; 4]);
    into.finish(FinishOptions::new(HOUR, NOON)).await.unwrap();
}

/// Returns whether the noodles, the tea and the icon are withheld.
async fn withheld(w: &World) -> [bool; 3] {
    let mut withheld = [false; 3];
    for (is, name) in withheld.iter_mut().zip([NOODLES, TEA, ICON]) {
        *is = w.storage.writing.pictures.is_file_withheld(name).await.unwrap();
    }
    withheld
}

async fn put_visibility(w: &World, note: NoteId, visibility: Visibility, now: Timestamp) {
    w.storage.writing.notes.put_visibility(note, visibility, now).await.unwrap().expect("a note");
}

async fn set_icon(w: &World, user: UserId, icon: &str, now: Timestamp) {
    let card = Profile::default();
    assert!(w.storage.people.users.put_card(user, "a", icon, &card, now).await.unwrap());
}

async fn gone(w: &World, since: Timestamp, until: Timestamp) -> Vec<String> {
    w.storage.writing.pictures.gone_files(since, until, Page::new(1, 10)).await.unwrap()
}

async fn files_of_hidden_notes_are_withheld_until_shown_again(w: &World) {
    move_in(w).await;
    assert_eq!(withheld(w).await, [false; 3]);
    put_visibility(w, FIRST, Visibility::Reported, NOON).await;
    assert_eq!(withheld(w).await, [false; 3], "a report alone hides nothing");
    put_visibility(w, FIRST, Visibility::Hidden, NOON).await;
    assert_eq!(withheld(w).await, [true, false, false], "the second note shows the tea");
    put_visibility(w, SECOND, Visibility::Hidden, NOON).await;
    assert_eq!(withheld(w).await, [true, true, false]);
    assert_eq!(gone(w, NOON - HOUR, NOON + HOUR).await, [""; 0], "both may be shown again");
    put_visibility(w, FIRST, Visibility::Shown, NOON).await;
    assert_eq!(withheld(w).await, [false; 3]);
}

async fn files_of_deleted_notes_are_withheld_for_good_and_listed_for_removal(w: &World) {
    move_in(w).await;
    let later = NOON + HOUR;
    put_visibility(w, SECOND, Visibility::Hidden, NOON).await;
    put_visibility(w, FIRST, Visibility::Deleted, later).await;
    assert_eq!(withheld(w).await, [true, true, false]);
    assert_eq!(gone(w, NOON, later).await, [NOODLES], "a hidden note still has the tea");
    put_visibility(w, SECOND, Visibility::Deleted, later + HOUR).await;
    assert_eq!(withheld(w).await, [true, true, false]);
    assert_eq!(gone(w, NOON, later + HOUR).await.len(), 2);
    assert_eq!(gone(w, later, later + HOUR).await, [TEA], "given up once more");
    // The file may be gone already, but another row may name it again.
    let text = NoteText {
        shop: ShopId::new(0),
        title: "noodles".to_owned(),
        images: format!("/imgs{NOODLES}"),
        content: String::new(),
    };
    w.storage.writing.notes.insert(BEN, &text, later).await.unwrap();
    assert_eq!(withheld(w).await, [false, true, false]);
    assert_eq!(gone(w, NOON, later + HOUR).await, [TEA]);
}

async fn icons_are_withheld_when_their_user_has_another_or_is_gone(w: &World) {
    move_in(w).await;
    let icon = format!("/imgs{ICON}");
    set_icon(w, ANNE, &icon, NOON).await;
    assert_eq!(withheld(w).await, [false; 3], "the same icon");
    set_icon(w, ANNE, "/imgs/icons/other.png", NOON + HOUR).await;
    assert_eq!(withheld(w).await, [false, false, true]);
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [ICON]);
    set_icon(w, BEN, &icon, NOON + HOUR).await;
    assert_eq!(withheld(w).await, [false; 3]);
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [""; 0]);
    let deleted = w.storage.people.personal_data.delete(BEN, PaidOrders::Keep, NOON + HOUR).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    assert_eq!(withheld(w).await, [false, false, true]);
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [ICON]);
}

async fn what_anybody_else_shows_is_not_withheld(w: &World) {
    move_in(w).await;
    let shop = ShopText { images: format!("/imgs/a.jpg,/imgs{TEA}"), ..samples::shop() };
    w.storage.catalogue.shops.insert(&shop, NOON).await.unwrap();
    set_icon(w, BEN, NOODLES, NOON).await;
    for note in [FIRST, SECOND] {
        put_visibility(w, note, Visibility::Deleted, NOON + HOUR).await;
    }
    let deleted = w.storage.people.personal_data.delete(ANNE, PaidOrders::Keep, NOON + HOUR).await.unwrap();
    assert_eq!(deleted, DeleteOutcome::Deleted);
    assert_eq!(withheld(w).await, [false, false, true]);
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [ICON]);
}

async fn an_erased_file_is_withheld_whatever_shows_it(w: &World) {
    move_in(w).await;
    let pictures = &w.storage.writing.pictures;
    for (name, existed) in [(TEA, true), (TEA, false), ("/food/none.jpg", false)] {
        assert_eq!(pictures.erase(name, NOON + HOUR).await.unwrap(), existed, "{name}");
    }
    assert_eq!(withheld(w).await, [false, true, false]);
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [TEA]);
    // A file given up before, and a name of another front end that a row shows.
    put_visibility(w, FIRST, Visibility::Deleted, NOON + HOUR).await;
    assert!(pictures.erase(NOODLES, NOON + HOUR).await.unwrap());
    let shop = ShopText { images: "/imgs/front/a.jpg".to_owned(), ..samples::shop() };
    w.storage.catalogue.shops.insert(&shop, NOON).await.unwrap();
    assert!(pictures.erase("/front/a.jpg", NOON + HOUR).await.unwrap());
    assert!(pictures.is_file_withheld("/front/a.jpg").await.unwrap());
    assert_eq!(gone(w, NOON, NOON + HOUR).await.len(), 3);
}

async fn files_that_no_import_brought_are_never_withheld(w: &World) {
    move_in(w).await;
    const LOGO: &str = "/types/logo.png";
    let text = NoteText {
        shop: ShopId::new(0),
        title: "tea".to_owned(),
        images: format!("/imgs{LOGO}"),
        content: String::new(),
    };
    let note = w.storage.writing.notes.insert(BEN, &text, NOON).await.unwrap();
    set_icon(w, BEN, &format!("/imgs{LOGO}"), NOON).await;
    set_icon(w, BEN, "", NOON).await;
    for visibility in [Visibility::Hidden, Visibility::Deleted] {
        put_visibility(w, note, visibility, NOON + HOUR).await;
        assert!(!w.storage.writing.pictures.is_file_withheld(LOGO).await.unwrap(), "{visibility:?}");
    }
    assert_eq!(gone(w, NOON, NOON + HOUR).await, [""; 0]);
    for name in ["", "/", "/none.jpg", &"/x".repeat(500)] {
        assert!(!w.storage.writing.pictures.is_file_withheld(name).await.unwrap(), "{name}");
    }
}

async fn gone_files_come_in_pages_by_time(w: &World) {
    move_in(w).await;
    put_visibility(w, SECOND, Visibility::Deleted, NOON + HOUR).await;
    put_visibility(w, FIRST, Visibility::Deleted, NOON + 2 * HOUR).await;
    set_icon(w, ANNE, "", NOON + 3 * HOUR).await;
    let pictures = &w.storage.writing.pictures;
    let mut found = Vec::new();
    for page in 1..=4 {
        found.extend(pictures.gone_files(NOON, NOON + 3 * HOUR, Page::new(page, 1)).await.unwrap());
    }
    assert_eq!(found, [TEA, NOODLES, ICON]);
}
