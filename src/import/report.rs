//! Report of an import: every table, rows left out with reasons, and rows changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use mallbox_storage::{ImportFinding, ImportFindings, ImportRowKind};
use serde_json::json;

use super::dump::{Change, End, Survey, Unknown};
use super::pictures::PictureCounts;
use super::tables::{KINDS, Table};
use crate::language::{Bilingual, Language, both, padded, padded_left, sentence};

/// Example rows per line of the report.
const EXAMPLES: usize = 5;

/// Row counts of one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Rows in the file.
    pub read: u64,
    /// Rows not in the mall.
    pub left_out: u64,
}

/// Result of an import.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Row counts by table.
    pub tables: BTreeMap<Table, Counts>,
    /// Rows left out, by table and reason.
    left_out: BTreeMap<(Table, Bilingual), Rows>,
    /// Rows imported with changes, by table and change.
    changed: BTreeMap<(Table, Bilingual), Rows>,
    /// Unpaid orders, by treatment.
    unpaid: BTreeMap<(Table, Bilingual), Rows>,
    /// Tables and columns of the file that the mall does not know.
    pub unknown: Unknown,
    /// Names in the file for each table (the parts of a sharded table).
    found: BTreeMap<Table, Vec<String>>,
    /// Statements that changed preceding rows.
    pub(super) changes: Vec<Change>,
    /// How the file ends.
    end: Option<End>,
    /// Counts of pictures.
    pub pictures: PictureCounts,
}

/// A set of rows: number and first examples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Rows {
    count: u64,
    examples: Vec<Example>,
}

/// A row, by its first number and, if known, the line in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Example {
    label: u64,
    line: Option<u64>,
}

impl Example {
    fn text(self, l: Language) -> String {
        let Self { label, line } = self;
        match line {
            Some(line) => sentence!(l, "{label}（第{line}行）", "{label} (line {line})"),
            None => label.to_string(),
        }
    }
}

impl Rows {
    fn add(&mut self, count: u64, examples: impl IntoIterator<Item = Example>) {
        self.count += count;
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(examples.into_iter().take(room));
    }
}

impl Report {
    /// Creates the report of a surveyed file.
    pub(super) fn of(survey: &Survey) -> Self {
        let parts = survey.found.iter().map(|found| found.parts.clone());
        Self { found: KINDS.into_iter().zip(parts).collect(), end: Some(survey.end), ..Self::default() }
    }

