//! Whether a dump says that it is whole.
//!
//! Each tool opens something before the first table and closes it behind the last one: mysqldump and mariadb-dump save
//! session variables in `@OLD_…` and write `-- Dump completed`, Navicat turns `FOREIGN_KEY_CHECKS` off and on, phpMyAdmin
//! opens a transaction, HeidiSQL, Sequel Ace and MySQL Workbench save variables. A file in which something was closed and
//! nothing is open has its end. A file without any of these signs may have been cut between two statements.

use std::collections::BTreeSet;

use crate::language::{Both, both};

/// What a dump has opened and closed so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ending {
    /// `-- MySQL dump …` or `-- MariaDB dump …`.
    has_head: bool,
    /// `-- Dump completed …`.
    is_completed: bool,
    /// `@OLD_…` variables whose values have not been restored.
    saved: BTreeSet<String>,
    checks_are_off: bool,
    is_in_transaction: bool,
    /// Whether anything that was opened has been closed.
    has_closed: bool,
}

impl Ending {
    /// Variables that a dump may save; a tool saves about ten.
    const MOST_SAVED: usize = 64;

    /// Reads the beginning of a line comment.
    pub(super) fn comment(&mut self, begin: &[u8]) {
        if begin.starts_with(b"-- MySQL dump") || begin.starts_with(b"-- MariaDB dump") {
            *self = Self { has_head: true, ..Self::default() };
        } else if begin.starts_with(b"-- Dump completed") {
            self.is_completed = true;
        }
    }

    /// A table is made: signs of an end before it belong to another dump.
    pub(super) fn table(&mut self) {
        self.is_completed = false;
        self.has_closed &= self.is_open();
    }

    /// `SET @OLD_name = @@name`.
    pub(super) fn save(&mut self, name: String) {
        if self.saved.len() < Self::MOST_SAVED {
            self.saved.insert(name);
        }
    }

    /// `SET name = @OLD_name`.
    pub(super) fn restore(&mut self, name: &str) {
        self.has_closed |= self.saved.remove(name);
    }

    /// `SET FOREIGN_KEY_CHECKS = …`.
    pub(super) fn checks(&mut self, are_off: bool) {
        self.has_closed |= self.checks_are_off && !are_off;
        self.checks_are_off = are_off;
    }

    /// `START TRANSACTION`, `COMMIT`.
    pub(super) fn transaction(&mut self, begins: bool) {
        self.has_closed |= self.is_in_transaction && !begins;
        self.is_in_transaction = begins;
    }

    fn is_open(&self) -> bool {
        self.checks_are_off || self.is_in_transaction || !self.saved.is_empty()
    }

    /// Why a file that ends here need not be whole; `None` if a sign of its end is there.
    pub(super) fn missing(&self) -> Option<Both> {
        if self.is_completed || self.has_closed && !self.is_open() {
            return None;
        }
        Some(if self.has_head {
            both("最后一行应是`-- Dump completed`", "its last line should be `-- Dump completed`")
        } else if self.checks_are_off {
            both("最后应是`SET FOREIGN_KEY_CHECKS = 1`", "`SET FOREIGN_KEY_CHECKS = 1` should come last")
        } else if self.is_in_transaction {
            both("最后应是`COMMIT`", "`COMMIT` should come last")
        } else if self.is_open() {
            both(
                "开头保存的会话变量没有恢复",
                "the session variables saved at its beginning are not restored",
            )
        } else {
            both("文件里没有表示结束的标志", "nothing in the file marks its end")
        })
    }
}
