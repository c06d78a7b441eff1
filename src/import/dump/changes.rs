//! `UPDATE`, `DELETE`, `TRUNCATE` and `DROP` after the rows concerned: read in the first pass, applied to
//! each row in the second.
//!
//! Supported: a single table; values or `column + number` after `SET`; after `WHERE`, comparisons of a column
//! with values, `IN`, `BETWEEN`, `IS NULL`, `AND`, `OR` and parentheses. Anything else is refused, with its
//! position.

use std::io::Read;

use super::change::{Assignment, Change, Set};
use super::conditions::{Comparison, Condition};
use super::statements::cut_off;
use super::table::Value;
use super::tokens::{Kind, Token};
use super::{Dump, DumpError, Position};
use crate::language::bilingual_text;

/// Limit of changes. Each row is tested against every change of its table; more changes need a database.
const CHANGES_MAX: usize = 1_000;
/// Maximum nesting of parentheses.
const NESTING_MAX: usize = 32;

impl<R: Read> Dump<R> {
    /// Parses a statement that changes rows. Statements on unwanted tables are skipped.
    pub(super) fn change(&mut self, verb: &'static str, began: Position) -> Result<(), DumpError> {
        const BEFORE_THE_NAME: [&str; 5] = ["LOW_PRIORITY", "QUICK", "IGNORE", "FROM", "TABLE"];
        if verb == "DROP" {
            return self.drop_tables(began);
        }
        let mut token = self.tokens.next()?;
        while token.kind == Kind::Word && BEFORE_THE_NAME.iter().any(|word| self.tokens.says(word)) {
            token = self.tokens.next()?;
        }
        let (name, token) = self.name(token, began)?;
        let Some(part) = self.part(&name, began)? else { return self.pass_unless_ours(token, verb, began) };
        let (sets, token) = match verb {
            "UPDATE" => {
                self.expect(token, "SET", verb, &name)?;
                let (sets, token) = self.sets(part, verb, &name, began)?;
                (Some(sets), token)
            }
            _ => (None, token),
        };
        let condition = if token.is(b';') || verb == "TRUNCATE" {
            self.expect_end(token, verb, &name, began)?;
            Condition::Always
        } else {
            self.expect(token, "WHERE", verb, &name)?;
            let token = self.tokens.next()?;
            let (condition, token) = self.any_of(token, part, (verb, &name), began, 0)?;
            self.expect_end(token, verb, &name, began)?;
            condition
        };
        let table = self.parts[part].table;
        self.remember_change(Change { verb, name, table, at: began, rows: 0, sets, condition })
    }

    /// Parses `DROP TABLE a, b`, which deletes preceding rows. Other objects have no rows to drop.
    fn drop_tables(&mut self, began: Position) -> Result<(), DumpError> {
        let mut token = self.tokens.next()?;
        if token.kind != Kind::Word || !self.tokens.says("TABLE") {
            return self.pass_from(token, began);
        }
        loop {
            token = self.tokens.next()?;
            while token.kind == Kind::Word && ["IF", "EXISTS"].iter().any(|word| self.tokens.says(word)) {
                token = self.tokens.next()?;
            }
            let (name, after) = self.name(token, began)?;
            if let Some(part) = self.parts.iter().find(|part| part.name == name && part.rows > 0) {
                let (table, condition) = (part.table, Condition::Always);
                let change = Change { verb: "DROP", name, table, at: began, rows: 0, sets: None, condition };
                self.remember_change(change)?;
            }
            if !after.is(b',') {
                return self.pass_from(after, began);
            }
        }
    }

    fn remember_change(&mut self, change: Change) -> Result<(), DumpError> {
        if self.is_second_pass() {
            return Ok(());
        }
        if self.changes.len() == CHANGES_MAX {
            let what = bilingual_text!(
                "UPDATE和DELETE超过{CHANGES_MAX}条；请先把文件导入MySQL，再转储",
                "more than {CHANGES_MAX} UPDATEs and DELETEs; load the file into MySQL and dump that database"
            );
            return Err(DumpError::at(change.at, what));
        }
        self.changes.push(change);
        Ok(())
    }

    /// Skips a statement that begins with an unwanted table, unless a wanted table is named later on.
    fn pass_unless_ours(
        &mut self,
        mut token: Token,
        verb: &'static str,
        began: Position,
    ) -> Result<(), DumpError> {
        loop {
            match token.kind {
                Kind::Mark(b';') => return Ok(()),
                Kind::End => return Err(cut_off(began)),
                Kind::Word | Kind::Name => {
                    let name = self.small_text();
                    if self.wanted.iter().any(|table| table.name == name) {
                        return Err(not_understood(began, verb, &name));
                    }
                }
                _ => {}
            }
            token = self.tokens.next()?;
        }
    }

    fn expect(&self, token: Token, word: &str, verb: &'static str, name: &str) -> Result<(), DumpError> {
        let is_it = token.kind == Kind::Word && self.tokens.says(word);
        if is_it { Ok(()) } else { Err(not_understood(token.at, verb, name)) }
    }