    /// Returns the tables missing from the file.
    fn missing(&self) -> Vec<&'static str> {
        let missing = self.found.iter().filter(|(_, parts)| parts.is_empty());
        missing.map(|(table, _)| table.name()).collect()
    }

    /// Returns descriptions of everything in the file, possibly intended for import, that is missing from the
    /// mall; empty if the import is complete.
    #[must_use]
    pub fn shortfalls(&self, l: Language) -> Vec<String> {
        let rows: u64 = self.tables.values().map(|counts| counts.left_out).sum();
        let (missing, tables) = (self.missing().len(), self.unknown.tables.len());
        let (columns, pictures) = (self.unknown.columns.len(), self.pictures.missing);
        let not_fetched: u64 = self.pictures.not_fetched.values().map(|(count, _)| count).sum();
        let is_cut = !matches!(self.end, None | Some(End::Whole));
        let all = [
            (is_cut, sentence!(l, "转储可能不完整", "the dump may be incomplete")),
            (missing > 0, sentence!(l, "缺少{missing}张表", "tables missing: {missing}")),
            (rows > 0, sentence!(l, "略去{rows}行", "rows omitted: {rows}")),
            (tables > 0, sentence!(l, "跳过{tables}张表", "tables skipped: {tables}")),
            (columns > 0, sentence!(l, "跳过{columns}列", "columns skipped: {columns}")),
            (pictures > 0, sentence!(l, "缺少{pictures}处图片", "pictures missing: {pictures}")),
            (
                not_fetched > 0,
                sentence!(l, "{not_fetched}张图片未能取回", "pictures not fetched: {not_fetched}"),
            ),
        ];
        all.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect()
    }

    /// Returns the report as JSON, for programs.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let table = |table: Table| {
            let Counts { read, left_out } = self.tables.get(&table).copied().unwrap_or_default();
            let parts = self.found.get(&table).map_or(&[][..], Vec::as_slice);
            json!({
                "table": table.name(), "readFrom": parts, "missing": parts.is_empty(), "rows": read,
                "imported": read.saturating_sub(left_out), "leftOut": left_out,
            })
        };
        let rows = |rows: &BTreeMap<(Table, Bilingual), Rows>| {
            let line = |((table, why), rows): (&(Table, Bilingual), &Rows)| {
                let examples: Vec<_> =
                    rows.examples.iter().map(|one| json!({"id": one.label, "line": one.line})).collect();
                json!({"table": table.name(), "why": why.en, "count": rows.count, "examples": examples})
            };
            rows.iter().map(line).collect::<Vec<_>>()
        };
        let statements: Vec<_> = self
            .changes
            .iter()
            .map(|one| json!({"statement": one.verb, "table": one.name, "line": one.at.line, "rows": one.rows}))
            .collect();
        let not_fetched: Vec<_> = self
            .pictures
            .not_fetched
            .iter()
            .map(|(why, (count, examples))| json!({"why": why.en, "count": count, "examples": examples}))
            .collect();
        json!({
            "isComplete": self.shortfalls(Language::En).is_empty(),
            "shortfalls": self.shortfalls(Language::En),
            "isWholeFile": matches!(self.end, None | Some(End::Whole)),
            "tables": KINDS.map(table),
            "leftOut": rows(&self.left_out),
            "changed": rows(&self.changed),
            "unpaid": rows(&self.unpaid),
            "statements": statements,
            "passedOver": {"tables": self.unknown.tables, "columns": self.unknown.columns},
            "pictures": {
                "brought": self.pictures.brought, "missing": self.pictures.missing, "remote": self.pictures.remote,
                "fetched": self.pictures.fetched, "notFetched": not_fetched,
                "noPictures": self.pictures.no_pictures, "unusable": self.pictures.unusable,
            },
        })
    }

    /// Counts a row of the file.
    pub(super) fn read(&mut self, table: Table) {
        self.tables.entry(table).or_default().read += 1;
    }

    /// Counts a row left out. `label` is the row's first number.
    pub(super) fn leave_out(&mut self, table: Table, why: Bilingual, label: u64, line: u64) {
        self.tables.entry(table).or_default().left_out += 1;
        self.left_out.entry((table, why)).or_default().add(1, [Example { label, line: Some(line) }]);
    }

    /// Counts a row imported with a change.
    pub(super) fn change(&mut self, table: Table, how: Bilingual, label: u64, line: u64) {
        self.changed.entry((table, how)).or_default().add(1, [Example { label, line: Some(line) }]);
    }

    /// Adds a finding of the final step.
    pub(super) fn found(&mut self, findings: ImportFindings) {
        let (table, examples) = (
            table(findings.kind),
            findings.examples.iter().map(|label| Example { label: *label, line: None }),
        );
        let key = (table, words(findings.finding));
        if is_unpaid(findings.finding) {
            self.unpaid.entry(key).or_default().add(findings.count, examples);
        } else if findings.finding.is_left_out() {
            self.tables.entry(table).or_default().left_out += findings.count;
            self.left_out.entry(key).or_default().add(findings.count, examples);
        } else {
            self.changed.entry(key).or_default().add(findings.count, examples);
        }
    }

    /// Returns the report as text, for people.
    #[must_use]
    pub fn text(&self, l: Language) -> String {
        let mut out = String::new();
        let names =
            [both("表", "table"), both("行数", "rows"), both("导入", "imported"), both("略去", "omitted")];
        let [table, columns @ ..] = names.map(|name| name.spoken(l));
        let columns: String = columns.iter().map(|name| padded_left(name, 12)).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}{columns}", padded(table, 20));
        for table in KINDS {
            let Counts { read, left_out } = self.tables.get(&table).copied().unwrap_or_default();
            if self.found.get(&table).is_some_and(Vec::is_empty) {
                let missing = padded_left(both("缺失", "missing").spoken(l), 12);
                let _ = writeln!(out, "{:<20}{missing}", table.name());
                continue;
            }
            let taken = read.saturating_sub(left_out);
            let _ = writeln!(out, "{:<20}{read:>12}{taken:>12}{left_out:>12}", table.name());
        }
        out += &self.file_text(l);
        out += &rows_text(both("略去", "omitted"), &self.left_out, l);
        out += &rows_text(both("改动", "changed"), &self.changed, l);
        out += &rows_text(both("未支付", "unpaid"), &self.unpaid, l);
        let what = padded(both("未识别", "unknown").spoken(l), 12);
        let Unknown { tables, columns } = &self.unknown;
        if !tables.is_empty() {
            let names = joined(tables, usize::MAX, l);
            out += &sentence!(l, "{what}跳过的表：{names}\n", "{what}tables skipped: {names}\n");
        }
        if !columns.is_empty() {
            let names = joined(columns, usize::MAX, l);
            out += &sentence!(l, "{what}跳过的列：{names}\n", "{what}columns skipped: {names}\n");
        }
        out + &self.pictures.text(l)
    }
}

