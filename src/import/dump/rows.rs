//! `INSERT` and `REPLACE`: rows of named columns.

use std::io::Read;

use super::insert::{Insert, Meaning};
use super::statements::{COLUMNS_MAX, cut_off, remember};
use super::table::{Cell, Column, Row, Value};
use super::tokens::{Kind, Token};
use super::{Dump, DumpError, Position};
use crate::language::{Bilingual, bilingual_text, both};

impl<R: Read> Dump<R> {
    /// Parses an `INSERT` or `REPLACE` up to its first row. Statements on unwanted tables are skipped.
    pub(super) fn insert(&mut self, replaces: bool, began: Position) -> Result<(), DumpError> {
        const BEFORE_THE_NAME: [&str; 5] = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"];
        let mut token = self.tokens.next()?;
        while token.kind == Kind::Word && BEFORE_THE_NAME.iter().any(|word| self.tokens.says(word)) {
            token = self.tokens.next()?;
        }
        let (name, mut token) = self.name(token, began)?;
        let Some(part) = self.part(&name, began)? else {
            remember(&mut self.unknown.tables, name);
            return self.pass_from(token, began);
        };
        if token.kind == Kind::Word && self.tokens.says("PARTITION") {
            self.tokens.next()?;
            while !self.pass_item(token, began)? {}
            token = self.tokens.next()?;
        }
        let mut named = None;
        if token.is(b'(') {
            named = Some(self.column_list(began)?);
            token = self.tokens.next()?;
        }
        if token.kind == Kind::End {
            return Err(cut_off(began));
        }
        if token.kind != Kind::Word || !(self.tokens.says("VALUES") || self.tokens.says("VALUE")) {
            return Err(DumpError::at(
                token.at,
                bilingual_text!(
                    "此处应为{name}的数据，形如VALUES (…), (…)",
                    "expected rows of {name}, as VALUES (…), (…)"
                ),
            ));
        }
        if named.is_none() && self.parts[part].meaning.is_none() && !self.parts[part].is_sure() {
            return self.pass_statement(began);
        }
        let columns = self.meaning(part, named, began)?;
        self.parts[part].is_met = true;
        self.insert = Some(Insert { table: self.parts[part].table, part, began, replaces, columns });
        Ok(())
    }

    /// Parses the column list of an `INSERT`, after `(`.
    fn column_list(&mut self, began: Position) -> Result<Vec<String>, DumpError> {
        let mut names = Vec::new();
        loop {
            let token = self.tokens.next()?;
            match token.kind {
                Kind::Mark(b')') if names.is_empty() => return Ok(names),
                Kind::Word | Kind::Name | Kind::Text => names.push(self.small_text()),
                Kind::End => return Err(cut_off(began)),
                _ => {
                    return Err(DumpError::at(token.at, both("此处应为列名", "expected a column name")));
                }
            }
            if names.len() > COLUMNS_MAX {
                return Err(DumpError::at(
                    token.at,
                    both("列数超过MySQL表的上限", "more columns than a MySQL table can have"),
                ));
            }
            let after = self.tokens.next()?;
            match after.kind {
                Kind::Mark(b')') => return Ok(names),
                Kind::Mark(b',') => {}
                Kind::End => return Err(cut_off(began)),
                _ => {
                    return Err(DumpError::at(
                        after.at,
                        both("此处应为逗号或括号", "expected a comma or parenthesis"),
                    ));
                }
            }
        }
    }

    /// Returns the meaning of the values: by the column list of the `INSERT`, else by the table's columns.
    fn meaning(
        &mut self,
        part: usize,
        named: Option<Vec<String>>,
        began: Position,
    ) -> Result<Meaning, DumpError> {
        let Some(names) = named else {
            let what = || {
                let name = &self.parts[part].name;
                bilingual_text!(
                    "{name}的列名既不在CREATE TABLE里，也不在这条INSERT里；请连表结构一起转储，或加--complete-insert",
                    "neither a CREATE TABLE nor this INSERT names the columns of {name}; dump the table \
                     definitions too, or use --complete-insert"
                )
            };
            return self.parts[part].meaning.clone().ok_or_else(|| DumpError::at(began, what()));
        };
        let table = self.parts[part].table;
        for name in &names {
            self.remember_column(table, name);
        }
        if self.parts[part].columns.is_empty() {
            // Without a `CREATE TABLE`, instants are taken for TIMESTAMPs, as in hm-dianping.
            let column = |name: &String| Column { name: name.clone(), is_timestamp: true };
            self.parts[part].columns = names.iter().map(column).collect();
        }
        let wanted = self.wanted[table];
        Ok(names.iter().map(|name| (wanted.place(name), self.is_timestamp(part, name))).collect())
    }

    /// Returns whether a column contains instants in the session's time zone.
    pub(super) fn is_timestamp(&self, part: usize, column: &str) -> bool {
        let made = self.parts[part].columns.iter().find(|made| made.name == column);
        made.is_none_or(|column| column.is_timestamp)
    }

