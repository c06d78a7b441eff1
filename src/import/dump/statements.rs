//! Statements: dispatch by keyword, and extraction of the relevant parts.

use std::collections::BTreeSet;
use std::io::Read;

use super::table::Column;
use super::tokens::{Kind, Token};
use super::{Dump, DumpError, End, Position};
use crate::language::{Language, bilingual_text, both};

/// Limit of unwanted names kept for the report.
const NAMES_MAX: usize = 200;
/// MySQL's limit of columns in a table.
pub(super) const COLUMNS_MAX: usize = 4_096;
/// Statements of a dump without influence on rows.
const IGNORED_STATEMENTS: [&str; 23] = [
    "SET",
    "ALTER",
    "LOCK",
    "UNLOCK",
    "USE",
    "START",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "ANALYZE",
    "OPTIMIZE",
    "FLUSH",
    "GRANT",
    "REVOKE",
    "CHANGE",
    "CALL",
    "PREPARE",
    "EXECUTE",
    "DEALLOCATE",
    "SHOW",
    "SELECT",
    "END",
    "CHECKSUM",
];
/// Statements that change preceding rows.
const CHANGES: [&str; 4] = ["UPDATE", "DELETE", "TRUNCATE", "DROP"];
/// First words of items in `CREATE TABLE` other than columns.
const KEYS: [&str; 10] =
    ["PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK", "PERIOD"];

impl<R: Read> Dump<R> {
    /// Reads a statement, or an `INSERT` up to its first row. Returns `false` at the end of a file that does
    /// not break off inside a statement.
    pub(super) fn statement(&mut self) -> Result<bool, DumpError> {
        let token = self.tokens.next()?;
        match token.kind {
            Kind::End => {
                self.end = Some(self.ends_here());
                Ok(false)
            }
            Kind::Mark(b';') => Ok(true),
            Kind::Word if self.tokens.says("INSERT") => self.insert(false, token.at).map(|()| true),
            Kind::Word if self.tokens.says("REPLACE") => self.insert(true, token.at).map(|()| true),
            Kind::Word if self.tokens.says("CREATE") => self.create(token.at).map(|()| true),
            Kind::Word if self.tokens.says("DELIMITER") => self.delimiter(token.at).map(|()| true),
            Kind::Word => self.passed_statement(token.at).map(|()| true),
            _ => Err(self.no_statement(token.at)),
        }
    }

    fn passed_statement(&mut self, at: Position) -> Result<(), DumpError> {
        if let Some(verb) = CHANGES.into_iter().find(|verb| self.tokens.says(verb)) {
            return self.change(verb, at);
        }
        match IGNORED_STATEMENTS.into_iter().find(|verb| self.tokens.says(verb)) {
            None => Err(self.no_statement(at)),
            Some("SET") => self.set(at),
            Some("ALTER") => self.alter(at),
            Some("START") => {
                let token = self.tokens.next()?;
                if self.tokens.says("TRANSACTION") {
                    self.tokens.ending.transaction(true);
                }
                self.pass_from(token, at)
            }
            Some(verb) => {
                if verb == "BEGIN" || verb == "COMMIT" {
                    self.tokens.ending.transaction(verb == "BEGIN");
                }
                self.pass_statement(at)
            }
        }
    }

    fn no_statement(&mut self, at: Position) -> DumpError {
        let found: String = String::from_utf8_lossy(self.tokens.text()).chars().take(20).collect();
        let found = found.escape_debug();
        // The first letters of a truncated statement.
        if !self.parts.is_empty() && matches!(self.tokens.source.byte(), Ok(None)) {
            return cut_off(at);
        }
        let what = if self.tokens.text().is_empty() {
            both("MySQL转储里没有这样开头的语句", "not the beginning of a statement in a MySQL dump").into()
        } else {
            bilingual_text!(
                "MySQL转储里没有以`{found}`开头的语句",
                "no statement of a MySQL dump begins with `{found}`"
            )
        };
        DumpError::at(at, what)
    }

