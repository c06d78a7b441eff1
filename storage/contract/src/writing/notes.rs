//! `Notes`: read as they were written, listed by likes and by time, and never seen again once deleted.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::slice::from_ref;

use mallbox_storage::{
    FinishOptions, ImportRow, ImportedNote, Note, NoteId, NoteText, Page, ShopId, Timestamp, UserId,
    Visibility,
};

use crate::dice::Dice;
use crate::operator::import::user;
use crate::world::{HOUR, NOON, World};

crate::cases! {
    there_is_no_note_at_first,
    a_note_is_read_as_it_was_written,
    those_asked_for_come_in_the_order_of_the_question,
    the_most_liked_come_first_and_of_those_the_newest,
    an_authors_notes_are_the_newest_first_and_paged,
    what_is_hidden_is_in_no_list_and_can_be_shown_again,
    what_is_deleted_leaves_its_place_alone_for_ever,
    the_pictures_of_a_note_are_known_until_it_is_deleted,
    a_rush_of_writers_loses_no_note,
    random_notes_agree_with_a_plain_map,
    notes_outlive_a_restart,
}

const ANNE: UserId = UserId::new(1);
const BOB: UserId = UserId::new(2);
const ALL: Page = Page::new(1, 500);

/// Returns the text of a note titled `title`.
pub fn text(title: &str) -> NoteText {
    NoteText {
        shop: ShopId::new(7),
        title: title.to_owned(),
        images: "/imgs//blogs/1/a.jpg,/imgs/blogs/2/b.png".to_owned(),
        content: format!("面很好吃，<br/>{title} 😀"),
    }
}

fn ids(notes: &[Note]) -> Vec<NoteId> {
    notes.iter().map(|note| note.id).collect()
}

async fn there_is_no_note_at_first(w: &World) {
    let notes = &w.storage.writing.notes;
    for id in [0, 1, i64::MAX as u64, u64::MAX].map(NoteId::new) {
        assert_eq!(notes.get(id).await.unwrap(), None);
        assert_eq!(notes.put_visibility(id, Visibility::Deleted, NOON).await.unwrap(), None);
    }
    assert_eq!(notes.those(&[]).await.unwrap(), []);
    assert_eq!(notes.hot(ALL).await.unwrap(), []);
    assert_eq!(notes.of_author(ANNE, ALL).await.unwrap(), []);
}

async fn a_note_is_read_as_it_was_written(w: &World) {
    let notes = &w.storage.writing.notes;
    let id = notes.insert(ANNE, &text("一碗面"), NOON).await.unwrap();
    let (author, visibility, created, updated) = (ANNE, Visibility::Shown, NOON, NOON);
    let note =
        Note { id, author, text: text("一碗面"), liked: 0, comments: 0, visibility, created, updated };
    assert_eq!(notes.get(id).await.unwrap(), Some(note.clone()));
    assert_eq!(notes.those(&[id]).await.unwrap(), from_ref(&note));
    assert_eq!(notes.hot(ALL).await.unwrap(), from_ref(&note));
    assert_eq!(notes.of_author(ANNE, ALL).await.unwrap(), from_ref(&note));
    assert_eq!(notes.of_author(BOB, ALL).await.unwrap(), []);
    let bare = NoteText { shop: ShopId::new(0), images: String::new(), ..text("no shop, no picture") };
    let second = notes.insert(BOB, &bare, NOON).await.unwrap();
    assert!(second > id);
    assert_eq!(notes.get(second).await.unwrap().unwrap().text, bare);
}

async fn those_asked_for_come_in_the_order_of_the_question(w: &World) {
    let notes = &w.storage.writing.notes;
    let mut written = Vec::new();
    for number in 0..40 {
        written.push(notes.insert(ANNE, &text(&format!("note {number}")), NOON).await.unwrap());
    }
    notes.put_visibility(written[3], Visibility::Hidden, NOON).await.unwrap();
    notes.put_visibility(written[5], Visibility::Deleted, NOON).await.unwrap();
    let asked = [
        written[5],
        NoteId::new(9_999),
        written[39],
        written[3],
        written[0],
        written[39],
        NoteId::new(u64::MAX),
    ];
    let found = notes.those(&asked).await.unwrap();
    assert_eq!(ids(&found), [written[5], written[39], written[3], written[0], written[39]]);
    assert_eq!(found[0].visibility, Visibility::Deleted);
    assert_eq!(found[2].visibility, Visibility::Hidden);
    let backwards: Vec<NoteId> = written.iter().rev().copied().collect();
    assert_eq!(ids(&notes.those(&backwards).await.unwrap()), backwards);
}

