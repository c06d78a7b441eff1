//! Sign-ins in the database: blocks of bits, one bit per user.
//!
//! Not rows: the start reads all sign-ins, and ten million rows take seconds where their bits take
//! milliseconds. Not a bitmap per day either, because each sign-in would rewrite the whole bitmap.
//!
//! Reasons and figures: `storage/decisions/0009-sign-ins-as-bits.md`.

use mallbox_storage::{Day, DaySpan, UserId};
use roaring::RoaringTreemap;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::columns::{get_id, id};
use super::errors::unreadable;
use crate::sign_in_index::Days;

/// Users per block: 512 bytes, so that a row fits in a page.
const USERS: u64 = 4_096;

/// State of a user's day after a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Put {
    pub(super) is_new: bool,
    pub(super) is_made_up: bool,
}

#[derive(Default)]
struct Block {
    signed: Vec<u8>,
    made_up: Vec<u8>,
}

/// Returns the block of a user, and the user's index within the block.
fn place(user: UserId) -> (u64, usize) {
    (user.get() / USERS, usize::try_from(user.get() % USERS).unwrap_or(0))
}

fn has(bits: &[u8], place: usize) -> bool {
    bits.get(place / 8).is_some_and(|byte| byte & (1 << (place % 8)) != 0)
}

fn set(bits: &mut Vec<u8>, place: usize) {
    bits.resize(bits.len().max(place / 8 + 1), 0);
    bits[place / 8] |= 1 << (place % 8);
}

