//! Writes the demo's catalogue into a mall.

mod people;
mod reviews;
mod sales;
#[cfg(test)]
mod tests;
mod values;

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use mallbox_storage::{
    Actor, CommentOutcome, LikeChange, NoteId, NoteText, Page, Phone, Post, Profile, Role, ShopId, ShopText,
    ShopType, ShopTypeId, Timestamp, UserId, VoucherId, geo_index,
};

use self::people::People;
use self::values::{DAY, HOUR, voucher_text};
use super::catalogue::{
    DemoComment, DemoNote, DemoPerson, DemoShop, FOLLOWS, NOTES, PEOPLE, SHOPS, TYPES, VOUCHERS, note_images,
    shop_images,
};
use crate::mall::Mall;
use crate::mall::base::By;

/// Entry points of a seeded demo.
#[derive(Clone, Debug)]
pub struct Seeded {
    /// Phone number of a customer.
    pub customer: &'static str,
    /// Phone number of the operator.
    pub operator: &'static str,
    /// The open sale.
    pub running: VoucherId,
    /// The sale that opens soon.
    pub opening: VoucherId,
    /// Number of shops.
    pub shops: usize,
}

/// Name of the setting that marks the catalogue as complete.
const SEEDED_SETTING: &str = "demo seeded";

/// Fills a new mall with everything that does not depend on time.
///
/// A start after an interrupted one completes the work: existing rows are left unchanged.
///
/// # Errors
/// The store cannot be written.
pub async fn seed_catalogue(mall: &Mall) -> anyhow::Result<()> {
    let upkeep = &mall.context.storage.base.upkeep;
    if upkeep.setting(SEEDED_SETTING).await?.is_none() {
        fill(mall, mall.context.now()).await?;
        upkeep.put_setting(SEEDED_SETTING, "1").await?;
    }
    Ok(())
}

/// [Furnishes](seed_catalogue) a mall, and ensures that one sale is open and another opens after `opens_in`.
///
/// # Errors
/// The store cannot be written.
pub async fn seed(mall: &Mall, opens_in: Duration) -> anyhow::Result<Seeded> {
    seed_catalogue(mall).await?;
    let now = mall.context.now();
    let running = sales::running(mall, now).await?;
    let opening = sales::opening(mall, now, now + opens_in).await?;
    Ok(Seeded { customer: PEOPLE[1].phone, operator: PEOPLE[0].phone, running, opening, shops: SHOPS.len() })
}

async fn fill(mall: &Mall, now: Timestamp) -> anyhow::Result<()> {
    let storage = &mall.context.storage;
    for kind in &TYPES {
        let kind = ShopType {
            id: ShopTypeId::new(kind.id),
            name: kind.name.to_owned(),
            icon: kind.icon.to_owned(),
            sort: kind.sort,
        };
        storage.catalogue.shops.put_type(&kind, now).await?;
    }
    for shop in SHOPS.iter() {
        if storage.catalogue.shops.get(ShopId::new(shop.id)).await?.is_none() {
            let id = storage.catalogue.shops.insert(&shop_text(shop), now).await?;
            ensure!(id.get() == shop.id, "shop {} was given the id {id}: this mall is not new", shop.id);
            geo_index::place(&*storage.catalogue.geo_index, &*storage.catalogue.shops, id).await?;
        }
    }
    let mut people = Vec::with_capacity(PEOPLE.len());
    for person in &PEOPLE {
        people.push(add_person(mall, person, now).await?);
    }
    let people = People(people);
    add_writings(mall, &people, now).await?;
    reviews::add(mall, &people, now).await?;
    for voucher in VOUCHERS.iter() {
        let shop = ShopId::new(voucher.shop_id);
        let there = storage.catalogue.vouchers.of_shop(shop).await?;
        if there.iter().all(|known| known.text.title != voucher.title) {
            let text = voucher_text(
                voucher.shop_id,
                [voucher.title, voucher.sub_title, voucher.rules],
                [voucher.pay_value, voucher.actual_value],
            );
            storage.catalogue.vouchers.insert(&text, None, now).await?;
        }
    }
    Ok(())
}

