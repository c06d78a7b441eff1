//! What an import tells whoever ordered it: every table, what was left out and why, what was taken otherwise.

use std::collections::BTreeMap;
use std::fmt;

use mallbox_storage::{ImportFinding, ImportFindings, ImportKind};

use super::dump::Unknown;
use super::pictures::PictureCounts;
use super::tables::{KINDS, Table};

/// Rows that a line names.
const EXAMPLES: usize = 5;

/// Rows of one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// In the file.
    pub read: u64,
    /// Not in the mall.
    pub left_out: u64,
}

/// What an import did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Each table of the file.
    pub tables: BTreeMap<Table, Counts>,
    /// Rows that were left out, by table and reason.
    left_out: BTreeMap<(Table, &'static str), Rows>,
    /// Rows that were taken otherwise than they stand in the file.
    changed: BTreeMap<(Table, &'static str), Rows>,
    /// What the file holds that the mall does not know.
    pub unknown: Unknown,
    /// Pictures.
    pub pictures: PictureCounts,
}

/// Some rows: how many, and the first few.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Rows {
    count: u64,
    examples: Vec<String>,
}

impl Rows {
    fn add(&mut self, count: u64, examples: impl IntoIterator<Item = String>) {
        self.count += count;
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(examples.into_iter().take(room));
    }
}

impl Report {
    /// A row of the file.
    pub(super) fn read(&mut self, table: Table) {
        self.tables.entry(table).or_default().read += 1;
    }

    /// It is left out. `label` is the number it begins with.
    pub(super) fn leave_out(&mut self, table: Table, why: &'static str, label: u64, line: u64) {
        self.tables.entry(table).or_default().left_out += 1;
        self.left_out.entry((table, why)).or_default().add(1, [format!("{label} (line {line})")]);
    }

    /// It is taken otherwise than it stands in the file.
    pub(super) fn change(&mut self, table: Table, how: &'static str, label: u64, line: u64) {
        self.changed.entry((table, how)).or_default().add(1, [format!("{label} (line {line})")]);
    }

    /// What was found when every row was in.
    pub(super) fn found(&mut self, findings: ImportFindings) {
        let (table, examples) = (table(findings.kind), findings.examples.iter().map(u64::to_string));
        let key = (table, words(findings.finding));
        if findings.finding.is_left_out() {
            self.tables.entry(table).or_default().left_out += findings.count;
            self.left_out.entry(key).or_default().add(findings.count, examples);
        } else {
            self.changed.entry(key).or_default().add(findings.count, examples);
        }
    }

    fn write_rows(
        f: &mut fmt::Formatter<'_>,
        what: &str,
        rows: &BTreeMap<(Table, &str), Rows>,
    ) -> fmt::Result {
        for ((table, why), Rows { count, examples }) in rows {
            let more = if *count > examples.len() as u64 { ", …" } else { "" };
            writeln!(f, "{what}{} × {}: {why}: {}{more}", count, table.name(), examples.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<20}{:>12}{:>12}{:>12}", "table", "rows", "taken", "left out")?;
        for table in KINDS {
            let Counts { read, left_out } = self.tables.get(&table).copied().unwrap_or_default();
            let taken = read.saturating_sub(left_out);
            writeln!(f, "{:<20}{read:>12}{taken:>12}{left_out:>12}", table.name())?;
        }
        Self::write_rows(f, "left out    ", &self.left_out)?;
        Self::write_rows(f, "changed     ", &self.changed)?;
        for (what, names) in [("table", &self.unknown.tables), ("column", &self.unknown.columns)] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                writeln!(f, "not known   {what}s passed over: {}", names.join(", "))?;
            }
        }
        write!(f, "{}", self.pictures)
    }
}

impl fmt::Display for PictureCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { brought, missing, remote, unusable, .. } = self;
        write!(
            f,
            "pictures    {brought} brought; {missing} named that are not at hand, shown as a drawn one"
        )?;
        if *remote > 0 {
            write!(f, "; {remote} at other addresses, asked for below /imgs/remote/ from now on")?;
        }
        if *unusable > 0 {
            write!(f, "; {unusable} names that can be no file's left out")?;
        }
        writeln!(f)?;
        let list = |names: &std::collections::BTreeSet<String>| {
            names.iter().take(EXAMPLES).cloned().collect::<Vec<_>>().join(", ")
        };
        if !self.missing_names.is_empty() {
            writeln!(f, "            not at hand: {}{}", list(&self.missing_names), more(*missing))?;
        }
        if !self.no_pictures.is_empty() {
            let count = self.no_pictures.len() as u64;
            writeln!(
                f,
                "            {count} no pictures by their content: {}{}",
                list(&self.no_pictures),
                more(count)
            )?;
        }
        Ok(())
    }
}

fn more(count: u64) -> &'static str {
    if count > EXAMPLES as u64 { ", …" } else { "" }
}

fn table(kind: ImportKind) -> Table {
    match kind {
        ImportKind::Card => Table::Card,
        ImportKind::Voucher => Table::Voucher,
        ImportKind::Sale => Table::Sale,
        ImportKind::Order => Table::Order,
        ImportKind::Note => Table::Note,
        ImportKind::Comment => Table::Comment,
        ImportKind::Follow => Table::Follow,
        ImportKind::Sign => Table::Sign,
    }
}

fn words(finding: ImportFinding) -> &'static str {
    match finding {
        ImportFinding::NoUser => "its user is not in the mall",
        ImportFinding::NoVoucher => "its voucher is not in the mall",
        ImportFinding::NoNote => "its note is not in the mall",
        ImportFinding::NoShop => "its shop is not in the mall",
        ImportFinding::NoTerms => "a sale without terms (tb_seckill_voucher) is over, with nothing left",
        ImportFinding::SecondLive => {
            "one more live order of one user in one sale is a dead letter DOUBLE, with its unit"
        }
    }
}