impl Block {
    fn read(conn: &Connection, day: Day, block: u64) -> rusqlite::Result<Self> {
        let found = conn
            .prepare_cached("SELECT signed, made_up FROM sign_blocks WHERE day = ?1 AND block = ?2")?
            .query_row(params![day.to_string(), id(block)], |row| {
                Ok(Self { signed: row.get(0)?, made_up: row.get(1)? })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    fn write(&self, conn: &Connection, day: Day, block: u64) -> rusqlite::Result<()> {
        conn.prepare_cached(
            "INSERT INTO sign_blocks (day, block, signed, made_up) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (day, block) DO UPDATE SET signed = excluded.signed, made_up = excluded.made_up",
        )?
        .execute(params![day.to_string(), id(block), self.signed, self.made_up])
        .map(drop)
    }

    fn set(&mut self, place: usize, is_made_up: bool) {
        set(&mut self.signed, place);
        if is_made_up {
            set(&mut self.made_up, place);
        }
    }
}

/// Signs a user in. No effect if already signed in.
pub(super) fn sign(conn: &Connection, user: UserId, day: Day) -> rusqlite::Result<Put> {
    match Open::find(conn, user, day)? {
        Found::Signed(put) => Ok(put),
        Found::Free(open) => open.put(conn, false),
    }
}

/// Makes up a day, unless signed. Returns `None` if the day is unsigned and `most` days of its month are
/// made up already.
pub(super) fn make_up(conn: &Connection, user: UserId, day: Day, most: u32) -> rusqlite::Result<Option<Put>> {
    match Open::find(conn, user, day)? {
        Found::Signed(put) => Ok(Some(put)),
        Found::Free(_) if made_up(conn, user, day.month())? >= most => Ok(None),
        Found::Free(open) => open.put(conn, true).map(Some),
    }
}

/// Counts the days of a span that a user made up.
fn made_up(conn: &Connection, user: UserId, span: DaySpan) -> rusqlite::Result<u32> {
    let (number, place) = place(user);
    let mut count = 0;
    for day in span.days() {
        count += u32::from(has(&Block::read(conn, day, number)?.made_up, place));
    }
    Ok(count)
}

enum Found {
    Signed(Put),
    Free(Open),
}

/// An unsigned day of a user, with its block.
struct Open {
    day: Day,
    number: u64,
    place: usize,
    block: Block,
}

impl Open {
    fn find(conn: &Connection, user: UserId, day: Day) -> rusqlite::Result<Found> {
        let (number, place) = place(user);
        let block = Block::read(conn, day, number)?;
        Ok(if has(&block.signed, place) {
            Found::Signed(Put { is_new: false, is_made_up: has(&block.made_up, place) })
        } else {
            Found::Free(Self { day, number, place, block })
        })
    }

    fn put(mut self, conn: &Connection, is_made_up: bool) -> rusqlite::Result<Put> {
        self.block.set(self.place, is_made_up);
        self.block.write(conn, self.day, self.number)?;
        Ok(Put { is_new: true, is_made_up })
    }
}

/// Returns whether any imported sign-ins are still in rows.
pub(super) fn are_unpacked(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM sign_ins LIMIT 1")?.exists([])
}

/// Moves imported sign-ins from rows into blocks.
pub(super) fn pack_rows(conn: &Connection) -> rusqlite::Result<()> {
    let mut select = conn.prepare("SELECT day, user_id, made_up FROM sign_ins ORDER BY day, user_id")?;
    let mut rows = select.query([])?;
    let mut open: Option<(Day, u64, Block)> = None;
    while let Some(row) = rows.next()? {
        let (day, is_made_up) = (get_day(row, 0)?, row.get::<_, i64>(2)? != 0);
        let (number, place) = place(UserId::new(get_id(row, 1)?));
        if let Some((of, which, block)) = open.take_if(|(of, which, _)| (*of, *which) != (day, number)) {
            block.write(conn, of, which)?;
        }
        let (_, _, block) = match &mut open {
            Some(open) => open,
            none => none.insert((day, number, Block::read(conn, day, number)?)),
        };
        block.set(place, is_made_up);
    }
    if let Some((day, number, block)) = open {
        block.write(conn, day, number)?;
        conn.execute("DELETE FROM sign_ins", [])?;
    }
    Ok(())
}

/// Reads all sign-ins.
pub(super) fn load(conn: &Connection) -> rusqlite::Result<Days> {
    let mut select =
        conn.prepare("SELECT day, block, signed, made_up FROM sign_blocks ORDER BY day, block")?;
    let mut rows = select.query([])?;
    let mut days = Days::new();
    while let Some(row) = rows.next()? {
        let first = get_id(row, 1)?.saturating_mul(USERS);
        let (signed, made_up) = (row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
        days.entry(get_day(row, 0)?).or_default().add_bits(first, signed, made_up);
    }
    load_rows(conn, &mut days)?;
    Ok(days)
}

/// Reads unpacked rows, as left by an import onto a disk that is now full.
fn load_rows(conn: &Connection, days: &mut Days) -> rusqlite::Result<()> {
    let mut select = conn.prepare("SELECT day, user_id, made_up FROM sign_ins")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (number, place) = place(UserId::new(get_id(row, 1)?));
        let mut block = Block::default();
        block.set(place, row.get::<_, i64>(2)? != 0);
        let first = number.saturating_mul(USERS);
        days.entry(get_day(row, 0)?).or_default().add_bits(first, &block.signed, &block.made_up);
    }
    Ok(())
}

fn get_day(row: &Row<'_>, column: usize) -> rusqlite::Result<Day> {
    let text = row.get_ref(column)?.as_str()?;
    Day::parse(text).ok_or_else(|| unreadable(column, text))
}

/// Returns the indices of existing users within a block.
pub(super) fn people(conn: &Connection, block: u64) -> rusqlite::Result<RoaringTreemap> {
    let first = block.saturating_mul(USERS);
    conn.prepare_cached("SELECT id FROM users WHERE id BETWEEN ?1 AND ?2")?
        .query_map([id(first), id(first.saturating_add(USERS - 1))], |row| Ok(get_id(row, 0)? - first))?
        .collect()
}

/// Returns whether all bits of a block belong to `people`, and every made-up day is signed.
pub(super) fn is_whole(signed: &[u8], made_up: &[u8], people: &RoaringTreemap) -> bool {
    let places = |bits: &[u8]| {
        (0..bits.len() * 8).filter(|&place| has(bits, place)).map(|place| place as u64).collect()
    };
    let (signed, made_up): (RoaringTreemap, RoaringTreemap) = (places(signed), places(made_up));
    signed.is_subset(people) && made_up.is_subset(&signed)
}