impl Report {
    /// Returns the section about the file: end, missing tables, sharded tables, and statements that changed
    /// rows.
    fn file_text(&self, l: Language) -> String {
        let mut out = String::new();
        let what = |zh, en| padded(both(zh, en).spoken(l), 12);
        match &self.end {
            None | Some(End::Whole) => {}
            Some(End::Unsigned { why, .. }) => {
                let (end, why) = (what("结尾", "end"), why.spoken(l));
                out += &sentence!(
                    l,
                    "{end}无法确定转储是否完整：{why}\n",
                    "{end}cannot tell whether the dump is complete: {why}\n"
                );
            }
            Some(End::Cut { at, what: inside }) => {
                let (end, at, inside) = (what("结尾", "end"), at.words(l), inside.spoken(l));
                out += &sentence!(
                    l,
                    "{end}{at}：{inside}；其后的内容没有导入\n",
                    "{end}{at}: {inside}; nothing after that was imported\n"
                );
            }
        }
        let missing = self.missing();
        if !missing.is_empty() {
            let (head, names) = (what("缺失", "missing"), missing.join(both("、", ", ").spoken(l)));
            out += &sentence!(l, "{head}文件里没有这些表：{names}\n", "{head}not in the file: {names}\n");
        }
        for (table, parts) in &self.found {
            if !parts.is_empty() && *parts != [table.name()] {
                let (head, names) = (what("读自", "read from"), parts.join(both("、", ", ").spoken(l)));
                let table = table.name();
                out += &sentence!(l, "{head}{table}：{names}\n", "{head}{table}: {names}\n");
            }
        }
        for Change { verb, name, at, rows, .. } in &self.changes {
            let (head, line) = (what("已执行", "applied"), at.line);
            out += &sentence!(
                l,
                "{head}第{line}行对{name}的{verb}：{rows}行\n",
                "{head}{verb} of {name} on line {line}: {rows} rows\n"
            );
        }
        out
    }
}

/// English text, for tests and benches.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::En))
    }
}

fn rows_text(what: Bilingual, rows: &BTreeMap<(Table, Bilingual), Rows>, l: Language) -> String {
    let what = padded(what.spoken(l), 12);
    let lines = rows.iter().map(|((table, why), Rows { count, examples })| {
        let (table, why) = (table.name(), why.spoken(l));
        let named: Vec<String> = examples.iter().map(|example| example.text(l)).collect();
        let (named, more) = (named.join(", "), more(*count, examples.len()));
        sentence!(
            l,
            "{what}{count} × {table}：{why}：{named}{more}\n",
            "{what}{count} × {table}: {why}: {named}{more}\n"
        )
    });
    lines.collect()
}