    /// Returns the next row; `None` after the statement's last.
    pub(super) fn row(&mut self, insert: &Insert) -> Result<Option<Row>, DumpError> {
        let mut token = self.tokens.next()?;
        if token.is(b',') {
            token = self.tokens.next()?;
        }
        match token.kind {
            Kind::Mark(b'(') => {}
            Kind::Mark(b';') => return Ok(None),
            // ON DUPLICATE KEY UPDATE …, AS new
            Kind::Word => return self.pass_statement(insert.began).map(|()| None),
            Kind::End => return Err(cut_off(insert.began)),
            _ => return Err(DumpError::at(token.at, both("此处应为一行数据", "expected a row"))),
        }
        let at = token.at;
        let missing = Cell { value: Value::Missing, at, offset_s: None };
        let mut cells = vec![missing; self.wanted[insert.table].columns.len()];
        let mut width = 0;
        loop {
            let column = insert.columns.get(width);
            let place = column.and_then(|(place, _)| *place);
            let token = if place.is_some() { self.tokens.next()? } else { self.tokens.skip()? };
            if width == 0 && token.is(b')') {
                break;
            }
            let (value, after) = self.value(token, insert.began)?;
            if let (Some(place), Some((_, is_timestamp))) = (place, column) {
                let offset_s = self.offset_s.filter(|_| *is_timestamp);
                cells[place] = Cell { value, at: token.at, offset_s };
            }
            width += 1;
            match after.kind {
                Kind::Mark(b',') if width < insert.columns.len() => {}
                Kind::Mark(b',') => return Err(self.wrong_width(insert, at, both("多", "more"))),
                Kind::Mark(b')') => break,
                Kind::End => return Err(cut_off(insert.began)),
                _ => {
                    return Err(DumpError::at(
                        after.at,
                        both("此处应为逗号或括号", "expected a comma or parenthesis"),
                    ));
                }
            }
        }
        if width < insert.columns.len() {
            return Err(self.wrong_width(insert, at, both("少", "fewer")));
        }
        let Insert { table, part, replaces, .. } = *insert;
        Ok(Some(Row { table, part, cells, at, replaces }))
    }

    fn wrong_width(&self, insert: &Insert, at: Position, than: Bilingual) -> DumpError {
        let (name, columns) = (self.wanted[insert.table].name, insert.columns.len());
        let Bilingual { zh, en } = than;
        DumpError::at(
            at,
            bilingual_text!(
                "{name}的这一行，值的个数比{columns}列{zh}",
                "a row of {name} has {en} values than the table's {columns} columns"
            ),
        )
    }

    /// Parses a value. Returns the following token as well.
    pub(super) fn value(&mut self, token: Token, began: Position) -> Result<(Value, Token), DumpError> {
        let value = match token.kind {
            Kind::Text => Value::Text(self.tokens.take_text()),
            Kind::Bytes => Value::Bytes(self.tokens.take_text()),
            Kind::Number => Value::Number(self.small_text()),
            Kind::Mark(sign @ (b'-' | b'+')) => {
                let number = self.tokens.next()?;
                if number.kind == Kind::End {
                    return Err(cut_off(began));
                }
                if number.kind != Kind::Number {
                    return Err(DumpError::at(number.at, both("此处应为数字", "expected a number")));
                }
                let sign = if sign == b'-' { "-" } else { "" };
                Value::Number(format!("{sign}{}", self.small_text()))
            }
            Kind::Word if self.tokens.says("NULL") => Value::Null,
            Kind::Word if self.tokens.says("DEFAULT") => Value::Missing,
            Kind::Word if self.tokens.says("TRUE") => Value::Number("1".to_owned()),
            Kind::Word if self.tokens.says("FALSE") => Value::Number("0".to_owned()),
            Kind::Word if self.tokens.text().starts_with(b"_") || self.tokens.says("N") => {
                let is_binary = self.tokens.says("_binary");
                let literal = self.tokens.next()?;
                match literal.kind {
                    Kind::Text | Kind::Bytes if is_binary => Value::Bytes(self.tokens.take_text()),
                    Kind::Text | Kind::Bytes => Value::Text(self.tokens.take_text()),
                    Kind::End => return Err(cut_off(began)),
                    _ => {
                        return Err(DumpError::at(literal.at, both("此处应为文本", "expected text")));
                    }
                }
            }
            Kind::Word => {
                let after = self.tokens.next()?;
                if !after.is(b'(') {
                    return Ok((Value::Expression, after));
                }
                let first = self.tokens.skip()?;
                let mut is_closed = self.pass_item(first, began)?;
                while !is_closed {
                    let next = self.tokens.skip()?;
                    is_closed = self.pass_item(next, began)?;
                }
                Value::Expression
            }
            Kind::End => return Err(cut_off(began)),
            _ => return Err(DumpError::at(token.at, both("此处应为值", "expected a value"))),
        };
        Ok((value, self.tokens.next()?))
    }
}
