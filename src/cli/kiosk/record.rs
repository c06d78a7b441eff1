//! The record of an installation: what is removed again, and which files have been changed since.
//!
//! The lines of files are those of sha256sum(1), which checks them too. An entry is stored before its file is
//! written, next to the entry of the former content: after a crash between both, either content is known.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use mallbox_storage::hex;
use sha2::{Digest as _, Sha256};

use super::writing::{self, Access};

/// Directory of the record and of the key.
pub(super) const DIR: &str = "/etc/mallbox-kiosk";
/// The record.
pub(super) const FILE: &str = "/etc/mallbox-kiosk/installed.sha256";

const ACCOUNT: &str = "# account";
const DIRECTORY: &str = "# directory ";

/// What an installation has made.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Record {
    /// SHA-256 of contents that this command wrote, by path.
    files: BTreeSet<(String, String)>,
    /// Directories that were missing, parents first.
    directories: BTreeSet<String>,
    /// Whether the account was missing.
    has_account: bool,
}

impl Record {
    /// Reads the record; `None` without an installation.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read() -> io::Result<Option<Self>> {
        let text = writing::read(Path::new(FILE))?;
        Ok(text.map(|text| Self::parse(&String::from_utf8_lossy(&text))))
    }

    fn parse(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines() {
            if line == ACCOUNT {
                record.has_account = true;
            } else if let Some(directory) = line.strip_prefix(DIRECTORY) {
                record.directories.insert(directory.to_owned());
            } else if let Some((hash, path)) = line.split_once("  ").filter(|_| !line.starts_with('#')) {
                record.files.insert((path.to_owned(), hash.to_owned()));
            }
        }
        record
    }

    fn text(&self) -> String {
        let mut text =
            "# What `mallbox kiosk remove` removes. Check: sha256sum --check installed.sha256\n".to_owned();
        if self.has_account {
            text += &format!("{ACCOUNT}\n");
        }
        self.directories.iter().for_each(|directory| text += &format!("{DIRECTORY}{directory}\n"));
        self.files.iter().for_each(|(path, hash)| text += &format!("{hash}  {path}\n"));
        text
    }

    /// Stores the record durably.
    ///
    /// # Errors
    /// The former record stays.
    pub(super) fn store(&self) -> io::Result<()> {
        writing::make_dir(Path::new(DIR))?;
        if Self::read()?.as_ref() == Some(self) {
            return Ok(());
        }
        writing::put(Path::new(FILE), &self.text(), Access::Everybody, true)
    }

    /// Tells whether this command wrote a content.
    pub(super) fn has(&self, path: &str, content: &[u8]) -> bool {
        self.files.contains(&(path.to_owned(), hash(content)))
    }

    /// Adds a content that is about to be written.
    pub(super) fn expect(&mut self, path: &str, content: &str) {
        self.files.insert((path.to_owned(), hash(content.as_bytes())));
    }

    /// Drops all other contents of a file.
    pub(super) fn settle(&mut self, path: &str, content: &str) {
        self.forget(path);
        self.expect(path, content);
    }

    /// Drops a file.
    pub(super) fn forget(&mut self, path: &str) {
        self.files.retain(|(of, _)| of != path);
    }

    /// Returns the paths of all files.
    pub(super) fn paths(&self) -> BTreeSet<String> {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Adds a directory that is about to be made.
    pub(super) fn expect_directory(&mut self, path: &str) {
        self.directories.insert(path.to_owned());
    }

    /// Returns the directories, content before parents.
    pub(super) fn directories(&self) -> Vec<&str> {
        self.directories.iter().rev().map(String::as_str).collect()
    }

    /// Adds the account, which is about to be made.
    pub(super) fn expect_account(&mut self) {
        self.has_account = true;
    }

    /// Tells whether the account was made by this command.
    pub(super) fn has_account(&self) -> bool {
        self.has_account
    }
}

fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_stored() {
        let mut record = Record::default();
        record.expect("/etc/one", "first");
        record.expect("/etc/one", "second");
        record.expect("/etc/two words", "third");
        record.expect_directory("/etc/a");
        record.expect_directory("/etc/a/b");
        record.expect_account();
        let read = Record::parse(&record.text());
        assert_eq!(read, record);
        assert!(read.has("/etc/one", b"first") && read.has("/etc/one", b"second"));
        assert!(!read.has("/etc/one", b"third") && !read.has("/etc/two", b"first"));
        assert_eq!(read.directories(), ["/etc/a/b", "/etc/a"]);
        record.settle("/etc/one", "second");
        assert!(!record.has("/etc/one", b"first") && record.has("/etc/one", b"second"));
        assert_eq!(record.paths().len(), 2);
        assert_eq!(Record::parse("nonsense\n#\n\n"), Record::default());
    }
}
