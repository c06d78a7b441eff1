//! Detection of complete dumps.
//!
//! Each tool opens something before the first table and closes it after the last one: mysqldump and
//! mariadb-dump save session variables in `@OLD_…` and write `-- Dump completed`, Navicat turns
//! `FOREIGN_KEY_CHECKS` off and on, phpMyAdmin opens a transaction, HeidiSQL, Sequel Ace and MySQL Workbench
//! save variables. A file is complete if something was closed and nothing is open. A file without any of
//! these markers may have been truncated between two statements.

use std::collections::BTreeSet;

use crate::language::{Bilingual, both};

/// State opened and closed by the dump so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ending {
    /// `-- MySQL dump …` or `-- MariaDB dump …`.
    has_head: bool,
    /// `-- Dump completed …`.
    is_completed: bool,
    /// `@OLD_…` variables not yet restored.
    saved: BTreeSet<String>,
    checks_are_off: bool,
    is_in_transaction: bool,
    /// Whether anything was opened and closed again.
    has_closed: bool,
}

impl Ending {
    /// Limit of saved variables; a tool saves about ten.
    const SAVED_MAX: usize = 64;

    /// Processes the beginning of a line comment.
    pub(super) fn comment(&mut self, begin: &[u8]) {
        if begin.starts_with(b"-- MySQL dump") || begin.starts_with(b"-- MariaDB dump") {
            *self = Self { has_head: true, ..Self::default() };
        } else if begin.starts_with(b"-- Dump completed") {
            self.is_completed = true;
        }
    }

    /// Processes a `CREATE TABLE`: end markers before the table belong to another dump.
    pub(super) fn table(&mut self) {
        self.is_completed = false;
        self.has_closed &= self.is_open();
    }

    /// Processes `SET @OLD_name = @@name`.
    pub(super) fn save(&mut self, name: String) {
        if self.saved.len() < Self::SAVED_MAX {
            self.saved.insert(name);
        }
    }

    /// Processes `SET name = @OLD_name`.
    pub(super) fn restore(&mut self, name: &str) {
        self.has_closed |= self.saved.remove(name);
    }

    /// Processes `SET FOREIGN_KEY_CHECKS = …`.
    pub(super) fn checks(&mut self, are_off: bool) {
        self.has_closed |= self.checks_are_off && !are_off;
        self.checks_are_off = are_off;
    }

    /// Processes `START TRANSACTION` and `COMMIT`.
    pub(super) fn transaction(&mut self, begins: bool) {
        self.has_closed |= self.is_in_transaction && !begins;
        self.is_in_transaction = begins;
    }

    fn is_open(&self) -> bool {
        self.checks_are_off || self.is_in_transaction || !self.saved.is_empty()
    }

    /// Returns why a file that ends at this point may be incomplete; `None` if an end marker was found.
    pub(super) fn missing(&self) -> Option<Bilingual> {
        if self.is_completed || self.has_closed && !self.is_open() {
            return None;
        }
        Some(if self.has_head {
            both("最后一行应是`-- Dump completed`", "the last line should be `-- Dump completed`")
        } else if self.checks_are_off {
            both("最后应是`SET FOREIGN_KEY_CHECKS = 1`", "`SET FOREIGN_KEY_CHECKS = 1` should come last")
        } else if self.is_in_transaction {
            both("最后应是`COMMIT`", "`COMMIT` should come last")
        } else if self.is_open() {
            both(
                "开头保存的会话变量没有恢复",
                "the session variables saved at the beginning are not restored",
            )
        } else {
            both("文件没有结束标志", "the file has no end mark")
        })
    }
}