/// Imports notes, each with its likes and its time of writing.
async fn move_in(w: &World, notes: &[(u64, u64, Timestamp)]) {
    let mut rows = vec![(user(1), false)];
    for (id, liked, created) in notes.iter().copied() {
        let NoteText { shop, title, images, content } = text("from elsewhere");
        let (id, user, comments, updated) = (NoteId::new(id), ANNE, 4, created);
        let note = ImportedNote { id, shop, user, title, images, content, liked, comments, created, updated };
        rows.push((ImportRow::Note(note), false));
    }
    let mut into = w.storage.operator.import.begin().await.unwrap().expect("an empty mall");
    assert!(into.put(rows).await.unwrap().into_iter().all(|written| written));
    into.finish(FinishOptions::new(HOUR, NOON)).await.unwrap();
}

async fn the_most_liked_come_first_and_of_those_the_newest(w: &World) {
    let early = NOON - HOUR;
    move_in(w, &[(4, 7, NOON), (5, 7, early), (6, 7, early), (7, 90, early), (8, 1, NOON)]).await;
    let notes = &w.storage.writing.notes;
    let own = notes.insert(BOB, &text("own"), NOON + HOUR).await.unwrap();
    assert!(own.get() > 8, "ids go on above those that moved in");
    let order = [7, 4, 6, 5, 8, own.get()].map(NoteId::new);
    let hot = notes.hot(ALL).await.unwrap();
    assert_eq!(ids(&hot), order);
    assert_eq!((hot[0].liked, hot[0].comments, hot[0].text.clone()), (90, 4, text("from elsewhere")));
    for (number, want) in [(1, &order[..4]), (2, &order[4..]), (3, &[])] {
        assert_eq!(ids(&notes.hot(Page::new(number, 4)).await.unwrap()), want);
    }
}

async fn an_authors_notes_are_the_newest_first_and_paged(w: &World) {
    let notes = &w.storage.writing.notes;
    let mut written = Vec::new();
    for number in 0..7 {
        // Three notes per instant: within an instant, the higher id comes first.
        let at = NOON + HOUR * (number / 3);
        written.push(notes.insert(ANNE, &text("mine"), at).await.unwrap());
        notes.insert(BOB, &text("another's"), at).await.unwrap();
    }
    written.reverse();
    assert_eq!(ids(&notes.of_author(ANNE, ALL).await.unwrap()), written);
    for (number, want) in [(1, &written[..3]), (2, &written[3..6]), (3, &written[6..]), (4, &[])] {
        assert_eq!(ids(&notes.of_author(ANNE, Page::new(number, 3)).await.unwrap()), want);
    }
}

async fn what_is_hidden_is_in_no_list_and_can_be_shown_again(w: &World) {
    use Visibility::{Hidden, Reported, Shown};
    let notes = &w.storage.writing.notes;
    let id = notes.insert(ANNE, &text("a note"), NOON).await.unwrap();
    let other = notes.insert(ANNE, &text("another"), NOON).await.unwrap();
    let mut at = NOON;
    for (was, is, listed) in [
        (Shown, Reported, vec![other, id]),
        (Reported, Hidden, vec![other]),
        (Hidden, Hidden, vec![other]),
        (Hidden, Shown, vec![other, id]),
    ] {
        at = at + HOUR;
        assert_eq!(notes.put_visibility(id, is, at).await.unwrap(), Some(was));
        assert_eq!(ids(&notes.hot(ALL).await.unwrap()), listed, "{is:?}");
        assert_eq!(ids(&notes.of_author(ANNE, ALL).await.unwrap()), listed, "{is:?}");
        let note = notes.get(id).await.unwrap().unwrap();
        assert_eq!((note.visibility, &note.text), (is, &text("a note")));
        assert_eq!(note.updated, if was == is { at - HOUR } else { at });
    }
}

async fn what_is_deleted_leaves_its_place_alone_for_ever(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    let notes = &w.storage.writing.notes;
    let id = notes.insert(ANNE, &text("a note"), NOON).await.unwrap();
    assert_eq!(notes.put_visibility(id, Deleted, NOON + HOUR).await.unwrap(), Some(Shown));
    let nothing = String::new;
    let text = NoteText { shop: ShopId::new(7), title: nothing(), images: nothing(), content: nothing() };
    let (author, visibility, created, updated) = (ANNE, Deleted, NOON, NOON + HOUR);
    let place = Note { id, author, text, liked: 0, comments: 0, visibility, created, updated };
    for again in [Shown, Reported, Hidden, Deleted] {
        assert_eq!(notes.put_visibility(id, again, NOON + HOUR * 2).await.unwrap(), Some(Deleted));
        assert_eq!(notes.get(id).await.unwrap(), Some(place.clone()));
        assert_eq!(notes.those(&[id]).await.unwrap(), from_ref(&place));
    }
    assert_eq!(notes.hot(ALL).await.unwrap(), []);
    assert_eq!(notes.of_author(ANNE, ALL).await.unwrap(), []);
    let next = notes.insert(ANNE, &self::text("next"), NOON).await.unwrap();
    assert!(next > id, "its id is not given again");
}