    fn ends_here(&self) -> End {
        match self.tokens.ending.missing() {
            None => End::Whole,
            Some(why) => End::Unsigned { at: self.tokens.source.position(), why },
        }
    }

    /// Skips the rest of a statement.
    pub(super) fn pass_statement(&mut self, began: Position) -> Result<(), DumpError> {
        loop {
            match self.tokens.skip()?.kind {
                Kind::Mark(b';') => return Ok(()),
                Kind::End => return Err(cut_off(began)),
                _ => {}
            }
        }
    }

    /// Skips triggers and routines from `DELIMITER ;;` to the line that restores `;`.
    fn delimiter(&mut self, began: Position) -> Result<(), DumpError> {
        let mut line = self.line()?;
        loop {
            match line {
                None => return Err(cut_off(began)),
                Some(text) if text.trim_ascii() == b";" => return Ok(()),
                Some(_) => {}
            }
            line = loop {
                let Some(text) = self.line()? else { break None };
                let text = text.trim_ascii_start();
                if text.len() > 9 && text[..9].eq_ignore_ascii_case(b"DELIMITER") {
                    break Some(text[9..].to_vec());
                }
            };
        }
    }

    /// Returns the rest of the line, limited to a maximum length; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, DumpError> {
        const ENOUGH: usize = 256;
        let source = &mut self.tokens.source;
        if source.byte()?.is_none() {
            return Ok(None);
        }
        let mut line = Vec::new();
        let stop = source.pass_until(
            |byte| byte == b'\n',
            |piece| line.extend_from_slice(&piece[..piece.len().min(ENOUGH.saturating_sub(line.len()))]),
        )?;
        if stop.is_some() {
            source.pass(1);
        }
        Ok(Some(line))
    }

    fn create(&mut self, began: Position) -> Result<(), DumpError> {
        let mut token = self.tokens.next()?;
        while token.kind == Kind::Word
            && ["OR", "REPLACE", "TEMPORARY"].iter().any(|word| self.tokens.says(word))
        {
            token = self.tokens.next()?;
        }
        if token.kind != Kind::Word || !self.tokens.says("TABLE") {
            return self.pass_from(token, began);
        }
        token = self.tokens.next()?;
        while token.kind == Kind::Word && ["IF", "NOT", "EXISTS"].iter().any(|word| self.tokens.says(word)) {
            token = self.tokens.next()?;
        }
        let (name, token) = self.name(token, began)?;
        self.tokens.ending.table();
        let Some(part) = self.part(&name, began)? else {
            remember(&mut self.unknown.tables, name);
            return self.pass_from(token, began);
        };
        if let Some(first) = self.parts[part].made {
            let (zh, en) = (first.words(Language::Zh), first.words(Language::En));
            let what = bilingual_text!(
                "{name}在{zh}之后又创建了一次：导入需要单个数据库的转储",
                "{name} is created a second time, after {en}: import needs the dump of a single database"
            );
            return Err(DumpError::at(began, what));
        }
        self.parts[part].made = Some(began);
        self.parts[part].is_met = true;
        if token.is(b'(') {
            let columns = self.columns(began)?;
            self.form(part, columns);
            let token = self.tokens.next()?;
            return self.options(token, part, began);
        }
        if token.kind == Kind::Word && self.tokens.says("LIKE") {
            let token = self.tokens.next()?;
            let (other, token) = self.name(token, began)?;
            let other = self.parts.iter().find(|part| part.name == other);
            if let Some(columns) = other.map(|other| other.columns.clone()) {
                self.form(part, columns);
            }
            return self.pass_from(token, began);
        }
        self.pass_from(token, began)
    }

    /// Sets the columns of a table.
    fn form(&mut self, part: usize, columns: Vec<Column>) {
        let table = self.parts[part].table;
        for column in &columns {
            self.remember_column(table, &column.name);
        }
        let wanted = self.wanted[table];
        let meaning = columns.iter().map(|column| (wanted.place(&column.name), column.is_timestamp));
        self.parts[part].meaning = Some(meaning.collect());
        self.parts[part].columns = columns;
    }

    /// Parses the columns of a `CREATE TABLE`, from after `(` to `)`.
    fn columns(&mut self, began: Position) -> Result<Vec<Column>, DumpError> {
        let mut columns = Vec::new();
        loop {
            let token = self.tokens.next()?;
            let is_key =
                token.kind == Kind::Word && KEYS.iter().any(|key| self.tokens.says(key)) || token.is(b')');
            let name = self.small_text();
            let kind = self.tokens.next()?;
            if !is_key {
                if !matches!(token.kind, Kind::Word | Kind::Name | Kind::Text) {
                    return Err(DumpError::at(token.at, both("此处应为列名", "expected a column name")));
                }
                columns.push(Column { name, is_timestamp: self.tokens.says("TIMESTAMP") });
                if columns.len() > COLUMNS_MAX {
                    return Err(DumpError::at(
                        token.at,
                        both("列数超过MySQL表的上限", "more columns than a MySQL table can have"),
                    ));
                }
            }
            if self.pass_item(kind, began)? {
                return Ok(columns);
            }
        }
    }

    /// Skips to the end of an item in parentheses. Returns whether the closing parenthesis was reached.
    pub(super) fn pass_item(&mut self, first: Token, began: Position) -> Result<bool, DumpError> {
        let (mut token, mut depth) = (first, 0_u64);
        loop {
            match token.kind {
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') if depth == 0 => return Ok(true),
                Kind::Mark(b')') => depth -= 1,
                Kind::Mark(b',') if depth == 0 => return Ok(false),
                Kind::Mark(b';') => {
                    return Err(DumpError::at(token.at, both("括号没有闭合", "unclosed parenthesis")));
                }
                Kind::End => return Err(cut_off(began)),
                _ => {}
            }
            token = self.tokens.skip()?;
        }
    }

    /// Parses a table name, possibly qualified by a database. Returns the lower-case name and the following
    /// token.
    pub(super) fn name(&mut self, first: Token, began: Position) -> Result<(String, Token), DumpError> {
        let mut token = first;
        loop {
            match token.kind {
                Kind::Word | Kind::Name | Kind::Text => {}
                Kind::End => return Err(cut_off(began)),
                _ => {
                    return Err(DumpError::at(token.at, both("此处应为表名", "expected a table name")));
                }
            }
            let name = self.small_text();
            let after = self.tokens.next()?;
            if !after.is(b'.') {
                return Ok((name, after));
            }
            token = self.tokens.next()?;
        }
    }

    pub(super) fn small_text(&self) -> String {
        String::from_utf8_lossy(self.tokens.text()).to_lowercase()
    }

    /// Records an unwanted column of a wanted table.
    pub(super) fn remember_column(&mut self, table: usize, column: &str) {
        let wanted = self.wanted[table];
        if wanted.place(column).is_none() {
            remember(&mut self.unknown.columns, format!("{}.{column}", wanted.name));
        }
    }

    /// Skips the rest of a statement after `token`.
    pub(super) fn pass_from(&mut self, token: Token, began: Position) -> Result<(), DumpError> {
        match token.kind {
            Kind::Mark(b';') => Ok(()),
            Kind::End => Err(cut_off(began)),
            _ => self.pass_statement(began),
        }
    }
}

pub(super) fn remember(names: &mut BTreeSet<String>, name: String) {
    if names.len() < NAMES_MAX {
        names.insert(name);
    }
}

pub(super) fn cut_off(began: Position) -> DumpError {
    DumpError::cut(
        began,
        both(
            "文件在由此开始的语句中间结束：文件被截断",
            "the file ends inside the statement that begins here: the file is truncated",
        ),
    )
}
