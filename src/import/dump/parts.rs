//! Choice of the file's tables that stand for a wanted table: the table itself, the parts of a sharded table,
//! or a table without the prefix.

use std::collections::{BTreeMap, BTreeSet};

use super::error::Position;
use super::insert::Meaning;
use super::table::{Column, Wanted};

/// Prefix of every hm-dianping table; some projects omit the prefix.
const PREFIX: &str = "tb_";
/// Maximum digits in a part's suffix: `tb_user_0`, `tb_order_202211`, `tb_sign_20221103`.
const SUFFIX_DIGITS_MAX: usize = 8;

/// Spelling of a table's name, in order of preference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Spelling {
    /// Exact name: `tb_user`.
    Plain,
    /// Part with prefix: `tb_user_0`, `tb_user_00`.
    Part,
    /// Without prefix: `user`.
    Bare,
    /// Part without prefix: `user_0`.
    BarePart,
}

/// A candidate table of the file.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    /// Index of the wanted table.
    pub(super) table: usize,
    spelling: Spelling,
    /// Whether the file creates or fills the table, instead of only mentioning the name.
    pub(super) is_met: bool,
    /// Position of the `CREATE TABLE`.
    pub(super) made: Option<Position>,
    /// Columns, if a `CREATE TABLE` names them, and their meaning for an `INSERT` without a column list.
    pub(super) columns: Vec<Column>,
    pub(super) meaning: Option<Meaning>,
    /// Number of rows read.
    pub(super) rows: u64,
    /// Value of `AUTO_INCREMENT`.
    pub(super) next_id: Option<u64>,
}

/// A wanted table, as found in the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Tables to read: several for a sharded table, none if missing.
    pub parts: Vec<String>,
    /// Highest `AUTO_INCREMENT` of the parts.
    pub next_id: Option<u64>,
}

impl Part {
    /// Returns the table with this lower-case name if it can stand for a wanted one.
    pub(super) fn named(name: &str, wanted: &[Wanted]) -> Option<Self> {
        let with_prefix = format!("{PREFIX}{name}");
        let whole = |name: &str| wanted.iter().position(|table| table.name == name);
        let shard = |name: &str| {
            let (stem, digits) = name.rsplit_once('_')?;
            let is_number = (1..=SUFFIX_DIGITS_MAX).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit());
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

    /// Returns whether the name alone identifies a wanted table. Other spellings must have the required
    /// columns too.
    pub(super) fn is_sure(&self) -> bool {
        matches!(self.spelling, Spelling::Plain | Spelling::Part)
    }

    fn fits(&self, wanted: &Wanted) -> bool {
        let has = |needed: &&str| self.columns.iter().any(|column| column.name == **needed);
        self.is_sure() || wanted.needed.iter().all(has)
    }
}

/// Chooses the tables to read for each wanted table. Of several spellings, the best one with rows wins.
/// Tables without the prefix count only if they have the required columns, and if no table with the prefix
/// exists.
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

/// Returns the names of all tables to read.
pub(super) fn names(found: &[Found]) -> BTreeSet<String> {
    found.iter().flat_map(|found| &found.parts).cloned().collect()
}