    fn expect_end(
        &self,
        token: Token,
        verb: &'static str,
        name: &str,
        began: Position,
    ) -> Result<(), DumpError> {
        match token.kind {
            Kind::Mark(b';') => Ok(()),
            Kind::End => Err(cut_off(began)),
            _ => Err(not_understood(token.at, verb, name)),
        }
    }

    /// Parses `a = 1, b = b + 1`. Returns the following token as well.
    fn sets(
        &mut self,
        part: usize,
        verb: &'static str,
        name: &str,
        began: Position,
    ) -> Result<(Vec<Set>, Token), DumpError> {
        let mut sets = Vec::new();
        loop {
            let token = self.tokens.next()?;
            let (column, token) = self.name(token, began)?;
            if !token.is(b'=') {
                return Err(not_understood(token.at, verb, name));
            }
            let table = self.parts[part].table;
            let after = match self.wanted[table].place(&column) {
                Some(place) => {
                    let offset_s = self.offset_s.filter(|_| self.is_timestamp(part, &column));
                    let (to, after) = self.worth(part, verb, name, began)?;
                    sets.push(Set { column: place, to, offset_s });
                    after
                }
                None => {
                    self.remember_column(table, &column);
                    let token = self.tokens.next()?;
                    self.pass_worth(token, began)?
                }
            };
            if !after.is(b',') {
                return Ok((sets, after));
            }
        }
    }

