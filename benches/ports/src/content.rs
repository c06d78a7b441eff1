//! Content of a mall: users, follows and notes, imported faster than through the ports, and shops.

use std::time::Duration;

use mallbox_storage::{
    FinishOptions, ImportRow, ImportedNote, NoteId, Phone, ShopId, ShopText, ShopType, ShopTypeId, Storage,
    User, UserId,
};

use crate::claims::NOON;
use crate::error::BenchError;

/// Rows imported at once.
const BATCH: usize = 2_000;

/// Imports rows into an empty mall.
pub async fn import(
    storage: &Storage,
    rows: impl Iterator<Item = Result<ImportRow, BenchError>>,
) -> Result<(), BenchError> {
    let mut import = storage
        .operator
        .import
        .begin()
        .await?
        .ok_or_else(|| BenchError::Wrong("the mall is not empty".to_owned()))?;
    let mut batch = Vec::new();
    for row in rows {
        batch.push((row?, true));
        if batch.len() == BATCH {
            import.put(std::mem::take(&mut batch)).await?;
        }
    }
    import.put(batch).await?;
    import.finish(FinishOptions::new(Duration::from_secs(900), NOON)).await?;
    Ok(())
}

/// Returns the users 1 to `count`.
pub fn users(count: u64) -> impl Iterator<Item = Result<ImportRow, BenchError>> {
    (1..=count).map(|id| {
        let phone = Phone::parse(&format!("139{id:08}"))
            .ok_or_else(|| BenchError::Wrong(format!("no phone for user {id}")))?;
        Ok(ImportRow::User(User::new(UserId::new(id), phone, format!("user {id}"), NOON), None))
    })
}

/// Returns a follow.
pub fn follow(follower: u64, followee: u64) -> ImportRow {
    ImportRow::Follow { follower: UserId::new(follower), followee: UserId::new(followee), since: NOON }
}

/// Returns a note of a user, a minute older with each number.
pub fn note(number: u64, user: u64) -> ImportRow {
    let at = NOON - Duration::from_secs(60 * number);
    ImportRow::Note(ImportedNote {
        id: NoteId::new(number),
        shop: ShopId::new(1),
        user: UserId::new(user),
        title: "一碗面".into(),
        images: "/imgs/blogs/1/a.jpg".into(),
        content: "面很好吃。".repeat(20),
        liked: 0,
        comments: 0,
        created: at,
        updated: at,
    })
}

/// Inserts a type of shops.
pub async fn insert_kind(storage: &Storage) -> Result<ShopTypeId, BenchError> {
    let id = ShopTypeId::new(1);
    let kind = ShopType { id, name: "美食".into(), icon: String::new(), sort: 1 };
    storage.catalogue.shops.put_type(&kind, NOON).await?;
    Ok(id)
}

/// Returns a shop of a type.
pub fn shop(kind: ShopTypeId) -> ShopText {
    ShopText {
        name: "面馆".into(),
        kind,
        images: String::new(),
        area: String::new(),
        address: String::new(),
        x: 120.0,
        y: 30.0,
        avg_price: None,
        open_hours: String::new(),
        sold: 0,
        comments: 0,
        score: 0,
    }
}
