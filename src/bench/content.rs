//! What there is to read in the bench's mall: shops around a town, notes, and readers who follow authors.

use indicatif::ProgressBar;
use mallbox_storage::{
    FeedEntry, LatLng, NoteId, NoteText, PlacedShop, ShopId, ShopText, ShopType, ShopTypeId, Storage,
    Timestamp, UserId,
};

use super::concurrent;

/// The centre of the town: longitude and latitude.
pub(super) const TOWN: (f64, f64) = (120.15, 30.33);
/// Shops lie on a square of so many rows and columns.
const ROWS: u32 = 20;
/// Distance between rows in degrees, some 450 m: the square's half is within the 5 km of a search.
const STEP: f64 = 0.004;
/// Types of shops, all alike in number.
pub(super) const TYPES: u64 = 5;
/// Authors are the first users.
const AUTHORS: usize = 50;
const NOTES_PER_AUTHOR: usize = 4;
/// Readers are the users after the authors.
const READERS_MAX: usize = 1_000;
const FOLLOWEES_PER_READER: usize = 10;

/// What there is to read.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) shops: Vec<ShopId>,
    pub(super) notes: Vec<NoteId>,
    /// Places of the readers in the list of all users; each has forty notes in the feed.
    pub(super) readers: std::ops::Range<usize>,
}

/// Creates shops, notes and follows through the ports the mall uses.
pub(super) async fn make(
    storage: &Storage,
    users: &[UserId],
    at_once: usize,
    now: Timestamp,
) -> anyhow::Result<Content> {
    let shops = make_shops(storage, now).await?;
    let authors = &users[..users.len().min(AUTHORS)];
    let readers = authors.len()..users.len().min(authors.len() + READERS_MAX);
    let follows = users[readers.clone()].iter().enumerate().flat_map(|(number, reader)| {
        (0..FOLLOWEES_PER_READER.min(authors.len()))
            .map(move |place| (*reader, authors[(number + place) % authors.len()]))
    });
    let bar = ProgressBar::hidden();
    let follow = |(reader, author)| {
        let storage = storage.clone();
        async move { Ok(storage.people.follows.follow(reader, author, now).await?) }
    };
    concurrent::all(at_once, follows.map(follow), &bar).await?;
    let notes = (0..authors.len() * NOTES_PER_AUTHOR).map(|number| {
        let (storage, author, shop) =
            (storage.clone(), authors[number % authors.len()], shops[number % shops.len()]);
        write_note(storage, (number, author), shop, now)
    });
    let notes = concurrent::all(at_once, notes, &bar).await?;
    Ok(Content { shops, notes, readers })
}

async fn write_note(
    storage: Storage,
    (number, author): (usize, UserId),
    shop: ShopId,
    now: Timestamp,
) -> anyhow::Result<NoteId> {
    let text = NoteText {
        shop,
        title: format!("Bench note {number}"),
        images: "/imgs/blogs/bench.jpg".to_owned(),
        content: "A paragraph about a shop, as long as people write them. ".repeat(8),
    };
    let note = storage.writing.notes.insert(author, &text, now).await?;
    storage.writing.feeds.pass_on(FeedEntry { note, written: now }, author, now).await?;
    Ok(note)
}

/// Creates the first shop type and the shop of the sales.
pub(super) async fn make_shop(storage: &Storage, now: Timestamp) -> anyhow::Result<ShopId> {
    storage.catalogue.shops.put_type(&shop_type(1), now).await?;
    Ok(storage.catalogue.shops.insert(&shop_text(1, TOWN), now).await?)
}

async fn make_shops(storage: &Storage, now: Timestamp) -> anyhow::Result<Vec<ShopId>> {
    for id in 1..=TYPES {
        storage.catalogue.shops.put_type(&shop_type(id), now).await?;
    }
    let (mut shops, mut placed) = (Vec::new(), Vec::new());
    for place in 0..ROWS * ROWS {
        let offset = |steps: u32| STEP * (f64::from(steps) - f64::from(ROWS) / 2.0);
        let (x, y) = (TOWN.0 + offset(place % ROWS), TOWN.1 + offset(place / ROWS));
        let kind = u64::from(place) % TYPES + 1;
        let shop = storage.catalogue.shops.insert(&shop_text(kind, (x, y)), now).await?;
        let at = LatLng::new(x, y);
        placed.extend(at.map(|at| PlacedShop { shop, kind: ShopTypeId::new(kind), at }));
        shops.push(shop);
    }
    storage.catalogue.geo_index.add(&placed).await?;
    Ok(shops)
}

fn shop_type(id: u64) -> ShopType {
    ShopType { id: ShopTypeId::new(id), name: format!("Bench {id}"), icon: String::new(), sort: 1 }
}

fn shop_text(kind: u64, (x, y): (f64, f64)) -> ShopText {
    ShopText {
        name: "Bench".to_owned(),
        kind: ShopTypeId::new(kind),
        images: String::new(),
        area: String::new(),
        address: "localhost".to_owned(),
        x,
        y,
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 50,
    }
}