    /// Skips the new value of an unwanted column.
    fn pass_worth(&mut self, mut token: Token, began: Position) -> Result<Token, DumpError> {
        let mut depth = 0_u64;
        loop {
            match token.kind {
                Kind::End => return Err(cut_off(began)),
                Kind::Mark(b';' | b',') if depth == 0 => return Ok(token),
                Kind::Word if depth == 0 && self.tokens.says("WHERE") => return Ok(token),
                Kind::Mark(b'(') => depth += 1,
                Kind::Mark(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            token = self.tokens.next()?;
        }
    }

    /// Parses the new value of a column. Returns the following token as well.
    fn worth(
        &mut self,
        part: usize,
        verb: &'static str,
        name: &str,
        began: Position,
    ) -> Result<(Assignment, Token), DumpError> {
        let token = self.tokens.next()?;
        let table = self.parts[part].table;
        if matches!(token.kind, Kind::Word | Kind::Name)
            && let Some(column) = self.wanted[table].place(&self.small_text())
        {
            let sign = self.tokens.next()?;
            let sign_of = match sign.kind {
                Kind::Mark(b'+') => 1,
                Kind::Mark(b'-') => -1,
                _ => return Ok((Assignment::Sum(column, 0), sign)),
            };
            let number = self.tokens.next()?;
            let text = std::str::from_utf8(self.tokens.text()).ok();
            let Some(by) =
                text.filter(|_| number.kind == Kind::Number).and_then(|text| text.parse::<i64>().ok())
            else {
                return Err(not_understood(number.at, verb, name));
            };
            return Ok((Assignment::Sum(column, sign_of * i128::from(by)), self.tokens.next()?));
        }
        let is_now = ["NOW", "CURRENT_TIMESTAMP", "SYSDATE"].iter().any(|word| self.tokens.says(word));
        let is_now = is_now && token.kind == Kind::Word;
        match self.value(token, began) {
            Ok((Value::Expression, _)) if !is_now => Err(not_understood(token.at, verb, name)),
            Err(DumpError::Bad { .. }) => Err(not_understood(token.at, verb, name)),
            value => value.map(|(value, after)| (Assignment::Value(value), after)),
        }
    }

    /// Parses conditions joined by `OR`. Returns the following token as well.
    fn any_of(
        &mut self,
        mut token: Token,
        part: usize,
        of: (&'static str, &str),
        began: Position,
        depth: usize,
    ) -> Result<(Condition, Token), DumpError> {
        let mut any = Vec::new();
        loop {
            let mut all = Vec::new();
            loop {
                let (condition, after) = self.condition(token, part, of, began, depth)?;
                all.push(condition);
                token = after;
                if token.kind != Kind::Word || !self.tokens.says("AND") {
                    break;
                }
                token = self.tokens.next()?;
            }
            any.push(Condition::All(all));
            if token.kind != Kind::Word || !self.tokens.says("OR") {
                return Ok((Condition::Any(any), token));
            }
            token = self.tokens.next()?;
        }
    }

    /// Parses one comparison, or conditions in parentheses. Returns the following token as well.
    fn condition(
        &mut self,
        token: Token,
        part: usize,
        of: (&'static str, &str),
        began: Position,
        depth: usize,
    ) -> Result<(Condition, Token), DumpError> {
        let refused = |at| not_understood(at, of.0, of.1);
        if token.is(b'(') && depth < NESTING_MAX {
            let token = self.tokens.next()?;
            let (inside, token) = self.any_of(token, part, of, began, depth + 1)?;
            return if token.is(b')') { Ok((inside, self.tokens.next()?)) } else { Err(refused(token.at)) };
        }
        if !matches!(token.kind, Kind::Word | Kind::Name) {
            return Err(refused(token.at));
        }
        let at = token.at;
        let (column, token) = self.name(token, began)?;
        let table = self.parts[part].table;
        let column = self.wanted[table].place(&column).ok_or_else(|| refused(at))?;
        match token.kind {
            Kind::Mark(b'=') => {
                let token = self.tokens.next()?;
                self.compared(token, column, Comparison::Equal, of, began)
            }
            Kind::Mark(mark @ (b'<' | b'>' | b'!')) => {
                let mut token = self.tokens.next()?;
                let (is_equal, is_greater) = (token.is(b'='), token.is(b'>'));
                if is_equal || mark == b'<' && is_greater {
                    token = self.tokens.next()?;
                }
                let is = match (mark, is_equal, is_greater) {
                    (b'<', false, true) | (b'!', true, _) => Comparison::NotEqual,
                    (b'<', true, _) => Comparison::NotGreater,
                    (b'<', ..) => Comparison::Less,
                    (b'>', true, _) => Comparison::NotLess,
                    (b'>', false, false) => Comparison::Greater,
                    _ => return Err(refused(token.at)),
                };
                self.compared(token, column, is, of, began)
            }
            Kind::Word => self.compared_by_word(token, column, of, began),
            Kind::End => Err(cut_off(began)),
            _ => Err(refused(token.at)),
        }
    }

    fn compared(
        &mut self,
        token: Token,
        column: usize,
        is: Comparison,
        of: (&'static str, &str),
        began: Position,
    ) -> Result<(Condition, Token), DumpError> {
        let (value, after) = self.compared_value(token, of, began)?;
        Ok((Condition::Compare(column, is, vec![value]), after))
    }

    /// Parses `IN (…)`, `NOT IN (…)`, `BETWEEN a AND b`, `IS NULL`, `IS NOT NULL`.
    fn compared_by_word(
        &mut self,
        token: Token,
        column: usize,
        of: (&'static str, &str),
        began: Position,
    ) -> Result<(Condition, Token), DumpError> {
        let says = |dump: &Self, token: Token, word: &str| token.kind == Kind::Word && dump.tokens.says(word);
        if says(self, token, "BETWEEN") {
            let token = self.tokens.next()?;
            let (least, and) = self.compared_value(token, of, began)?;
            self.expect(and, "AND", of.0, of.1)?;
            let token = self.tokens.next()?;
            let (most, after) = self.compared_value(token, of, began)?;
            let least = Condition::Compare(column, Comparison::NotLess, vec![least]);
            let most = Condition::Compare(column, Comparison::NotGreater, vec![most]);
            return Ok((Condition::All(vec![least, most]), after));
        }
        if says(self, token, "IS") {
            let mut token = self.tokens.next()?;
            let is_not = says(self, token, "NOT");
            if is_not {
                token = self.tokens.next()?;
            }
            self.expect(token, "NULL", of.0, of.1)?;
            return Ok((Condition::Null(column, !is_not), self.tokens.next()?));
        }
        let is = if says(self, token, "NOT") { Comparison::NotEqual } else { Comparison::Equal };
        let token = if is == Comparison::NotEqual { self.tokens.next()? } else { token };
        self.expect(token, "IN", of.0, of.1)?;
        let open = self.tokens.next()?;
        if !open.is(b'(') {
            return Err(not_understood(open.at, of.0, of.1));
        }
        let mut values = Vec::new();
        loop {
            let token = self.tokens.next()?;
            let (value, after) = self.compared_value(token, of, began)?;
            values.push(value);
            match after.kind {
                Kind::Mark(b',') if values.len() < 100_000 => {}
                Kind::Mark(b')') => {
                    return Ok((Condition::Compare(column, is, values), self.tokens.next()?));
                }
                Kind::End => return Err(cut_off(began)),
                _ => return Err(not_understood(after.at, of.0, of.1)),
            }
        }
    }

    fn compared_value(
        &mut self,
        token: Token,
        of: (&'static str, &str),
        began: Position,
    ) -> Result<(Value, Token), DumpError> {
        match self.value(token, began) {
            Ok((value @ (Value::Number(_) | Value::Text(_)), after)) => Ok((value, after)),
            Ok(_) | Err(DumpError::Bad { .. }) => Err(not_understood(token.at, of.0, of.1)),
            Err(error) => Err(error),
        }
    }
}

/// Creates the error for an unsupported statement.
fn not_understood(at: Position, verb: &'static str, name: &str) -> DumpError {
    DumpError::at(
        at,
        bilingual_text!(
            "无法执行这条对{name}的{verb}：只支持单表、常量赋值，以及由列与常量的比较、AND和OR组成的条件；请先把文件导入MySQL，再转储",
            "cannot apply this {verb} of {name}: only a single table, constant values, and conditions of \
             column comparisons, AND and OR are supported; load the file into MySQL and dump that database"
        ),
    )
}