async fn add_person(mall: &Mall, person: &DemoPerson, now: Timestamp) -> anyhow::Result<UserId> {
    let users = &mall.context.storage.people.users;
    let phone = Phone::parse(person.phone).context("a person's phone")?;
    // Earlier than any activity of the user.
    let user = users.find_or_create(&phone, person.nick_name, now - 40 * DAY).await?;
    let card = Profile {
        city: person.city.to_owned(),
        introduce: person.introduce.to_owned(),
        gender: person.gender,
        birthday: Some(person.birthday.to_owned()),
        ..Profile::default()
    };
    users.put_card(user.id, person.nick_name, person.icon, &card, now).await?;
    let credits = u32::try_from(person.credits).unwrap_or_default();
    mall.context.storage.people.credits.bring_along(user.id, credits, now - 40 * DAY).await?;
    if person.phone == PEOPLE[0].phone {
        let by = By { actor: Actor::CommandLine, at: now };
        mall.people.set_role(user.id, Role::Operator, by).await?;
    }
    if person.phone == PEOPLE[1].phone {
        sign_in(mall, user.id, now).await?;
    }
    Ok(user.id)
}

/// Signs the customer in on some days of the past week, for a ledger of credits with several lines.
async fn sign_in(mall: &Mall, user: UserId, now: Timestamp) -> anyhow::Result<()> {
    for days_ago in [5, 4, 2] {
        mall.sign_ins.sign(user, now - DAY * days_ago).await?;
    }
    Ok(())
}

/// Adds follows, notes, comments and likes.
async fn add_writings(mall: &Mall, people: &People, now: Timestamp) -> anyhow::Result<()> {
    let storage = &mall.context.storage;
    for (who, followees) in FOLLOWS {
        for whom in *followees {
            storage.people.follows.follow(people.at(*who)?, people.at(*whom)?, now - 30 * DAY).await?;
        }
    }
    for (number, note) in (1..).zip(NOTES) {
        let id = add_note(mall, people, number, note, now).await?;
        let (_, comments) = storage.writing.comments.threads(id, Page::new(1, 1)).await?;
        if comments == 0 {
            add_comments(mall, people, id, note, now).await?;
            add_likes(mall, people, id, number).await?;
        }
    }
    Ok(())
}

/// Returns the note, written if missing.
async fn add_note(
    mall: &Mall,
    people: &People,
    number: u64,
    note: &DemoNote,
    now: Timestamp,
) -> anyhow::Result<NoteId> {
    let (notes, author) = (&mall.context.storage.writing.notes, people.at(note.author)?);
    let there = notes.of_author(author, Page::new(1, 100)).await?;
    if let Some(known) = there.iter().find(|known| known.text.title == note.title) {
        return Ok(known.id);
    }
    let text = NoteText {
        shop: ShopId::new(note.shop_id),
        title: note.title.to_owned(),
        images: note_images(number, note),
        content: note.content.to_owned(),
    };
    Ok(notes.insert(author, &text, now - HOUR * note.hours_ago).await?)
}

/// Adds all comments of a note, a few minutes apart.
async fn add_comments(
    mall: &Mall,
    people: &People,
    id: NoteId,
    note: &DemoNote,
    now: Timestamp,
) -> anyhow::Result<()> {
    let comments = &mall.context.storage.writing.comments;
    let mut at = now - HOUR * note.hours_ago;
    let mut written = Vec::with_capacity(note.comments.len());
    for DemoComment { author, reply_to: answers, content } in note.comments {
        at = at + Duration::from_secs(11 * 60);
        let answered = answers.and_then(|place| written.get(place)).copied();
        match comments.insert(people.at(*author)?, id, answered, content, at).await? {
            CommentOutcome::Written(comment) => written.push(comment),
            refused => bail!("a comment on note {id} was refused: {refused:?}"),
        }
    }
    Ok(())
}

/// Adds likes by a varying number of users.
async fn add_likes(mall: &Mall, people: &People, id: NoteId, number: u64) -> anyhow::Result<()> {
    let (likes, now) = (&mall.context.storage.writing.likes, mall.context.now());
    let of_number = |who: u64| (who * 7 + number * 5) % 16 < number * 11 % 13;
    for (_, user) in (1..).zip(&people.0).filter(|(who, _)| of_number(*who)) {
        likes.change(*user, Post::Note(id), LikeChange::Like, now).await?;
    }
    Ok(())
}

fn shop_text(shop: &DemoShop) -> ShopText {
    ShopText {
        name: shop.name.to_owned(),
        kind: ShopTypeId::new(shop.type_id),
        images: shop_images(shop),
        area: shop.area.to_owned(),
        address: shop.address.to_owned(),
        x: shop.x,
        y: shop.y,
        avg_price: Some(shop.avg_price),
        open_hours: shop.open_hours.to_owned(),
        sold: shop.sold,
        comments: shop.comments,
        score: shop.score,
    }
}
