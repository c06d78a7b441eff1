//! Changed pages of a database, and their application to a copy.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Length of the header of a database file in bytes.
const HEADER: usize = 100;
/// Place of the page size in the header: two bytes, big-endian, where 1 means 65,536.
const PAGE_SIZE_AT: usize = 16;
/// Place of two bytes in the header that are 2 in a database with a `-wal` file, else 1.
const MODES_AT: usize = 18;

/// Pages that complete transactions changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedPages {
    /// Size of a page in bytes.
    pub page_bytes: u32,
    /// Size of the database in pages after the last of the transactions.
    pub database_pages: u32,
    /// The newest content of each page, by the number of the page, from 1. No number is above the size of the
    /// database.
    pub pages: BTreeMap<u32, Vec<u8>>,
}

impl ChangedPages {
    /// Adds the pages of later transactions.
    pub fn add(&mut self, later: Self) {
        if later.database_pages == 0 {
            return;
        }
        self.page_bytes = later.page_bytes;
        self.database_pages = later.database_pages;
        self.pages.extend(later.pages);
        let _beyond_end = self.pages.split_off(&later.database_pages.saturating_add(1));
    }

    /// Returns whether no transaction was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.database_pages == 0
    }
}

/// Applies changed pages to a [base](super::super::copy_base) of the database, in place and without a sync.
///
/// Repeated application of the latest changes changes nothing. After a failure, repeat the application: the
/// copy may have some of the changes.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`]: the changes are no pages of this copy, or the copy is
/// [finished](super::super::finish_copy). Then the copy is as before. Otherwise the system refuses a call.
pub fn apply(copy: &Path, changes: &ChangedPages) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(copy)?;
    check(&file, changes)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", copy.display())))?;
    let page_bytes = u64::from(changes.page_bytes);
    for (page, content) in &changes.pages {
        file.write_all_at(content, u64::from(page - 1) * page_bytes)?;
    }
    file.set_len(u64::from(changes.database_pages) * page_bytes)
}

fn check(file: &File, changes: &ChangedPages) -> io::Result<()> {
    let invalid = |detail: String| Err(io::Error::new(io::ErrorKind::InvalidData, detail));
    let mut header = [0; HEADER];
    if let Err(error) = file.read_exact_at(&mut header, 0) {
        return if error.kind() == io::ErrorKind::UnexpectedEof {
            invalid("no copy of a database".to_owned())
        } else {
            Err(error)
        };
    }
    let page_bytes = match u16::from_be_bytes([header[PAGE_SIZE_AT], header[PAGE_SIZE_AT + 1]]) {
        1 => 65_536,
        size => u32::from(size),
    };
    if page_bytes != changes.page_bytes {
        return invalid(format!("has pages of {page_bytes} bytes, its changes of {}", changes.page_bytes));
    }
    if header[MODES_AT..MODES_AT + 2] != [2, 2] {
        return invalid("a finished copy takes no changes".to_owned());
    }
    let of_database = 1..=changes.database_pages;
    let wrong = changes.pages.iter().find(|(page, content)| {
        !of_database.contains(*page) || u32::try_from(content.len()) != Ok(page_bytes)
    });
    match wrong {
        _ if changes.database_pages == 0 => invalid("its changes name no size of the database".to_owned()),
        Some((page, _)) => invalid(format!("its changes have a page {page} that is none of the database")),
        None => Ok(()),
    }
}