/// No port returns a note's picture rows, so the case counts the rows by SQL. The sweep of pictures on no
/// note relies on the rows in the database.
async fn the_pictures_of_a_note_are_known_until_it_is_deleted(w: &World) {
    let notes = &w.storage.writing.notes;
    let id = notes.insert(ANNE, &text("a note"), NOON).await.unwrap();
    let known = async || {
        w.back_end().sql(
            "UPDATE notes SET title = (SELECT COUNT(*) FROM note_pictures
               WHERE note_id = notes.id AND name IN ('/blogs/1/a.jpg', '/blogs/2/b.png'))",
        );
        notes.get(id).await.unwrap().unwrap().text.title
    };
    assert_eq!(known().await, "2");
    notes.put_visibility(id, Visibility::Hidden, NOON).await.unwrap();
    assert_eq!(known().await, "2", "it may be shown again");
    notes.put_visibility(id, Visibility::Deleted, NOON).await.unwrap();
    assert_eq!(known().await, "0");
}

async fn a_rush_of_writers_loses_no_note(w: &World) {
    let mut rush = tokio::task::JoinSet::new();
    for number in 0..60_u64 {
        let notes = w.storage.writing.notes.clone();
        rush.spawn(async move {
            notes.insert(UserId::new(number % 3), &text(&number.to_string()), NOON).await.unwrap()
        });
    }
    let mut given = Vec::new();
    while let Some(done) = rush.join_next().await {
        given.push(done.unwrap());
    }
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), 60);
    let mut titles: Vec<String> = w
        .storage
        .writing
        .notes
        .those(&given)
        .await
        .unwrap()
        .into_iter()
        .map(|note| note.text.title)
        .collect();
    titles.sort_by_key(|title| title.parse::<u64>().unwrap());
    assert_eq!(titles, (0..60).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(w.storage.writing.notes.of_author(BOB, ALL).await.unwrap().len(), 20);
}

async fn random_notes_agree_with_a_plain_map(w: &World) {
    use Visibility::{Deleted, Hidden, Reported, Shown};
    let mut dice = Dice::from_environment("random_notes_agree_with_a_plain_map");
    let notes = &w.storage.writing.notes;
    let mut model: BTreeMap<NoteId, Note> = BTreeMap::new();
    for step in 0..200_u32 {
        let now = NOON + HOUR * (step / 4);
        let known: Vec<NoteId> = model.keys().copied().collect();
        if known.is_empty() || dice.chance(40) {
            let (author, text) = (UserId::new(dice.below(3)), text(&format!("step {step}")));
            let id = notes.insert(author, &text, now).await.unwrap();
            let (visibility, created, updated) = (Shown, now, now);
            let note = Note { id, author, text, liked: 0, comments: 0, visibility, created, updated };
            assert!(model.insert(id, note).is_none());
        } else {
            let id = dice.pick(&known);
            let to = dice.pick(&[Shown, Reported, Reported, Hidden, Hidden, Deleted]);
            let note = model.get_mut(&id).unwrap();
            let was = note.visibility;
            assert_eq!(notes.put_visibility(id, to, now).await.unwrap(), Some(was));
            if was != Deleted && was != to {
                (note.visibility, note.updated) = (to, now);
                if to == Deleted {
                    let nothing = String::new;
                    let (title, images, content) = (nothing(), nothing(), nothing());
                    note.text = NoteText { shop: note.text.shop, title, images, content };
                }
            }
            assert_eq!(notes.get(id).await.unwrap().as_ref(), model.get(&id));
        }
    }
    let mut seen: Vec<Note> = model.values().filter(|note| note.visibility.is_seen()).cloned().collect();
    seen.sort_by_key(|note| Reverse((note.created, note.id)));
    assert_eq!(notes.hot(ALL).await.unwrap(), seen);
    for author in (0..3).map(UserId::new) {
        let own: Vec<Note> = seen.iter().filter(|note| note.author == author).cloned().collect();
        assert_eq!(notes.of_author(author, ALL).await.unwrap(), own);
    }
}

async fn notes_outlive_a_restart(w: &World) {
    let another = w.another().await;
    let id = another.storage.writing.notes.insert(ANNE, &text("a note"), NOON).await.unwrap();
    another.storage.writing.notes.put_visibility(id, Visibility::Hidden, NOON).await.unwrap();
    let another = another.reopen().await;
    let note = another.storage.writing.notes.get(id).await.unwrap().unwrap();
    assert_eq!((note.text, note.visibility), (text("a note"), Visibility::Hidden));
    assert!(another.storage.writing.notes.insert(ANNE, &text("next"), NOON).await.unwrap() > id);
}
