//! The `-wal` file of a running mall, and a position in it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mallbox_storage_integrity::beside;
use mallbox_storage_integrity::wal_frames::{
    FRAME_HEADER, HEADER, Sum, WalHeader, database_pages, page_of, read_at, salts_of, sum_of,
};

use super::changed_pages::ChangedPages;

/// The `-wal` file beside a database, open for reading. SQLite puts no locks on this file, so that a handle
/// of the same process may be closed.
pub(super) struct WalFile {
    file: File,
    path: PathBuf,
}

impl WalFile {
    pub(super) fn open(database: &Path) -> io::Result<Self> {
        let path = beside(database, "-wal");
        Ok(Self { file: File::open(&path)?, path })
    }

    /// Returns whether the file still has its name. While the file is open, no other one has its inode.
    pub(super) fn has_its_name(&self) -> io::Result<bool> {
        let named = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            named => named?,
        };
        let open = self.file.metadata()?;
        Ok((named.dev(), named.ino()) == (open.dev(), open.ino()))
    }

    /// Returns the header: `None` if the file is empty, or just being begun anew.
    pub(super) fn header(&self) -> io::Result<Option<WalHeader>> {
        let mut bytes = [0; HEADER];
        Ok(if read_at(&self.file, &mut bytes, 0)? { WalHeader::parse(&bytes) } else { None })
    }
}

/// A position behind a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// Header of the file since it was begun anew the last time: it names the generation.
    pub(super) header: WalHeader,
    /// Frames up to here.
    pub(super) frames: u32,
    /// Checksum that the next frame continues.
    sum: Sum,
}

impl Position {
    /// Returns the position before the first frame.
    pub(super) fn beginning(header: WalHeader) -> Self {
        Self { header, frames: 0, sum: header.sum() }
    }

    /// Returns the position behind `frames` frames; `None` if the last one is of another generation.
    pub(super) fn behind(header: WalHeader, frames: u32, wal: &WalFile) -> io::Result<Option<Self>> {
        let Some(frame) = frame_header(wal, &header, frames)? else { return Ok(None) };
        let sum = sum_of(&frame);
        Ok((salts_of(&frame) == header.salts()).then_some(Self { header, frames, sum }))
    }

    /// Returns whether the frame in front of the position is unchanged. Then the frames behind are unchanged,
    /// too: a new generation overwrites the file in order.
    pub(super) fn is_intact(&self, wal: &WalFile) -> io::Result<bool> {
        if self.frames == 0 {
            return Ok(wal.header()? == Some(self.header));
        }
        Ok(Self::behind(self.header, self.frames, wal)? == Some(*self))
    }

    /// Returns whether `header` is of the next generation. `false` may also mean that another connection
    /// began the file anew: each connection has a count of its own, and a connection that never did writes
    /// random salts.
    pub(super) fn is_just_before(&self, header: &WalHeader) -> bool {
        header.sequence().checked_sub(self.header.sequence()) == Some(1)
            && header.first_salt() == self.header.first_salt().wrapping_add(1)
            && header.page_size() == self.header.page_size()
    }

    /// Reads the transactions from here up to the frame `last`, and calls `commit` with the pages of each.
    /// Returns the position behind the last commit: below `last` if a frame does not continue the one before.
    pub(super) fn read(
        &self,
        wal: &WalFile,
        last: u32,
        mut commit: impl FnMut(ChangedPages),
    ) -> io::Result<Self> {
        let (mut committed, mut sum) = (*self, self.sum);
        let mut pages = Vec::new();
        let mut frame = vec![0; self.header.frame_len()];
        for number in self.frames.saturating_add(1)..=last {
            if !read_at(&wal.file, &mut frame, self.header.offset(number))?
                || !self.header.is_next(sum, &frame)
            {
                break;
            }
            sum = sum_of(&frame);
            pages.push((page_of(&frame), frame[FRAME_HEADER..].to_vec()));
            let database_pages = database_pages(&frame);
            if database_pages > 0 {
                let page_bytes = u32::try_from(self.header.page_size()).unwrap_or(u32::MAX);
                let pages = pages.drain(..).collect();
                commit(ChangedPages { page_bytes, database_pages, pages });
                committed = Self { frames: number, sum, ..committed };
            }
        }
        Ok(committed)
    }
}

fn frame_header(wal: &WalFile, header: &WalHeader, number: u32) -> io::Result<Option<[u8; FRAME_HEADER]>> {
    let mut frame = [0; FRAME_HEADER];
    Ok(read_at(&wal.file, &mut frame, header.offset(number))?.then_some(frame))
}