impl PictureCounts {
    fn text(&self, l: Language) -> String {
        let Self { brought, missing, remote, fetched, not_fetched, unusable, missing_names, no_pictures } =
            self;
        let mut out = padded(both("图片", "pictures").spoken(l), 12);
        out += &sentence!(
            l,
            "导入{brought}张；缺少{missing}处引用的图片，将显示手绘图",
            "{brought} imported; {missing} referenced but missing, shown as a drawn picture"
        );
        if *remote > 0 {
            out += &sentence!(
                l,
                "；{remote}处在其他网址：其他前端仍用原址，自有页面使用/imgs/remote/下的地址",
                "; {remote} at other addresses: unchanged for other front ends, below /imgs/remote/ for \
                 mallbox's own pages"
            );
        }
        if *fetched > 0 {
            out += &sentence!(l, "；从其他网址取回{fetched}张", "; {fetched} fetched from other addresses");
        }
        if *unusable > 0 {
            out += &sentence!(
                l,
                "；{unusable}处不是有效的文件名，已略去",
                "; {unusable} omitted: not valid file names"
            );
        }
        out.push('\n');
        let indent = " ".repeat(12);
        for (why, (count, examples)) in not_fetched {
            let (why, names) = (why.spoken(l), examples.join(both("、", ", ").spoken(l)));
            let more = more(*count, examples.len());
            out += &sentence!(
                l,
                "{indent}{count}张未能取回：{why}：{names}{more}\n",
                "{indent}{count} not fetched: {why}: {names}{more}\n"
            );
        }
        if !missing_names.is_empty() {
            let (names, more) = (joined(missing_names, EXAMPLES, l), more(*missing, EXAMPLES));
            out += &sentence!(l, "{indent}缺少：{names}{more}\n", "{indent}missing: {names}{more}\n");
        }
        if !no_pictures.is_empty() {
            let count = no_pictures.len();
            let (names, more) = (joined(no_pictures, EXAMPLES, l), more(count as u64, EXAMPLES));
            out += &sentence!(
                l,
                "{indent}{count}个文件的内容不是图片：{names}{more}\n",
                "{indent}{count} files whose content is not a picture: {names}{more}\n"
            );
        }
        out
    }
}

/// Joins the first `most` names with commas.
fn joined(names: &BTreeSet<String>, most: usize, l: Language) -> String {
    let names: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
    names.join(both("、", ", ").spoken(l))
}

fn more(count: u64, shown: usize) -> &'static str {
    if count > shown as u64 { ", …" } else { "" }
}

fn table(kind: ImportRowKind) -> Table {
    match kind {
        ImportRowKind::Card => Table::Card,
        ImportRowKind::Voucher => Table::Voucher,
        ImportRowKind::Sale => Table::Sale,
        ImportRowKind::Order => Table::Order,
        ImportRowKind::Note => Table::Note,
        ImportRowKind::Comment => Table::Comment,
        ImportRowKind::Follow => Table::Follow,
        ImportRowKind::Sign => Table::Sign,
    }
}

fn is_unpaid(finding: ImportFinding) -> bool {
    use ImportFinding::{UnpaidCancelled, UnpaidFinal, UnpaidKept, UnpaidTimed};
    matches!(finding, UnpaidKept | UnpaidFinal | UnpaidCancelled | UnpaidTimed)
}

fn words(finding: ImportFinding) -> Bilingual {
    match finding {
        ImportFinding::NoUser => both("所属用户不在商城里", "user not in the mall"),
        ImportFinding::NoVoucher => both("所属优惠券不在商城里", "voucher not in the mall"),
        ImportFinding::NoNote => both("所属笔记不在商城里", "note not in the mall"),
        ImportFinding::NoShop => both("所属店铺不在商城里", "shop not in the mall"),
        ImportFinding::NoTerms => both(
            "缺少秒杀信息（tb_seckill_voucher）的秒杀按已结束、无库存处理",
            "a sale without terms (tb_seckill_voucher) is imported as ended, with no stock",
        ),
        ImportFinding::SecondLive => both(
            "同一用户在同一场秒杀中多出的有效订单成为死信DOUBLE，并占用库存",
            "a further live order of a user in a sale becomes a dead letter DOUBLE and keeps the unit",
        ),
        ImportFinding::UnpaidKept => both(
            "未支付的订单保持原状：占用库存，不会超时取消（要取消并归还库存请用--unpaid cancel，要限时支付请用--unpaid 15m）",
            "an unpaid order is unchanged: it keeps its unit and never expires (--unpaid cancel returns \
             units, --unpaid 15m sets a time to pay)",
        ),
        ImportFinding::UnpaidFinal => both(
            "未支付的订单与原系统一样视为有效订单，占用库存（本商城不收款；要取消并归还库存请用--unpaid cancel）",
            "an unpaid order is final, as in the original, and keeps its unit, since this mall takes no \
             payments (--unpaid cancel returns units)",
        ),
        ImportFinding::UnpaidCancelled => both(
            "未支付的订单已取消，库存已归还",
            "an unpaid order is cancelled, and its unit returned to stock",
        ),
        ImportFinding::UnpaidTimed => both(
            "未支付的订单须在--unpaid指定的时间内支付，否则取消并归还库存",
            "an unpaid order must be paid within the time set by --unpaid, or is cancelled and its unit \
             returned",
        ),
    }
}
