//! Feeds and likes, embedded and on Redis and MariaDB, in one run: the first page of a feed, a page whose
//! inbox has to be filled first, fan-out of a note to its followers, and a rush of likes on one note and on
//! many.
//!
//! `cargo bench -p mallbox-storage-production --bench feeds [-- LIKES]`. Starts a redis-server and a MariaDB
//! in the system's temporary directory. All share this machine's cores.
#![expect(clippy::unwrap_used, reason = "a bench that cannot run has nothing to say")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mallbox_storage::{
    FeedEntry, FinishOptions, ImportRow, ImportedNote, LikeChange, NoteId, NoteText, Page, Phone, Post,
    ShopId, Storage, Timestamp, User, UserId,
};
use mallbox_test_servers::MallLocation;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
/// Authors (the first users) and notes per author.
const AUTHORS: u64 = 200;
const NOTES_EACH: u64 = 50;
/// Readers (the users after the authors). Each follows half of the authors; the first author is followed by
/// all.
const READERS: u64 = 4_000;
const PAGES: u64 = 4_000;
const CALLERS: u64 = 64;

fn main() {
    let likes = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(20_000_u64);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        println!(
            "{AUTHORS} authors of {NOTES_EACH} notes, {READERS} readers who follow half of them, {CALLERS} callers at once"
        );
        println!("{:44}    p50     p99  (us)   per second", "");
        for (name, ground) in [("embedded", MallLocation::directory()), ("Redis and MariaDB", MallLocation::on_servers())] {
            run(name, &ground, likes).await;
        }
    });
}

async fn run(name: &str, ground: &MallLocation, likes: u64) {
    let storage = ground.open().await;
    fill(&storage).await;
    let page = |storage: Storage, number: u64| async move {
        let reader = UserId::new(AUTHORS + 1 + number % READERS);
        let page = storage.writing.feeds.page(reader, Timestamp::MAX, 10, NOON).await.unwrap();
        assert_eq!(page.len(), 10);
        page
    };
    time(&format!("{name}: a feed, its inbox to be filled"), &storage, READERS, page).await;
    time(&format!("{name}: a feed"), &storage, PAGES, page).await;
    time(
        &format!("{name}: a feed with its notes"),
        &storage,
        PAGES,
        move |storage: Storage, number| async move {
            let entries = page(storage.clone(), number).await;
            let notes: Vec<NoteId> = entries.iter().map(|entry| entry.note).collect();
            let likable: Vec<Post> = notes.iter().copied().map(Post::Note).collect();
            assert_eq!(storage.writing.notes.those(&notes).await.unwrap().len(), 10);
            storage.writing.likes.liked(UserId::new(1), &likable).await.unwrap();
        },
    )
    .await;
    pass_on(name, &storage).await;

    let one = Post::Note(NoteId::new(1));
    time(
        &format!("{name}: likes on one note"),
        &storage,
        likes,
        move |storage: Storage, number| async move {
            storage
                .writing
                .likes
                .change(UserId::new(number + 1), one, LikeChange::Like, NOON)
                .await
                .unwrap()
                .unwrap();
        },
    )
    .await;
    let counted = storage.writing.notes.get(NoteId::new(1)).await.unwrap().unwrap().liked;
    let rows = storage.writing.likes.likers(one, Page::new(1, u32::MAX)).await.unwrap().len() as u64;
    assert_eq!((counted, rows), (likes, likes), "no like is lost or counted twice");
    time(&format!("{name}: likes on many notes"), &storage, likes, |storage: Storage, number| async move {
        let note = Post::Note(NoteId::new(2 + number % 1_000));
        storage
            .writing
            .likes
            .change(UserId::new(number + 1), note, LikeChange::Like, NOON)
            .await
            .unwrap()
            .unwrap();
    })
    .await;
    storage.base.upkeep.close().await.unwrap();
}

/// Times the fan-out of notes whose author is followed by every reader. Every reader has read the feed
/// recently.
async fn pass_on(name: &str, storage: &Storage) {
    let text =
        NoteText {
            shop: ShopId::new(1), title: "面".into(), images: String::new(), content: "好吃".into()
        };
    let mut times = Vec::new();
    for number in 1..=20 {
        let written = NOON + Duration::from_secs(number);
        let note = storage.writing.notes.insert(UserId::new(1), &text, written).await.unwrap();
        let began = Instant::now();
        storage.writing.feeds.pass_on(FeedEntry { note, written }, UserId::new(1), NOON).await.unwrap();
        times.push(began.elapsed());
        let read =
            storage.writing.feeds.page(UserId::new(AUTHORS + 1), Timestamp::MAX, 1, NOON).await.unwrap();
        assert_eq!(read, [FeedEntry { note, written }]);
    }
    print(&format!("{name}: a note to {READERS} inboxes"), times, None);
}

/// Runs `call` `count` times from [`CALLERS`] concurrent callers and prints the times.
async fn time<F, T>(
    name: &str,
    storage: &Storage,
    count: u64,
    call: impl Fn(Storage, u64) -> F + Copy + Send + 'static,
) where
    F: Future<Output = T> + Send,
    T: Send,
{
    let (next, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (storage, next) = (storage.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                let mut times = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return times;
                    }
                    let began = Instant::now();
                    let _ = call(storage.clone(), number).await;
                    times.push(began.elapsed());
                }
            })
        })
        .collect();
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.unwrap());
    }
    print(name, times, Some(began.elapsed()));
}

fn print(name: &str, mut times: Vec<Duration>, all: Option<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_micros();
    let rate = all.map(|all| format!("{:12.0}", times.len() as f64 / all.as_secs_f64())).unwrap_or_default();
    println!("{name:44} {:6} {:7} {rate}", at(50), at(99));
}

async fn fill(storage: &Storage) {
    let mut import = storage.operator.import.begin().await.unwrap().unwrap();
    let people = (1..=AUTHORS + READERS).map(|id| {
        let phone = Phone::parse(&format!("139{id:08}")).unwrap();
        ImportRow::User(User::new(UserId::new(id), phone, format!("user {id}"), NOON), None)
    });
    let notes = (0..AUTHORS * NOTES_EACH).map(|number| {
        let at = NOON - Duration::from_secs(60 * number);
        ImportRow::Note(ImportedNote {
            id: NoteId::new(number + 1),
            shop: ShopId::new(1),
            user: UserId::new(number % AUTHORS + 1),
            title: "一碗面".into(),
            images: "/imgs/blogs/1/a.jpg".into(),
            content: "面很好吃。".repeat(20),
            liked: 0,
            comments: 0,
            created: at,
            updated: at,
        })
    });
    let follows = (AUTHORS + 1..=AUTHORS + READERS).flat_map(|reader| {
        let authors = (1..=AUTHORS).filter(move |author| *author == 1 || (author + reader) % 2 == 0);
        authors.map(move |author| ImportRow::Follow {
            follower: UserId::new(reader),
            followee: UserId::new(author),
            since: NOON,
        })
    });
    let rows: Vec<ImportRow> = people.chain(notes).chain(follows).collect();
    for some in rows.chunks(2_000) {
        import.put(some.iter().cloned().map(|row| (row, true)).collect()).await.unwrap();
    }
    import.finish(FinishOptions::new(Duration::from_secs(900), NOON)).await.unwrap();
}
