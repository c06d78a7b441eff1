//! Which tables of a file stand for a wanted one: the table itself, the parts of a sharded one, or one without the prefix.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Meaning;
use super::{Column, Position, Wanted};

/// The prefix of every table of hm-dianping, which some leave out.
const PREFIX: &str = "tb_";
/// Digits behind a part's name: `tb_user_0`, `tb_order_202211`, `tb_sign_20221103`.
const MOST_DIGITS: usize = 8;

/// How a table's name is written, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Spelling {
    /// `tb_user`.
    Plain,
    /// `tb_user_0`, `tb_user_00`.
    Part,
    /// `user`.
    Bare,
    /// `user_0`.
    BarePart,
}

/// A table of the file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    /// Which wanted table it stands for.
    pub(super) table: usize,
    spelling: Spelling,
    /// Whether it is made or filled, and not only named.
    pub(super) is_met: bool,
    /// Where it is made.
    pub(super) made: Option<Position>,
    /// Its columns, if a `CREATE TABLE` names them; and what they mean to an `INSERT` that names none.
    pub(super) columns: Vec<Column>,
    pub(super) meaning: Option<Meaning>,
    /// Rows that have been read of it.
    pub(super) rows: u64,
    /// What `AUTO_INCREMENT` says.
    pub(super) next_id: Option<u64>,
}

/// A wanted table, as the file has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The tables that it is read from: several of a sharded one, none if it is missing.
    pub parts: Vec<String>,
    /// The highest `AUTO_INCREMENT` of these.
    pub next_id: Option<u64>,
}

impl Part {
    /// The table of this name, in small letters, if it can stand for a wanted one.
    pub(super) fn named(name: &str, wanted: &[Wanted]) -> Option<Self> {
        let with_prefix = format!("{PREFIX}{name}");
        let whole = |name: &str| wanted.iter().position(|table| table.name == name);
        let shard = |name: &str| {
            let (stem, digits) = name.rsplit_once('_')?;
            let is_number =
                (1..=MOST_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            whole(stem).filter(|_| is_number)
        };
        let (table, spelling) = whole(name)
            .map(|table| (table, Spelling::Plain))
            .or_else(|| shard(name).map(|table| (table, Spelling::Part)))
            .or_else(|| whole(&with_prefix).map(|table| (table, Spelling::Bare)))
            .or_else(|| shard(&with_prefix).map(|table| (table, Spelling::BarePart)))?;
        let (name, columns) = (name.to_owned(), Vec::new());
        let (is_met, made, meaning, rows, next_id) = (false, None, None, 0, None);
        Some(Self { name, table, spelling, is_met, made, columns, meaning, rows, next_id })
    }

    /// Whether it is taken for a wanted table by its name alone. Any other has to have its columns too.
    pub(super) fn is_sure(&self) -> bool {
        matches!(self.spelling, Spelling::Plain | Spelling::Part)
    }

    fn fits(&self, wanted: &Wanted) -> bool {
        let has = |needed: &&str| self.columns.iter().any(|column| column.name == **needed);
        self.is_sure() || wanted.needed.iter().all(has)
    }
}

/// Which tables of the file each wanted one is read from. Of several spellings the best that has rows counts; of tables
/// without the prefix, those alone that have the columns of the wanted one, and only where the prefix is nowhere.
pub(super) fn choose(parts: &[Part], wanted: &[Wanted]) -> Vec<Found> {
    let of = |(table, wanted): (usize, &Wanted)| {
        let mut by_spelling: BTreeMap<Spelling, Vec<&Part>> = BTreeMap::new();
        for part in parts.iter().filter(|part| part.is_met && part.table == table && part.fits(wanted)) {
            by_spelling.entry(part.spelling).or_default().push(part);
        }
        if by_spelling.keys().any(|spelling| *spelling <= Spelling::Part) {
            by_spelling.retain(|spelling, _| *spelling <= Spelling::Part);
        }
        let has_rows = |parts: &&Vec<&Part>| parts.iter().any(|part| part.rows > 0);
        let chosen = by_spelling.values().find(has_rows).or_else(|| by_spelling.values().next());
        let chosen = chosen.map_or(&[][..], Vec::as_slice);
        Found {
            parts: chosen.iter().map(|part| part.name.clone()).collect(),
            next_id: chosen.iter().filter_map(|part| part.next_id).max(),
        }
    };
    wanted.iter().enumerate().map(of).collect()
}

/// The names of all tables that are read.
pub(super) fn names(found: &[Found]) -> BTreeSet<String> {
    found.iter().flat_map(|found| &found.parts).cloned().collect()
}
