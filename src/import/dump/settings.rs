//! `SET` and `ALTER TABLE`: settings that affect rows, or mark the end of a dump.

use std::io::Read;

use super::statements::cut_off;
use super::tokens::{Kind, Token};
use super::{Dump, DumpError, Position};
use crate::language::bilingual_text;

/// Prefix of the variables in which a dump saves session settings.
const SAVED: &str = "OLD_";

impl<R: Read> Dump<R> {
    /// Parses `SET a = b, @OLD_c = @@c`: time zone, foreign key checks, and saved and restored variables.
    pub(super) fn set(&mut self, began: Position) -> Result<(), DumpError> {
        let mut token = self.tokens.next()?;
        loop {
            token = match token.kind {
                Kind::Mark(b';') => return Ok(()),
                Kind::End => return Err(cut_off(began)),
                Kind::Mark(b'@') => self.variable()?,
                Kind::Word if self.tokens.says("TIME_ZONE") => self.zone()?,
                Kind::Word if self.tokens.says("FOREIGN_KEY_CHECKS") => self.checks()?,
                _ => self.tokens.next()?,
            };
        }
    }

    /// Parses a variable after its `@`. Returns the following token.
    fn variable(&mut self) -> Result<Token, DumpError> {
        let token = self.tokens.next()?;
        if token.is(b'@') {
            // A server variable, read and not set by the statement.
            let _name = self.tokens.next()?;
            return self.tokens.next();
        }
        let name = String::from_utf8_lossy(self.tokens.text()).to_ascii_uppercase();
        if token.kind != Kind::Word || !name.starts_with(SAVED) {
            return Ok(token);
        }
        let after = self.tokens.next()?;
        if after.is(b'=') || after.is(b':') {
            self.tokens.ending.save(name);
        } else {
            self.tokens.ending.restore(&name);
        }
        Ok(after)
    }

    fn zone(&mut self) -> Result<Token, DumpError> {
        let after = self.tokens.next()?;
        if !after.is(b'=') {
            return Ok(after);
        }
        let value = self.tokens.next()?;
        let offset = (value.kind == Kind::Text).then(|| offset_s(self.tokens.text()));
        self.offset_s = offset.flatten();
        Ok(value)
    }

    fn checks(&mut self) -> Result<Token, DumpError> {
        let after = self.tokens.next()?;
        if !after.is(b'=') {
            return Ok(after);
        }
        let value = self.tokens.next()?;
        let is_off = value.kind == Kind::Number && self.tokens.text() == b"0"
            || value.kind == Kind::Word && self.tokens.says("OFF");
        if !matches!(value.kind, Kind::End) {
            self.tokens.ending.checks(is_off);
        }
        Ok(value)
    }

    /// Parses `ALTER TABLE`, by which phpMyAdmin adds keys and `AUTO_INCREMENT`. Renames are refused.
    pub(super) fn alter(&mut self, began: Position) -> Result<(), DumpError> {
        let mut token = self.tokens.next()?;
        while token.kind == Kind::Word && ["ONLINE", "IGNORE"].iter().any(|word| self.tokens.says(word)) {
            token = self.tokens.next()?;
        }
        if token.kind != Kind::Word || !self.tokens.says("TABLE") {
            return self.pass_from(token, began);
        }
        let token = self.tokens.next()?;
        let (name, token) = self.name(token, began)?;
        match self.part(&name, began)? {
            Some(part) => self.options(token, part, began),
            None => self.pass_from(token, began),
        }
    }

    /// Parses the rest of a statement on a table for `AUTO_INCREMENT`.
    pub(super) fn options(
        &mut self,
        mut token: Token,
        part: usize,
        began: Position,
    ) -> Result<(), DumpError> {
        loop {
            token = match token.kind {
                Kind::Mark(b';') => return Ok(()),
                Kind::End => return Err(cut_off(began)),
                Kind::Word if self.tokens.says("AUTO_INCREMENT") => self.next_id(part)?,
                Kind::Word if self.tokens.says("RENAME") || self.tokens.says("CHANGE") => {
                    let name = &self.parts[part].name;
                    let what = bilingual_text!(
                        "这条ALTER TABLE改了{name}的表名或列名；请先把文件导入MySQL，再转储",
                        "this ALTER TABLE renames {name} or one of its columns; load the file into MySQL \
                         and dump that database"
                    );
                    return Err(DumpError::at(began, what));
                }
                _ => self.tokens.skip()?,
            };
        }
    }

    /// Parses `= 23`. Returns the following token. In a column definition, `AUTO_INCREMENT` has no number.
    fn next_id(&mut self, part: usize) -> Result<Token, DumpError> {
        let mut token = self.tokens.next()?;
        if token.is(b'=') {
            token = self.tokens.next()?;
        }
        if token.kind == Kind::Number {
            let text = std::str::from_utf8(self.tokens.text()).ok();
            self.parts[part].next_id = text.and_then(|text| text.parse().ok());
            token = self.tokens.next()?;
        }
        Ok(token)
    }
}

/// Parses `+08:00` to seconds; `None` for `SYSTEM` and named zones.
fn offset_s(text: &[u8]) -> Option<i32> {
    let (sign, rest) = match text.split_first()? {
        (b'+', rest) => (1, rest),
        (b'-', rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = std::str::from_utf8(rest).ok()?.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_one = (0..=14).contains(&hours) && (0..60).contains(&minutes);
    is_one.then(|| sign * (hours * 3600 + minutes * 60))
}
